/**
 * A long session and many of them: 10,000 entries (40 MB) opened, paged, found in and forked; a search over 500,000
 * entries and over 1,000,000, and the longest stall of the main loop in all of these. `LATHE_BENCH_SEARCHED` takes another
 * number of entries.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Lab } from '../e2e/lab.ts'
import { storeSession, storeWorkspace } from '../e2e/long-session.ts'
import { openStorage } from '../main/storage/open-storage.ts'
import { sampleHeader, sampleWrite } from '../main/storage/write-samples.ts'
import { newId } from '../preload/contract/ids.ts'
import { searchHits } from '../preload/contract/limits.ts'
import { fiveTimes, report, type Figure } from './figures.ts'
import { storeEntries } from './many-entries.ts'

const longItems = 10_000
const searchedItems = Number(process.env['LATHE_BENCH_SEARCHED'] ?? 1_000_000)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

await using lab = await Lab.open()
const storage = await openStorage({ home: lab.home })
await storeWorkspace(storage, lab.workspace)
const { sessionId: long, items } = await storeSession(storage, {
  workspace: lab.workspace,
  title: 'A long session',
  count: longItems,
  length: 4_000,
})

const loop = monitorEventLoopDelay({ resolution: 2 })
const stalls: number[] = []

/** Five runs, with the longest stall of the main loop in each. */
function watched<T>(once: () => Promise<T>): Promise<T[]> {
  return fiveTimes(async () => {
    loop.reset()
    loop.enable()
    const figures = await once()
    loop.disable()
    stalls.push(loop.max / 1e6)
    return figures
  })
}

const hostRuns = await watched(async () => {
  const at = Math.floor(Math.random() * (longItems - 200)) + 100
  return {
    open: await timed(() => storage.loadSession(long)),
    page: await timed(() => storage.items(long, { before: items[at]!.id, limit: 80 })),
    find: await timed(() => storage.find(long, 'entry 137.', 100)),
    fork: await fork(),
  }
})

/** Milliseconds of a copy of the whole session, as `sessions.fork` makes it. */
async function fork(): Promise<number> {
  const from = performance.now()
  const point = (await storage.forkPoint(long, items.at(-1)!.id, 'after'))!
  const header = sampleHeader({ workspace: lab.workspace, title: 'Fork', itemCount: longItems, updatedAt: 1 })
  const copy = { from: long, itemId: point.pathOf, pos: point.pos, at: Date.now(), idEnd: newId().slice(24) }
  await storage.commit(sampleWrite(header, { copy }))
  const ms = performance.now() - from
  await storage.erase(header.id, Date.now())
  return ms
}

/** Milliseconds of the first page of a query, of five in a row. */
async function searched(count: number): Promise<Figure[]> {
  const many = await openStorage({ home: searchedHome })
  const aim = count > 500_000 ? 150 : 50
  const figures: Figure[] = []
  for (const [what, query] of Object.entries(queries)) {
    const ms = await watched(() => timed(() => many.search(query, searchHits)))
    figures.push(figure(`S-156 search of ${count} entries, ${what}`, 'ms', ms, aim))
  }
  await many.close()
  return figures
}

/** Common words stand in most entries; the rare one in a few hundred of a million. */
const queries = {
  'two common words': 'cart total',
  'a phrase of common words': '"the cart"',
  'two letters of a word': 'ca',
  'a rare word': 'emlinque',
  'a part of a word': 'oriten',
  'a word before a day': 'cart before:2026-06',
}
const searchedHome = join(lab.folder, 'searched')
await mkdir(searchedHome)
storeEntries(searchedHome, 0, searchedItems / 2)
const half = await searched(searchedItems / 2)
storeEntries(searchedHome, searchedItems / 2, searchedItems / 2)
const whole = await searched(searchedItems)
await storage.close()

function figure(name: string, unit: Figure['unit'], values: number[], aim?: number): Figure {
  return { name, unit, values, ...(aim === undefined ? {} : { aim }) }
}

report([
  figure(
    'S-151 open of 10,000 entries, host',
    'ms',
    hostRuns.map((run) => run.open),
    40,
  ),
  figure(
    'S-152 page of 80 entries anywhere, host',
    'ms',
    hostRuns.map((run) => run.page),
    20,
  ),
  figure(
    'find in 10,000 entries',
    'ms',
    hostRuns.map((run) => run.find),
  ),
  figure(
    'S-157 fork of 10,000 entries',
    'ms',
    hostRuns.map((run) => run.fork),
    500,
  ),
  ...half,
  ...whole,
  figure('S-160 longest stall of the main loop in all of these', 'ms', stalls, 50),
])
