import { expect, test } from 'vitest'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { testHome } from './test-home.ts'
import {
  delta,
  sampleHeader,
  sampleWrite,
  textItem,
  toolItem,
  turnRow,
  turnSettled,
  turnStarted,
  userItem,
} from './write-samples.ts'

const { open } = testHome()

test('T-57 deltas of settled turns are pruned; a reader of the gap is told', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 4 })
  const turn = turnRow('t1', { settledAt: 2_000, outcome: 'completed' })
  const events = [
    turnStarted(1, 't1'),
    delta(2, 't1', 'text-1', 0, 'a'),
    delta(3, 't1', 'text-1', 1, 'b'),
    turnSettled(4, header, turn),
  ]
  await storage.commit(sampleWrite(header, { events, turns: [turn] }))
  const running = sampleHeader({ lastSeq: 2 })
  await storage.commit(
    sampleWrite(running, { events: [turnStarted(1, 't2'), delta(2, 't2', 'text-1', 0, 'a')], turns: [turnRow('t2')] }),
  )
  expect(await storage.events(header.id, 0, 100)).toEqual({ events, pruned: false })

  await storage.pruneDeltas(2_000)
  expect(await storage.events(header.id, 0, 100)).toEqual({ events, pruned: false })
  await storage.pruneDeltas(2_001)

  expect(await storage.events(header.id, 0, 100)).toEqual({ events: [events[0], events[3]], pruned: true })
  expect(await storage.events(header.id, 3, 100)).toEqual({ events: [events[3]], pruned: false })
  expect((await storage.events(running.id, 0, 100)).events).toHaveLength(2)
  expect((await storage.loadSession(header.id))?.header.lastSeq).toBe(4)
})

test('T-57 deltas of a command outside turns go once its item ended', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 4 })
  const output = (seq: number, itemId: string): StoredEvent => ({
    type: 'item.delta',
    seq,
    at: 1,
    itemId,
    field: 'output',
    offset: 0,
    add: 'x',
  })
  const turn = turnRow('t1', { settledAt: 2_000, outcome: 'completed' })
  await storage.commit(
    sampleWrite(header, {
      events: [output(1, 'tool-1'), output(2, 'tool-2'), turnStarted(3, 't1'), turnSettled(4, header, turn)],
      items: [toolItem(1), toolItem(2, { endedAt: null, status: 'live', state: 'running' })],
      turns: [turn],
    }),
  )
  await storage.pruneDeltas(3_000)
  expect((await storage.events(header.id, 0, 10)).events.map((event) => event.seq)).toEqual([2, 3, 4])
})

test('T-182 unsettled turns are found, with the items and events that recovery needs', async () => {
  const storage = await open()
  const settled = sampleHeader({ lastSeq: 0 })
  await storage.commit(sampleWrite(settled, { turns: [turnRow('t0', { settledAt: 5, outcome: 'completed' })] }))
  const header = sampleHeader({ lastSeq: 1 })
  await storage.commit(
    sampleWrite(header, {
      items: [textItem(1, 'before')],
      events: [{ type: 'title.status', seq: 1, at: 1, status: 'working' }],
    }),
  )
  const long = 'x'.repeat(200_000)
  const items = [
    userItem(2, long, { turnId: 't1' }),
    toolItem(3, { turnId: 't1', endedAt: null, status: 'live', state: 'running' }),
  ]
  const later = Array.from({ length: 100 }, (_, at) => textItem(10 + at, `note ${at}`, { turnId: 't1' }))
  const deltas = Array.from({ length: 50 }, (_, at) => delta(3 + at, 't1', 'text-10', at * 2, 'ab'))
  await storage.commit(
    sampleWrite(
      { ...header, lastSeq: 52 },
      { events: [turnStarted(2, 't1'), ...deltas], turns: [turnRow('t1')], items: [...items, ...later] },
    ),
  )

  expect(await storage.unsettledSessions()).toEqual([header.id])
  const loaded = await storage.loadSession(header.id)
  expect(loaded?.items.map((item) => item.pos).slice(0, 2)).toEqual([3, 10])
  expect(loaded?.itemsBefore).toBe(2)
  expect(loaded?.unsettled[0]).toEqual(turnStarted(2, 't1'))
  expect(loaded?.unsettled.slice(1)).toEqual([{ ...delta(52, 't1', 'text-10', 0, 'ab'.repeat(50)) }])
  expect(await storage.item(header.id, 'user-2')).toEqual(items[0])
})

test('T-201 folding a replay of merged deltas equals folding every delta', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 0 })
  const texts = ['He', 'llo', ' wor', 'ld', '!']
  const events: StoredEvent[] = [turnStarted(1, 't1')]
  const put = (id: string, pos: number): void =>
    void events.push({
      type: 'item.put',
      seq: events.length + 1,
      at: 1,
      turnId: 't1',
      item: textItem(pos, '', { id, status: 'live', turnId: 't1' }),
      after: null,
    })
  put('a', 1)
  put('b', 2)
  let a = ''
  let b = ''
  for (const [at, text] of texts.entries()) {
    events.push(delta(events.length + 1, 't1', 'a', a.length, text))
    a += text
    if (at % 2) continue
    events.push(delta(events.length + 1, 't1', 'b', b.length, text))
    b += text
  }
  await storage.commit(sampleWrite({ ...header, lastSeq: events.length }, { events, turns: [turnRow('t1')] }))
  const view: SessionView = {
    journalId: 'j',
    header,
    items: [],
    itemsBefore: 0,
    itemsAfter: 0,
    turns: [],
    turn: null,
    approvals: { head: null, depth: 0 },
    questions: { head: null, depth: 0 },
    changes: [],
    execSessions: [],
  }
  const replayed = (await storage.loadSession(header.id))!.unsettled
  expect(replayed.length).toBeLessThan(events.length)
  expect(replayed.reduce(foldEvent, view)).toEqual(events.reduce(foldEvent, view))
})
