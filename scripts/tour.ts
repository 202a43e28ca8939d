/** What `npm run shots` walks through the window with: a desk, its scripted model, and pictures of what is there. */
import { join } from 'node:path'
import type { Locator } from 'playwright'
import type { Action, Step } from '../e2e/model-server/script.ts'
import type { Desk, LatheWindow } from '../e2e/window.ts'
import { root } from './steps.ts'

const looks = ['light', 'dark'] as const
/** Colours fade, code is coloured anew by a worker. */
export const settleMs = 400
/** `scene=NAME` asks for a scene, any other word for the pictures that begin with it. */
const scenes = process.argv.slice(2).flatMap((word) => (word.startsWith('scene=') ? word.slice(6) : []))
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('scene='))

const titles: [string, string][] = [
  ['shares of a bill', 'Shares do not add up to the bill'],
  ['README', 'Explain rounding in the README'],
  ['licence', 'Choose a licence'],
  ['currency', 'Format amounts in a currency'],
  ['release', 'Prepare the 1.1 release'],
  ['logo', 'Refuse a negative tip'],
  ['platforms', 'Build for both platforms'],
  ['Question', 'Four questions about rounding'],
  ['Explain how', 'How shares are computed'],
  ['Where is rounding', 'Where rounding is done'],
  ['Build it', 'Build it'],
]
const named = titles.map(([contains, text]): Step => ({
  repeat: 'always',
  when: { contains: 'Write a title', lastUserContains: contains },
  emit: [{ text }],
}))

/** The window as most pictures show it. */
export const wide = { width: 1440, height: 900 }

export function call(name: string, args: Record<string, unknown>): Action {
  return { call: { name, args } }
}

export type Scene = (tour: Tour) => Promise<void>

export class Tour {
  readonly desk: Desk
  readonly window: LatheWindow

  constructor(desk: Desk) {
    this.desk = desk
    this.window = desk.window
  }

  /** Plays the scenes asked for; one that fails is told, and the next has its turn. */
  async play(all: Scene[]): Promise<void> {
    for (const scene of all) {
      if (scenes.length > 0 && !scenes.includes(scene.name)) continue
      try {
        await scene(this)
      } catch (error) {
        console.error(`${scene.name}: ${String(error)}`)
        process.exitCode = 1
        await this.key('Escape')
      }
    }
  }

  script(...steps: Step[]): void {
    this.desk.lab.server.script([...named, ...steps])
  }

  async shot(name: string): Promise<void> {
    if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) return
    const { page } = this.window
    for (const colorScheme of looks) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.mouse.move(720, 2)
      await page.waitForTimeout(settleMs)
      await page.screenshot({ path: join(root, 'shots', `${name}-${colorScheme}.png`), caret: 'initial' })
    }
    console.log(`shots/${name}-{${looks.join(',')}}.png`)
  }

  /** As it is, without another look or place of the pointer. */
  async plainShot(name: string): Promise<void> {
    if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) return
    await this.window.page.waitForTimeout(settleMs)
    await this.window.page.screenshot({ path: join(root, 'shots', `${name}.png`), caret: 'initial' })
    console.log(`shots/${name}.png`)
  }

  async shown(locator: Locator): Promise<void> {
    await locator.first().waitFor({ state: 'visible', timeout: 30_000 })
  }

  /** A turn in a session of its own. */
  async turn(text: string, ...steps: Step[]): Promise<void> {
    this.script(...steps)
    await this.window.newSession()
    await this.window.send(text)
  }

  async allow(): Promise<void> {
    await this.window.approval.getByRole('button', { name: 'Allow once' }).click({ timeout: 15_000 })
  }

  async ended(outcome: string): Promise<void> {
    await this.shown(this.window.entry(`Turn ${outcome}`).last())
  }

  async key(keys: string): Promise<void> {
    await this.window.page.keyboard.press(keys)
  }

  /** Moves the inspector's edge. */
  async widen(px: number): Promise<void> {
    const { page } = this.window
    const { x, y } = (await page.getByRole('separator', { name: 'Resize the inspector' }).boundingBox())!
    await page.mouse.move(x, y + 300)
    await page.mouse.down()
    await page.mouse.move(x - px, y + 300, { steps: 8 })
    await page.mouse.up()
  }

  async dialog(keys: string, name: string): Promise<void> {
    await this.key(keys)
    await this.shown(this.window.page.getByRole('dialog'))
    await this.shot(name)
  }
}
