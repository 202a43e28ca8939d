/**
 * What stands behind the windows of a test: the loopback web host, the desktop application on its stand-in, or the same on
 * Electron's own binary where that is here. The main specs run on each of them unchanged.
 */
import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { _electron, type BrowserContext, type Page } from '@playwright/test'
import { sandboxArguments } from '../scripts/browser.ts'
import { DesktopApp } from './electron-stand-in/driver.ts'
import type { Lab, LatheProcess } from './lab.ts'

const hosts = ['web', 'stand-in', 'electron'] as const
export type HostName = (typeof hosts)[number]

export type HostUnderTest = {
  /** The first window. */
  page: Page
  context: BrowserContext
  /** Another window; `prepare` has its page before it loads anything, on the web. */
  another(prepare?: (page: Page) => Promise<void>): Promise<Page>
  /** Without mercy. */
  kill(): Promise<void>
  /** Serves the same data folder again and answers its address; on the web only. */
  serveAgain(): Promise<string>
  close(): Promise<void>
}

export type Opening = {
  lab: Lab
  /** The folder it is opened with; null for none. */
  folder: string | null
  limitMs?: number | undefined
}

const root = resolve(import.meta.dirname, '..')
const electronBinary = join(
  root,
  'node_modules/electron/dist',
  process.platform === 'win32' ? 'electron.exe' : 'electron',
)

/** Whether Electron's own binary is here. */
export function hasElectron(): Promise<boolean> {
  return access(electronBinary).then(
    () => true,
    () => false,
  )
}

export async function openWeb(context: BrowserContext, { lab, folder, limitMs }: Opening): Promise<HostUnderTest> {
  const args = ['serve', '--json', ...(folder === null ? [] : ['--workspace', folder])]
  const start = (...more: string[]): LatheProcess =>
    lab.start([...args, ...more], limitMs === undefined ? {} : { limitMs })
  let host = start()
  const [first, page] = await Promise.all([addressOf(host), context.newPage()])
  let url = first
  await page.goto(url)
  return {
    page,
    context,
    async another(prepare) {
      const other = await context.newPage()
      await prepare?.(other)
      await other.goto(url)
      return other
    },
    async kill() {
      host.kill('SIGKILL')
      await host.ended
    },
    async serveAgain() {
      // The address is new: so is its token (Z-171).
      host = start('--port', new URL(url).port)
      url = await addressOf(host)
      return url
    },
    close: () => context.close(),
  }
}

async function addressOf(host: LatheProcess): Promise<string> {
  return JSON.parse(await host.line((line) => line.includes('"url"'))).url
}

export async function openStandIn({ lab, folder }: Opening): Promise<HostUnderTest> {
  const app = await DesktopApp.start({ env: lab.env, cwd: lab.workspace, args: folder === null ? [] : [folder] })
  try {
    const page = await app.firstPage()
    return {
      page,
      context: page.context(),
      async another() {
        const before = (await app.state()).windows.length
        await app.act('menu.choose', ['File', 'New window'])
        const { windows } = await app.until('another window', (state) => state.windows.length > before)
        return app.page(windows.at(-1)!.id)
      },
      kill: async () => app.kill(),
      serveAgain: onTheWebOnly,
      close: () => app[Symbol.asyncDispose](),
    }
  } catch (error) {
    await app[Symbol.asyncDispose]()
    throw error
  }
}

export async function openElectron({ lab, folder }: Opening): Promise<HostUnderTest> {
  const app = await _electron.launch({
    executablePath: electronBinary,
    args: [...sandboxArguments(), root, ...(folder === null ? [] : [folder])],
    cwd: lab.workspace,
    env: lab.env as Record<string, string>,
  })
  return {
    page: await app.firstWindow(),
    context: app.context(),
    async another() {
      const opened = app.waitForEvent('window')
      await app.evaluate(({ Menu }) => {
        const file = Menu.getApplicationMenu()?.items.find(({ label }) => label === 'File')
        file?.submenu?.items.find(({ label }) => label === 'New window')?.click()
      })
      return opened
    },
    kill: async () => void app.process().kill('SIGKILL'),
    serveAgain: onTheWebOnly,
    close: async () => void app.process().kill('SIGKILL'),
  }
}

function onTheWebOnly(): never {
  throw new Error('Only the web host is served again.')
}
