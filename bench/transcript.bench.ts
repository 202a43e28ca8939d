/**
 * A session of 10,000 entries (40 MB) in the window: opened at its end, scrolled fast up and down, then from end to end
 * and back, with what the page holds of it meanwhile (S-151 to S-153). And one of Markdown, code and tables, which costs
 * more to draw.
 */
import { chromium, type CDPSession, type Page } from 'playwright'
import { Lab } from '../e2e/lab.ts'
import { storeSession, storeWorkspace } from '../e2e/long-session.ts'
import { openStorage } from '../main/storage/open-storage.ts'
import { requireBrowser, sandboxArguments } from '../scripts/browser.ts'
import { fiveTimes, report } from './figures.ts'

const count = 10_000
const richCount = 2_000
/** Pixels a frame: a strong flick of a wheel, and the scroll bar dragged along. */
const flickPx = 150
const dragPx = 2_400
const flickFrames = 240

await using lab = await Lab.open()
const storage = await openStorage({ home: lab.home })
await storeWorkspace(storage, lab.workspace)
await storeSession(storage, { workspace: lab.workspace, title: 'A short session', count: 40, length: 400 })
await storeSession(storage, { workspace: lab.workspace, title: 'A long session', count, length: 4_000 })
await storeSession(storage, {
  workspace: lab.workspace,
  title: 'A rich session',
  count: richCount,
  length: 4_000,
  rich: true,
})
await storage.close()

const host = lab.start(['serve', '--json', '--workspace', lab.workspace], { limitMs: 600_000 })
const { url } = JSON.parse(await host.line((line) => line.includes('"url"'))) as { url: string }
const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
const page = await context.newPage()
await page.goto(url)
await page.getByRole('list', { name: 'Sessions' }).getByText('A short session').waitFor()

/** Milliseconds from the click on a session to its last entry on screen. */
async function openAtEnd(at: Page, title: string, entries: number): Promise<number> {
  return await at.evaluate(
    async ([title, last]) => {
      const row = [...document.querySelectorAll<HTMLElement>('[aria-label="Sessions"] button')].find((button) =>
        button.textContent.includes(title),
      )!
      const from = performance.now()
      row.click()
      for (;;) {
        await new Promise(requestAnimationFrame)
        const log = document.querySelector('[role="log"]')
        const entries = log ? [...log.querySelectorAll('article')] : []
        const bottom = entries.at(-1)?.getBoundingClientRect().bottom ?? Infinity
        if (entries.some((entry) => entry.textContent.includes(last)) && bottom < innerHeight) break
      }
      // Painted once the next frame begins.
      await new Promise(requestAnimationFrame)
      return performance.now() - from
    },
    [title, `Entry ${entries - 2}.`] as const,
  )
}

type Scrolled = { fps: number; longestMs: number; mounted: number; reached: boolean }

/** Scrolls by `px` a frame, until an end is reached or for so many frames. */
async function scroll(at: Page, px: number, frames: number): Promise<Scrolled> {
  return await at.evaluate(
    async ([step, most]) => {
      const log = document.querySelector<HTMLElement>('[role="log"]')!
      const times: number[] = []
      let mounted = 0
      let still = 0
      let last = performance.now()
      for (let frame = 0; frame < most && still < 90; frame++) {
        const before = log.scrollTop
        log.scrollTop += step
        if (Math.abs(log.scrollTop - before) < 1) still++
        else still = 0
        const now = await new Promise<number>(requestAnimationFrame)
        times.push(now - last)
        last = now
        mounted = Math.max(mounted, log.querySelectorAll('article').length)
      }
      const rows = [...log.querySelectorAll('article')]
      const first = Number(rows[0]?.getAttribute('aria-posinset'))
      return {
        fps: (1_000 * times.length) / times.reduce((sum, time) => sum + time, 0),
        longestMs: Math.max(...times.slice(1)),
        mounted,
        reached:
          step < 0
            ? first === 1
            : Number(rows.at(-1)?.getAttribute('aria-posinset')) >= Number(rows.at(-1)?.getAttribute('aria-setsize')),
      }
    },
    [px, frames] as const,
  )
}

/** What the page holds after a collection, in MB. */
async function heapMb(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  const { metrics } = await cdp.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1_048_576
}

/** Milliseconds the page's main thread has worked. */
async function workedMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
}

/** Opened in a page that was just loaded. */
async function openAnew(title: string, entries: number): Promise<number> {
  // A window shows the session of last time: it must be the other one.
  await page.getByRole('list', { name: 'Sessions' }).getByText('A short session').click()
  await page.getByRole('log').getByText('Entry 38.').waitFor()
  await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank')
  await page.goto(url)
  await page.getByRole('log').getByText('Entry 38.').waitFor()
  return await openAtEnd(page, title, entries)
}

/** A strong flick up and one down, and the processor time of the main thread for a frame of them. */
async function flick(): Promise<{ up: Scrolled; down: Scrolled; frameMs: number }> {
  const before = await workedMs(cdp)
  const up = await scroll(page, -flickPx, flickFrames)
  const down = await scroll(page, flickPx, flickFrames)
  return { up, down, frameMs: ((await workedMs(cdp)) - before) / (2 * flickFrames) }
}

const opened = await fiveTimes(() => openAnew('A long session', count))
const richOpened = await fiveTimes(() => openAnew('A rich session', richCount))

const cdp = await context.newCDPSession(page)
// Processor time, so that a busy machine does not tell.
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
await openAtEnd(page, 'A rich session', richCount)
const richFlicks = await fiveTimes(flick)
await openAtEnd(page, 'A long session', count)
const flicks = await fiveTimes(flick)
const atEndMb = await heapMb(cdp)
const ascent = await scroll(page, -dragPx, 60_000)
const atStartMb = await heapMb(cdp)
const descent = await scroll(page, dragPx, 60_000)
const backMb = await heapMb(cdp)
await browser.close()
for (const [name, pass] of Object.entries({ ascent, descent }))
  if (!pass.reached) throw new Error(`The ${name} did not reach the other end.`)

report([
  { name: 'open at the end, click to painted', unit: 'ms', values: opened, aim: 300 },
  { name: 'the same, Markdown and code', unit: 'ms', values: richOpened, aim: 300 },
  { name: 'frames a second, flicked up', unit: 'fps', values: flicks.map(({ up }) => up.fps) },
  { name: 'frames a second, flicked down', unit: 'fps', values: flicks.map(({ down }) => down.fps) },
  {
    name: 'work of the main thread for a frame, flicked',
    unit: 'ms',
    values: flicks.map(({ frameMs }) => frameMs),
    aim: 16,
  },
  ...['up', 'down'].map((way) => ({
    name: `frames a second, flicked ${way}, Markdown and code`,
    unit: 'fps' as const,
    values: richFlicks.map((each) => each[way as 'up' | 'down'].fps),
  })),
  {
    name: 'work of the main thread for a frame, flicked, Markdown and code',
    unit: 'ms',
    values: richFlicks.map(({ frameMs }) => frameMs),
    aim: 16,
  },
  {
    name: 'longest frame, flicked, Markdown and code',
    unit: 'ms',
    values: richFlicks.map(({ up, down }) => Math.max(up.longestMs, down.longestMs)),
    aim: 100,
  },
  { name: 'longest frame, flicked up', unit: 'ms', values: flicks.map(({ up }) => up.longestMs), aim: 100 },
  { name: 'longest frame, flicked down', unit: 'ms', values: flicks.map(({ down }) => down.longestMs), aim: 100 },
  { name: 'longest frame from end to end', unit: 'ms', values: [ascent.longestMs, descent.longestMs], aim: 100 },
  {
    name: 'S-153 entries mounted at most',
    unit: 'entries',
    values: [ascent, descent, ...flicks.flatMap(({ up, down }) => [up, down])].map(({ mounted }) => mounted),
    aim: 150,
  },
  { name: 'S-153 renderer heap at the end, before scrolling', unit: 'MB', values: [atEndMb] },
  { name: 'S-153 renderer heap at the first entry', unit: 'MB', values: [atStartMb], aim: 300 },
  { name: 'S-153 renderer heap back at the end', unit: 'MB', values: [backMb], aim: 300 },
])
