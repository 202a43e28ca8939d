/** `BrowserWindow` and `WebContents` over pages of Chromium. The scheme `app:` is a server on a loopback port. */
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { BrowserWindowConstructorOptions, WebPreferences } from 'electron'
import type { Chromium, Params } from './chromium.ts'
import { peerOf, portBehind } from './ports.ts'
import { fromLoopback, toLoopback } from './schemes.ts'
import { offer, state, tooEarly, type WindowRecord } from './state.ts'
import { Preventable, strict } from './strict.ts'
import { isolatedWorld, mainWorld } from './worlds.js'

const worldName = 'preload'

/** The parts of Electron a window speaks to; given by `electron.ts`. */
export type Surroundings = {
  chromium(): Chromium
  app: EventEmitter
  ipcMain: EventEmitter
}
let around: Surroundings
export function surround(given: Surroundings): void {
  around = given
}

/** Real windows by what the shell holds of them. */
const all = new Map<number, WindowBase>()
const front: { window: WindowBase | null } = { window: null }
let lastId = 0

/** A frame as `ipcMain` tells of it: one object for each load. */
class Frame {
  readonly url: string
  readonly #contents: Contents

  constructor(url: string, contents: Contents) {
    this.url = url
    this.#contents = contents
  }

  postMessage(channel: string, message: unknown, transfer: unknown[] = []): void {
    this.#contents.give(channel, message === null ? [] : [message], transfer)
  }
}

class Contents extends EventEmitter {
  readonly window: WindowBase
  readonly preferences: WebPreferences
  readonly shown: object
  sessionId = ''
  targetId = ''
  readonly opened: Promise<void>
  #frame: object
  #mainFrameId = ''
  #url = ''
  /** The isolated world of the page that is loaded; null while there is none. */
  #context: number | null = null
  readonly #ports = new Map<number, ReturnType<typeof portBehind>>()
  #lastPort = 0
  #ownNavigation: string | null = null
  #windowOpen: ((details: { url: string }) => { action: string }) | null = null
  #dead = false

  constructor(window: WindowBase, preferences: WebPreferences) {
    super()
    this.window = window
    this.preferences = preferences
    this.shown = strict('WebContents', this, { gone: () => this.#dead })
    this.#frame = strict('WebFrameMain', new Frame('', this))
    this.opened = this.#open()
    this.opened.catch(() => {})
  }

  get mainFrame(): object {
    return this.#frame
  }

  getURL(): string {
    return this.#url
  }

  send(channel: string, ...args: unknown[]): void {
    this.give(channel, args, [])
  }

  give(channel: string, args: unknown[], transfer: unknown[]): void {
    const copies = structuredClone(args)
    const ports = transfer.map((shown) => {
      const port = portBehind(shown)
      const id = ++this.#lastPort
      const peer = peerOf(port)
      port.giveAway()
      this.#ports.set(id, peer)
      peer.connect({
        take: (data) => this.#tell({ type: 'port', port: id, data }),
        closed: () => {
          this.#ports.delete(id)
          this.#tell({ type: 'port-closed', port: id })
        },
      })
      return id
    })
    this.#tell({ type: 'ipc', channel, args: copies, ports })
  }

  forcefullyCrashRenderer(): void {
    void this.#send('Page.crash').catch(() => {})
  }

  replaceMisspelling(): void {}

  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.#windowOpen = handler
  }

  /** A window the page opened: closed, as its handler must say. */
  opensWindow(url: string): void {
    const said = this.#windowOpen?.({ url })
    if (said?.action !== 'deny') throw new Error('The stand-in opens no windows of pages.')
    state.refused.push(`open ${url}`)
  }

  async load(url: string): Promise<void> {
    await this.opened
    const target = toLoopback(url)
    this.#ownNavigation = target
    const loaded = new Promise<void>((resolve, reject) => {
      this.once('stand-in-loaded', resolve)
      this.once('stand-in-gone', () => reject(new Error(`ERR_FAILED loading ${url}`)))
    })
    loaded.catch(() => {})
    const { errorText } = await this.#send('Page.navigate', { url: target })
    if (errorText) throw new Error(`${errorText as string} loading ${url}`)
    await loaded
  }

  async reload(): Promise<void> {
    this.#ownNavigation = toLoopback(this.#url)
    await this.#send('Page.reload')
  }

  async drop(paths: string[]): Promise<void> {
    const files = await Promise.all(
      paths.map(async (path) => {
        const { size, mtimeMs, isDirectory } = await stat(path).then((found) => ({
          size: found.size,
          mtimeMs: found.mtimeMs,
          isDirectory: found.isDirectory(),
        }))
        return { path, name: basename(path), size: isDirectory ? null : size, mtime: mtimeMs }
      }),
    )
    this.#tell({ type: 'dropped', files })
    const { width, height } = this.window.bounds
    const at = {
      x: Math.round(width / 2),
      y: Math.round(height / 2),
      data: { items: [], files: paths, dragOperationsMask: 1 },
    }
    for (const type of ['dragEnter', 'dragOver', 'drop']) await this.#send('Input.dispatchDragEvent', { type, ...at })
  }

  /** Gone for good. */
  end(): void {
    this.#dead = true
    this.#leaveWorld()
    this.emit('stand-in-gone')
  }

  #send(method: string, params: Params = {}): Promise<Params> {
    return around.chromium().send(method, params, this.sessionId)
  }

  #tell(message: unknown): void {
    if (this.#context === null || this.#dead) return
    const expression = `standInTake(${JSON.stringify(message)})`
    void this.#send('Runtime.evaluate', { expression, contextId: this.#context }).catch(() => {})
  }

  async #open(): Promise<void> {
    const chromium = around.chromium()
    const { width, height } = this.window.bounds
    const { targetId } = await chromium.send('Target.createTarget', {
      url: 'about:blank',
      newWindow: true,
      width,
      height,
    })
    this.targetId = String(targetId)
    const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true })
    this.sessionId = String(sessionId)
    const on = (method: string, listener: (params: Params) => void): void =>
      chromium.on(method, listener, this.sessionId)
    on('Page.frameNavigated', (params) => this.#navigated(params['frame'] as FrameInfo))
    on('Page.navigatedWithinDocument', ({ frameId, url }) => {
      if (frameId !== this.#mainFrameId) return
      this.#url = fromLoopback(String(url))
      this.emit('did-navigate-in-page', new Preventable(), this.#url, true)
    })
    on('Page.loadEventFired', () => {
      this.emit('stand-in-loaded')
      this.window.readyToShow()
    })
    on('Runtime.executionContextCreated', ({ context }) => {
      const { id, name, auxData } = context as { id: number; name: string; auxData: { frameId: string } }
      if (name === worldName && auxData.frameId === this.#mainFrameId) this.#context = id
    })
    on('Runtime.executionContextsCleared', () => this.#leaveWorld())
    on('Runtime.bindingCalled', ({ payload, executionContextId }) => {
      if (executionContextId === this.#context) this.#hear(JSON.parse(String(payload)) as FromPage)
    })
    on('Fetch.requestPaused', (params) => void this.#judge(params))
    on('Inspector.targetCrashed', () => {
      this.#leaveWorld()
      this.emit('stand-in-gone')
      this.emit('render-process-gone', new Preventable(), { reason: 'crashed', exitCode: 139 })
    })
    const { frameTree } = await this.#send('Page.getFrameTree')
    this.#mainFrameId = (frameTree as { frame: { id: string } }).frame.id
    await Promise.all([
      this.#send('Page.enable'),
      this.#send('Runtime.enable'),
      this.#send('Inspector.enable'),
      this.#send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] }),
      this.#send('Runtime.addBinding', { name: 'standIn', executionContextName: worldName }),
      ...this.#worlds().map((script) => this.#send('Page.addScriptToEvaluateOnNewDocument', script)),
    ])
  }

  #worlds(): Params[] {
    const config = JSON.stringify({ secret: `lathe-${randomUUID()}` })
    const preload = readFileSync(this.preferences.preload!, 'utf8')
    const isolated = `(${isolatedWorld.toString()})(${config}, (require, module, exports) => {${preload}\n})`
    return [{ source: isolated, worldName }, { source: `(${mainWorld.toString()})(${config})` }]
  }

  #navigated({ id, parentId, url, urlFragment }: FrameInfo): void {
    if (parentId !== undefined) return
    this.#mainFrameId = id
    this.#url = fromLoopback(url + (urlFragment ?? ''))
    this.#frame = strict('WebFrameMain', new Frame(this.#url, this))
    this.emit('did-navigate', new Preventable(), this.#url)
  }

  #hear(message: FromPage): void {
    if (message.type === 'ipc') {
      const event = { sender: this.shown, senderFrame: this.#frame, ports: [] }
      around.ipcMain.emit(message.channel, event, ...message.args)
    } else if (message.type === 'open') this.opensWindow(message.url)
    else if (message.type === 'port') this.#ports.get(message.port)?.take(message.data)
    else {
      this.#ports.get(message.port)?.end()
      this.#ports.delete(message.port)
    }
  }

  /** The page and its ports are gone. */
  #leaveWorld(): void {
    this.#context = null
    for (const port of this.#ports.values()) port.end()
    this.#ports.clear()
  }

  /** Whether a page may go where it wants to; what the shell loads itself is not asked about. */
  async #judge({ requestId, request, frameId }: Params): Promise<void> {
    const { url: asked, urlFragment = '' } = request as { url: string; urlFragment?: string }
    const url = fromLoopback(asked + urlFragment)
    const isMainFrame = frameId === this.#mainFrameId
    const own =
      isMainFrame && (this.#ownNavigation === asked + urlFragment || this.#ownNavigation?.split('#')[0] === asked)
    this.#ownNavigation = null
    const event = Object.assign(new Preventable(), { url, isMainFrame })
    if (!own) {
      this.emit('will-frame-navigate', event)
      if (isMainFrame) this.emit('will-navigate', event, url)
    }
    if (!event.defaultPrevented) return void (await this.#send('Fetch.continueRequest', { requestId }).catch(() => {}))
    state.refused.push(`navigate ${url}`)
    await this.#send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => {})
  }
}

type FrameInfo = { id: string; parentId?: string; url: string; urlFragment?: string }
type FromPage =
  | { type: 'ipc'; channel: string; args: unknown[] }
  | { type: 'open'; url: string }
  | { type: 'port'; port: number; data: unknown }
  | { type: 'port-closed'; port: number }

class WindowBase extends EventEmitter {
  readonly id = ++lastId
  readonly contents: Contents
  readonly shownWindow: object
  bounds: WindowRecord['bounds']
  #maximized = false
  #minimized = false
  #visible: boolean
  #destroyed = false
  #wasReady = false

  constructor(options: BrowserWindowConstructorOptions) {
    super()
    if (tooEarly()) throw new Error('Cannot create BrowserWindow before app is ready')
    const { x = 100, y = 100, width = 800, height = 600, show = true, icon, webPreferences = {} } = options
    // Electron warns and goes on, which nobody would see.
    if (typeof icon === 'string' && !existsSync(icon)) throw new Error(`Failed to load image from path '${icon}'`)
    const { sandbox, contextIsolation, nodeIntegration } = webPreferences
    if (!sandbox || !contextIsolation || nodeIntegration || !webPreferences.preload)
      throw new Error('The stand-in has sandboxed, isolated windows with a preload script only.')
    this.bounds = { x, y, width, height }
    this.#visible = show
    this.contents = new Contents(this, webPreferences)
    this.shownWindow = strict('BrowserWindow', this, { gone: () => this.#destroyed })
    all.set(this.id, this)
    around.app.emit('web-contents-created', new Preventable(), this.contents.shown)
  }

  get webContents(): object {
    return this.contents.shown
  }

  loadURL(url: string): Promise<void> {
    return this.contents.load(url)
  }
  show(): void {
    this.#visible = true
    this.focus()
  }
  focus(): void {
    front.window = this
    void this.contents.opened
      .then(() => around.chromium().send('Page.bringToFront', {}, this.contents.sessionId))
      .catch(() => {})
  }
  restore(): void {
    this.#minimized = false
  }
  maximize(): void {
    this.#maximized = true
  }
  minimize(): void {
    this.#minimized = true
  }
  isMinimized(): boolean {
    return this.#minimized
  }
  isMaximized(): boolean {
    return this.#maximized
  }
  isDestroyed(): boolean {
    return this.#destroyed
  }
  getNormalBounds(): WindowRecord['bounds'] {
    return { ...this.bounds }
  }

  close(): void {
    const event = new Preventable()
    this.emit('close', event)
    if (!event.defaultPrevented) void this.#end()
  }

  /** The page is asked first whether it may go, so that the window is there for a while yet. */
  async #end(): Promise<void> {
    await this.contents.opened.catch(() => {})
    await around
      .chromium()
      .send('Target.closeTarget', { targetId: this.contents.targetId })
      .catch(() => {})
    this.destroy()
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    all.delete(this.id)
    if (front.window === this) front.window = null
    this.contents.end()
    void around
      .chromium()
      .send('Target.closeTarget', { targetId: this.contents.targetId })
      .catch(() => {})
    this.emit('closed')
    if (all.size === 0) around.app.emit('window-all-closed')
  }

  readyToShow(): void {
    if (this.#wasReady) return
    this.#wasReady = true
    state.readyMs ??= performance.now()
    this.emit('ready-to-show')
  }

  record(): WindowRecord {
    return {
      id: this.id,
      url: this.contents.getURL(),
      focused: front.window === this,
      shown: this.#visible,
      bounds: this.bounds,
      devTools: this.contents.preferences.devTools ?? true,
    }
  }
}

class BrowserWindowShown {
  constructor(options: BrowserWindowConstructorOptions) {
    return new WindowBase(options).shownWindow
  }
  static getAllWindows(): object[] {
    return [...all.values()].map(({ shownWindow }) => shownWindow)
  }
  static getFocusedWindow(): object | null {
    return front.window?.shownWindow ?? null
  }
}
export const BrowserWindow = BrowserWindowShown

export function windowOfTarget(targetId: string): WindowBase | undefined {
  return [...all.values()].find(({ contents }) => contents.targetId === targetId)
}

export function focusedWindow(): WindowBase | null {
  return front.window
}

export function closeWindows(): void {
  for (const window of all.values()) window.close()
}

function windowOf(id: number): WindowBase {
  const window = all.get(id)
  if (!window) throw new Error(`There is no window ${id}.`)
  return window
}

offer('windows', () => [...all.values()].map((window) => window.record()))
offer('window.target', (id: number) => windowOf(id).contents.targetId)
offer('window.close', (id: number) => windowOf(id).close())
offer('window.crash', (id: number) => windowOf(id).contents.forcefullyCrashRenderer())
offer('window.focus', (id: number) => windowOf(id).focus())
offer('window.blur', () => {
  front.window = null
})
offer('window.move', ({ id, bounds }: { id: number; bounds: WindowRecord['bounds'] }) => {
  windowOf(id).bounds = bounds
  windowOf(id).emit('move')
})
offer('window.drop', ({ id, paths }: { id: number; paths: string[] }) => windowOf(id).contents.drop(paths))
offer('window.contextMenu', ({ id, params }: { id: number; params: Params }) =>
  windowOf(id).contents.emit('context-menu', new Preventable(), params),
)
/** Whether a page that wants a webview is refused it. */
offer('window.attachWebview', (id: number) => {
  const event = new Preventable()
  windowOf(id).contents.emit('will-attach-webview', event, {}, {})
  return event.defaultPrevented
})
/** Whether a server that sends the page elsewhere is refused. */
offer('window.redirect', ({ id, url }: { id: number; url: string }) => {
  const event = Object.assign(new Preventable(), { url, isMainFrame: true })
  windowOf(id).contents.emit('will-redirect', event, url)
  return event.defaultPrevented
})
/** A message as a frame other than the page's own would send it; answers how many frames were given a port for it. */
offer('ipc.forge', ({ id, channel, url, main }: { id: number; channel: string; url: string | null; main: boolean }) => {
  const given: string[] = []
  const frame = url === null ? null : { url, postMessage: (name: string) => given.push(name) }
  const sender = { mainFrame: main ? frame : {} }
  windowOf(id)
  around.ipcMain.emit(channel, { sender, senderFrame: frame, ports: [] })
  return given.length
})
