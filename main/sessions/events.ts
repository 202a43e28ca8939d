import type { PassingEvent, SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import type { Storage } from '../storage/storage.ts'
import type { SessionActor } from './actor.ts'

const eventsPage = 500
/** Frames that are not stored and wait for a slow reader. */
const passingMax = 32

/**
 * A session's stored events from `after + 1` on, without gap or repeat, then live ones, until `signal` aborts (T-200). A
 * reader that holds another journal, is ahead of it or behind what was pruned gets one `stream.resync`, and the end.
 */
export async function* followEvents(
  actor: SessionActor,
  from: { after: number; journalId: string },
  { storage, now }: { storage: Pick<Storage, 'events'>; now(): number },
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  const resync = (reason: Extract<PassingEvent, { type: 'stream.resync' }>['reason']): SessionEvent => ({
    type: 'stream.resync',
    seq: null,
    at: now(),
    reason,
  })
  if (from.journalId !== actor.published.journalId) return yield resync('journal')
  if (from.after > actor.published.header.lastSeq) return yield resync('ahead')
  let cursor = from.after
  let wake: (() => void) | null = null
  const passing: PassingEvent[] = []
  const stopListening = actor.listen((event) => {
    if (event) passing.push(event)
    // A slow reader keeps no queue: what it missed is in the journal, and passing frames repeat their whole value.
    if (passing.length > passingMax) passing.shift()
    wake?.()
  })
  const onAbort = () => wake?.()
  signal.addEventListener('abort', onAbort)
  const isNew = () => signal.aborted || actor.published.header.lastSeq > cursor || passing.length > 0
  try {
    while (!signal.aborted) {
      let batch: StoredEvent[] | null = actor.recentAfter(cursor)
      if (batch === null) {
        const page = await storage.events(actor.id, cursor, eventsPage)
        if (page.pruned) return yield resync('pruned')
        batch = page.events
      }
      for (const event of batch) {
        if (signal.aborted) return
        yield event
        cursor = event.seq
      }
      while (passing.length > 0) yield passing.shift()!
      if (isNew()) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        if (isNew()) resolve()
      })
      wake = null
    }
  } finally {
    stopListening()
    signal.removeEventListener('abort', onAbort)
  }
}
