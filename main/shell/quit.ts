/** When to leave, and what to ask before: pure (S-143, S-144). */
import type { Attention } from './attention.ts'
import { shownText } from './shown-text.ts'

const namedMax = 10

/** The question before quitting or updating, naming what would be stopped; null where nothing runs. */
export function quitQuestion(
  at: Pick<Attention, 'running' | 'processes' | 'busyTerminals'>,
): { message: string; detail: string } | null {
  const names = [
    ...at.running.map(({ title }) => title),
    ...at.processes.map(({ title, count }) => `${count === 1 ? 'A process' : `${count} processes`} of ${title}`),
    ...at.busyTerminals.map((title) => `Terminal: ${title}`),
  ]
  if (names.length === 0) return null
  const more = names.length > namedMax ? [`and ${names.length - namedMax} more`] : []
  return {
    message: names.length === 1 ? 'Something is still running' : `${names.length} things are still running`,
    detail: [...names.slice(0, namedMax).map((name) => shownText(name)), ...more].join('\n'),
  }
}

/** Whether the application stays once its last window has closed. Without a tray there would be no way back to it. */
export function staysWithoutWindows(at: {
  platform: NodeJS.Platform
  tray: boolean
  lastWindow: 'auto' | 'quit' | 'stay'
  attention: Pick<Attention, 'running' | 'processes' | 'busyTerminals'>
}): boolean {
  if (at.platform === 'darwin') return at.lastWindow !== 'quit'
  if (!at.tray || at.lastWindow === 'quit') return false
  return at.lastWindow === 'stay' || quitQuestion(at.attention) !== null
}
