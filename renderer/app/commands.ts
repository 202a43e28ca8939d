/**
 * Every command, once: palette, keys, menus, tooltips and the shortcut sheet are all read from this list (S-115, S-177).
 * An id is what settings and documentation name; it never changes once shipped.
 */
import type { ApprovalMode } from '../../preload/contract/session.ts'
import { showUndo } from '../changes/show-undo.ts'
import { compactContext } from '../context/compact.ts'
import { prefer, usePreferences, withRecent } from '../state/preferences.ts'
import { openSession } from '../state/session-store.ts'
import { paneShown, showDialog, showInspector, showPane, showSession, useWindow } from '../state/window-store.ts'
import { changeSettings, useWorkbench } from '../state/workbench-store.ts'
import { sessionRows } from '../sessions/session-groups.ts'
import {
  archiveSession,
  copySessionLink,
  currentWorkspace,
  deleteSession,
  chooseImport,
  exportSession,
  forkSession,
  markUnread,
  newSession,
  openDemo,
  openFolder,
  pinSession,
} from '../sessions/session-actions.ts'
import { openTerminal } from '../terminal/terminal-actions.ts'
import { attempt } from './attempt.ts'
import { commandTarget } from './command-targets.ts'
import { type BoundCommand, effectiveKeys, shownKeys } from './keys.ts'
import { focusNextRegion, focusRegion } from './regions.ts'

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

const sessionId = () => useWindow.getState().sessionId
const entry = () => {
  const id = sessionId()
  return id === null ? undefined : useWorkbench.getState().entries.get(id)
}
const inSession = () => sessionId() !== null || 'No session is open.'
const listed = () =>
  sessionId() === null ? 'No session is open.' : entry() !== undefined || 'The session has no message yet.'
const running = () => (entry()?.runningSince ? (true as const) : 'No turn is running.')
const connected = () => useWorkbench.getState().link === 'connected' || 'Lathe is reconnecting.'
const inTerminal = () => commandTarget('terminal') !== undefined || 'No terminal is shown.'
const marked = () =>
  commandTarget('terminal')?.marked() ? (true as const) : 'This terminal’s shell does not mark its commands.'
const changesShown = () => commandTarget('changes') !== undefined || 'The Changes tab is not shown.'

/** Runs with the current session's id; nothing without one. */
const onSession = (work: (id: string) => unknown) => () => {
  const id = sessionId()
  return id === null ? undefined : work(id)
}

const modes: Record<ApprovalMode, string> = {
  'read-only': 'Read only',
  ask: 'Ask first',
  edits: 'Allow edits',
  all: 'Allow everything',
}

function setMode(mode: ApprovalMode) {
  return onSession((id) =>
    attempt('Could not change the approval mode', () => openSession(id).controller.configure({ approvalMode: mode })),
  )
}

/** Presses a button of the oldest open card: the card itself decides whether it may be pressed yet (Z-201). */
function pressCard(name: string): void {
  const buttons = document.querySelectorAll<HTMLButtonElement>('[role="group"][aria-label="Approval"] button')
  const button = [...buttons].find(({ textContent, ariaLabel }) => (ariaLabel ?? textContent)?.trim().startsWith(name))
  if (button && !button.disabled && button.getAttribute('aria-disabled') !== 'true') button.click()
}
const cardOpen = () =>
  document.querySelector('[role="group"][aria-label="Approval"]') !== null || 'Nothing waits for approval.'

function shownSessions(): string[] {
  const { entries } = useWorkbench.getState()
  const active = [...entries.values()].filter(({ archivedAt }) => archivedAt === null)
  return sessionRows(active, { collapsed: new Set() }).flatMap((row) => (row.kind === 'entry' ? [row.entry.id] : []))
}

function walkSessions(step: 1 | -1): void {
  const ids = shownSessions()
  if (ids.length === 0) return
  const at = ids.indexOf(sessionId() ?? '')
  showSession(ids[(at + step + ids.length) % ids.length] ?? null)
}

function zoomBy(step: number): void {
  const { settings } = useWorkbench.getState()
  const zoom = step === 0 ? 100 : Math.min(300, Math.max(50, settings['app.zoom'] + step))
  void attempt('Could not change the zoom', () => changeSettings({ 'app.zoom': zoom }))
}

function typeBy(step: number): void {
  const { settings } = useWorkbench.getState()
  const size = Math.min(40, Math.max(6, settings['terminal.fontSize'] + step))
  void attempt('Could not change the size', () => changeSettings({ 'terminal.fontSize': size }))
}

function setTheme(theme: 'system' | 'light' | 'dark' | 'contrast') {
  return () => attempt('Could not change the theme', () => changeSettings({ 'app.theme': theme }))
}

function toggle(pane: 'list' | 'inspector' | 'terminal'): void {
  const shown = !paneShown(pane)
  showPane(pane, shown)
  const region = pane === 'list' ? 'sessions' : pane
  // Shown panes take the focus once they are there; a closed one gives it back to the composer.
  requestAnimationFrame(() => focusRegion(shown ? region : 'composer'))
}

async function showTerminal(): Promise<void> {
  if (!paneShown('terminal') && useWorkbench.getState().terminals.length === 0) return openTerminal()
  toggle('terminal')
}

export const commands: readonly Command[] = [
  {
    id: 'palette.commands',
    title: 'Show all commands',
    category: 'Go',
    keys: 'Mod+Shift+P',
    run: () => showDialog({ kind: 'palette', mode: '>' }),
  },
  {
    id: 'palette.open',
    title: 'Go to session or file',
    category: 'Go',
    keys: 'Mod+K',
    run: () => showDialog({ kind: 'palette', mode: '' }),
  },
  {
    id: 'palette.files',
    title: 'Go to file',
    category: 'Go',
    keys: 'Mod+P',
    run: () => showDialog({ kind: 'palette', mode: '@' }),
  },
  {
    id: 'search.sessions',
    title: 'Search in all sessions',
    category: 'Go',
    keys: 'Mod+Shift+F',
    run: () => showDialog({ kind: 'search' }),
  },
  { id: 'session.next', title: 'Next session', category: 'Go', keys: 'Ctrl+Tab', run: () => walkSessions(1) },
  {
    id: 'session.previous',
    title: 'Previous session',
    category: 'Go',
    keys: 'Ctrl+Shift+Tab',
    run: () => walkSessions(-1),
  },
  ...Array.from({ length: 9 }, (_, index): Command => ({
    id: `session.go${index + 1}`,
    title: `Go to session ${index + 1}`,
    category: 'Go',
    keys: `Mod+${index + 1}`,
    keysOnly: true,
    run: () => {
      const id = shownSessions()[index]
      if (id) showSession(id)
    },
  })),
  { id: 'region.next', title: 'Focus next region', category: 'Go', keys: 'F6', run: () => focusNextRegion(1) },
  {
    id: 'region.previous',
    title: 'Focus previous region',
    category: 'Go',
    keys: 'Shift+F6',
    run: () => focusNextRegion(-1),
  },
  {
    id: 'composer.focus',
    title: 'Focus the message',
    category: 'Go',
    keys: 'Mod+L',
    when: inSession,
    run: () => focusRegion('composer'),
  },

  {
    id: 'session.new',
    title: 'New session',
    category: 'Session',
    keys: 'Mod+N',
    when: connected,
    run: () => newSession(),
  },
  {
    id: 'session.rename',
    title: 'Rename session',
    category: 'Session',
    keys: 'F2',
    when: listed,
    run: onSession((id) => useWindow.setState({ renaming: { sessionId: id, place: 'title' } })),
  },
  {
    id: 'session.deleted',
    title: 'Recently deleted sessions',
    category: 'Session',
    when: connected,
    run: () => showDialog({ kind: 'deleted' }),
  },
  {
    id: 'session.fork',
    title: 'Fork session',
    category: 'Session',
    when: listed,
    run: onSession((id) => forkSession(id)),
  },
  {
    id: 'session.pin',
    title: 'Pin or unpin session',
    category: 'Session',
    when: listed,
    run: onSession((id) => pinSession(id, entry()?.pinnedAt == null)),
  },
  {
    id: 'session.archive',
    title: 'Archive session',
    category: 'Session',
    when: listed,
    run: onSession((id) => archiveSession(id, entry()?.archivedAt == null)),
  },
  {
    id: 'session.unread',
    title: 'Mark session as unread',
    category: 'Session',
    when: listed,
    run: onSession(markUnread),
  },
  {
    id: 'session.exportMarkdown',
    title: 'Export session as Markdown',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'md')),
  },
  {
    id: 'session.exportJson',
    title: 'Export session as JSON',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'json')),
  },
  {
    id: 'session.exportHtml',
    title: 'Export session as HTML',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'html')),
  },
  {
    id: 'session.import',
    title: 'Import session…',
    category: 'Session',
    run: () => void chooseImport(),
  },
  {
    id: 'session.copyLink',
    title: 'Copy link to session',
    category: 'Session',
    when: listed,
    run: onSession(copySessionLink),
  },
  { id: 'session.delete', title: 'Delete session', category: 'Session', when: listed, run: onSession(deleteSession) },

  { id: 'turn.stop', title: 'Stop the turn', category: 'Turn', when: running, run: () => pressStop() },
  {
    id: 'turn.compact',
    title: 'Compact the context',
    category: 'Turn',
    when: inSession,
    run: onSession((id) => compactContext(id)),
  },
  {
    id: 'approval.allow',
    title: 'Allow the oldest approval once',
    category: 'Turn',
    keys: 'Alt+Y',
    when: cardOpen,
    run: () => pressCard('Allow once'),
  },
  {
    id: 'approval.deny',
    title: 'Deny the oldest approval',
    category: 'Turn',
    keys: 'Alt+N',
    when: cardOpen,
    run: () => pressCard('Deny'),
  },
  {
    id: 'model.choose',
    title: 'Choose model',
    category: 'Turn',
    keys: 'Mod+Shift+M',
    run: () => showDialog({ kind: 'models' }),
  },
  ...(Object.keys(modes) as ApprovalMode[]).map((mode): Command => ({
    id: `mode.${mode}`,
    title: `Approval mode: ${modes[mode]}`,
    category: 'Turn',
    when: inSession,
    run: setMode(mode),
  })),

  { id: 'pane.list', title: 'Show or hide sessions', category: 'View', keys: 'Mod+B', run: () => toggle('list') },
  {
    id: 'pane.inspector',
    title: 'Show or hide the inspector',
    category: 'View',
    keys: 'Mod+Alt+B',
    run: () => toggle('inspector'),
  },
  { id: 'pane.terminal', title: 'Show or hide terminals', category: 'View', keys: 'Ctrl+`', run: () => showTerminal() },
  {
    id: 'inspector.changes',
    title: 'Show changes',
    category: 'View',
    keys: 'Mod+Shift+G',
    run: () => showInspector('changes'),
  },
  { id: 'inspector.plan', title: 'Show plan', category: 'View', run: () => showInspector('plan') },
  {
    id: 'inspector.files',
    title: 'Show files',
    category: 'View',
    keys: 'Mod+Shift+E',
    run: () => showInspector('files'),
  },
  { id: 'inspector.context', title: 'Show context', category: 'View', run: () => showInspector('context') },
  { id: 'zoom.in', title: 'Zoom in', category: 'View', keys: 'Mod+=', run: () => zoomBy(10) },
  { id: 'zoom.out', title: 'Zoom out', category: 'View', keys: 'Mod+-', run: () => zoomBy(-10) },
  { id: 'zoom.reset', title: 'Reset zoom', category: 'View', keys: 'Mod+0', run: () => zoomBy(0) },
  { id: 'theme.system', title: 'Theme: follow the system', category: 'View', run: setTheme('system') },
  { id: 'theme.light', title: 'Theme: light', category: 'View', run: setTheme('light') },
  { id: 'theme.dark', title: 'Theme: dark', category: 'View', run: setTheme('dark') },
  { id: 'theme.contrast', title: 'Theme: high contrast', category: 'View', run: setTheme('contrast') },

  {
    id: 'changes.next',
    title: 'Next change',
    category: 'Changes',
    keys: 'F7',
    when: changesShown,
    run: () => commandTarget('changes')?.next(),
  },
  {
    id: 'changes.previous',
    title: 'Previous change',
    category: 'Changes',
    keys: 'Shift+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.previous(),
  },
  {
    id: 'changes.nextFile',
    title: 'Next changed file',
    category: 'Changes',
    keys: 'Alt+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.nextFile(),
  },
  {
    id: 'changes.previousFile',
    title: 'Previous changed file',
    category: 'Changes',
    keys: 'Alt+Shift+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.previousFile(),
  },
  {
    id: 'changes.keep',
    title: 'Keep this change',
    category: 'Changes',
    keys: 'F8',
    when: changesShown,
    run: () => commandTarget('changes')?.keep(),
  },
  {
    id: 'changes.undo',
    title: 'Undo this change',
    category: 'Changes',
    keys: 'Shift+F8',
    when: changesShown,
    run: () => commandTarget('changes')?.undo(),
  },
  {
    id: 'changes.comment',
    title: 'Comment on this change',
    category: 'Changes',
    keys: 'F9',
    when: changesShown,
    run: () => commandTarget('changes')?.comment(),
  },
  {
    id: 'changes.undoTurn',
    title: 'Undo the changes of the latest turn…',
    category: 'Changes',
    when: inSession,
    run: onSession((id) => showUndo(id, false)),
  },
  {
    id: 'changes.redoTurn',
    title: 'Redo the changes of the latest undone turn…',
    category: 'Changes',
    when: inSession,
    run: onSession((id) => showUndo(id, true)),
  },
  {
    id: 'changes.split',
    title: 'Changes: side by side',
    category: 'Changes',
    run: () => prefer({ 'changes.style': 'split' }),
  },
  {
    id: 'changes.unified',
    title: 'Changes: unified',
    category: 'Changes',
    run: () => prefer({ 'changes.style': 'unified' }),
  },
  {
    id: 'changes.wrap',
    title: 'Changes: wrap long lines or not',
    category: 'Changes',
    run: () => prefer({ 'changes.wrap': !usePreferences.getState()['changes.wrap'] }),
  },

  {
    id: 'transcript.find',
    title: 'Find in session',
    category: 'Session',
    keys: 'Mod+F',
    when: () => commandTarget('transcript') !== undefined || 'No session is open.',
    run: () => commandTarget('transcript')?.find(),
  },
  {
    id: 'terminal.new',
    title: 'New terminal',
    category: 'Terminal',
    keys: 'Ctrl+Shift+`',
    when: () => currentWorkspace() !== null || 'No folder is open.',
    run: () => openTerminal(),
  },
  {
    id: 'terminal.find',
    title: 'Find in terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+F',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.find(),
  },
  {
    id: 'terminal.copy',
    title: 'Copy from terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+C',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.copy(),
  },
  {
    id: 'terminal.paste',
    title: 'Paste into terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+V',
    inTerminal: true,
    nativeKeys: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.paste(),
  },
  {
    id: 'terminal.selectAll',
    title: 'Select all in terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+A',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.selectAll(),
  },
  {
    id: 'terminal.previousCommand',
    title: 'Previous command in terminal',
    category: 'Terminal',
    keys: 'Mod+ArrowUp',
    inTerminal: true,
    when: marked,
    run: () => commandTarget('terminal')?.jump(-1),
  },
  {
    id: 'terminal.nextCommand',
    title: 'Next command in terminal',
    category: 'Terminal',
    keys: 'Mod+ArrowDown',
    inTerminal: true,
    when: marked,
    run: () => commandTarget('terminal')?.jump(1),
  },
  {
    id: 'terminal.copyOutput',
    title: 'Copy output of the last command',
    category: 'Terminal',
    when: marked,
    run: () => commandTarget('terminal')?.copyOutput(),
  },
  {
    id: 'terminal.send',
    title: 'Send terminal selection to the agent',
    category: 'Terminal',
    when: () => (inSession() === true ? inTerminal() : inSession()),
    run: () => commandTarget('terminal')?.send(),
  },
  {
    id: 'terminal.sendOutput',
    title: 'Send last command to the agent',
    category: 'Terminal',
    when: () => (inSession() === true ? marked() : inSession()),
    run: () => commandTarget('terminal')?.sendOutput(),
  },
  {
    id: 'terminal.larger',
    title: 'Larger terminal text',
    category: 'Terminal',
    keys: 'Mod+Alt+=',
    run: () => typeBy(1),
  },
  {
    id: 'terminal.smaller',
    title: 'Smaller terminal text',
    category: 'Terminal',
    keys: 'Mod+Alt+-',
    run: () => typeBy(-1),
  },
  {
    id: 'terminal.clear',
    title: 'Clear terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.clear(),
  },
  {
    id: 'terminal.rename',
    title: 'Rename terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.rename(),
  },
  {
    id: 'terminal.close',
    title: 'Close terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.close(),
  },

  {
    id: 'file.save',
    title: 'Save file',
    category: 'Workspace',
    keys: 'Mod+S',
    when: () => commandTarget('editor') !== undefined || 'No file is open to edit.',
    run: () => commandTarget('editor')?.save(),
  },
  {
    id: 'workspace.open',
    title: 'Open folder',
    category: 'Workspace',
    keys: 'Mod+O',
    when: connected,
    run: () => openFolder(),
  },
  { id: 'workspace.demo', title: 'Open the demo', category: 'Workspace', when: connected, run: () => openDemo() },
  { id: 'models.connect', title: 'Connect a model', category: 'Lathe', run: () => showDialog({ kind: 'connect' }) },
  {
    id: 'settings.open',
    title: 'Settings',
    category: 'Lathe',
    keys: 'Mod+,',
    run: () => showDialog({ kind: 'settings', page: 'general' }),
  },
  {
    id: 'settings.keys',
    title: 'Change keyboard shortcuts',
    category: 'Lathe',
    run: () => showDialog({ kind: 'settings', page: 'keys' }),
  },
  {
    id: 'settings.models',
    title: 'Model settings',
    category: 'Lathe',
    run: () => showDialog({ kind: 'settings', page: 'models' }),
  },
  {
    id: 'settings.approvals',
    title: 'Approval rules',
    category: 'Lathe',
    run: () => showDialog({ kind: 'settings', page: 'approvals' }),
  },
  {
    id: 'shortcuts.show',
    title: 'Keyboard shortcuts',
    category: 'Lathe',
    keys: 'Mod+/',
    run: () => showDialog({ kind: 'shortcuts' }),
  },
  { id: 'welcome.show', title: 'Welcome page', category: 'Lathe', run: () => showSession(null) },
]

/** Stop goes through the button that names the turn it stops, so that a turn that just began is never hit. */
function pressStop(): void {
  const buttons = document.querySelectorAll<HTMLButtonElement>('[data-region="composer"] button')
  ;[...buttons].find(({ ariaLabel, textContent }) => (ariaLabel ?? textContent)?.trim() === 'Stop')?.click()
}

const byId = new Map(commands.map((command) => [command.id, command]))

export function command(id: string): Command | undefined {
  return byId.get(id)
}

/** Runs a command by its id. False where it is unknown or cannot be done now. */
export function runCommand(id: string): boolean {
  const found = byId.get(id)
  if (!found || (found.when && found.when() !== true)) return false
  if (!found.keysOnly && found.category !== 'Go') {
    prefer({ 'palette.recent': withRecent(usePreferences.getState()['palette.recent'], id) })
  }
  void found.run()
  return true
}

/** The bindings in force. */
export function boundCommands(
  overrides: Record<string, string | null> = useWorkbench.getState().settings.keys,
): BoundCommand[] {
  return effectiveKeys(commands, overrides)
}

/** A command's keys as text for tooltips and menus, or undefined where it has none. */
export function commandKeys(id: string): string | undefined {
  const found = byId.get(id)
  if (!found) return undefined
  const [bound] = effectiveKeys([found], useWorkbench.getState().settings.keys)
  return bound?.keys ? shownKeys(bound.keys) : undefined
}

/** The same, drawn again when the person changes their keys. */
export function useCommandKeys(id: string): string | undefined {
  useWorkbench((state) => state.settings.keys)
  return commandKeys(id)
}
