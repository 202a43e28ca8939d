/**
 * Electron as far as the shell uses it, over a Chromium of the machine: for the SAME built bundles where Electron's own
 * binary cannot be had. The preload script runs in an isolated world; what crosses is a structured clone; ports are
 * transferred; native effects are recorded. What it does not have throws with its name.
 */
import { EventEmitter } from 'node:events'
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { dirname, join, resolve } from 'node:path'
import { Chromium } from './chromium.ts'
import { roles } from './native.ts'
import { handleScheme, loopbackOrigin, fromLoopback, openSchemes, registerSchemes } from './schemes.ts'
import { becomeReady, listenForTheTest, offer, onlyBeforeReady, state, tooEarly } from './state.ts'
import { Preventable, strict } from './strict.ts'
import {
  BrowserWindow as BrowserWindowClass,
  closeWindows,
  focusedWindow,
  surround,
  windowOfTarget,
} from './windows.ts'

export {
  clipboard,
  dialog,
  Menu,
  nativeImage,
  nativeTheme,
  Notification,
  powerMonitor,
  powerSaveBlocker,
  safeStorage,
  screen,
  shell,
  Tray,
} from './native.ts'
export { MessageChannelMain } from './ports.ts'
export const BrowserWindow = BrowserWindowClass

/** `out/main/main.js` lies two folders below the application. */
const appPath = resolve(dirname(process.argv[1]!), '..', '..')
/** As an installed application: the program has no argument that names one, and a folder of resources. */
const isPackaged = process.env['STAND_IN_PACKAGED'] === '1'
if (isPackaged) {
  process.argv.splice(1, 1)
  Object.defineProperty(process, 'resourcesPath', { value: dirname(appPath) })
}
let chromium: Chromium | null = null
let userData = ''
let quitting = false

const ready = Promise.withResolvers<void>()

class App extends EventEmitter {
  readonly isPackaged = isPackaged
  /** As elsewhere than on macOS. */
  readonly dock = undefined
  readonly commandLine = strict('app.commandLine', {
    removeSwitch: (name: string) => void state.switchesRemoved.push(name),
  })

  whenReady(): Promise<void> {
    return ready.promise
  }
  getAppPath(): string {
    return appPath
  }
  getVersion(): string {
    return (JSON.parse(readFileSync(join(appPath, 'package.json'), 'utf8')) as { version: string }).version
  }
  getName(): string {
    return 'Lathe'
  }
  getPath(name: string): string {
    if (name !== 'userData') throw new Error(`The stand-in has no path ${name}.`)
    return userData
  }
  setPath(name: string, path: string): void {
    if (name !== 'userData') throw new Error(`The stand-in has no path ${name}.`)
    userData = path
  }
  enableSandbox(): void {
    onlyBeforeReady('app.enableSandbox')
    state.sandboxed = true
  }
  setAsDefaultProtocolClient(scheme: string): boolean {
    state.protocolClients.push(scheme)
    return true
  }
  setBadgeCount(count: number): boolean {
    state.badge = count
    return true
  }

  requestSingleInstanceLock(data: unknown): boolean {
    const lock = join(userData, 'stand-in.lock')
    for (;;) {
      try {
        const file = openSync(lock, 'wx')
        writeFileSync(file, String(process.pid))
        closeSync(file)
        hearSecondStarts()
        process.once('exit', () => rmSync(lock, { force: true }))
        return true
      } catch {
        if (!isAlive(Number(readFileSync(lock, 'utf8')))) {
          rmSync(lock, { force: true })
          continue
        }
        const note = join(userData, `second-${process.pid}`)
        writeFileSync(note, JSON.stringify({ argv: process.argv, from: process.cwd(), data: structuredClone(data) }))
        renameSync(note, `${note}.json`)
        return false
      }
    }
  }

  releaseSingleInstanceLock(): void {
    rmSync(join(userData, 'stand-in.lock'), { force: true })
  }

  quit(): void {
    if (quitting) return
    const event = new Preventable()
    this.emit('before-quit', event)
    if (event.defaultPrevented) return
    quitting = true
    closeWindows()
    this.emit('will-quit', new Preventable())
    this.exit(0)
  }

  exit(code: number): void {
    chromium?.kill()
    process.exit(code)
  }
}

const realApp = new App()
export const app = strict('app', realApp)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function hearSecondStarts(): void {
  const take = async (): Promise<void> => {
    // Told of once it is ready only.
    await ready.promise
    for (const name of readdirSync(userData)) {
      if (!/^second-\d+\.json$/.test(name)) continue
      const { argv, from, data } = JSON.parse(readFileSync(join(userData, name), 'utf8')) as Record<string, unknown>
      unlinkSync(join(userData, name))
      realApp.emit('second-instance', new Preventable(), argv, from, data)
    }
  }
  watch(userData, () => void take()).unref()
}

const realIpcMain = new EventEmitter()
export const ipcMain = strict('ipcMain', realIpcMain)

export const protocol = strict('protocol', {
  registerSchemesAsPrivileged: registerSchemes,
  handle: handleScheme,
})

type CheckHandler = (contents: unknown, permission: string, origin: string) => boolean
type RequestHandler = (
  contents: unknown,
  permission: string,
  decide: (granted: boolean) => void,
  details: { requestingUrl: string },
) => void

/** Permissions as Electron and as Chromium's protocol name them. */
const permissions = {
  'clipboard-sanitized-write': 'clipboard-write',
  'clipboard-read': 'clipboard-read',
  notifications: 'notifications',
  geolocation: 'geolocation',
  media: 'camera',
  midi: 'midi',
  'display-capture': 'display-capture',
} as const

let check: CheckHandler | null = null
let request: RequestHandler | null = null

class Session extends EventEmitter {
  setPermissionRequestHandler(handler: RequestHandler): void {
    request = handler
    void tellPermissions()
  }
  setPermissionCheckHandler(handler: CheckHandler): void {
    check = handler
    void tellPermissions()
  }
  setDevicePermissionHandler(handler: () => boolean): void {
    if (handler()) throw new Error('The stand-in has no devices to give.')
  }
  /** Asked at once, as by a page that wants to see the screen; null is the only answer that refuses without a fault. */
  setDisplayMediaRequestHandler(handler: (request: unknown, answer: (streams?: object | null) => void) => void): void {
    handler({ frame: null, videoRequested: true, audioRequested: false, userGesture: true }, (streams) => {
      if (streams == null) return
      if (!('video' in streams)) throw new TypeError('Video was requested, but no video stream was provided')
      throw new Error('The stand-in has no screen to give.')
    })
  }
}
const realSession = new Session()
export const session = strict(
  'session',
  {
    defaultSession: strict('Session', realSession),
    /** Only its identity counts: what is asked through it goes by `net`. */
    fromPartition: (partition: string) => strict('Session', { partition }),
  },
  { early: tooEarly },
)

/** Requests of the main process itself, as Node makes them. */
export const net = strict('net', {
  request: (options: RequestOptions & { protocol?: string }) => {
    const { session: _, redirect: __, ...rest } = options as Record<string, unknown>
    return (options.protocol === 'http:' ? httpRequest : httpsRequest)(rest)
  },
})
/** Electron's own updater; electron-updater tells it that the application quits for an update. */
export const autoUpdater = strict('autoUpdater', new EventEmitter())

/**
 * Chromium is told beforehand what the shell's handlers answer for our page: the check is asked first, and where it denies
 * the request is.
 */
async function tellPermissions(): Promise<void> {
  if (!check || !request || !chromium) return
  for (const [name, inChromium] of Object.entries(permissions)) {
    let granted = check(null, name, 'app://lathe/')
    if (!granted) request(null, name, (yes) => (granted = yes), { requestingUrl: 'app://lathe/' })
    if (!granted) state.refused.push(`permission ${name}`)
    await chromium
      .send('Browser.setPermission', {
        permission: { name: inChromium },
        setting: granted ? 'granted' : 'denied',
        origin: loopbackOrigin(),
      })
      .catch(() => {})
  }
}

async function start(): Promise<void> {
  listenForTheTest()
  heedSignals()
  const program = process.env['STAND_IN_BROWSER']
  // What shows no window needs no browser: the command line inside the application.
  if (program) await openBrowser(program)
  becomeReady()
  ready.resolve()
  realApp.emit('ready')
}

/** As Electron on its way to being ready: its own handlers take the place of any that were there before. */
function heedSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(name)
    process.on(name, () => {
      if (process.listenerCount(name) === 1) realApp.quit()
    })
  }
}

async function openBrowser(program: string): Promise<void> {
  await openSchemes()
  const profile = join(userData, 'chromium')
  chromium = await Chromium.start(
    program,
    profile,
    (process.env['STAND_IN_BROWSER_ARGS'] ?? '').split(' ').filter(Boolean),
  )
  state.endpoint = chromium.endpoint
  chromium.on('Target.targetCreated', ({ targetInfo }) => {
    const { targetId, openerId, url } = targetInfo as { targetId: string; openerId?: string; url: string }
    const opener = openerId === undefined ? undefined : windowOfTarget(openerId)
    if (!opener) return
    void chromium!.send('Target.closeTarget', { targetId }).catch(() => {})
    opener.contents.opensWindow(url)
  })
  chromium.on('Target.targetDestroyed', ({ targetId }) => windowOfTarget(String(targetId))?.destroy())
  chromium.on('Browser.downloadWillBegin', ({ guid, url, suggestedFilename }) => {
    const event = new Preventable()
    const item = strict('DownloadItem', { getURL: () => fromLoopback(String(url)) })
    realSession.emit('will-download', event, item)
    if (event.defaultPrevented) {
      state.refused.push(`download ${fromLoopback(String(url))}`)
      void chromium!.send('Browser.cancelDownload', { guid }).catch(() => {})
    } else state.saved.push(String(suggestedFilename))
  })
  await chromium.send('Target.setDiscoverTargets', { discover: true })
  const downloadPath = join(userData, 'downloads')
  await chromium.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath, eventsEnabled: true })
  surround({ chromium: () => chromium!, app: realApp, ipcMain: realIpcMain })
}

// Whoever drove it is gone.
process.once('disconnect', () => realApp.exit(1))

roles.set('quit', () => realApp.quit())
roles.set('reload', () => void focusedWindow()?.contents.reload())
offer('app.quit', () => realApp.quit())
offer('app.openUrl', (url: string) => realApp.emit('open-url', new Preventable(), url))
offer('app.openFile', (path: string) => realApp.emit('open-file', new Preventable(), path))
offer('app.activate', () => realApp.emit('activate'))

// As Electron: ready only after the main module has been evaluated.
setImmediate(() => {
  start().catch((error: unknown) => {
    console.error(error)
    realApp.exit(1)
  })
})
