import { expect, test } from 'vitest'
import { startModelServer } from '../../e2e/model-server/server.ts'
import { Id } from '../../preload/contract/ids.ts'
import { hangs, refusal, says, testScene } from './test-scene.ts'

const scene = testScene(() => startModelServer())

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
