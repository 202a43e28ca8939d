/**
 * What the desktop shell asks of its page, beside the requests the page makes of it: to show something, or to run a
 * command a person chose in the application menu. Nothing of it sends, approves, trusts or runs by itself (S-122).
 */
import { z } from 'zod'
import { Id } from './ids.ts'

export const settingsPages = [
  'general',
  'appearance',
  'models',
  'agents',
  'approvals',
  'terminal',
  'keys',
  'browsers',
  'storage',
  'about',
] as const
const Folder = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.includes('\0'), 'A path has no NUL.')

export const ShellRequest = z.discriminatedUnion('do', [
  z.object({ do: z.literal('show'), sessionId: Id, itemId: Id.nullable() }),
  /** An unsent session. `asked` is a folder the person named themselves; one from a link is confirmed first. */
  z.object({
    do: z.literal('new'),
    workspace: Folder.nullable(),
    prompt: z.string().max(8_192).nullable(),
    asked: z.boolean(),
  }),
  z.object({ do: z.literal('settings'), page: z.enum(settingsPages) }),
  z.object({ do: z.literal('command'), id: z.string().max(64) }),
])
export type ShellRequest = z.infer<typeof ShellRequest>

export type MenuCommand = { id: string; title: string; keys?: string }

/**
 * The commands the application menu shows, by menu. They are the page's own, which a test compares; none of them answers
 * an approval. A null is a line between groups.
 */
export const menuCommands: Readonly<
  Record<'File' | 'View' | 'Session' | 'Go' | 'Help', readonly (MenuCommand | null)[]>
> = {
  File: [
    { id: 'session.new', title: 'New session', keys: 'Mod+N' },
    { id: 'workspace.open', title: 'Open folder', keys: 'Mod+O' },
    null,
    { id: 'session.exportMarkdown', title: 'Export session as Markdown' },
    { id: 'session.exportJson', title: 'Export session as JSON' },
    { id: 'session.exportHtml', title: 'Export session as HTML' },
    { id: 'session.import', title: 'Import session…' },
    null,
    { id: 'models.connect', title: 'Connect a model' },
    { id: 'settings.open', title: 'Settings', keys: 'Mod+,' },
  ],
  View: [
    { id: 'palette.commands', title: 'Show all commands', keys: 'Mod+Shift+P' },
    null,
    { id: 'pane.list', title: 'Show or hide sessions', keys: 'Mod+B' },
    { id: 'pane.inspector', title: 'Show or hide the inspector', keys: 'Mod+Alt+B' },
    { id: 'pane.terminal', title: 'Show or hide terminals', keys: 'Ctrl+`' },
    null,
    { id: 'zoom.in', title: 'Zoom in', keys: 'Mod+=' },
    { id: 'zoom.out', title: 'Zoom out', keys: 'Mod+-' },
    { id: 'zoom.reset', title: 'Reset zoom', keys: 'Mod+0' },
  ],
  Session: [
    { id: 'session.rename', title: 'Rename session', keys: 'F2' },
    { id: 'session.pin', title: 'Pin or unpin session' },
    { id: 'session.archive', title: 'Archive session' },
    { id: 'session.unread', title: 'Mark session as unread' },
    { id: 'session.copyLink', title: 'Copy link to session' },
    null,
    { id: 'turn.stop', title: 'Stop the turn' },
    { id: 'model.choose', title: 'Choose model', keys: 'Mod+Shift+M' },
    null,
    { id: 'terminal.new', title: 'New terminal', keys: 'Ctrl+Shift+`' },
  ],
  Go: [
    { id: 'palette.open', title: 'Go to session or file', keys: 'Mod+K' },
    { id: 'palette.files', title: 'Go to file', keys: 'Mod+P' },
    { id: 'search.sessions', title: 'Search in all sessions', keys: 'Mod+Shift+F' },
    null,
    { id: 'session.next', title: 'Next session', keys: 'Ctrl+Tab' },
    { id: 'session.previous', title: 'Previous session', keys: 'Ctrl+Shift+Tab' },
    null,
    { id: 'changes.next', title: 'Next change', keys: 'F7' },
    { id: 'changes.previous', title: 'Previous change', keys: 'Shift+F7' },
  ],
  Help: [
    { id: 'shortcuts.show', title: 'Keyboard shortcuts', keys: 'Mod+/' },
    { id: 'welcome.show', title: 'Welcome page' },
  ],
}

/** The session a page shows is the fragment of its address, so that it survives reload, crash and restart (S-121). */
export function addressOfSession(sessionId: string | null): string {
  return sessionId === null ? '' : `#session=${sessionId}`
}

/** The session of a page's address; null where it shows none. */
export function sessionOfAddress(url: string): string | null {
  const hash = URL.parse(url)?.hash ?? ''
  const { data } = Id.safeParse(hash.startsWith('#session=') ? hash.slice('#session='.length) : '')
  return data ?? null
}
