/** The application menu and the tray's: templates made from the commands both sides know and from what runs (S-120, S-177). */
import type { MenuItemConstructorOptions } from 'electron'
import { menuCommands } from '../../preload/contract/shell.ts'
import type { Attention } from './attention.ts'
import { shownText } from './shown-text.ts'

const trayMax = 10

/** A binding as the page writes it (`Mod+Alt+B`), as Electron does; undefined for a chord, which no menu can show. */
export function accelerator(keys: string | null | undefined): string | undefined {
  if (keys == null || keys.includes(' ')) return undefined
  return keys
    .split('+')
    .map((key) => (key === 'Mod' ? 'CommandOrControl' : key === 'Meta' ? 'Super' : key))
    .join('+')
}

export type MenuActs = { newWindow(): void; command(id: string): void }

/**
 * Keys are shown and not taken: the page handles them first, and a focused terminal keeps plain Ctrl+letters (S-177). On
 * macOS, where a menu's key always acts, the page has had it before.
 */
export function menuTemplate(options: {
  platform: NodeJS.Platform
  developer: boolean
  /** The person's own bindings by command, over the default ones; null is none. */
  keys: Readonly<Record<string, string | null>>
  act: MenuActs
}): MenuItemConstructorOptions[] {
  const { platform, developer, keys, act } = options
  const mac = platform === 'darwin'
  const separator = { type: 'separator' as const }
  const commandsOf = (menu: keyof typeof menuCommands): MenuItemConstructorOptions[] =>
    menuCommands[menu].map((command) => {
      if (command === null) return separator
      const shown = accelerator(command.id in keys ? keys[command.id] : command.keys)
      return {
        id: command.id,
        label: command.title,
        ...(shown === undefined ? {} : { accelerator: shown, registerAccelerator: false }),
        click: () => act.command(command.id),
      }
    })
  return [
    ...(mac ? [{ role: 'appMenu' as const }] : []),
    {
      label: 'File',
      submenu: [
        { label: 'New window', accelerator: 'CommandOrControl+Shift+N', click: () => act.newWindow() },
        ...commandsOf('File'),
        separator,
        mac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        ...commandsOf('View'),
        separator,
        { role: 'reload', accelerator: 'F5' },
        ...(developer ? [{ role: 'toggleDevTools' as const }] : []),
        { role: 'togglefullscreen' },
      ],
    },
    { label: 'Session', submenu: commandsOf('Session') },
    { label: 'Go', submenu: commandsOf('Go') },
    { role: 'windowMenu' },
    { role: 'help', submenu: commandsOf('Help') },
  ]
}

/** The sessions that run, each a way to its window. */
export function trayTemplate(
  { running }: Pick<Attention, 'running'>,
  act: { open(): void; show(sessionId: string): void; quit(): void },
): MenuItemConstructorOptions[] {
  const sessions = running
    .slice(0, trayMax)
    .map(({ id, title }) => ({ label: shownText(title), click: () => act.show(id) }))
  return [
    { label: 'Open Lathe', click: () => act.open() },
    { type: 'separator' },
    ...(sessions.length === 0
      ? [{ label: 'Nothing is running', enabled: false }]
      : [{ label: 'Running', enabled: false }, ...sessions]),
    { type: 'separator' },
    { label: 'Quit', click: () => act.quit() },
  ]
}
