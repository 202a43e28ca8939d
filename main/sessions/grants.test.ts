import { expect, test } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import type { SessionActor } from './actor.ts'
import { Forks } from './forks.ts'
import { refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

const npmTest = { emit: [{ call: { name: 'shell', args: { name: 'npm-test', asks: true } } }] }

/** A turn that makes the same call again: whether a card had to be answered for it. */
async function asked(bench: TestWorkbench, actor: SessionActor): Promise<boolean> {
  scene.server.enqueue(npmTest, says('Done.'))
  bench.tools.onHeld = (held) => held.finish()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'test it')
  await window.until((view) => view.approvals.head ?? view.turns.find(({ id }) => id === turnId)?.outcome)
  const head = window.view.approvals.head
  if (head)
    await bench.sessions.command(actor.id, {
      type: 'approval.answer',
      approvalId: head.id,
      argsHash: head.request.argsHash,
      decision: 'once',
      scope: 'workspace',
    })
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  window.stop()
  return head !== null
}

test('TA-37 T-143 what is allowed for a session holds after a restart and with another model; a fork and a new session ask', async () => {
  const lab = { models: ['scripted', 'other'] }
  const first = await scene.workbench([npmTest, says('Done.')], { lab })
  first.tools.onHeld = (held) => held.finish()
  const actor = first.create()
  const window = await first.follow(actor)
  const turnId = await first.start(actor, 'test it')
  await window.until((view) => view.approvals.head)
  const { id, request } = window.view.approvals.head!
  await first.sessions.command(actor.id, {
    type: 'approval.answer',
    approvalId: id,
    argsHash: request.argsHash,
    decision: 'session',
    scope: 'workspace',
  })
  await window.settled(turnId)
  expect(await asked(first, actor)).toBe(false)

  await first.close()
  const bench = await scene.workbench([], { lab })
  const again = await bench.sessions.actor(actor.id)
  expect(await asked(bench, again)).toBe(false)
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/other' })
  expect(await asked(bench, again)).toBe(false)

  const forks = new Forks({
    sessions: bench.sessions,
    storage: bench.storage,
    entryChanged: () => {},
    environment: () => ({ now: Date.now(), newId, settings: bench.settings, rules: [] }),
  })
  const fork = await forks.fork(actor.id, {})
  expect(await asked(bench, await bench.sessions.actor(fork.id))).toBe(true)
  expect(await asked(bench, bench.create())).toBe(true)
})

test('TA-24 a mode for a card that is gone, or that cannot be saved, changes nothing: the open card waits', async () => {
  const other = { emit: [{ call: { name: 'shell', args: { name: 'build', asks: true } } }] }
  const bench = await scene.workbench([{ emit: [...npmTest.emit, ...other.emit] }, says('Done.')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'go')
  await window.until((view) => view.approvals.depth === 2)
  const [first, second] = window.itemsOf('approval')
  const answer = (card: typeof first) =>
    bench.sessions.command(actor.id, {
      type: 'approval.answer',
      approvalId: card!.id,
      argsHash: card!.request.argsHash,
      decision: 'once',
      scope: 'workspace',
    })
  await answer(second)
  const widen = (card: typeof first) =>
    refusal(bench.sessions.command(actor.id, { type: 'settings', approvalMode: 'all', forApproval: card!.id }))
  const waits = () => {
    expect(window.view).toMatchObject({
      header: { approvalMode: 'ask' },
      approvals: { depth: 1, head: { id: first!.id } },
    })
    expect(bench.tools.held.map(({ name }) => name)).toEqual(['build'])
  }
  ;(await bench.tools.running('build')).finish()
  await window.until((view) => view.approvals.depth === 1)
  expect(await widen(second)).toBe('approval.gone')
  waits()
  scene.faults.failCommits(1)
  expect(await widen(first)).toBe('storage.failed')
  waits()
  expect(await widen(first)).toBe('none')
  ;(await bench.tools.running('npm-test')).finish()
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
})
