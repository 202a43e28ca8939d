import { expect, test } from 'vitest'
import { storeSession } from '../../e2e/long-session.ts'
import { Id } from '../../preload/contract/ids.ts'
import { hangs, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()

test.each(['a b', 'a\n', 'a/b', '../a', 'a.b', '', 'x'.repeat(65), 'ä'])(
  'S-2 %j is no id: it is matched whole',
  (id) => {
    expect(Id.safeParse(id).success).toBe(false)
  },
)

test('S-41 what is not there and what was deleted are refused by their own names, the latter with a way back', async () => {
  const bench = await scene.workbench([says('hello')])
  expect(await refusal(bench.sessions.open('nowhere'))).toBe('session.not_found')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'go'))
  await bench.sessions.delete(actor.id)
  await expect(bench.sessions.open(actor.id)).rejects.toMatchObject({
    code: 'session.deleted',
    hint: expect.stringContaining('restored'),
  })
})

test('S-36 S-44 SA-8 after a restart the record alone tells what stands: model, last figures, hold, queue, recovery', async () => {
  const bench = await scene.workbench([says('hello'), hangs('half')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'go'))
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/scripted', effort: 'high' })
  await bench.start(actor, 'more')
  await window.until(({ items }) => items.at(-1)?.kind === 'text')
  await bench.submit(actor, 'later', { whenBusy: 'queue' })
  const { lastUsage } = window.view.header
  const again = await scene.restarted(bench, [], true)
  await again.sessions.recoverAll()
  const { header, turn } = await again.sessions.open(actor.id)
  expect(turn).toBeNull()
  expect(header).toMatchObject({
    model: 'lab/scripted',
    effort: 'high',
    automaticHeld: { by: 'recovery' },
    queue: { followUps: [{ text: 'later' }], paused: 'recovery' },
    recovery: { status: 'awaiting', reason: 'confirm' },
  })
  expect(lastUsage).not.toBeNull()
  expect(header.usage).toEqual(expect.objectContaining({ total: window.view.header.usage.total }))
  expect((await again.storage.entries({ limit: 1 })).entries[0]!.indicator).toBe('interrupted')
})

test('S-35 a session opens at its end or around an entry, with the count of what there is on each side', async () => {
  const bench = await scene.workbench([says('hello')])
  const { sessionId, items } = await storeSession(bench.storage, {
    workspace: bench.workspace,
    title: 'Long',
    count: 400,
    length: 20,
  })
  const end = await bench.sessions.open(sessionId)
  expect(end.items.map(({ id }) => id)).toEqual(items.slice(320).map(({ id }) => id))
  expect([end.itemsBefore, end.itemsAfter]).toEqual([320, 0])
  const around = await bench.sessions.open(sessionId, items[100]!.id)
  const from = items.findIndex(({ id }) => id === around.items[0]!.id)
  expect(around.items).toHaveLength(80)
  expect(around.items.map(({ id }) => id)).toContain(items[100]!.id)
  expect([around.itemsBefore, around.itemsAfter]).toEqual([from, 400 - from - 80])
  expect(around.header).toEqual(end.header)
  // The rows of the turns in sight, and that of the newest.
  const shown = new Set(around.items.map(({ turnId }) => turnId))
  expect(new Set(around.turns.map(({ id }) => id))).toEqual(shown.add(end.turns.at(-1)!.id))
  expect(await refusal(bench.sessions.open(sessionId, 'never'))).toBe('request.invalid')

  // Nothing falls between an opening and its stream, wherever it opened.
  const actor = await bench.sessions.actor(sessionId)
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'go'))
  const now = await bench.sessions.open(sessionId, items[100]!.id)
  expect(now.header.lastSeq).toBe(window.view.header.lastSeq)
  expect(now.itemsBefore + now.items.length + now.itemsAfter).toBe(window.view.header.itemCount)
})

test('S-3 S-8 what one window sets of an unsent session the other hears of, though no event tells', async () => {
  const bench = await scene.workbench()
  const actor = bench.create()
  const ended = new AbortController()
  const { header, journalId } = await bench.sessions.open(actor.id)
  const stream = bench.sessions.events(actor.id, header.lastSeq, journalId, ended.signal)
  const heard = stream.next()
  await actor.command({ type: 'settings', approvalMode: 'edits' })
  expect((await heard).value).toMatchObject({ type: 'stream.resync', reason: 'unsent' })
  expect((await bench.sessions.open(actor.id)).header.approvalMode).toBe('edits')
  ended.abort()
  expect(await bench.storage.loadSession(actor.id)).toBeNull()
})
