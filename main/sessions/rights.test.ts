import { expect, test } from 'vitest'
import { asks, heldDisk, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()

/** Rights that a person narrows in mid flight. */
function held() {
  const acting = new AbortController()
  return { mayAct: () => !acting.signal.aborted, narrowed: acting.signal, narrow: () => acting.abort() }
}

test('S-31 SA-5 rights narrowed while a first message is on its way: it is denied, and there is no session', async () => {
  const bench = await scene.workbench()
  const actor = bench.create()
  const rights = held()
  const reading = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  bench.agents.read = async () => {
    asked.resolve()
    await reading.promise
    throw new Error('not reached by a turn')
  }
  const sent = refusal(bench.submit(actor, 'first', { agent: 'slow', rights }))
  await asked.promise
  rights.narrow()
  reading.resolve()
  expect(await sent).toBe('access.denied')
  expect(actor.stored).toBe(false)
  expect((await bench.storage.entries({ limit: 10 })).entries).toEqual([])
  expect(scene.server.asked()).toEqual([])
  // And stays so.
  expect(await refusal(bench.submit(actor, 'again', { rights }))).toBe('access.denied')
})

test('S-31 a command that waits behind a transaction is judged by the rights there are once it is applied', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([says('One.')], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'one'))
  const rights = held()
  disk.hold()
  const first = bench.sessions.command(actor.id, { type: 'rename', title: 'First' })
  await disk.written()
  const second = refusal(bench.sessions.command(actor.id, { type: 'rename', title: 'Second' }, rights))
  rights.narrow()
  disk.release()
  await first
  expect(await second).toBe('access.denied')
  expect((await bench.sessions.open(actor.id)).header.title).toBe('First')
})

test('S-31 who may only watch neither stops a turn nor answers a card', async () => {
  const bench = await scene.workbench([asks('one'), says('Done.')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'go')
  const { approvals } = await window.until((view) => view.approvals.depth === 1)
  const rights = { mayAct: () => false, narrowed: AbortSignal.abort() }
  const card = approvals.head!
  const answer = { approvalId: card.id, argsHash: card.request.argsHash, decision: 'once', scope: 'workspace' } as const
  for (const command of [
    { type: 'stop', turnId, reason: 'person' },
    { type: 'approval.answer', ...answer },
  ] as const)
    expect(await refusal(bench.sessions.command(actor.id, command, rights))).toBe('access.denied')
  expect(actor.handle?.controller.signal.aborted).toBe(false)
  expect(bench.tools.held).toEqual([])
  await bench.sessions.command(actor.id, { type: 'approval.answer', ...answer })
  ;(await bench.tools.running('one')).finish()
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
})
