/**
 * What the shell knows of the workbench: how many sessions want the person, what runs, the settings. Computed from the
 * lists, never counted up and down (S-120).
 */
import type { TerminalState, WorkbenchEvent } from '../../preload/contract/events.ts'
import { newId } from '../../preload/contract/ids.ts'
import { listPageMax } from '../../preload/contract/limits.ts'
import type { Entry, Indicator } from '../../preload/contract/session.ts'
import { defaultSettings, Settings } from '../../preload/contract/settings.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'

const wanted = new Set<Indicator>(['needs_you', 'interrupted', 'failed', 'unread'])

export type RunningSession = { id: string; title: string }
export type SessionWithProcesses = { title: string; count: number }

export type Attention = {
  /** Sessions that want the person. */
  wanting: number
  running: readonly RunningSession[]
  /** Sessions whose processes run on, a turn or none. */
  processes: readonly SessionWithProcesses[]
  /** Titles of terminals in which something runs. */
  busyTerminals: readonly string[]
  settings: Settings
}

export const nothingYet: Attention = {
  wanting: 0,
  running: [],
  processes: [],
  busyTerminals: [],
  settings: defaultSettings,
}

/**
 * Follows the workbench until the client's signal fires. `changed` is called after each change of the figures, `heard`
 * with every event.
 */
export async function followAttention(
  handlers: Handlers,
  client: ClientContext & { signal: AbortSignal },
  changed: (attention: Attention) => void,
  heard: (event: WorkbenchEvent) => void = () => {},
): Promise<void> {
  const entries = new Map<string, Entry>()
  const terminals = new Map<string, TerminalState>()
  let settings = defaultSettings
  const see = (event: WorkbenchEvent): void => {
    switch (event.type) {
      case 'entry.put':
        entries.set(event.entry.id, event.entry)
        break
      case 'entry.removed':
        entries.delete(event.id)
        break
      case 'terminal.changed':
        if (event.terminal) terminals.set(event.terminal.id, event.terminal)
        if (event.removed !== undefined) terminals.delete(event.removed)
        break
      case 'settings.changed':
        settings = Settings.safeParse(event.settings).data ?? settings
        break
      default:
        return
    }
    tell()
  }
  const tell = (): void => {
    const all = [...entries.values()]
    changed({
      wanting: all.filter(({ indicator }) => wanted.has(indicator)).length,
      running: all.filter(({ runningSince }) => runningSince !== null).map(({ id, title }) => ({ id, title })),
      processes: all
        .filter(({ execRunning }) => execRunning > 0)
        .map(({ title, execRunning }) => ({ title, count: execRunning })),
      busyTerminals: [...terminals.values()].filter(({ busy, state }) => busy && state === 'running').map(titleOf),
      settings,
    })
  }

  // Subscribed first, so that nothing falls between (T-215).
  const events = handlers.host.watch({ stream: newId() }, client)[Symbol.asyncIterator]()
  let next = events.next()
  settings = await handlers.settings.get(undefined, client)
  for (const terminal of await handlers.terminals.list(undefined, client)) terminals.set(terminal.id, terminal)
  let before: { updatedAt: number; id: string } | undefined
  for (;;) {
    const page = await handlers.sessions.list(
      { limit: listPageMax, ...(before === undefined ? {} : { before }) },
      client,
    )
    for (const entry of page.entries) entries.set(entry.id, entry)
    const last = page.entries.at(-1)
    if (!page.more || !last) break
    before = { updatedAt: last.updatedAt, id: last.id }
  }
  tell()
  for (;;) {
    const { value, done } = await next
    if (done) return
    next = events.next()
    see(value)
    heard(value)
  }
}

function titleOf({ title }: TerminalState): string {
  return title
}
