/** The desktop application: one instance for each data folder, over a host that outlives any window. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { app, dialog, Menu, nativeImage, nativeTheme, powerMonitor, powerSaveBlocker, Tray } from 'electron'
import { z } from 'zod'
import { errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { ShellRequest } from '../../preload/contract/shell.ts'
import { type LateTick, watchLoop } from '../platform/loop-lag.ts'
import type { Keychain } from '../storage/secrets.ts'
import type { Desktop } from '../transport/answers/host-answers.ts'
import { createConnections } from '../transport/connections.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import { listPageFiles, pageFolder } from '../transport/page-files.ts'
import { type Attention, followAttention, nothingYet } from './attention.ts'
import { parseDeepLink, requestAmong, requestForFolder } from './deep-link.ts'
import { createDialogs } from './dialogs.ts'
import { applicationId, icons } from './identity.ts'
import { openKeychain } from './keychain.ts'
import { menuTemplate, trayTemplate } from './menu.ts'
import { createNotifications } from './notifications.ts'
import { UpdateNews, withOwnAnswers } from './own-answers.ts'
import { registerPageScheme, servePage } from './page.ts'
import { givePorts } from './ports.ts'
import { quitQuestion, staysWithoutWindows } from './quit.ts'
import { findUpdateFeed } from './update-feed.ts'
import { createUpdates } from './updates.ts'
import { createWindows, type Windows } from './windows.ts'

const closeMs = 15_000
const installMs = 60_000
const followAgainMs = 1_000

export type DesktopHost = {
  handlers: Handlers
  fault(error: unknown, route: string): void
  late(tick: LateTick): void
  /** Whether the workbench is in this process. */
  owns(): boolean
  announce(): Promise<void>
  close(): Promise<void>
}

export type DesktopOptions = {
  home: string
  openHost(parts: { desktop: Desktop; keychain: Keychain | undefined; signal: AbortSignal }): Promise<DesktopHost>
}

/** What a second start hands to the first. */
const Start = z.strictObject({ args: z.array(z.string().max(4_096)).max(64), from: z.string().max(4_096) })

/** Runs until the person quits. A second start for the same data folder hands its arguments to the first and exits 0 (S-134). */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  // The browser's own files, and with them the lock of the instance, belong to the data folder.
  const browserFolder = join(options.home, 'browser')
  mkdirSync(browserFolder, { recursive: true, mode: 0o700 })
  app.setPath('userData', browserFolder)
  const given = { args: ownArguments().slice(0, 64), from: process.cwd() }
  if (!app.requestSingleInstanceLock(given)) return app.exit(0)
  app.enableSandbox()
  if (app.isPackaged)
    for (const name of ['remote-debugging-port', 'remote-debugging-pipe']) app.commandLine.removeSwitch(name)
  // From source it would be Electron itself that links are given to.
  if (app.isPackaged) app.setAsDefaultProtocolClient('lathe')
  if (process.platform === 'win32') app.setAppUserModelId(applicationId)
  registerPageScheme()
  const windows = Promise.withResolvers<Windows>()
  listenForRequests((request) => void windows.promise.then(({ show }) => show(request)))
  try {
    await app.whenReady()
    const opened = await start(options)
    const request = await requestAmong(given.args, given.from)
    if (request) await opened.show(request)
    windows.resolve(opened)
  } catch (error) {
    const { message, hint } = errorBody(error)
    dialog.showErrorBox('Lathe could not start', hint === undefined ? message : `${message}\n\n${hint}`)
    app.exit(1)
  }
}

/**
 * For the command line, which has no window and wants no icon. Resolves when the application is ready: until then Electron
 * puts its own handlers of Ctrl+C and the polite kill over any that are there.
 */
export function readyForCommands(): Promise<void> {
  app.dock?.hide()
  return app.whenReady()
}

/** The arguments after the program, and after the folder of the application where that is one. */
function ownArguments(): string[] {
  return process.argv.slice(app.isPackaged ? 1 : 2)
}

/** Links, folders and second starts; those of the start itself come before any window does. */
function listenForRequests(take: (request: ShellRequest | null) => void): void {
  app.on('second-instance', (_event, _argv, _from, data) => {
    const { args, from } = Start.safeParse(data).data ?? { args: [], from: '/' }
    void requestAmong(args, from).then(take)
  })
  app.on('open-url', (event, url) => {
    event.preventDefault()
    take(parseDeepLink(url))
  })
  app.on('open-file', (event, path) => {
    event.preventDefault()
    void requestForFolder(path).then(take)
  })
  app.on('activate', () => take(null))
}

async function start({ home, openHost }: DesktopOptions): Promise<Windows> {
  const developer = process.argv.includes('--dev')
  const quitting = new AbortController()
  const desktop = createDialogs()
  const host = await openHost({ desktop, keychain: await openKeychain(home), signal: quitting.signal })
  const loop = watchLoop({ late: host.late })
  powerMonitor.on('resume', () => loop.resumed())
  let attention = nothingYet
  const news = new UpdateNews()
  const updates = createUpdates({
    feed: await findUpdateFeed(),
    mayStop: async () => (await askToStop(attention, ['update', 'cancel'])) === 'update',
    changed: (update) => news.tell(update),
    leave: () => void leave(),
  })
  const handlers = withOwnAnswers(host.handlers, { desktop, updates, news, owns: host.owns })

  const windows = createWindows({
    home,
    preload: join(app.getAppPath(), 'out', 'preload', 'preload.cjs'),
    developer,
    sessionEnds: () => void leave(),
  })
  servePage(await listPageFiles(await pageFolder()), windows.crashDetails)
  givePorts(createConnections({ handlers, fault: host.fault }))
  const tray = createTray(() => void windows.show())
  const notifications = createNotifications({
    at: () => ({ enabled: attention.settings['notifications.enabled'], focusedSession: windows.focusedSession() }),
    show: (request) => void windows.show(request),
  })
  const awake = createWakefulness()

  function showAttention(now: Attention): void {
    const keysChanged = JSON.stringify(now.settings.keys) !== JSON.stringify(attention.settings.keys)
    attention = now
    updates.follow(now.settings['updates.check'])
    if (keysChanged) showMenu()
    nativeTheme.themeSource = nativeThemes[now.settings['app.theme']]
    app.setBadgeCount(now.wanting)
    tray?.setToolTip(now.wanting === 0 ? 'Lathe' : `Lathe, ${now.wanting} waiting for you`)
    tray?.setContextMenu(
      Menu.buildFromTemplate(
        trayTemplate(now, {
          open: () => void windows.show(),
          show: (sessionId) => void windows.show({ do: 'show', sessionId, itemId: null }),
          quit: () => app.quit(),
        }),
      ),
    )
    awake.keep(now.settings['app.keepAwake'] && now.running.length > 0)
  }
  function showMenu(): void {
    const act = { newWindow: () => void windows.open(), command: (id: string) => void windows.command(id) }
    const { keys } = attention.settings
    Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate({ platform: process.platform, developer, keys, act })))
  }
  showMenu()
  showAttention(nothingYet)
  void keepFollowing(handlers, quitting.signal, showAttention, notifications.hear)

  /** Settles, flushes, installs what the person asked to be installed, and exits; once. */
  async function leave(): Promise<void> {
    if (quitting.signal.aborted) return
    quitting.abort()
    loop.stop()
    const done = Promise.allSettled([windows.save(), host.close()])
    await Promise.race([done, new Promise((elapsed) => setTimeout(elapsed, closeMs))])
    // The new version is an instance of its own, and may be there before this one has gone.
    app.releaseSingleInstanceLock()
    installing = true
    if (await updates.installPlanned().catch(() => false)) setTimeout(() => app.exit(0), installMs)
    else app.exit(0)
  }
  let installing = false
  async function askAndLeave(): Promise<void> {
    // Staying is offered where there is a way back.
    const canStay = tray !== null || process.platform === 'darwin'
    const answer = await askToStop(attention, canStay ? ['quit', 'keep', 'cancel'] : ['quit', 'cancel'])
    if (answer === 'quit') await leave()
    else if (answer === 'keep') await windows.closeAll()
  }
  let asking: Promise<void> | null = null
  app.on('before-quit', (event) => {
    if (installing) return
    event.preventDefault()
    asking ??= askAndLeave().finally(() => (asking = null))
  })
  app.on('window-all-closed', () => {
    const lastWindow = attention.settings['app.lastWindow']
    const stays = staysWithoutWindows({ platform: process.platform, tray: tray !== null, lastWindow, attention })
    if (!stays && asking === null) app.quit()
  })
  // The machine goes down, or the person's session ends: nobody is there to answer, and nothing is lost by settling at once.
  powerMonitor.on('shutdown', (...[event]: { preventDefault(): void }[]) => {
    // Its types leave the event out, which holds the machine back until this has left.
    event?.preventDefault()
    void leave()
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void leave())

  await host.announce()
  await windows.restore()
  return windows
}

/** Follows the workbench over owners that come and go. */
async function keepFollowing(
  handlers: Handlers,
  signal: AbortSignal,
  changed: Parameters<typeof followAttention>[2],
  heard: Parameters<typeof followAttention>[3],
): Promise<void> {
  const client: ClientContext & { signal: AbortSignal } = {
    clientId: newId(),
    kind: 'window',
    attendance: 'attended',
    signal,
  }
  while (!signal.aborted) {
    await followAttention(handlers, client, changed, heard).catch(() => {})
    await new Promise((done) => setTimeout(done, followAgainMs))
  }
}

/** What menus, dialogs and title bars are drawn in; the page has its own word for it (S-176). */
const nativeThemes = { system: 'system', light: 'light', dark: 'dark', contrast: 'dark' } as const

/** Null on a desktop without a tray. */
function createTray(open: () => void): Tray | null {
  try {
    const tray = new Tray(nativeImage.createFromPath(join(app.getAppPath(), icons(process.platform).tray)))
    tray.on('click', open)
    return tray
  } catch {
    return null
  }
}

/** Keeps the machine from falling asleep by itself while asked to (`app.keepAwake`); a lid closed still does. */
function createWakefulness(): { keep(awake: boolean): void } {
  let blocker: number | null = null
  return {
    keep(awake) {
      if (awake && blocker === null) blocker = powerSaveBlocker.start('prevent-app-suspension')
      else if (!awake && blocker !== null) {
        powerSaveBlocker.stop(blocker)
        blocker = null
      }
    },
  }
}

const answerLabels = {
  quit: 'Stop all and quit',
  update: 'Stop all and update',
  keep: 'Keep running',
  cancel: 'Cancel',
}
type StopAnswer = keyof typeof answerLabels

/** Asks once where work would be stopped, naming it (S-143). The first answer stops all, and is given where nothing runs. */
async function askToStop(attention: Attention, answers: readonly [StopAnswer, ...StopAnswer[]]): Promise<StopAnswer> {
  const question = quitQuestion(attention)
  if (!question) return answers[0]
  const { response } = await dialog.showMessageBox({
    type: 'warning',
    ...question,
    buttons: answers.map((answer) => answerLabels[answer]),
    defaultId: answers.length - 1,
    cancelId: answers.length - 1,
    noLink: true,
  })
  return answers[response] ?? 'cancel'
}
