/** What a command is, and the conditions that many of them share. The commands stand beside what they act on. */
import { useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'

export const categories = ['Session', 'Turn', 'Go', 'View', 'Changes', 'Terminal', 'Workspace', 'Lathe'] as const
type Category = (typeof categories)[number]

export interface Command {
  id: string
  title: string
  category: Category
  /** Default binding, as `keys.ts` writes it. */
  keys?: string
  /** Acts only while a terminal has the focus. */
  inTerminal?: boolean
  /** Left out of the palette: steps that only make sense as keys. */
  keysOnly?: boolean
  /** The page does this by itself on these keys, with rights a script has not; the command stands for menu and palette. */
  nativeKeys?: boolean
  /** True, or why it cannot be done now, as the palette says it. */
  when?: () => true | string
  run: () => unknown
}

export const sessionId = () => useWindow.getState().sessionId
export const entry = () => {
  const id = sessionId()
  return id === null ? undefined : useWorkbench.getState().entries.get(id)
}
export const inSession = () => sessionId() !== null || 'No session is open.'
export const listed = () =>
  sessionId() === null ? 'No session is open.' : entry() !== undefined || 'The session has no message yet.'
export const connected = () => useWorkbench.getState().link === 'connected' || 'Lathe is reconnecting.'

/** Runs with the current session's id; nothing without one. */
export const onSession = (work: (id: string) => unknown) => () => {
  const id = sessionId()
  return id === null ? undefined : work(id)
}
