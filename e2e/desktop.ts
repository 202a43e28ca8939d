/** The desktop application of a lab, on the stand-in: the same built bundles, natively quiet. */
import { expect, test as base, type Page } from '@playwright/test'
import { DesktopApp } from './electron-stand-in/driver.ts'
import type { MenuEntry } from './electron-stand-in/state.ts'
import { Lab, type LabOptions } from './lab.ts'
import { LatheWindow } from './window.ts'

export class Desktop {
  readonly lab: Lab
  app: DesktopApp

  private constructor(lab: Lab, app: DesktopApp) {
    this.lab = lab
    this.app = app
  }

  /** Started by a person in the workspace, naming it: `lathe-desktop .` */
  static async open(options: LabOptions = {}): Promise<Desktop> {
    const lab = await Lab.open(options)
    return new Desktop(lab, await DesktopApp.start({ env: lab.env, cwd: lab.workspace, args: ['.'] }))
  }

  /** The first window, or the one with that id. */
  async window(id?: number): Promise<LatheWindow> {
    const page = id === undefined ? await this.app.firstPage() : await this.app.page(id)
    page.setDefaultTimeout(15_000)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    return new LatheWindow(page)
  }

  /** The first window with the workspace's new session in it. */
  async begun(): Promise<LatheWindow> {
    const window = await this.window()
    await expect(window.message).toBeFocused()
    return window
  }

  /** Starts it another time. */
  startAgain(...args: string[]): Promise<DesktopApp> {
    return DesktopApp.start({ env: this.lab.env, cwd: this.lab.workspace, args })
  }

  async close(): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    await this.lab[Symbol.asyncDispose]()
  }
}

/**
 * Asks the workbench through a port, as the page does, and answers what it said. A window has one port at a time: where
 * the page connects again meanwhile, this one closes, and the same request is sent through the next.
 */
export async function ask(
  page: Page,
  route: string,
  json: { requestId: string; [field: string]: unknown },
): Promise<string> {
  for (;;) {
    const said = await page.evaluate(
      async ([path, input]) => {
        const port = await new Promise<MessagePort>((resolve) => {
          addEventListener('message', ({ data, ports }) => data === 'lathe:port' && resolve(ports[0]!))
          self.lathe.connect()
        })
        const answer = new Promise<string | null>((resolve) => {
          port.addEventListener('close', () => resolve(null))
          port.addEventListener('message', ({ data }) => {
            if ((JSON.parse(data) as { i: string }).i === input.requestId) resolve(data as string)
          })
        })
        port.start()
        port.postMessage(JSON.stringify({ i: input.requestId, p: { u: path, b: { json: input } } }))
        return answer
      },
      [route, json] as const,
    )
    if (said !== null) return said
  }
}

/** Labels of menu items, those within others too. */
export function labels(menu: readonly MenuEntry[]): string[] {
  return menu.flatMap(({ label, role, submenu }) => [label ?? role ?? '', ...labels(submenu ?? [])]).filter(Boolean)
}

export const test = base.extend<{ open: (options?: LabOptions) => Promise<Desktop> }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from the pattern.
  open: async ({}, use) => {
    const desktops: Desktop[] = []
    await use(async (options) => {
      const desktop = await Desktop.open(options)
      desktops.push(desktop)
      return desktop
    })
    for (const desktop of desktops) await desktop.close()
  },
})

/** What the preload script gives the page, for functions evaluated there. */
declare global {
  interface Window {
    readonly lathe: { connect(): void; pathForFile(file: File): string | null }
  }
}

export { expect }
