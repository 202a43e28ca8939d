import { expect, test } from 'vitest'
import { listVersion, rebuildList } from './list-rebuild.ts'
import { Rewinds } from './rewinds.ts'
import { hangs, says, testScene } from './test-scene.ts'

const scene = testScene()

test('SA-15 S-51 overwritten lines of the list are served at once, and after the rebuild are what they were', async () => {
  const bench = await scene.workbench([says('first answer'), says('second answer'), says('third'), hangs('half')])
  const one = bench.create()
  const window = await bench.follow(one)
  await window.settled(await bench.start(one, 'first question'))
  await window.settled(await bench.start(one, 'second question'))
  const two = bench.create()
  const other = await bench.follow(two)
  // The text of one names the other: a rebuild follows ids only.
  await other.settled(await bench.start(two, `not ${one.id}`))
  await bench.sessions.command(two.id, { type: 'pin', pinned: true })
  const rewinds = new Rewinds({ ...bench, now: Date.now })
  await rewinds.rewind(one.id, window.itemsOf('user')[1]!.id, null)

  const listed = async () => (await bench.storage.entries({ limit: 10 })).entries
  const before = await listed()
  const logged: string[] = []
  const ports = { storage: bench.storage, log: (message: string) => logged.push(message) }
  for (const entry of before) {
    const wrong = { ...entry, preview: 'wrong', itemCount: 99, indicator: 'failed' as const, title: 'wrong' }
    const { header } = (await bench.storage.loadSession(entry.id))!
    await bench.storage.setEntry(entry.id, wrong, header.lastSeq)
  }
  await bench.storage.setValue('list.version', listVersion - 1)
  expect((await listed()).map(({ title }) => title)).toEqual(['wrong', 'wrong'])
  await rebuildList(ports)
  expect(await listed()).toEqual(before)
  expect(logged).toEqual([])

  // Once is enough; and what a session wrote meanwhile is never put back.
  await bench.storage.setEntry(two.id, { ...before[0]!, title: 'late' }, 1)
  expect(await listed()).toEqual(before)
  await rebuildList({ ...ports, storage: { ...bench.storage, sessionIds: () => Promise.reject(new Error('again')) } })
})
