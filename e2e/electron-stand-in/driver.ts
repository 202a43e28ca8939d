/** The desktop application on the stand-in, driven as a person does: its windows by Playwright, the rest by its acts. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from '@playwright/test'
import { findBrowser, sandboxArguments } from '../../scripts/browser.ts'
import type { NativeState, WindowRecord } from './state.ts'

const root = resolve(import.meta.dirname, '../..')
/** Longer than any healthy start, act or end takes on a busy machine; what it cuts off is a hang. */
const hangMs = 40_000

export class DesktopApp {
  readonly process: ChildProcess
  /** The exit code, once it has ended. */
  readonly ended: Promise<number | null>
  output = ''
  #asked = 0
  readonly #waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>()
  #browser: Browser | null = null
  #crashed = false

  private constructor(child: ChildProcess) {
    this.process = child
    this.ended = new Promise((done) => child.once('close', done))
    for (const stream of [child.stdout, child.stderr])
      stream!.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    child.on('message', ({ id, result, error }: { id: number; result: never; error?: string }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(result)
      else waiting?.reject(new Error(error))
    })
    void this.ended.then((code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`It ended with ${code}.\n${this.output}`))
    })
  }

  /** Starts the built main bundle, of this checkout or another application folder; `cwd` is where the person is. */
  static async start(options: {
    env: NodeJS.ProcessEnv
    cwd: string
    args?: string[]
    app?: string
  }): Promise<DesktopApp> {
    const browser = await findBrowser()
    if (!browser) throw new Error('The stand-in needs a Chromium; see scripts/browser.ts.')
    const child = spawn(
      process.execPath,
      [
        '--import',
        join(import.meta.dirname, 'register.ts'),
        join(options.app ?? root, 'out/main/main.js'),
        ...(options.args ?? []),
      ],
      {
        cwd: options.cwd,
        env: { ...options.env, STAND_IN_BROWSER: browser, STAND_IN_BROWSER_ARGS: sandboxArguments().join(' ') },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        // A group of its own, so that its browser can be ended with it.
        detached: true,
      },
    )
    return new DesktopApp(child)
  }

  act<Result = null>(act: string, input: unknown = null): Promise<Result> {
    const id = ++this.#asked
    return new Promise<Result>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${act} hung.\n${this.output}`)), hangMs)
      this.#waiting.set(id, {
        resolve: (result) => (clearTimeout(timer), resolve(result)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      })
      if (this.process.connected) this.process.send({ id, act, input })
      else reject(new Error(`It is not running.\n${this.output}`))
    })
  }

  async state(): Promise<NativeState> {
    const [state, windows] = await Promise.all([this.act<NativeState>('state'), this.act<WindowRecord[]>('windows')])
    return { ...state, windows }
  }

  /** The state once it is as asked for. */
  async until(what: string, holds: (state: NativeState) => boolean): Promise<NativeState> {
    for (const end = Date.now() + hangMs; ; await new Promise((done) => setTimeout(done, 50))) {
      const state = await this.state()
      if (holds(state)) return state
      if (Date.now() > end) throw new Error(`Never ${what}: ${JSON.stringify(state, null, 1)}\n${this.output}`)
    }
  }

  /** The page of a window. After a crash all are connected to anew, since an old connection lost the page for good. */
  async page(window: number): Promise<Page> {
    const state = await this.until('ready', ({ windows }) => windows.some(({ id, url }) => id === window && url !== ''))
    const target = await this.act<string>('window.target', window)
    for (const end = Date.now() + hangMs; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
      if (this.#crashed || !this.#browser) {
        await this.#browser?.close().catch(() => {})
        this.#crashed = false
        this.#browser = await chromium.connectOverCDP(state.endpoint)
      }
      const context = this.#browser.contexts()[0]!
      for (const page of context.pages()) {
        if ((await targetOf(context, page)) !== target) continue
        page.on('crash', () => (this.#crashed = true))
        return page
      }
    }
    throw new Error(`Window ${window} has no page.`)
  }

  /** The page of the oldest window, once one is shown. */
  async firstPage(): Promise<Page> {
    const { windows } = await this.until('showing a window', ({ windows: all }) => all.some(({ shown }) => shown))
    return this.page(windows[0]!.id)
  }

  /** Ends it and its browser without asking. */
  kill(): void {
    try {
      process.kill(-this.process.pid!, 'SIGKILL')
    } catch {
      // All of it has ended.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser?.close().catch(() => {})
    this.kill()
    await this.ended
  }
}

/** The debugger's name for a page; null for one that is gone meanwhile. */
async function targetOf(context: BrowserContext, page: Page): Promise<string | null> {
  try {
    const session = await context.newCDPSession(page)
    const { targetInfo } = await session.send('Target.getTargetInfo')
    await session.detach()
    return targetInfo.targetId
  } catch {
    return null
  }
}
