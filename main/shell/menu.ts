import type { MenuItemConstructorOptions } from 'electron'

/** The application menu: what the operating system expects there. All else is in the window's own palette. */
export function menuTemplate(options: {
  platform: NodeJS.Platform
  developer: boolean
  newWindow: () => void
}): MenuItemConstructorOptions[] {
  const { platform, developer, newWindow } = options
  const mac = platform === 'darwin'
  return [
    ...(mac ? [{ role: 'appMenu' as const }] : []),
    {
      label: 'File',
      submenu: [
        { label: 'New Window', accelerator: 'CmdOrCtrl+Shift+N', click: newWindow },
        { type: 'separator' },
        mac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        { role: 'reload' },
        ...(developer ? [{ role: 'toggleDevTools' as const }] : []),
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
  ]
}
