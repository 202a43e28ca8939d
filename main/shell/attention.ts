/** How many sessions want the person, for badge and tray: computed from the list, never counted up and down (S-120). */
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { newId } from '../../preload/contract/ids.ts'
import { listPageMax } from '../../preload/contract/limits.ts'
import type { Indicator } from '../../preload/contract/session.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'

const wanted = new Set<Indicator>(['needs_you', 'interrupted', 'failed', 'unread'])

export type Attention = {
  /** Sessions that want the person. */
  wanting(): number
  /** Titles of the sessions that run (S-143). */
  running(): string[]
}

/** Follows the list until the client's signal fires; `changed` is called after each change of either figure. */
export async function followAttention(
  handlers: Handlers,
  client: ClientContext & { signal: AbortSignal },
  changed: (attention: Attention) => void,
): Promise<void> {
  const entries = new Map<string, { indicator: Indicator; running: boolean; title: string }>()
  const attention: Attention = {
    wanting: () => [...entries.values()].filter(({ indicator }) => wanted.has(indicator)).length,
    running: () => [...entries.values()].filter(({ running }) => running).map(({ title }) => title),
  }
  const see = (event: WorkbenchEvent): void => {
    if (event.type === 'entry.put') {
      const { id, indicator, runningSince, title } = event.entry
      entries.set(id, { indicator, running: runningSince !== null, title })
    } else if (event.type === 'entry.removed') entries.delete(event.id)
    else return
    changed(attention)
  }
  // Subscribed first, so that nothing falls between (T-215).
  const events = handlers.host.watch({ stream: newId() }, client)[Symbol.asyncIterator]()
  let next = events.next()
  let before: { updatedAt: number; id: string } | undefined
  for (;;) {
    const page = await handlers.sessions.list(
      { limit: listPageMax, ...(before === undefined ? {} : { before }) },
      client,
    )
    for (const entry of page.entries) see({ type: 'entry.put', entry })
    const last = page.entries.at(-1)
    if (!page.more || !last) break
    before = { updatedAt: last.updatedAt, id: last.id }
  }
  for (;;) {
    const { value, done } = await next
    if (done) return
    see(value)
    next = events.next()
  }
}
