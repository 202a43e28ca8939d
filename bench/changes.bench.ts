/**
 * Reviewing and opening large files in the window: from the click to the painted diff, the longest block of the page's
 * thread meanwhile, frames while scrolling through it; a file of one line of 5 MB and one of 100 MB.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright'
import { Lab } from '../e2e/lab.ts'
import { requireBrowser, sandboxArguments } from '../scripts/browser.ts'
import { type Figure, report } from './figures.ts'

const runs = 3
/** What is not there by then counts as that long: on a busy machine a diff may end at its limit of 2 s, without lines. */
const shownWithinMs = 15_000
const cases = [
  { name: '10,000 lines, 1,000 hunks', path: 'ten.ts', lines: 10_000, every: 10 },
  { name: '30,000 lines, 6,000 hunks', path: 'thirty.ts', lines: 30_000, every: 5 },
]

function source(lines: number, every: number | null): string {
  const line = (at: number) =>
    every !== null && at % every === 0
      ? `export const edited${at} = { name: 'edited ${at}', value: ${at} }\n`
      : `export const item${at} = { name: 'item ${at}', value: ${at} }\n`
  return Array.from({ length: lines }, (_, at) => line(at)).join('')
}

const copies = cases.map(({ path }) => `cp ../${path} ${path}`).join(' && ')
await using lab = await Lab.open({
  script: [{ emit: [{ call: { name: 'shell', args: { command: copies } } }] }, { emit: [{ text: 'Done.' }] }],
})
for (const { path, lines, every } of cases) {
  await writeFile(join(lab.workspace, path), source(lines, null))
  await writeFile(join(lab.folder, path), source(lines, every))
}
await writeFile(join(lab.workspace, 'line.txt'), 'abcdefghij'.repeat(500_000))
await writeFile(join(lab.workspace, 'large.log'), `${'a line of a large log\n'.repeat(4_545)}`.repeat(1_000))

const host = lab.start(['serve', '--json', '--workspace', lab.workspace], { limitMs: 600_000 })
const { url } = JSON.parse(await host.line((line) => line.includes('"url"'))) as { url: string }
const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
const figures = new Map<string, Figure>()

function note(name: string, value: number): void {
  const figure = figures.get(name) ?? { name, unit: 'ms', values: [] }
  figure.values.push(value)
  figures.set(name, figure)
}

/** Clicks and waits until what is wanted stands in a frame: milliseconds until then, and the longest block of the thread. */
async function painted(
  page: Page,
  click: () => Promise<void>,
  wanted: 'diff' | 'editor' | 'beginning',
): Promise<{ ms: number; blockedMs: number }> {
  const watched = page.evaluate(
    async ({ what, limit }) => {
      const holds = {
        diff: () =>
          [...document.querySelectorAll('diffs-container')].some((element) =>
            element.shadowRoot?.textContent.includes('edited10'),
          ),
        editor: () =>
          document.querySelector('.monaco-editor .view-line span')?.textContent.includes('abcdefghij') === true,
        beginning: () => document.body.textContent.includes('Only the beginning is shown'),
      }[what]
      let blockedMs = 0
      const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) blockedMs = Math.max(blockedMs, duration)
      })
      observer.observe({ type: 'longtask' })
      const from = await new Promise<number>((resolve) =>
        addEventListener('click', () => resolve(performance.now()), { capture: true, once: true }),
      )
      while (!holds() && performance.now() - from < limit)
        await new Promise((resolve) => requestAnimationFrame(resolve))
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      const ms = performance.now() - from
      // What colours it afterwards may block as well.
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      observer.disconnect()
      return { ms, blockedMs }
    },
    { what: wanted, limit: shownWithinMs },
  )
  await click()
  return watched
}

/** Scrolls the diff down by its own height forty times; the longest time between two frames. */
function longestFrame(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const scroller = [...document.querySelectorAll<HTMLElement>('[aria-label="Inspector"] *')].findLast(
      (element) => element.scrollHeight > element.clientHeight * 4 && getComputedStyle(element).overflowY === 'auto',
    )
    if (!scroller) return Number.NaN
    let longest = 0
    let last = performance.now()
    for (let step = 0; step < 40; step++) {
      scroller.scrollTop += scroller.clientHeight
      await new Promise((resolve) => requestAnimationFrame(resolve))
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    }
    return longest
  })
}

async function newPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1600, height: 900 } })
  const page = await context.newPage()
  await page.goto(url)
  page.setDefaultTimeout(120_000)
  return page
}

const first = await newPage()
await first.getByRole('button', { name: 'New session', exact: true }).first().click()
await first.keyboard.press('ControlOrMeta+Shift+P')
await first.getByRole('combobox').fill('>Approval mode: Allow everything')
await first.getByRole('option', { name: 'Approval mode: Allow everything' }).first().click()
await first.getByRole('textbox', { name: 'Message' }).fill('Change them')
await first.getByRole('button', { name: 'Send' }).click()
await first.getByRole('article', { name: /^Turn completed/ }).waitFor({ timeout: 120_000 })
await first.context().close()

for (let run = 0; run < runs; run++) {
  for (const { name, path } of cases) {
    const page = await newPage()
    await page.getByRole('tab', { name: 'Changes' }).click()
    const header = page.getByRole('button', { name: `Edited ${path}` }).last()
    await header.waitFor({ timeout: 60_000 })
    const { ms, blockedMs } = await painted(page, () => header.click(), 'diff')
    note(`${name}: unfolded to painted`, ms)
    note(`${name}: longest block meanwhile`, blockedMs)
    const frameMs = await longestFrame(page)
    if (!Number.isNaN(frameMs)) note(`${name}: longest frame while scrolling`, frameMs)
    await page.context().close()
  }
  for (const { name, path, shown } of [
    { name: 'a line of 5 MB in the editor', path: 'line.txt', shown: 'editor' as const },
    { name: 'a file of 100 MB', path: 'large.log', shown: 'beginning' as const },
  ]) {
    const page = await newPage()
    await page.getByRole('tab', { name: 'Files' }).click()
    const row = page.getByRole('treeitem', { name: path })
    await row.waitFor({ timeout: 60_000 })
    const { ms, blockedMs } = await painted(page, () => row.click(), shown)
    note(`${name}: opened to shown`, ms)
    note(`${name}: longest block meanwhile`, blockedMs)
    await page.context().close()
  }
}
await browser.close()

report([...figures.values()])
