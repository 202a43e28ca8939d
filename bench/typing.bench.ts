/**
 * Typing into a terminal of the window, in Chromium: from the key to its echo painted, alone and while another terminal is
 * flooded beside it or behind it; and from Ctrl+C in a flooded terminal to its prompt.
 */
import { chromium, type Page } from 'playwright'
import { Lab } from '../e2e/lab.ts'
import { requireBrowser, sandboxArguments } from '../scripts/browser.ts'
import { report } from './figures.ts'
import { pageWork } from './measured.ts'

const keystrokes = 120
const everyMs = 60
const lineMax = 40
const interrupts = 5
const flood = (round: number) => `yes "round ${round} $(seq -s ' ' 36)"`

await using lab = await Lab.open()
const host = lab.start(['serve', '--json', '--workspace', lab.workspace], {
  env: { SHELL: '/bin/bash', PS1: '> ' },
  limitMs: 300_000,
})
const { url } = JSON.parse(await host.line((line) => line.includes('"url"'))) as { url: string }
const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
// Drawn as elements, so that what stands there can be read; the GPU draws faster.
await page.addInitScript(() => {
  const get = HTMLCanvasElement.prototype.getContext
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
    return kind === 'webgl2' ? null : Reflect.apply(get, this, [kind, ...rest])
  } as typeof get
})
page.setDefaultTimeout(120_000)
await page.goto(url)
await page.getByRole('button', { name: 'New session', exact: true }).first().waitFor()
const terminal = page.getByRole('region', { name: 'Terminal' })
const keyboards = terminal.locator('.xterm-helper-textarea')
const prompts = terminal.locator('.xterm-rows > div').filter({ hasText: /[$#>]\s*$/ })

async function command(name: string): Promise<void> {
  await page.keyboard.press('Control+Shift+P')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.getByRole('combobox').fill(`>${name}`)
  await palette.getByRole('option', { name }).first().click()
  await palette.waitFor({ state: 'hidden' })
}

/** In the page: milliseconds from each `k` to the frame that shows it in the terminal with the keyboard. */
async function typing(page: Page): Promise<number[]> {
  await page.evaluate(() => {
    const rows = document.activeElement!.closest('.xterm')!.querySelector('.xterm-rows')!
    const letters = () => rows.textContent.match(/k/g)?.length ?? 0
    const times: number[] = []
    const pressed: { at: number; letters: number }[] = []
    const painted = new MessageChannel()
    painted.port1.addEventListener('message', ({ data }) => {
      for (const at of data as number[]) times.push(performance.now() - at)
    })
    painted.port1.start()
    addEventListener(
      'keydown',
      ({ key, timeStamp }) => {
        if (key === 'k') pressed.push({ at: timeStamp, letters: (pressed.at(-1)?.letters ?? letters()) + 1 })
        else pressed.length = 0
      },
      true,
    )
    new MutationObserver(() => {
      const there = letters()
      const shown = pressed.filter((key) => key.letters <= there)
      for (const key of shown) pressed.splice(pressed.indexOf(key), 1)
      // Rows change in the callback of a frame; the task behind it runs once the frame is on its way to the screen.
      if (shown.length > 0) painted.port2.postMessage(shown.map(({ at }) => at))
    }).observe(rows, { subtree: true, childList: true, characterData: true })
    Object.assign(globalThis, { times })
  })
  for (let key = 0; key < keystrokes; key += 1) {
    if (key % lineMax === 0) {
      await page.keyboard.press('Control+u')
      await page.waitForTimeout(500)
    }
    await page.keyboard.press('k')
    await page.waitForTimeout(everyMs)
  }
  await page.waitForTimeout(1_000)
  await page.keyboard.press('Control+u')
  return page.evaluate(() => (globalThis as unknown as { times: number[] }).times)
}

const percentile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN

await command('New terminal')
await prompts.first().waitFor()
await keyboards.first().focus()
const alone = await typing(page)

await terminal.getByRole('button', { name: 'Split terminal' }).click()
await keyboards.nth(1).waitFor()
await keyboards.nth(1).focus()
const flooded = terminal.locator('.xterm-rows').nth(1).locator('> div')
const begin = async (round: number): Promise<void> => {
  await page.keyboard.type(`${flood(round)}\n`)
  await flooded
    .filter({ hasText: new RegExp(`^round ${round} `) })
    .first()
    .waitFor()
}
await begin(0)
await keyboards.first().focus()
const work = await pageWork(page)
const typedFrom = performance.now()
const beside = await typing(page)
const besideWork = ((await work()) / (performance.now() - typedFrom)) * 1_000

const stopped: number[] = []
await keyboards.nth(1).focus()
for (let time = 1; time <= interrupts; time += 1) {
  const from = performance.now()
  await page.keyboard.press('Control+c')
  await flooded
    .filter({ hasText: /[$#>]\s*$/ })
    .last()
    .waitFor()
  stopped.push(performance.now() - from)
  await begin(time)
}

await browser.close()
host.kill('SIGTERM')
await host.ended

const figures = (where: string, times: number[]) => [
  { name: `key to painted echo ${where}, p50`, unit: 'ms' as const, values: [percentile(times, 0.5)] },
  { name: `key to painted echo ${where}, p95`, unit: 'ms' as const, values: [percentile(times, 0.95)], aim: 50 },
  { name: `the longest of ${times.length}`, unit: 'ms' as const, values: [Math.max(...times)] },
]
report([
  ...figures('alone', alone),
  ...figures('beside a flood on screen', beside),
  { name: "work of the page's main thread in a second of it", unit: 'ms', values: [besideWork] },
  { name: 'Ctrl+C in a flooded terminal to its prompt', unit: 'ms', values: stopped, aim: 1_000 },
])
