/** Windows: made safe, kept on their own page, reloaded after a crash, remembered (security.md 11, S-121). */
import { join } from 'node:path'
import { app, BrowserWindow, clipboard, Menu, screen, session, type WebContents } from 'electron'
import { addressOfSession, sessionOfAddress, type ShellRequest } from '../../preload/contract/shell.ts'
import { createCounter } from '../transport/connections.ts'
import { contextMenuTemplate } from './context-menu.ts'
import { icons } from './identity.ts'
import { crashedPath, isAllowed, isOwnDownload, mayNavigate, pageOrigin } from './page-origin.ts'
import { webPreferences } from './window-preferences.ts'
import { boundsOn, readWindows, type WindowState, windowsMax, writeWindows } from './window-state.ts'

const icon = icons(process.platform).window
const crashesMax = 3
const crashWindowMs = 60_000
const stateQuietMs = 500
const closeMaxMs = 5_000

export type Windows = {
  open(): Promise<BrowserWindow | null>
  /** Opens the windows of last time, or one. */
  restore(): Promise<void>
  /** Brings a window forward, opening one where there is none, and hands it the request. */
  show(request?: ShellRequest | null): Promise<void>
  /** Runs a command in the window in front. */
  command(id: string): Promise<void>
  /** The session of the window that has the focus. */
  focusedSession(): string | null
  /** Closes all and remembers them all. */
  closeAll(): Promise<void>
  /** Writes what is remembered now. */
  save(): Promise<void>
  /** Why a page crashed last, for the page that stands in its place. */
  crashDetails(): string
}

export function createWindows(options: {
  home: string
  preload: string
  developer: boolean
  /** The operating system ends the person's session. */
  sessionEnds(): void
}): Windows {
  const { home, preload, developer } = options
  let closing = false
  let lastCrash = ''
  closeToPages()

  /** What is open, to be opened again; the last window to close is remembered too. */
  async function save(): Promise<void> {
    const states = BrowserWindow.getAllWindows().map(stateOf)
    if (states.length > 0) await writeWindows(home, states).catch(() => {})
  }

  let quiet: NodeJS.Timeout | undefined
  function remember(window: BrowserWindow): void {
    const changed = (): void => {
      clearTimeout(quiet)
      if (!closing) quiet = setTimeout(() => void save(), stateQuietMs)
    }
    window.on('resize', changed)
    window.on('move', changed)
    window.on('closed', changed)
    window.webContents.on('did-navigate-in-page', changed)
  }

  /** A crashed or hung page is loaded again; three crashes in a minute get a plain page that says so (Z-157). */
  function keepAlive(window: BrowserWindow): void {
    const crashes = createCounter(crashesMax, crashWindowMs, () => performance.now())
    window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (reason === 'clean-exit' || window.isDestroyed()) return
      lastCrash = `Lathe ${app.getVersion()}, ${process.platform} ${process.arch}\nreason: ${reason}\nexit code: ${exitCode}`
      const shown = sessionOfAddress(window.webContents.getURL())
      void loadPage(window, crashes.count() ? `/${addressOfSession(shown)}` : crashedPath)
    })
    window.on('unresponsive', () => window.webContents.forcefullyCrashRenderer())
  }

  async function open(state: WindowState | null = null): Promise<BrowserWindow | null> {
    if (BrowserWindow.getAllWindows().length >= windowsMax) return null
    const areas = screen.getAllDisplays().map(({ workArea }) => workArea)
    const window = new BrowserWindow({
      ...boundsOn(areas, state),
      minWidth: 480,
      minHeight: 360,
      show: false,
      title: 'Lathe',
      ...(icon === null ? {} : { icon: join(app.getAppPath(), icon) }),
      webPreferences: { ...webPreferences(preload), devTools: developer },
    })
    if (state?.maximized) window.maximize()
    window.once('ready-to-show', () => window.show())
    window.on('query-session-end', () => options.sessionEnds())
    remember(window)
    keepAlive(window)
    helpWithText(window.webContents)
    await loadPage(window, `/${addressOfSession(state?.sessionId ?? null)}`)
    return window
  }

  async function show(request: ShellRequest | null = null): Promise<void> {
    const all = BrowserWindow.getAllWindows()
    const shows = (window: BrowserWindow): boolean =>
      request?.do === 'show' && sessionOfAddress(window.webContents.getURL()) === request.sessionId
    const window = all.find(shows) ?? BrowserWindow.getFocusedWindow() ?? all[0] ?? (await open())
    // A person may have closed it while it loaded.
    if (!window || window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.show()
    window.focus()
    if (request) window.webContents.send('lathe:request', request)
  }

  return {
    open: () => open(),
    async restore() {
      const kept = await readWindows(home)
      for (const state of kept.length > 0 ? kept : [null]) await open(state)
    },
    show,
    command: (id) => show({ do: 'command', id }),
    focusedSession() {
      const window = BrowserWindow.getFocusedWindow()
      return window ? sessionOfAddress(window.webContents.getURL()) : null
    },
    async closeAll() {
      await save()
      // They close one after another, each when its page has let go: what is open meanwhile is not what was.
      closing = true
      await Promise.all(BrowserWindow.getAllWindows().map(closed))
      closing = false
    },
    save,
    crashDetails: () => lastCrash,
  }
}

/** Closes a window, also where its page does not let go. */
function closed(window: BrowserWindow): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(() => window.destroy(), closeMaxMs)
    window.once('closed', () => {
      clearTimeout(timer)
      done()
    })
    window.close()
  })
}

/** Loading ends early where the page crashes or is closed meanwhile; what follows from that is handled where it is heard. */
async function loadPage(window: BrowserWindow, path: string): Promise<void> {
  await window.loadURL(`${pageOrigin}${path}`).catch(() => {})
}

function stateOf(window: BrowserWindow): WindowState {
  return {
    ...window.getNormalBounds(),
    maximized: window.isMaximized(),
    sessionId: sessionOfAddress(window.webContents.getURL()),
  }
}

/** Whatever a page is or becomes, it stays on itself and gets no rights (Z-153, Z-154). */
function closeToPages(): void {
  const pages = session.defaultSession
  pages.setPermissionRequestHandler((_contents, permission, decide, { requestingUrl }) =>
    decide(isAllowed(permission, requestingUrl)),
  )
  pages.setPermissionCheckHandler((_contents, permission, origin) => isAllowed(permission, `${origin}/`))
  pages.setDevicePermissionHandler(() => false)
  pages.setDisplayMediaRequestHandler((_request, answer) => answer(null))
  pages.on('will-download', (event, item) => {
    if (!isOwnDownload(item.getURL())) event.preventDefault()
  })
  app.on('web-contents-created', (_event, contents) => {
    const stay = (navigation: { url: string; preventDefault(): void }): void => {
      if (!mayNavigate(contents.getURL(), navigation.url)) navigation.preventDefault()
    }
    contents.on('will-navigate', stay)
    contents.on('will-redirect', stay)
    contents.on('will-frame-navigate', stay)
    contents.on('will-attach-webview', (event) => event.preventDefault())
    contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  })
}

/** The menu on text and links, and zoom by the wheel, which the page carries out (S-176). */
function helpWithText(contents: WebContents): void {
  contents.on('context-menu', (_event, asked) => {
    const template = contextMenuTemplate(asked, {
      replace: (word) => contents.replaceMisspelling(word),
      copy: (text) => void clipboard.writeText(text),
    })
    if (template.length > 0) Menu.buildFromTemplate(template).popup()
  })
  contents.on('zoom-changed', (_event, direction) =>
    contents.send('lathe:request', { do: 'command', id: `zoom.${direction}` } satisfies ShellRequest),
  )
}
