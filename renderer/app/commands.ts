/**
 * Every command, once: palette, keys, menus, tooltips and the shortcut sheet are all read from this list (S-115, S-177).
 * An id is what settings and documentation name; it never changes once shipped.
 */
import type { ApprovalMode } from '../../preload/contract/session.ts'
import { chooseAgent } from '../composer/choose-agent.ts'
import { changeCommands } from '../changes/change-commands.ts'
import { compactContext } from '../context/compact.ts'
import { openDemo, openFolder } from '../sessions/session-actions.ts'
import { sessionCommands } from '../sessions/session-commands.ts'
import { sessionRows } from '../sessions/session-groups.ts'
import { prefer, usePreferences, withRecent } from '../state/preferences.ts'
import { openSession } from '../state/session-store.ts'
import { paneShown, showDialog, showInspector, showPane, showSession } from '../state/window-store.ts'
import { changeSettings, isWatching, useWorkbench } from '../state/workbench-store.ts'
import { openTerminal } from '../terminal/terminal-actions.ts'
import { terminalCommands } from '../terminal/terminal-commands.ts'
import { approvalModes } from './approval-modes.ts'
import { attempt } from './attempt.ts'
import { type Command, connected, entry, inSession, onSession, sessionId } from './command.ts'
import { commandTarget } from './command-targets.ts'
import { type BoundCommand, effectiveKeys, shownKeys } from './keys.ts'
import { focusNextRegion, focusRegion } from './regions.ts'

const running = () => (entry()?.runningSince ? (true as const) : 'No turn is running.')

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
  const none = useWorkbench.getState().terminals.length === 0
  if (!paneShown('terminal') && none && !isWatching()) return openTerminal()
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

  ...sessionCommands,

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
  {
    id: 'agent.choose',
    title: 'Choose agent',
    category: 'Turn',
    when: inSession,
    run: onSession(chooseAgent),
  },
  ...(Object.keys(approvalModes) as ApprovalMode[]).map((mode): Command => ({
    id: `mode.${mode}`,
    title: `Approval mode: ${approvalModes[mode].label}`,
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

  ...changeCommands,

  {
    id: 'transcript.find',
    title: 'Find in session',
    category: 'Session',
    keys: 'Mod+F',
    when: () => commandTarget('transcript') !== undefined || 'No session is open.',
    run: () => commandTarget('transcript')?.find(),
  },
  ...terminalCommands,

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

/** Those that change nothing: all that a window has which only watches. */
const watchable =
  /^(palette\.|search\.|region\.|pane\.|inspector\.|transcript\.|shortcuts\.|welcome\.|changes\.(next|previous)|session\.(next|previous|go\d|export|copyLink)|terminal\.(find|copy|selectAll|next|previous|focus))/

/** Whether this window has the command at all. */
export function isOffered({ id }: Command): boolean {
  return !isWatching() || watchable.test(id)
}

/** Runs a command by its id. False where it is unknown or cannot be done now. */
export function runCommand(id: string): boolean {
  const found = byId.get(id)
  if (!found || !isOffered(found) || (found.when && found.when() !== true)) return false
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
