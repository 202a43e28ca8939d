/**
 * The window as a person meets it: a lab served by `lathe serve`, and pages of a real browser before it. Everything is
 * found by role and accessible name. A test fails where a page asked anything of another host, broke the content
 * security policy or threw.
 */
import { expect, test as base, type BrowserContext, type Locator, type Page } from '@playwright/test'
import {
  type HostName,
  type HostUnderTest,
  openElectron,
  openStandIn,
  openWeb,
  type Opening,
} from './host-under-test.ts'
import { Lab, type LabOptions } from './lab.ts'

/** One page of a browser, with the names of design.md. */
export class LatheWindow {
  readonly page: Page
  readonly transcript: Locator
  readonly message: Locator
  readonly status: Locator
  readonly approval: Locator
  readonly question: Locator
  readonly inspector: Locator
  readonly sessions: Locator
  readonly terminal: Locator

  constructor(page: Page) {
    this.page = page
    this.transcript = page.getByRole('log', { name: 'Transcript' })
    this.message = page.getByRole('textbox', { name: 'Message' })
    this.status = page.getByRole('status', { name: 'Turn status' })
    this.approval = page.getByRole('group', { name: 'Approval' })
    this.question = page.getByRole('group', { name: 'Question' })
    this.inspector = page.getByRole('complementary', { name: 'Inspector' })
    this.sessions = page.getByRole('list', { name: 'Sessions' })
    this.terminal = page.getByRole('region', { name: 'Terminal' })
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  dialog(name: string): Locator {
    return this.page.getByRole('dialog', { name })
  }

  /** Entries of the transcript whose label begins so: `You:`, `Answer:`, `Tool call, shell`, `Turn stopped`. */
  entry(label: string): Locator {
    return this.transcript.getByRole('article', { name: new RegExp(`^${label}`) })
  }

  async send(text: string): Promise<void> {
    await this.message.fill(text)
    await this.button('Send').click()
  }

  async newSession(): Promise<void> {
    await this.button('New session').first().click()
    await expect(this.message).toBeFocused()
  }

  /** The newest turn, that of a message just sent too, has settled so. */
  async settled(outcome: 'completed' | 'stopped' | 'failed'): Promise<void> {
    const marks = this.transcript.getByRole('article', { name: /^(?:Sending: |You: |Started by |Turn )/ })
    await expect(marks.last()).toHaveAccessibleName(new RegExp(`^Turn ${outcome}`))
    await expect(this.button('Stop')).toBeHidden()
  }

  /** That many files stand with the message, each wholly there: one on its way holds the message back. */
  async attached(count: number): Promise<void> {
    const chips = this.page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
    await expect(chips).toHaveCount(count)
    await expect(chips.filter({ hasText: /\d %/ })).toHaveCount(0)
  }

  /** Nothing is asked in this session from now on. */
  async allowAll(): Promise<void> {
    await this.command('Approval mode: Allow everything')
    await expect(this.button('Approval mode: Allow everything')).toBeVisible()
  }

  async tab(name: 'Changes' | 'Plan' | 'Files' | 'Context'): Promise<Locator> {
    await this.inspector.getByRole('tab', { name }).click()
    return this.inspector.getByRole('tabpanel', { name })
  }

  /** Runs a command by its name, as the palette lists it. */
  async command(name: string): Promise<void> {
    // Keys count from the window's first draw on; behind a dialog its parts have no role.
    await expect(this.page.locator('nav').first()).toBeAttached()
    await this.page.keyboard.press('ControlOrMeta+Shift+P')
    const palette = this.dialog('Command palette')
    await palette.getByRole('combobox').fill(`>${name}`)
    await palette.getByRole('option', { name }).first().click()
    await expect(palette).toBeHidden()
  }
}

export type DeskOptions = LabOptions & {
  /** What is served instead of the lab's own workspace; null for a host without a folder. */
  folder?: (lab: Lab) => Promise<string | null>
  /** How long the host may run at most. */
  limitMs?: number
}

/** A lab, the host that serves it, and the windows before it. */
export class Desk {
  readonly lab: Lab
  /** The first window. */
  readonly window: LatheWindow
  readonly #host: HostUnderTest

  private constructor(lab: Lab, host: HostUnderTest) {
    this.lab = lab
    this.#host = host
    this.window = new LatheWindow(host.page)
  }

  static async open(openHost: (opening: Opening) => Promise<HostUnderTest>, options: DeskOptions = {}): Promise<Desk> {
    const lab = await Lab.open(options)
    try {
      const folder = options.folder ? await options.folder(lab) : lab.workspace
      return new Desk(lab, await openHost({ lab, folder, limitMs: options.limitMs }))
    } catch (error) {
      await lab[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The browser's context that holds the windows. */
  get context(): BrowserContext {
    return this.#host.context
  }

  /** Another window before the same host; `prepare` has its page before it loads anything. */
  async another(prepare?: (page: Page) => Promise<void>): Promise<LatheWindow> {
    return new LatheWindow(await this.#host.another(prepare))
  }

  killHost(): Promise<void> {
    return this.#host.kill()
  }

  /** Serves the same data folder on the same port again and answers the new address. */
  serveAgain(): Promise<string> {
    return this.#host.serveAgain()
  }

  async close(): Promise<void> {
    await this.#host.close()
    await this.lab[Symbol.asyncDispose]()
  }
}

/** Faults of pages: what went to other hosts, what the policy refused, what was thrown. */
function watch(context: BrowserContext): string[] {
  const faults: string[] = []
  const ours = /^(?:https?|ws):\/\/(?:127\.0\.0\.1|localhost):\d+\/|^(?:data|blob|about):/
  context.on('request', (request) => {
    if (!ours.test(request.url())) faults.push(`asked ${request.url()}`)
  })
  context.on('weberror', (thrown) => faults.push(`threw ${thrown.error().stack ?? thrown.error().message}`))
  context.on('console', (said) => {
    if (said.type() === 'error' && !/net::ERR_CONNECTION_REFUSED|WebSocket connection|status of 401/.test(said.text()))
      faults.push(`said ${said.text()}`)
  })
  return faults
}

type Options = {
  /** What the windows stand before; a project of the configuration says it. */
  host: HostName
}

export const test = base.extend<Options & { open: (options?: DeskOptions) => Promise<Desk> }>({
  host: ['web', { option: true }],
  open: async ({ browser, contextOptions, host }, use) => {
    const desks: Desk[] = []
    const watched: string[][] = []
    await use(async (options) => {
      const desk = await Desk.open(async (opening) => {
        if (host === 'stand-in') return openStandIn(opening)
        if (host === 'electron') return openElectron(opening)
        const context = await browser.newContext({ reducedMotion: 'reduce', ...contextOptions })
        watched.push(watch(context))
        return openWeb(context, opening)
      }, options)
      if (host !== 'web') {
        watched.push(watch(desk.context))
        await desk.window.page.emulateMedia({ reducedMotion: 'reduce' })
      }
      desks.push(desk)
      return desk
    })
    for (const desk of desks) await desk.close()
    expect(watched.flat()).toEqual([])
  },
})

export { expect }
