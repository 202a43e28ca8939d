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
import type { SessionView } from '../../preload/contract/session.ts'
import { joinOlder, viewAt } from '../../preload/contract/stretch.ts'
import { transcriptView } from '../transcript/view-state.ts'
import { createFrames } from './frames.ts'
import { type Link, link } from './link.ts'
import { createSessionController, type SessionController } from './session-controller.ts'
import { asLatheError, type SessionClient } from './session-client.ts'
import type { SessionState, Unsent } from './session-state.ts'
import { useEntry } from './workbench-store.ts'

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

/** `around`: the item to open at; the end without it. */
export function createSession(sessionId: string, host: SessionLink, around: string | null = null): Session {
  const { client } = host
  const store = createStore<SessionState>()(() => ({
    sessionId,
    phase: 'opening',
    view: null,
    apart: null,
    refusal: null,
    unsaved: null,
    older: 'idle',
    newer: 'idle',
    unsent: [],
    draftRevision: null,
  }))
  const closing = new AbortController()
  let following = new AbortController()
  let buffer: StoredEvent[] = []
  /** `seq` of the newest event taken in, folded or not. */
  let taken = 0
  /** `seq` that `apart` is true at. */
  let apartAt = 0
  let reopen = false
  const frames = createFrames(foldBuffer)

  function setPhase(phase: SessionState['phase'], refusal: ErrorBody | null = null): void {
    if (store.getState().phase !== phase) store.setState({ phase, refusal })
  }

  function adopt(fresh: SessionView, apart: SessionView | null): void {
    frames.cancel()
    buffer = []
    taken = fresh.header.lastSeq
    reopen = false
    const { view, unsent } = store.getState()
    const joined = view ? joinOlder(view, fresh) : fresh
    store.setState({
      phase: 'live',
      refusal: null,
      unsent: stillUnsent(unsent, joined),
      ...(apart ? standing(joined, apart) : { view: joined, apart: null }),
    })
  }

  /** Shows the stretch around an item, apart from the end or joined to it; false where the session has no such item. */
  async function showAround(itemId: string): Promise<boolean> {
    const found = await openAround(itemId, closing.signal)
    const { view } = store.getState()
    if (found && view) store.setState(standing(view, found))
    return found !== null
  }

  async function openAround(itemId: string, signal: AbortSignal): Promise<SessionView | null> {
    try {
      return await client.session.open({ sessionId, around: itemId }, { signal })
    } catch (thrown) {
      if (asLatheError(thrown).code === 'request.invalid') return null
      throw thrown
    }
  }

  /** `found` apart from the end, or joined to it where it reaches it. */
  function standing(view: SessionView, found: SessionView): Pick<SessionState, 'view' | 'apart'> {
    if (found.journalId !== view.journalId) return { view, apart: null }
    apartAt = found.header.lastSeq
    return found.itemsAfter > 0
      ? { view, apart: viewAt(view, asSlice(found)) }
      : { view: joinOlder(found, view), apart: null }
  }

  /** The stretch apart after these events: its own items changed by them, everything else as at the end. */
  function foldApart(apart: SessionView, view: SessionView): SessionView {
    const folded = buffer.reduce((now, event) => (event.seq > apartAt ? foldEvent(now, event) : now), apart)
    return viewAt(view, asSlice(folded))
  }

  function foldBuffer(): void {
    const { view, apart, unsent } = store.getState()
    if (!view || buffer.length === 0) return
    let next = view
    for (const event of buffer) {
      if (isBeyond(next, event)) {
        followAnew({ open: true })
        break
      }
      next = foldEvent(next, event)
    }
    const rewound = buffer.some((event) => event.type === 'session.rewound')
    store.setState({
      view: next,
      apart: apart && foldApart(apart, next),
      unsent: stillUnsent(unsent, next),
      // What comes is stored, so the disk takes it again.
      unsaved: null,
    })
    buffer = []
    // Items may be gone from the stretch, or have come to it.
    const place = rewound ? middleOf(apart) : null
    if (place !== null) void showAround(place).catch(() => {})
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
    else if (event.type === 'session.storageFailed') store.setState({ unsaved: event.error })
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
          const place = store.getState().view ? middleOf(store.getState().apart) : around
          const view = await client.session.open({ sessionId }, { signal })
          const apart = place === null ? null : await openAround(place, signal)
          signal.throwIfAborted()
          adopt(view, apart)
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
    controller: createSessionController(sessionId, store, client, showAround),
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

function middleOf(view: SessionView | null): string | null {
  return view?.items[Math.floor(view.items.length / 2)]?.id ?? null
}

function asSlice({ items, itemsBefore, turns, changes }: SessionView): Parameters<typeof viewAt>[1] {
  return { items, before: itemsBefore, turns, changes }
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
    entry = {
      session: createSession(sessionId, link(), transcriptView(sessionId).getState().anchor?.itemId),
      holders: 0,
    }
    open.set(sessionId, entry)
  }
  return entry.session
}

/** Keeps a session open until the answered function is called. */
function holdSession(sessionId: string): () => void {
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

const noSession = createStore<Pick<SessionState, 'view'>>(() => ({ view: null }))

/** The session that the list has for the one that is shown: of a subagent's, the person's that all is done for (C-95). */
export function useListed(sessionId: string | null): string | null {
  const store: StoreApi<Pick<SessionState, 'view'>> = sessionId === null ? noSession : openSession(sessionId).store
  return useStore(store, ({ view }) => view?.header.parent?.top.sessionId ?? sessionId)
}

export function useSessionController(sessionId: string): SessionController {
  return useSessionHandle(sessionId).controller
}

/** The session's title and folder: those its entry in the list has, until it is open itself. */
export function useTitle(sessionId: string): string {
  const listed = useEntry(sessionId)?.title ?? ''
  return useView(sessionId, ({ header }) => header.title, listed)
}

export function useFolder(sessionId: string): string {
  const listed = useEntry(sessionId)?.workspace ?? ''
  return useView(sessionId, ({ header }) => header.workspace, listed)
}

/** Begins to open a session that is about to be shown: by the time the button is up, its answer is on its way. */
export function warmSession(sessionId: string): void {
  holdSession(sessionId)()
}

/** Holds the session open as long as the caller is mounted. */
export function useSessionHandle(sessionId: string): Session {
  useEffect(() => holdSession(sessionId), [sessionId])
  return openSession(sessionId)
}
