/** Menus, tray, notifications, dialogs, keychain and the like: recorded, and acted on by a test as the person would. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import type { MenuItemConstructorOptions } from 'electron'
import { type MenuEntry, offer, state, tooEarly } from './state.ts'
import { Preventable, strict, strictClass } from './strict.ts'

/** What is on screen. */
const shown: { menu: MenuBase | null; contextMenu: MenuBase | null; tray: TrayBase | null } = {
  menu: null,
  contextMenu: null,
  tray: null,
}

type Click = NonNullable<MenuItemConstructorOptions['click']>

/** What the roles do that a test may choose; `electron.ts` fills it. */
export const roles = new Map<string, () => void>()

class MenuBase {
  readonly template: MenuItemConstructorOptions[]

  constructor(template: MenuItemConstructorOptions[]) {
    this.template = template
  }

  static buildFromTemplate(template: MenuItemConstructorOptions[]): MenuBase {
    for (const item of template) checkItem(item)
    return new MenuBase(template)
  }

  static setApplicationMenu(menu: MenuBase): void {
    shown.menu = menu
    state.menu = entriesOf(menu.template)
  }

  popup(): void {
    shown.contextMenu = this
    state.contextMenu = entriesOf(this.template)
  }
}
export const Menu = strictClass('Menu', MenuBase)

/** As Electron: an item has a label, a role or is a line, and keys it can parse. */
function checkItem(item: MenuItemConstructorOptions): void {
  if (item.label === undefined && item.role === undefined && item.type !== 'separator')
    throw new TypeError('Invalid template for MenuItem: must have at least one of label, role or type')
  if (
    item.accelerator !== undefined &&
    !/^((CommandOrControl|Ctrl|Alt|Shift|Super)\+)*([A-Z0-9]|F\d+|Tab|[`=,\-/.;'[\]\\])$/.test(item.accelerator)
  )
    throw new TypeError(`The accelerator ${item.accelerator} cannot be parsed.`)
  if (Array.isArray(item.submenu)) for (const one of item.submenu) checkItem(one)
}

function entriesOf(template: readonly MenuItemConstructorOptions[]): MenuEntry[] {
  return template.map(({ id, label, role, type, accelerator, enabled, submenu }) => ({
    ...(id === undefined ? {} : { id }),
    ...(label === undefined ? {} : { label }),
    ...(role === undefined ? {} : { role }),
    ...(type === undefined ? {} : { type }),
    ...(accelerator === undefined ? {} : { accelerator }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(Array.isArray(submenu) ? { submenu: entriesOf(submenu) } : {}),
  }))
}

/** Chooses an item by the labels or roles on the way to it. */
function choose(template: readonly MenuItemConstructorOptions[], path: readonly string[]): void {
  const [name, ...rest] = path
  const item = template.find((one) => one.label === name || one.role === name || one.id === name)
  if (!item) throw new Error(`There is no menu item ${name}.`)
  if (item.enabled === false) throw new Error(`The menu item ${name} is disabled.`)
  if (rest.length > 0) return choose(item.submenu as MenuItemConstructorOptions[], rest)
  if (item.click) (item.click as Click)({} as never, undefined, {} as never)
  else {
    const act = roles.get(item.role ?? '')
    if (!act) throw new Error(`The stand-in does not know what the menu item ${name} does.`)
    act()
  }
}

class TrayBase extends EventEmitter {
  menu: MenuBase | null = null

  constructor(image: { isEmpty(): boolean }) {
    super()
    if (tooEarly()) throw new Error('A Tray cannot be made before the app is ready.')
    if (process.env['STAND_IN_TRAY'] === 'none') throw new Error('There is no tray.')
    if (image.isEmpty()) throw new Error('The tray has no icon.')
    state.tray = { tooltip: '', menu: [] }
    shown.tray = this
  }

  setToolTip(text: string): void {
    state.tray!.tooltip = text
  }

  setContextMenu(menu: MenuBase): void {
    this.menu = menu
    state.tray!.menu = entriesOf(menu.template)
  }
}
export const Tray = strictClass('Tray', TrayBase)

export const nativeImage = strict('nativeImage', {
  createFromPath: (path: string) => strict('NativeImage', { isEmpty: () => !existsSync(path) }),
})

const notifications = new Map<number, EventEmitter>()
class NotificationBase extends EventEmitter {
  readonly #record: NativeState['notifications'][number]

  constructor({ title, body }: { title: string; body: string }) {
    super()
    if (tooEarly()) throw new Error('A Notification cannot be made before the app is ready.')
    this.#record = { id: state.notifications.length + 1, title, body, state: 'closed' }
  }

  static isSupported(): boolean {
    return true
  }

  show(): void {
    this.#record.state = 'shown'
    state.notifications.push(this.#record)
    notifications.set(this.#record.id, this)
  }

  close(): void {
    if (this.#record.state !== 'shown') return
    this.#record.state = 'closed'
    setImmediate(() => this.emit('close', new Preventable()))
  }
}
type NativeState = typeof state
export const Notification = strictClass('Notification', NotificationBase)

type Waiting = { record: NativeState['dialogs'][number]; resolve(answer: unknown): void }
const waiting = new Map<number, Waiting>()

function ask(kind: string, given: readonly unknown[]): Promise<never> {
  const options = given.at(-1) as Record<string, unknown>
  const record = { id: state.dialogs.length + 1, kind, options: structuredClone(options), answered: false }
  state.dialogs.push(record)
  return new Promise((resolve) => waiting.set(record.id, { record, resolve: resolve as (answer: unknown) => void }))
}

export const dialog = strict('dialog', {
  showMessageBox: (...given: unknown[]) => ask('message', given),
  showOpenDialog: (...given: unknown[]) => ask('open', given),
  showErrorBox: (title: string, content: string) => {
    state.dialogs.push({ id: state.dialogs.length + 1, kind: 'error', options: { title, content }, answered: true })
    console.error(`${title}: ${content}`)
  },
})

const key = createHash('sha256').update('stand-in').digest()
export const safeStorage = strict('safeStorage', {
  isAsyncEncryptionAvailable: async () => !tooEarly() && process.env['STAND_IN_KEYCHAIN'] !== 'none',
  getSelectedStorageBackend: () => (tooEarly() ? 'unknown' : (process.env['STAND_IN_KEYCHAIN'] ?? 'gnome_libsecret')),
  async encryptStringAsync(text: string): Promise<Buffer> {
    if (typeof text !== 'string') throw new TypeError('A string is encrypted.')
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), body])
  },
  async decryptStringAsync(bytes: Buffer): Promise<{ result: string; shouldReEncrypt: boolean }> {
    if (!Buffer.isBuffer(bytes)) throw new TypeError('A Buffer is decrypted.')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28))
    return {
      result: decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8'),
      shouldReEncrypt: false,
    }
  },
})

export const clipboard = strict('clipboard', {
  writeText: async (text: string) => {
    state.clipboard = text
  },
})

export const shell = strict('shell', {
  openExternal: async (url: string) => void state.openedOutside.push(url),
  showItemInFolder: (path: string) => void state.revealed.push(path),
})

export const screen = strict(
  'screen',
  { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1_920, height: 1_080 } }] },
  { early: tooEarly },
)

const realPowerMonitor = new EventEmitter()
export const powerMonitor = strict('powerMonitor', realPowerMonitor)

const blockers = new Set<number>()
let lastBlocker = 0
export const powerSaveBlocker = strict('powerSaveBlocker', {
  start(type: string): number {
    if (type !== 'prevent-app-suspension' && type !== 'prevent-display-sleep')
      throw new TypeError(`powerSaveBlocker has no ${type}.`)
    blockers.add(++lastBlocker)
    state.staysAwake = true
    return lastBlocker
  },
  stop(id: number): boolean {
    const stopped = blockers.delete(id)
    state.staysAwake = blockers.size > 0
    return stopped
  },
})

export const nativeTheme = strict('nativeTheme', {
  get themeSource(): string {
    return state.theme
  },
  set themeSource(theme: string) {
    if (!['system', 'light', 'dark'].includes(theme)) throw new TypeError(`nativeTheme has no ${theme}.`)
    state.theme = theme
  },
})

offer('menu.choose', (path: string[]) => choose(shown.menu?.template ?? [], path))
offer('contextMenu.choose', (path: string[]) => choose(shown.contextMenu?.template ?? [], path))
offer('tray.choose', (path: string[]) => choose(shown.tray?.menu?.template ?? [], path))
offer('tray.click', () => shown.tray?.emit('click'))
offer('notification.click', (id: number) => {
  state.notifications.find((one) => one.id === id)!.state = 'clicked'
  notifications.get(id)!.emit('click')
})
offer('dialog.answer', ({ id, answer }: { id: number; answer: unknown }) => {
  const { record, resolve } = waiting.get(id)!
  waiting.delete(id)
  record.answered = true
  resolve(answer)
})
/** The machine goes down with the event `shutdown`, and takes everything with it that does not ask it to wait. */
offer('power', (name: string) => {
  const event = new Preventable()
  realPowerMonitor.emit(name, event)
  if (name === 'shutdown' && !event.defaultPrevented) process.kill(process.pid, 'SIGKILL')
})
