/** What the budgets of long sessions, long lists and wide searches rest on: how much is read, and by which index. */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../preload/contract/ids.ts'
import type { Item } from '../../preload/contract/items.ts'
import { copiedId, copiedItem } from './copied-item.ts'
import { openDatabase } from './database.ts'
import { openStorage } from './open-storage.ts'
import { packWrite } from './packed.ts'
import { openReads } from './reads.ts'
import { openIndexing } from './search-index.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from './write-samples.ts'
import { openWrites } from './writes.ts'

let home: string
/** Statements run by `reads`, with their values. */
let ran: string[] = []
let db: Database
let reading: Database
let reads: ReturnType<typeof openReads>
let writes: ReturnType<typeof openWrites>

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-budgets-'))
  db = openDatabase(home, false).db
  writes = openWrites(db)
  reading = new Sqlite(join(home, 'lathe.db'), { verbose: (text) => void ran.push(String(text)) })
  reads = openReads(reading)
  ran = []
})

afterEach(async () => {
  reading.close()
  db.close()
  await rm(home, { recursive: true, force: true })
})

/** A settled session of one turn a hundred entries. */
function store(count: number): { id: string; items: Item[] } {
  const header = sampleHeader({ id: newId(), itemCount: count, updatedAt: Date.now() })
  const turnOf = (pos: number) => `turn-${Math.floor((pos - 1) / 100)}`
  const items = Array.from({ length: count }, (_, at) =>
    textItem(at + 1, `common word ${at}`, { id: `${header.id}-${at + 1}`, turnId: turnOf(at + 1) }),
  )
  const turns = [...new Set(items.map((item) => item.turnId!))].map((id) =>
    turnRow(id, { settledAt: 2_000, outcome: 'completed' }),
  )
  commit(sampleWrite(header, { items, turns }))
  return { id: header.id, items }
}

function commit(write: Parameters<typeof packWrite>[0]): void {
  db.transaction(() => writes.commit(packWrite(write)))()
}

/** How SQLite goes about each statement that was run. */
function plans(): string[] {
  return ran.flatMap((text) =>
    db
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => detail),
  )
}

const scans = (details: string[]) => details.filter((detail) => /^SCAN (?!json_each|CONSTANT)/.test(detail))
const sorts = (details: string[]) => details.filter((detail) => detail.includes('TEMP B-TREE'))

test('S-151 opening reads one slice of a long session, each part by an index', () => {
  const { id, items } = store(2_000)
  const opened = reads.loadSession(id)!
  expect(opened.items).toHaveLength(80)
  expect(opened.itemsBefore).toBe(items.length - 80)
  expect(opened.turns).toHaveLength(1)
  expect(ran.length).toBeGreaterThan(3)
  expect(scans(plans())).toEqual([])
  // Places are counted in an index alone: no row of another stretch is touched.
  expect(plans().filter((detail) => detail.includes('items_visible')).length).toBeGreaterThan(0)
  for (const text of ran.filter((each) => each.includes('count(*)')))
    expect(db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all()[0]!.detail).toContain(
      'COVERING INDEX items_visible',
    )
})

test('S-152 a page anywhere reads its own rows, found and ordered by an index', () => {
  const { id, items } = store(2_000)
  for (const query of [
    { before: items[1_234]!.id, limit: 80 },
    { after: items[77]!.id, limit: 80 },
    { around: items[999]!.id, limit: 80 },
  ]) {
    ran = []
    expect(reads.items(id, query).items).toHaveLength(80)
    expect(scans(plans())).toEqual([])
    const ofItems = ran.filter((text) => text.includes('FROM items'))
    ran = ofItems
    expect(sorts(plans())).toEqual([])
  }
})

test('S-155 the first page of the list is read in the order of its index, and no further', () => {
  for (let at = 0; at < 30; at++) commit(sampleWrite(sampleHeader({ id: newId(), updatedAt: at })))
  const { entries, more } = reads.entries({ before: null, limit: 10, workspace: null, archived: false, text: '' })
  expect(entries).toHaveLength(10)
  expect(more).toBe(true)
  expect(ran).toHaveLength(1)
  expect(ran[0]).toContain('LIMIT 11')
  expect(plans()).toEqual([expect.stringContaining('USING INDEX sessions_listed')])
})

test('S-156 a search for a word that is everywhere looks at the newest matches only, and opens no entry but its hits', () => {
  const sessions = Array.from({ length: 6 }, () => store(500).id)
  const next = openIndexing(db)
  while (next());
  const { hits, partial } = reads.search('common', 20)!
  expect(partial).toBe(false)
  // Three of each session, and 2,000 matches are in the newest four.
  expect(new Set(hits.map(({ sessionId }) => sessionId))).toEqual(new Set(sessions.slice(-4)))
  expect(hits).toHaveLength(3 * 4)
  const opened = ran.filter((text) => text.includes('SELECT body FROM items'))
  expect(opened).toHaveLength(hits.length)
  const [match] = ran.filter((text) => text.includes('MATCH'))
  expect(match).toContain('LIMIT 2000')
  ran = [match!]
  expect(sorts(plans())).toEqual([])
})

test('S-157 a copy is made inside SQLite, and is what copying each entry would be, of every kind', () => {
  const entry = (pos: number, set: object) =>
    ({ ...textItem(pos, ''), id: `entry-${pos}`, turnId: 't', ...set }) as Item
  const kinds = [
    userItem(1, 'ask', { turnId: 't', stepId: null }),
    textItem(2, 'answer', { turnId: 't', stepId: 's1' }),
    toolItem(3, { turnId: 't', stepId: 's1', changeIds: ['c1', 'c2'], approvalId: 'entry-4' }),
    entry(4, { kind: 'approval', toolItemId: 'tool-3', state: 'allowed' }),
    textItem(5, 'half', { turnId: 't', stepId: 's2', status: 'live', endedAt: null }),
    toolItem(6, { turnId: 't', stepId: 's2', status: 'live', endedAt: null, state: 'running' }),
    entry(7, { kind: 'question', toolItemId: 'tool-3', state: 'answered' }),
    entry(8, { kind: 'approval', toolItemId: 'tool-6', state: 'open', status: 'live', endedAt: null }),
    entry(9, { kind: 'question', toolItemId: 'tool-6', state: 'open', status: 'live', endedAt: null }),
    entry(10, { kind: 'subagent', toolItemId: 'tool-3', sessionId: newId(), phase: 'completed' }),
    entry(11, { kind: 'subagent', toolItemId: 'tool-6', sessionId: newId(), phase: 'working', endedAt: null }),
    entry(12, { kind: 'compaction', coversThrough: 'text-2' }),
    toolItem(13, { id: newId(), turnId: 't', stepId: newId(), changeIds: [newId()], questionId: 'entry-9' }),
    entry(14, { kind: 'notice', text: 'told', turnId: null }),
  ] as Item[]
  const from = sampleHeader({ id: newId() })
  commit(sampleWrite(from, { items: kinds, turns: [turnRow('t', { settledAt: 2_000, outcome: 'completed' })] }))
  const to = sampleHeader({ id: newId() })
  const parse = vi.spyOn(JSON, 'parse')
  commit(sampleWrite(to, { copy: { from: from.id, itemId: 'entry-14', pos: 14, at: 9_000, idEnd: '0123456789ab' } }))
  const parsed = parse.mock.calls.filter(([text]) => String(text).includes('"kind"'))
  parse.mockRestore()
  expect(parsed).toEqual([])

  const copies = reads.contextItems(to.id)
  const all = db
    .prepare<[string], { id: string; contextual: number; ended_at: number; body: string }>(
      'SELECT id, contextual, ended_at, body FROM items WHERE session_id = ? ORDER BY pos',
    )
    .all(to.id)
  expect(copies.turns).toHaveLength(1)
  const made = all.map((row) => JSON.parse(row.body) as Item)
  const renewed = (id: string) => copiedId(id, '0123456789ab')
  expect(sorted(made)).toEqual(sorted(kinds.map((item) => copiedItem(item, renewed, 9_000))))
  const ended = { status: 'final', endedAt: 9_000 }
  const expected = [
    [3, { copiedFrom: 'tool-3', turnId: renewed('t'), stepId: renewed('s1'), changeIds: ['c1', 'c2'].map(renewed) }],
    [3, { approvalId: renewed('entry-4'), state: 'ok' }],
    [5, { status: 'partial', endedAt: 9_000 }],
    [6, { ...ended, state: 'cancelled', contextual: false }],
    [7, { toolItemId: renewed('tool-3'), state: 'answered' }],
    [8, { ...ended, toolItemId: renewed('tool-6'), state: 'cancelled' }],
    [10, { toolItemId: renewed('tool-3'), sessionId: null, phase: 'completed' }],
    [11, { ...ended, phase: 'stopped' }],
    [12, { coversThrough: renewed('text-2') }],
    [13, { questionId: renewed('entry-9') }],
    [14, { copiedFrom: 'entry-14', turnId: null, text: 'told' }],
  ] as const
  for (const [pos, part] of expected) expect(made[pos - 1]).toMatchObject(part)
  for (const [at, row] of all.entries()) {
    expect(row.id).toBe(made[at]!.id)
    expect(row.ended_at).toBe(made[at]!.endedAt)
    expect(row.contextual === 1).toBe(made[at]!.contextual)
  }
})

function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  ) as T
}

test('S-159 what a crash left open is found by an index of what is open, and in no entry', () => {
  for (let at = 0; at < 5; at++) store(100)
  const header = sampleHeader({ id: newId() })
  commit(sampleWrite(header, { turns: [turnRow('open')] }))
  expect(reads.unsettledSessions()).toEqual([header.id])
  expect(ran).toHaveLength(1)
  expect(plans()).toEqual([expect.stringContaining('turns_unsettled')])
})

test('S-160 a page of megabytes is parsed in stretches between which the main loop goes on', async () => {
  const header = sampleHeader({ id: newId() })
  const items = Array.from({ length: 60 }, (_, at) => textItem(at + 1, 'x'.repeat(60_000), { id: newId() }))
  commit(sampleWrite(header, { items }))
  await using storage = await opened()
  await storage.value('warm')
  let turn = 0
  let counting = true
  const count = () => {
    turn++
    if (counting) setImmediate(count)
  }
  count()
  const charsOfTurn = new Map<number, number>()
  const real = JSON.parse.bind(JSON)
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    charsOfTurn.set(turn, (charsOfTurn.get(turn) ?? 0) + text.length)
    return real(text, reviver) as unknown
  })
  const page = await storage.items(header.id, { limit: 60 }).finally(() => {
    counting = false
    spy.mockRestore()
  })
  expect(page.items).toHaveLength(60)
  const each = [...charsOfTurn.values()]
  expect(each.reduce((sum, chars) => sum + chars, 0)).toBeGreaterThan(3_000_000)
  expect(Math.max(...each)).toBeLessThan(700_000)
})

async function opened() {
  const storage = await openStorage({ home })
  return { ...storage, [Symbol.asyncDispose]: () => storage.close() }
}
