import { afterEach, expect, test, vi } from 'vitest'
import { unsentLeaseMs } from '../../preload/contract/limits.ts'
import { refusal, says, testScene } from './test-scene.ts'

const scene = testScene()

afterEach(() => void vi.useRealTimers())

test('S-3 a session without a message outlives a reload, goes with its last client, and leaves nothing but its draft', async () => {
  const bench = await scene.workbench()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const { id } = bench.create()
  await bench.storage.setDraft(id, { text: 'Half a thought', attachments: [], revision: 1 })
  const [first, second] = [
    await bench.follow(await bench.sessions.actor(id)),
    await bench.follow(await bench.sessions.actor(id)),
  ]
  await vi.advanceTimersByTimeAsync(10 * unsentLeaseMs)
  first.stop()
  await vi.advanceTimersByTimeAsync(2 * unsentLeaseMs)
  // A reload: its stream ends, and comes back.
  second.stop()
  await vi.advanceTimersByTimeAsync(unsentLeaseMs - 1_000)
  const again = await bench.follow(await bench.sessions.actor(id))
  await vi.advanceTimersByTimeAsync(2 * unsentLeaseMs)
  again.stop()
  await vi.advanceTimersByTimeAsync(unsentLeaseMs + 1_000)
  expect(await refusal(bench.sessions.actor(id))).toBe('session.not_found')
  expect(await bench.storage.draft(id)).toMatchObject({ text: 'Half a thought' })
  expect(await bench.storage.entries({ limit: 10 })).toMatchObject({ entries: [] })
})

test('S-3 with its first message a session stays, whoever goes', async () => {
  const bench = await scene.workbench([says('Hello.')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'Hi'))
  window.stop()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  await vi.advanceTimersByTimeAsync(3 * unsentLeaseMs)
  expect((await bench.sessions.actor(actor.id)).published.items).toHaveLength(2)
})
