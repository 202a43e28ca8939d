import { expect, test } from 'vitest'
import { startModelServer } from '../../e2e/model-server/server.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { SessionActor } from './actor.ts'
import { Forks } from './forks.ts'
import { says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene(() => startModelServer())

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
    await bench.sessions.answerApproval(actor.id, {
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
  await first.sessions.answerApproval(actor.id, {
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
