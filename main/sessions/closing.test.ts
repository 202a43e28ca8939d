import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { hangs, says, testScene } from './test-scene.ts'

const scene = testScene()

test('SA-35 S-142 five sessions to save, one of which cannot be: the turn is settled, the four others are as they were last', async () => {
  let refused: string | null = null
  const asked = new Set<string>()
  const written = Promise.withResolvers<void>()
  const bench = await scene.workbench([says('One.'), says('Two.'), says('Three.'), says('Four.'), hangs('Half')], {
    storage: (real) => ({
      commit: async (write) => {
        if (refused === null) return real.commit(write)
        asked.add(write.sessionId)
        await written.promise
        if (write.sessionId === refused) throw new LatheError('storage.failed', 'Not this one.')
        return real.commit(write)
      },
    }),
  })
  const actors = Array.from({ length: 5 }, () => bench.create())
  for (const actor of actors.slice(0, 4)) {
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'Hello'))
    await actor.command({ type: 'rename', title: 'Acknowledged' })
  }
  const running = actors[4]!
  const window = await bench.follow(running)
  const turnId = await bench.start(running, 'Work')
  await window.until(() => window.items.some((item) => item.kind === 'text' && item.text === 'Half'))

  refused = actors[0]!.id
  const renamed = Promise.allSettled(
    actors.slice(0, 4).map((actor) => actor.command({ type: 'rename', title: 'Last' })),
  )
  await expect.poll(() => asked.size).toBe(4)
  const closed = bench.sessions.close(5_000)
  written.resolve()
  await closed
  expect((await renamed).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])

  refused = null
  const again = await scene.restarted(bench)
  const titles = await Promise.all(
    actors.slice(0, 4).map(async ({ id }) => (await again.sessions.actor(id)).published.header.title),
  )
  expect(titles).toEqual(['Acknowledged', 'Last', 'Last', 'Last'])
  const { turns } = (await again.sessions.actor(running.id)).published
  expect(turns.find(({ id }) => id === turnId)).toMatchObject({ outcome: 'interrupted', reason: 'shutdown' })
})
