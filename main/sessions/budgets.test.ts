/** What the budgets of opening, sending and starting rest on: how often storage is asked, and for what. */
import { expect, test } from 'vitest'
import type { SessionWrite } from '../storage/storage.ts'
import { hangs, says, testScene } from './test-scene.ts'
import { Forks } from './forks.ts'

const scene = testScene()

test('S-151 a window that opens a session has it from the record and one slice: no body, no page', async () => {
  const first = await scene.workbench([says('answer')])
  const actor = first.create()
  const window = await first.follow(actor)
  await window.settled(await first.start(actor, 'ask'))
  const asked: string[] = []
  const bench = await scene.restarted(first, [], false, {
    storage: (real) => ({
      loadSession: (id) => (asked.push('session'), real.loadSession(id)),
      items: (id, query) => (asked.push('page'), real.items(id, query)),
      item: (id, itemId) => (asked.push('item'), real.item(id, itemId)),
      blobs: { ...real.blobs, get: (hash) => (asked.push('body'), real.blobs.get(hash)) },
    }),
  })
  const opened = await bench.sessions.open(actor.id)
  expect(opened.items).toEqual(window.view.items)
  await bench.sessions.open(actor.id)
  expect(asked).toEqual(['session'])
})

test('S-158 a message is accepted by one transaction, which holds all of it', async () => {
  const writes: SessionWrite[] = []
  let answered = false
  const bench = await scene.workbench([hangs('half')], {
    storage: (real) => ({
      commit: (write) => {
        if (!answered) writes.push(write)
        return real.commit(write)
      },
    }),
  })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const reply = await bench.submit(actor, 'ask', { requestId: 'once' }).finally(() => (answered = true))
  expect(writes[0]).toMatchObject({
    sessionId: actor.id,
    header: { currentTurnId: (reply as { turnId: string }).turnId },
    items: [{ kind: 'user', text: 'ask' }],
    turns: [{ requestId: 'once', settledAt: null }],
    requests: [{ requestId: 'once' }],
  })
  expect(writes.filter(({ requests }) => requests.length > 0)).toHaveLength(1)
  const { turnId } = reply as { turnId: string }
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
})

test('S-157 a fork takes the same few entries through memory, however long the session is', async () => {
  const turns = 45
  const writes: SessionWrite[] = []
  const bench = await scene.workbench(Array.from({ length: turns }, () => says('answer')))
  const actor = bench.create()
  const window = await bench.follow(actor)
  for (let at = 0; at < turns; at++) await window.settled(await bench.start(actor, `ask ${at}`))
  const { storage } = bench
  const points: number[] = []
  const forks = new Forks({
    sessions: bench.sessions,
    storage: {
      async forkPoint(...asked) {
        const point = await storage.forkPoint(...asked)
        points.push(point?.slice.length ?? 0)
        return point
      },
      commit: (write) => (writes.push(write), storage.commit(write)),
    },
    entryChanged: () => {},
    environment: () => ({ now: Date.now(), newId: () => crypto.randomUUID(), settings: bench.settings, rules: [] }),
  })
  const { id, itemCount } = await forks.fork(actor.id, {})
  expect(itemCount).toBeGreaterThanOrEqual(90)
  expect(points).toEqual([80])
  expect(writes).toMatchObject([{ sessionId: id, items: [{ kind: 'fork' }], copy: { from: actor.id } }])
})

test('S-159 a start loads the sessions that were interrupted and no other', async () => {
  const first = await scene.workbench([says('answer'), says('answer'), hangs('half'), hangs('half')])
  const settled = [first.create(), first.create()]
  for (const actor of settled) await (await first.follow(actor)).settled(await first.start(actor, 'ask'))
  const open = [first.create(), first.create()]
  for (const actor of open) {
    const window = await first.follow(actor)
    await first.start(actor, 'ask')
    await window.until(({ items }) => items.some((item) => item.kind === 'text'))
  }
  const loaded: string[] = []
  const pages: string[] = []
  const bench = await scene.restarted(first, [], true, {
    storage: (real) => ({
      loadSession: (id) => (loaded.push(id), real.loadSession(id)),
      items: (id, query) => (pages.push(id), real.items(id, query)),
    }),
  })
  await bench.sessions.recoverAll()
  expect(loaded.toSorted()).toEqual(open.map(({ id }) => id).toSorted())
  expect(pages).toEqual([])
  const { entries } = await bench.storage.entries({ limit: 10 })
  expect(entries.filter(({ indicator }) => indicator === 'interrupted')).toHaveLength(2)
})
