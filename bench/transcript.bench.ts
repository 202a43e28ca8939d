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
import { pageWork } from './measured.ts'

const count = 10_000
/** Pixels a frame: a strong flick of a wheel. */
const flickPx = 150
const flickFrames = 120
/** Pixels a second: the scroll bar dragged along. A slow machine takes larger steps, not more time. */
const dragPx = 400_000
/** A busy machine gets through less of a flick or a drag, and the figures say how far it came. */
const flickMs = 8_000
const dragMs = 25_000

await using lab = await Lab.open()
const storage = await openStorage({ home: lab.home })
await storeWorkspace(storage, lab.workspace)
await storeSession(storage, { workspace: lab.workspace, title: 'A short session', count: 40, length: 400 })
await storeSession(storage, { workspace: lab.workspace, title: 'A long session', count, length: 4_000 })
await storeSession(storage, {
  workspace: lab.workspace,
  title: 'A rich session',
  count,
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
async function openAtEnd(at: Page, title: string): Promise<number> {
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
    [title, `Entry ${count - 2}.`] as const,
  )
}

type Scrolled = { fps: number; longestMs: number; frames: number; mounted: number; passed: number; reached: boolean }

/**
 * Scrolls up (-1) or down (1), by so many pixels a frame or a second, until an end is reached, for so many frames, or
 * until the time is over.
 */
async function scroll(
  at: Page,
  direction: 1 | -1,
  how: { px: number; per: 'frame' | 'second'; frames: number; limitMs: number },
): Promise<Scrolled> {
  return await at.evaluate(
    async ([direction, { px, per, frames, limitMs }]) => {
      const log = document.querySelector<HTMLElement>('[role="log"]')!
      const rows = () => [...log.querySelectorAll('article')]
      const placeOf = (row: Element | undefined) => Number(row?.getAttribute('aria-posinset'))
      const isAtEnd = () =>
        direction < 0
          ? placeOf(rows()[0]) === 1 && log.scrollTop === 0
          : placeOf(rows().at(-1)) >= Number(rows().at(-1)?.getAttribute('aria-setsize')) &&
            log.scrollHeight - log.clientHeight - log.scrollTop < 1
      const began = placeOf(direction < 0 ? rows().at(-1) : rows()[0])
      const times: number[] = []
      let mounted = 0
      let reached = false
      const from = performance.now()
      let last = await new Promise<number>(requestAnimationFrame)
      let step = px / (per === 'frame' ? 1 : 60)
      while (times.length < frames && last - from < limitMs && !reached) {
        log.scrollTop += direction * step
        const now = await new Promise<number>(requestAnimationFrame)
        times.push(now - last)
        if (per === 'second') step = (px * (now - last)) / 1_000
        last = now
        mounted = Math.max(mounted, rows().length)
        reached = isAtEnd()
      }
      return {
        fps: (1_000 * times.length) / times.reduce((sum, time) => sum + time, 0),
        longestMs: Math.max(...times.slice(1)),
        frames: times.length,
        mounted,
        passed: Math.abs(placeOf(direction < 0 ? rows()[0] : rows().at(-1)) - began) + 1,
        reached,
      }
    },
    [direction, how] as const,
  )
}

/** What the page holds after a collection, in MB. */
async function heapMb(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  const { usedSize } = await cdp.send('Runtime.getHeapUsage')
  return usedSize / 1_048_576
}

/** Opened in a page that was just loaded: until it is painted, and what the main thread worked for it. */
async function openAnew(title: string): Promise<{ shownMs: number; workMs: number }> {
  // A window shows the session of last time: it must be the other one.
  await page.getByRole('list', { name: 'Sessions' }).getByText('A short session').click()
  await page.getByRole('log').getByText('Entry 38.').waitFor()
  await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank')
  await page.goto(url)
  await page.getByRole('log').getByText('Entry 38.').waitFor()
  await work()
  const shownMs = await openAtEnd(page, title)
  return { shownMs, workMs: await work() }
}

/** What a pass asked of the main thread: for a frame in all, and in the longest of its tasks (a frame is one, or several). */
type Worked = { frameMs: number; taskMs: number }

/** Passes over the session that is open, and the processor time they took: by the clock a busy machine would tell. */
async function measured(passes: () => Promise<Scrolled[]>): Promise<{ passes: Scrolled[] } & Worked> {
  await browser.startTracing(page, { categories: ['toplevel'] })
  await work()
  const done = await passes()
  const worked = await work()
  const trace = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] }
  return {
    passes: done,
    frameMs: worked / done.reduce((sum, { frames }) => sum + frames, 0),
    taskMs: longestTaskMs(trace.traceEvents),
  }
}

type TraceEvent = { name: string; ph: string; pid: number; tid: number; tdur?: number; args: { name?: string } }

/** The most a main thread of a page worked in one go. */
function longestTaskMs(events: readonly TraceEvent[]): number {
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  return Math.max(0, ...events.flatMap(({ pid, tid, tdur = 0 }) => (main.has(`${pid} ${tid}`) ? [tdur / 1_000] : [])))
}

/** One session: opened five times, flicked up and down three times, dragged to its first entry and back. */
async function wholeSession(title: string) {
  const opened = await fiveTimes(() => openAnew(title))
  const flicks = []
  const how = { px: flickPx, per: 'frame', frames: flickFrames, limitMs: flickMs } as const
  for (let time = 0; time < 3; time++)
    flicks.push(await measured(async () => [await scroll(page, -1, how), await scroll(page, 1, how)]))
  const drag = { px: dragPx, per: 'second', frames: Infinity, limitMs: dragMs } as const
  const atEndMb = await heapMb(cdp)
  const ascent = await measured(async () => [await scroll(page, -1, drag)])
  const atStartMb = await heapMb(cdp)
  const descent = await measured(async () => [await scroll(page, 1, drag)])
  const backMb = await heapMb(cdp)
  return { opened, flicks, drags: [ascent, descent], heapsMb: { atEndMb, atStartMb, backMb } }
}

/** The figures of one session; `kind` is told behind each name. */
function figures(
  kind: string,
  { opened, flicks, drags, heapsMb }: Awaited<ReturnType<typeof wholeSession>>,
): Parameters<typeof report>[0] {
  const passes = (of: typeof flicks) => of.flatMap((each) => each.passes)
  const frames = (how: string, of: typeof flicks): Parameters<typeof report>[0] => [
    { name: `frames a second, ${how}${kind}`, unit: 'fps', values: passes(of).map(({ fps }) => fps) },
    {
      name: `longest frame by the clock, ${how}${kind}`,
      unit: 'ms',
      values: passes(of).map(({ longestMs }) => longestMs),
      aim: 100,
    },
    {
      name: `work of the main thread for a frame, ${how}${kind}`,
      unit: 'ms',
      values: of.map(({ frameMs }) => frameMs),
      aim: 16,
    },
    {
      name: `the longest task among them, worked, ${how}${kind}`,
      unit: 'ms',
      values: of.map(({ taskMs }) => taskMs),
      aim: 100,
    },
  ]
  return [
    {
      name: `open at the end, click to painted${kind}`,
      unit: 'ms',
      values: opened.map(({ shownMs }) => shownMs),
      aim: 300,
    },
    { name: `work of the main thread for it${kind}`, unit: 'ms', values: opened.map(({ workMs }) => workMs) },
    ...frames('flicked', flicks),
    ...frames('from end to end', drags),
    {
      name: `entries passed from end to end${kind}`,
      unit: 'entries',
      values: passes(drags).map(({ passed }) => passed),
    },
    {
      name: `S-153 entries mounted at most${kind}`,
      unit: 'entries',
      values: passes([...flicks, ...drags]).map(({ mounted }) => mounted),
      aim: 150,
    },
    { name: `S-153 renderer heap at the end, before scrolling${kind}`, unit: 'MB', values: [heapsMb.atEndMb] },
    { name: `S-153 renderer heap at the first entry${kind}`, unit: 'MB', values: [heapsMb.atStartMb], aim: 300 },
    { name: `S-153 renderer heap back at the end${kind}`, unit: 'MB', values: [heapsMb.backMb], aim: 300 },
  ]
}

const cdp = await context.newCDPSession(page)
const work = await pageWork(page)
const plain = await wholeSession('A long session')
const rich = await wholeSession('A rich session')
await browser.close()

report([...figures('', plain), ...figures(', Markdown and code', rich)])
