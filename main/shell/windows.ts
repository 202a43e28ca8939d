/** Windows: made safe, kept on their own page, reloaded after a crash, remembered (security.md 11). */
import { join } from 'node:path'
import { app, BrowserWindow, screen, session } from 'electron'
import { createCounter } from '../transport/connections.ts'
import type { DeepLink } from './deep-link.ts'
import { isAllowed, pageOrigin } from './page-origin.ts'
import { webPreferences } from './window-preferences.ts'
import { boundsOn, readWindowState, writeWindowState } from './window-state.ts'

const windowsMax = 8
const crashesMax = 3
const crashWindowMs = 60_000
const stateQuietMs = 500

export type Windows = {
  open(): Promise<BrowserWindow | null>
  /** Brings a window forward, opening one where there is none, and hands it the link. */
  show(link?: DeepLink | null): Promise<void>
}

export function createWindows(options: { home: string; preload: string; developer: boolean }): Windows {
  const { home, preload, developer } = options
  const pages = session.defaultSession
  pages.setPermissionRequestHandler((_contents, permission, decide, { requestingUrl }) =>
    decide(isAllowed(permission, requestingUrl)),
  )
  pages.setPermissionCheckHandler((_contents, permission, origin) => isAllowed(permission, `${origin}/`))
  pages.setDevicePermissionHandler(() => false)
  pages.setDisplayMediaRequestHandler((_request, answer) => answer({}))
  pages.on('will-download', (event) => event.preventDefault())
  app.on('web-contents-created', (_event, contents) => {
    // Reloading is a navigation to where the page is already.
    const stay = (navigation: { url: string; preventDefault(): void }): void => {
      if (navigation.url !== contents.getURL()) navigation.preventDefault()
    }
    contents.on('will-navigate', stay)
    contents.on('will-redirect', stay)
    contents.on('will-frame-navigate', stay)
    contents.on('will-attach-webview', (event) => event.preventDefault())
    contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  })

  function remember(window: BrowserWindow): void {
    let quiet: NodeJS.Timeout | undefined
    const changed = (): void => {
      clearTimeout(quiet)
      quiet = setTimeout(() => {
        if (window.isDestroyed()) return
        void writeWindowState(home, { ...window.getNormalBounds(), maximized: window.isMaximized() }).catch(() => {})
      }, stateQuietMs)
    }
    window.on('resize', changed)
    window.on('move', changed)
  }

  /** A crashed or hung page is loaded again; three crashes in a minute get a plain page that says so (Z-157). */
  function keepAlive(window: BrowserWindow): void {
    const crashes = createCounter(crashesMax, crashWindowMs, () => performance.now())
    window.webContents.on('render-process-gone', (_event, { reason }) => {
      if (reason === 'clean-exit' || window.isDestroyed()) return
      void window.loadURL(`${pageOrigin}${crashes.count() ? '/' : '/crashed'}`)
    })
    window.on('unresponsive', () => window.webContents.forcefullyCrashRenderer())
  }

  async function open(): Promise<BrowserWindow | null> {
    if (BrowserWindow.getAllWindows().length >= windowsMax) return null
    const state = await readWindowState(home)
    const areas = screen.getAllDisplays().map(({ workArea }) => workArea)
    const window = new BrowserWindow({
      ...boundsOn(areas, state),
      minWidth: 480,
      minHeight: 360,
      show: false,
      title: 'Lathe',
      ...(process.platform === 'linux'
        ? { icon: join(app.getAppPath(), 'assets', 'icons', 'linux', '512x512.png') }
        : {}),
      webPreferences: { ...webPreferences(preload), devTools: developer },
    })
    if (state?.maximized) window.maximize()
    window.once('ready-to-show', () => window.show())
    remember(window)
    keepAlive(window)
    await window.loadURL(`${pageOrigin}/`)
    return window
  }

  return {
    open,
    async show(link = null) {
      const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0] ?? (await open())
      if (!window) return
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      if (link) window.webContents.send('lathe:link', link)
    },
  }
}
