/** The desktop application: one instance, its windows, menu and tray, over a host that outlives any window. */
import { join } from 'node:path'
import { app, BrowserWindow, dialog, Menu, nativeImage, Tray } from 'electron'
import { errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Keychain } from '../storage/secrets.ts'
import type { Desktop } from '../transport/answers/services.ts'
import { createConnections } from '../transport/connections.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import { listPageFiles, pageFolder } from '../transport/page-files.ts'
import { followAttention, type Attention } from './attention.ts'
import { linkAmong, parseDeepLink } from './deep-link.ts'
import { createDialogs } from './dialogs.ts'
import { openKeychain } from './keychain.ts'
import { menuTemplate } from './menu.ts'
import { registerPageScheme, servePage } from './page.ts'
import { givePorts } from './ports.ts'
import { createWindows } from './windows.ts'

const closeMs = 15_000
const followAgainMs = 1_000

export type DesktopHost = {
  handlers: Handlers
  fault(error: unknown, route: string): void
  /** Whether the workbench is in this process. */
  owns(): boolean
  announce(): Promise<void>
  close(): Promise<void>
}

export type DesktopOptions = {
  home: string
  openHost(parts: { desktop: Desktop; keychain: Keychain | undefined; signal: AbortSignal }): Promise<DesktopHost>
}

/** Runs until the person quits. A second start hands its arguments to the first and exits 0 (S-134). */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  if (!app.requestSingleInstanceLock()) return app.exit(0)
  app.enableSandbox()
  registerPageScheme()
  app.setAsDefaultProtocolClient('lathe')
  try {
    await app.whenReady()
    await start(options)
  } catch (error) {
    const { message, hint } = errorBody(error)
    dialog.showErrorBox('Lathe could not start', hint === undefined ? message : `${message}\n\n${hint}`)
    app.exit(1)
  }
}

async function start({ home, openHost }: DesktopOptions): Promise<void> {
  const developer = process.argv.includes('--dev')
  const quitting = new AbortController()
  const desktop = createDialogs()
  const host = await openHost({ desktop, keychain: await openKeychain(home), signal: quitting.signal })
  const handlers = host.owns() ? host.handlers : withDesktop(host.handlers, desktop)
  servePage(await listPageFiles(await pageFolder()))
  givePorts(createConnections({ handlers, fault: host.fault }))
  const windows = createWindows({ home, preload: join(app.getAppPath(), 'out', 'preload', 'preload.cjs'), developer })
  Menu.setApplicationMenu(
    Menu.buildFromTemplate(
      menuTemplate({ platform: process.platform, developer, newWindow: () => void windows.open() }),
    ),
  )
  const tray = createTray(() => void windows.show())

  app.on('second-instance', (_event, argv) => void windows.show(linkAmong(argv)))
  app.on('open-url', (event, url) => {
    event.preventDefault()
    void windows.show(parseDeepLink(url))
  })
  app.on('activate', () => void windows.show())

  let attention: Attention | null = null
  void keepFollowing(handlers, quitting.signal, (now) => {
    attention = now
    app.setBadgeCount(now.wanting())
    tray?.setToolTip(now.wanting() === 0 ? 'Lathe' : `Lathe, ${now.wanting()} waiting for you`)
  })

  app.on('window-all-closed', () => {
    // With a turn running it stays in the tray, if there is one (S-144).
    if (process.platform === 'darwin' || (tray && (attention?.running().length ?? 0) > 0)) return
    app.quit()
  })
  app.on('before-quit', (event) => {
    if (quitting.signal.aborted) return
    event.preventDefault()
    void mayQuit(attention?.running() ?? []).then(async (may) => {
      if (!may) return
      quitting.abort()
      await Promise.race([host.close(), new Promise((done) => setTimeout(done, closeMs))])
      app.exit(0)
    })
  })

  await host.announce()
  await windows.open()
  const link = linkAmong(process.argv)
  if (link) await windows.show(link)
}

/** Where another process owns the workbench, what only this one can do is still done here. */
function withDesktop(handlers: Handlers, desktop: Desktop): Handlers {
  const ok = { ok: true } as const
  const host: Handlers['host'] = {
    watch: (input, client) => handlers.host.watch(input, client),
    info: async (input, client) => ({
      ...(await handlers.host.info(input, client)),
      kind: 'desktop',
      capabilities: ['open_folder_dialog', 'reveal', 'open_external', 'windows'],
    }),
    reveal: async ({ path }) => desktop.reveal(path).then(() => ok),
    openExternal: async ({ url }) => desktop.openExternal(url).then(() => ok),
    chooseFolder: async () => ({ path: await desktop.chooseFolder() }),
  }
  return new Proxy(handlers, { get: (all, name: keyof Handlers) => (name === 'host' ? host : all[name]) })
}

/** Follows the list over owners that come and go. */
async function keepFollowing(
  handlers: Handlers,
  signal: AbortSignal,
  changed: (attention: Attention) => void,
): Promise<void> {
  const client: ClientContext & { signal: AbortSignal } = {
    clientId: newId(),
    kind: 'window',
    attendance: 'attended',
    signal,
  }
  while (!signal.aborted) {
    await followAttention(handlers, client, changed).catch(() => {})
    await new Promise((done) => setTimeout(done, followAgainMs))
  }
}

/** Null on a desktop without a tray. */
function createTray(show: () => void): Tray | null {
  try {
    const tray = new Tray(nativeImage.createFromPath(join(app.getAppPath(), 'assets', 'icons', 'trayTemplate.png')))
    tray.setToolTip('Lathe')
    tray.setContextMenu(
      Menu.buildFromTemplate([
        { label: 'Open Lathe', click: show },
        { type: 'separator' },
        { label: 'Quit', click: () => app.quit() },
      ]),
    )
    tray.on('click', show)
    return tray
  } catch {
    return null
  }
}

/** Asks once where work would be stopped, naming it (S-143). */
async function mayQuit(running: string[]): Promise<boolean> {
  if (running.length === 0) return true
  const { response } = await dialog.showMessageBox({
    type: 'warning',
    message: running.length === 1 ? 'A session is still running' : `${running.length} sessions are still running`,
    detail: running.slice(0, 10).join('\n'),
    buttons: ['Stop all and quit', 'Keep running', 'Cancel'],
    defaultId: 1,
    cancelId: 2,
    noLink: true,
  })
  if (response === 1) for (const window of BrowserWindow.getAllWindows()) window.close()
  return response === 0
}
