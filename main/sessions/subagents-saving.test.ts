/** Subagents beside a disk that fails or answers late: nothing they ask, did or are is lost, and nothing runs that nobody knows of. */
import { expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import type { Step } from '../../e2e/model-server/server.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import type { SessionWrite, Storage } from '../storage/storage.ts'
import { calls, hangs, says, testScene } from './test-scene.ts'

const scene = testScene()

const delegates: Step = {
  when: { lastUserContains: 'do it' },
  emit: [{ call: { name: 'subagent', args: { label: 'build', task: 'job of build' } } }],
}
const child = (step: Step): Step => ({ when: { lastUserContains: 'job of build' }, ...step })
const parentSays = (text: string): Step => ({ when: { lastUserContains: 'do it' }, ...says(text) })

const puts = (write: SessionWrite, test: (item: Item) => boolean) =>
  write.events.some((event) => event.type === 'item.put' && test(event.item))

/** The first write of these fails, or is stored and its answer comes too late. */
function once(which: (write: SessionWrite) => boolean, how: 'fails' | 'late') {
  let left = 1
  return (real: Storage): Partial<Storage> => ({
    commit: async (write) => {
      const hit = left > 0 && which(write)
      if (hit) left--
      if (hit && how === 'fails') throw new LatheError('storage.failed', 'The disk is full.', { reason: 'disk_full' })
      await real.commit(write)
      if (hit) throw new LatheError('storage.timeout', 'The disk takes its time.')
    },
  })
}

test('C-104 T-58 what a subagent asks stands in the session as soon as that can be saved again', async () => {
  const storage = once(
    (write) => puts(write, (item) => item.kind === 'approval' && item.askedIn !== undefined),
    'fails',
  )
  const asks = { emit: [{ call: { name: 'shell', args: { name: 'make', asks: true } } }] }
  const bench = await scene.workbench([delegates, child(asks), child(says('Built.')), parentSays('Done.')], { storage })
  bench.tools.onHeld = (held) => held.finish()
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  const { approvals } = await window.until((view) => view.approvals.head)
  const { id: approvalId, request } = approvals.head!
  const answer = { approvalId, argsHash: request.argsHash, decision: 'once', scope: 'workspace' } as const
  await bench.sessions.subagents.answerApproval(actor.id, answer)
  expect((await window.settled(turnId)).outcome).toBe('completed')
})

test('F-901 what a subagent changed is the turn’s too, though it cannot be saved at once', async () => {
  const storage = once(
    (write) => write.header.parent === undefined && write.events.some(({ type }) => type === 'changes.changed'),
    'fails',
  )
  const script = [delegates, child(calls('write')), child(says('Built.')), parentSays('Done.')]
  const bench = await scene.workbench(script, { storage })
  const change = { id: 'c1', path: 'a.txt', kind: 'created', before: null, after: 'h', added: 1, removed: 0 } as never
  bench.tools.onHeld = (held) => held.finish({ changes: [change] })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.settled(turnId)
  await window.until((view) => view.changes.length > 0)
  expect(window.view.changes).toMatchObject([{ id: 'c1', turnId }])
})

test('F-901 C-106 what a subagent changed is the turn’s too, though the host was killed before that stood there', async () => {
  const reached = Promise.withResolvers<void>()
  const storage = (real: Storage): Partial<Storage> => ({
    commit: async (write) => {
      const passed = write.header.parent === undefined && write.events.some(({ type }) => type === 'changes.changed')
      if (!passed) return real.commit(write)
      reached.resolve()
      // Killed before it answers.
      await new Promise(() => {})
    },
  })
  const bench = await scene.workbench([delegates, child(calls('write')), child(hangs(''))], { storage })
  const change = { id: 'c1', path: 'a.txt', kind: 'created', before: null, after: 'h', added: 1, removed: 0 } as never
  bench.tools.onHeld = (held) => held.finish({ changes: [change] })
  const actor = bench.create()
  const turnId = await bench.start(actor, 'do it')
  await reached.promise
  const again = await scene.restarted(bench, [], true)
  await again.sessions.recoverAll()
  expect((await again.sessions.open(actor.id)).changes).toMatchObject([{ id: 'c1', turnId }])
})

test('C-96 S-18 a subagent whose call was told that it could not be saved never runs, also where it was saved after all', async () => {
  const storage = once((write) => puts(write, (item) => item.kind === 'subagent' && item.endedAt === null), 'late')
  const bench = await scene.workbench([delegates, child(says('Nobody hears this.')), parentSays('Done.')], { storage })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  expect((await window.settled(turnId)).outcome).toBe('completed')
  await window.until(({ items }) => items.some((item) => item.kind === 'subagent' && item.endedAt !== null))
  expect(window.itemsOf('subagent')).toMatchObject([{ phase: 'failed', reason: 'error' }])
  expect(JSON.stringify(scene.server.asked())).not.toContain('"content":"job of build')
})

test('C-99 S-18 a subagent whose first message is saved late runs and is waited for', async () => {
  const storage = once(
    (write) => write.header.parent !== undefined && write.events.some(({ type }) => type === 'turn.started'),
    'late',
  )
  const script = [delegates, child(calls('reading')), child(says('The port is 4000.')), parentSays('Done.')]
  const bench = await scene.workbench(script, { storage })
  bench.tools.onHeld = (held) => held.finish()
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.settled(turnId)
  expect(window.itemsOf('subagent')).toMatchObject([{ phase: 'done', result: 'The port is 4000.' }])
})
