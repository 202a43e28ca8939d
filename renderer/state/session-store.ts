/**
 * One store for each session on screen: the view the host answered, and every event since folded over it with the same
 * reducer the host uses. Events are buffered and folded at most once a frame, so a flood costs one commit (S-37, T-51).
 */
import { useEffect } from 'react'
import { useStore } from 'zustand'
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { PassingEvent, SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent, isBeyond } from '../../preload/contract/fold.ts'
import type { Attachment, Item } from '../../preload/contract/items.ts'
import type { ItemSlice, SessionView } from '../../preload/contract/session.ts'
import { createFrames } from './frames.ts'
import { type Link, link } from './link.ts'
import { createSessionController, type SessionController } from './session-controller.ts'
import type { SessionClient } from './session-client.ts'

/** A message on its way: shown at once, replaced by what the host made of it, kept with the reason if refused (T-3). */
export type Unsent = {
  requestId: string
  text: string
  attachments: Attachment[]
  /** What it asks for: a turn now, or a place beside the running one. */
  as: 'turn' | 'steer' | 'followUp'
  at: number
  refusal: ErrorBody | null
}

export type SessionState = {
  sessionId: string
  phase: 'opening' | 'live' | 'refused'
  view: SessionView | null
  /** Why it cannot be opened. */
  refusal: ErrorBody | null
  /** The end of a turn waits to be stored (T-41). */
  savingSince: number | null
  older: 'idle' | 'loading' | 'failed'
  unsent: Unsent[]
  /** The newest `draft.changed` of another window. */
  draftRevision: { revision: number; source: string } | null
}

export type Session = {
  readonly id: string
  readonly store: StoreApi<SessionState>
  readonly controller: SessionController
  /** Aborted once the session is closed here. */
  readonly closed: AbortSignal
  /** Tries again after a refusal. */
  reopen(): void
  close(): void
}

/** Past this many waiting events they are folded without waiting for a frame. */
const bufferMax = 2_000
/** Sessions left open after their panes closed, so that switching back is instant. */
const warmMax = 3

/** How a session reaches its host; `link()` in the window. */
export type SessionLink = { client: SessionClient; read: Link['read'] }

export function createSession(sessionId: string, host: SessionLink): Session {
  const { client } = host
  const store = createStore<SessionState>()(() => ({
    sessionId,
    phase: 'opening',
    view: null,
    refusal: null,
    savingSince: null,
    older: 'idle',
    unsent: [],
    draftRevision: null,
  }))
  const closing = new AbortController()
  let following = new AbortController()
  let buffer: StoredEvent[] = []
  /** `seq` of the newest event taken in, folded or not. */
  let taken = 0
  let reopen = false
  const frames = createFrames(foldBuffer)

  function setPhase(phase: SessionState['phase'], refusal: ErrorBody | null = null): void {
    if (store.getState().phase !== phase) store.setState({ phase, refusal })
  }

  function adopt(fresh: SessionView): void {
    frames.cancel()
    buffer = []
    taken = fresh.header.lastSeq
    reopen = false
    const { view, unsent } = store.getState()
    const joined = joinOlder(view, fresh)
    store.setState({ view: joined, phase: 'live', refusal: null, unsent: stillUnsent(unsent, joined) })
  }

  function foldBuffer(): void {
    const { view, unsent, savingSince } = store.getState()
    if (!view || buffer.length === 0) return
    let next = view
    for (const event of buffer) {
      if (isBeyond(next, event)) {
        followAnew({ open: true })
        break
      }
      next = foldEvent(next, event)
    }
    const settled = buffer.some((event) => event.type === 'turn.settled')
    buffer = []
    store.setState({ view: next, unsent: stillUnsent(unsent, next), savingSince: settled ? null : savingSince })
  }

  function take(event: SessionEvent): void {
    if (event.seq === null) return takePassing(event)
    if (event.seq <= taken) return
    if (event.seq > taken + 1) return followAnew({ open: false })
    taken = event.seq
    buffer.push(event)
    if (buffer.length >= bufferMax) foldBuffer()
    else frames.request()
  }

  function takePassing(event: PassingEvent): void {
    if (event.type === 'stream.resync') followAnew({ open: true })
    else if (event.type === 'session.storageFailed') store.setState({ savingSince: event.since })
    else store.setState({ draftRevision: { revision: event.revision, source: event.source } })
  }

  /** Streams from the last event taken in; with `open`, from a view asked for anew. */
  function followAnew({ open }: { open: boolean }): void {
    following.abort()
    following = new AbortController()
    reopen ||= open
    host.read<SessionEvent>(
      async (stream, signal) => {
        frames.flush()
        if (reopen || !store.getState().view) {
          const view = await client.session.open({ sessionId }, { signal })
          signal.throwIfAborted()
          adopt(view)
        }
        const { journalId } = store.getState().view!
        return client.session.events({ sessionId, stream, after: taken, journalId }, { signal })
      },
      {
        opened: () => setPhase('live'),
        frame: take,
        failed: (error) => setPhase('refused', error),
      },
      following.signal,
    )
  }

  followAnew({ open: true })
  return {
    id: sessionId,
    store,
    controller: createSessionController(sessionId, store, client),
    reopen() {
      if (store.getState().phase !== 'refused') return
      setPhase('opening')
      followAnew({ open: true })
    },
    closed: closing.signal,
    close() {
      closing.abort()
      following.abort()
      frames.cancel()
    },
  }
}

/** A fresh view, with the older items already loaded kept in front of it where the two meet: the anchor stays (S-71). */
export function joinOlder(held: SessionView | null, fresh: SessionView): SessionView {
  const first = fresh.items[0]
  if (!held || !first || held.journalId !== fresh.journalId) return fresh
  const meet = held.items.findIndex((item) => item.id === first.id)
  if (meet <= 0) return fresh
  const older = held.items.slice(0, meet)
  const known = new Set(fresh.turns.map((turn) => turn.id))
  return {
    ...fresh,
    items: [...older, ...fresh.items],
    itemsBefore: Math.max(0, fresh.itemsBefore - visibleCount(older)),
    turns: [...held.turns.filter((turn) => !known.has(turn.id)), ...fresh.turns],
    changes: [...held.changes.filter((file) => !known.has(file.turnId)), ...fresh.changes],
  }
}

/** An older slice put in front with the rows of its turns: what it repeats is left out (S-57). */
export function prependSlice(
  view: SessionView,
  { items, before, turns, changes }: Omit<ItemSlice, 'after'>,
): SessionView {
  const first = view.items[0]
  const older = first ? items.filter((item) => item.pos < first.pos) : items
  const known = new Set(view.turns.map((turn) => turn.id))
  return {
    ...view,
    items: [...older, ...view.items],
    itemsBefore: before,
    turns: [...turns.filter((turn) => !known.has(turn.id)), ...view.turns],
    changes: [...changes.filter((file) => !known.has(file.turnId)), ...view.changes],
  }
}

function visibleCount(items: readonly Item[]): number {
  return items.reduce((count, item) => count + (item.visible ? 1 : 0), 0)
}

/** Messages whose turn the host has not shown yet (T-201). */
function stillUnsent(unsent: Unsent[], view: SessionView): Unsent[] {
  if (unsent.length === 0) return unsent
  const left = unsent.filter((one) => !view.turns.some((turn) => turn.requestId === one.requestId))
  return left.length === unsent.length ? unsent : left
}

const open = new Map<string, { session: Session; holders: number }>()

/** The session's store, opened if it is not yet. It stays open while somebody holds it, and a little longer. */
export function openSession(sessionId: string): Session {
  let entry = open.get(sessionId)
  if (!entry) {
    entry = { session: createSession(sessionId, link()), holders: 0 }
    open.set(sessionId, entry)
  }
  return entry.session
}

/** Keeps a session open until the answered function is called. */
export function holdSession(sessionId: string): () => void {
  openSession(sessionId)
  const entry = open.get(sessionId)!
  // Last in the map is last used.
  open.delete(sessionId)
  open.set(sessionId, entry)
  entry.holders++
  return () => {
    const entry = open.get(sessionId)
    if (!entry) return
    entry.holders--
    const idle = [...open].filter(([, { holders }]) => holders === 0)
    for (const [id, { session }] of idle.slice(0, Math.max(0, idle.length - warmMax))) {
      session.close()
      open.delete(id)
    }
  }
}

/** Closes everything; for tests and for a window that changes its host. */
export function closeSessions(): void {
  for (const { session } of open.values()) session.close()
  open.clear()
}

/** What `selector` picks of a session, kept current. It must answer equal references for equal state. */
export function useSession<T>(sessionId: string, selector: (state: SessionState) => T): T {
  const session = useSessionHandle(sessionId)
  return useStore(session.store, selector)
}

/** A part of the view, or `absent` until it is there. */
export function useView<T>(sessionId: string, selector: (view: SessionView) => T, absent: T): T {
  return useSession(sessionId, ({ view }) => (view ? selector(view) : absent))
}

export function useSessionController(sessionId: string): SessionController {
  return useSessionHandle(sessionId).controller
}

/** Holds the session open as long as the caller is mounted. */
export function useSessionHandle(sessionId: string): Session {
  useEffect(() => holdSession(sessionId), [sessionId])
  return openSession(sessionId)
}
