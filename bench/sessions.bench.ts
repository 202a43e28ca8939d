/**
 * A long session and many of them: 10,000 entries (40 MB) opened, paged, found in and forked; a search over 500,000
 * entries. `LATHE_BENCH_SEARCHED` takes another number of those.
 */
import { Lab } from '../e2e/lab.ts'
import { openStorage } from '../main/storage/open-storage.ts'
import type { Storage } from '../main/storage/storage.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from '../main/storage/write-samples.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Item } from '../preload/contract/items.ts'
import { fiveTimes, report, type Figure } from './figures.ts'

const longItems = 10_000
const itemsPerTurn = 20
const bytesPerItem = 4_000
const searchedItems = Number(process.env['LATHE_BENCH_SEARCHED'] ?? 500_000)
const itemsPerSearched = 2_000
const words =
  'cart total price order ship queue retry token stream window commit journal branch merge test build'.split(' ')

/** A paragraph of this length, different at every place. */
function paragraph(at: number, length: number): string {
  let text = `Entry ${at}.`
  for (let word = at; text.length < length; word += 7) text += ` ${words[word % words.length]}${word % 97}`
  return text
}

/** Turns of a question, some calls and an answer, `count` entries in all. */
function transcript(count: number, length: number): { items: Item[]; turnIds: string[] } {
  const turnIds: string[] = []
  const items = Array.from({ length: count }, (_, at): Item => {
    if (at % itemsPerTurn === 0) turnIds.push(newId())
    const own = { id: newId(), turnId: turnIds.at(-1)! }
    const place = at % itemsPerTurn
    if (place === 0) return userItem(at + 1, paragraph(at, length / 4), own)
    if (place % 3 === 1) return toolItem(at + 1, { ...own, title: `Run step ${at}`, summary: paragraph(at, length) })
    return textItem(at + 1, paragraph(at, length), own)
  })
  return { items, turnIds }
}

async function store(
  storage: Storage,
  workspace: string,
  title: string,
  count: number,
  length: number,
): Promise<Item[]> {
  const { items, turnIds } = transcript(count, length)
  const header = sampleHeader({
    workspace,
    title,
    titleSource: 'manual',
    itemCount: count,
    updatedAt: Date.now(),
    model: 'lab/scripted',
  })
  const turns = turnIds.map((id, at) =>
    turnRow(id, { userItemId: items[at * itemsPerTurn]!.id, settledAt: 2_000, outcome: 'completed', durationMs: 900 }),
  )
  const step = 500
  for (let at = 0; at < count; at += step) {
    const last = at + step >= count
    await storage.commit(sampleWrite(header, { items: items.slice(at, at + step), ...(last ? { turns } : {}) }))
  }
  return items
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

await using lab = await Lab.open()
const storage = await openStorage({ home: lab.home })
await storage.putWorkspace({
  path: lab.workspace,
  name: 'lab',
  state: 'present',
  branch: null,
  trusted: true,
  openedAt: 1,
  demo: false,
})
const items = await store(storage, lab.workspace, 'A long session', longItems, bytesPerItem)
const long = (await storage.entries({ limit: 1 })).entries[0]!.id

const hostRuns = await fiveTimes(async () => {
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
  const copy = { from: long, itemId: point.pathOf, pos: point.pos, at: Date.now(), ids: {} }
  await storage.commit(sampleWrite(header, { copy }))
  const ms = performance.now() - from
  await storage.erase(header.id, Date.now())
  return ms
}

for (let at = 0; at < searchedItems; at += itemsPerSearched)
  await store(storage, '/bench/searched', `Session ${at}`, Math.min(itemsPerSearched, searchedItems - at), 200)
while ((await storage.search('warm', 1)).partial) await new Promise((done) => setTimeout(done, 500))
const searchRuns = await fiveTimes(async () => ({
  common: await timed(() => storage.search('cart total', 20)),
  rare: await timed(() => storage.search(`"Entry ${Math.floor(Math.random() * 1_900)}"`, 20)),
}))
await storage.close()

const figure = (name: string, unit: Figure['unit'], values: number[], aim?: number): Figure => ({
  name,
  unit,
  values,
  ...(aim === undefined ? {} : { aim }),
})
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
  figure(
    `S-156 search of ${searchedItems} entries, common words`,
    'ms',
    searchRuns.map((run) => run.common),
    50,
  ),
  figure(
    `S-156 search of ${searchedItems} entries, a phrase`,
    'ms',
    searchRuns.map((run) => run.rare),
    50,
  ),
])
