import { expect, test } from 'vitest'
import { calls, hangs, says, testScene } from './test-scene.ts'

const scene = testScene()

test('S-69 finds a text in all of a session: said, answered, called, written this very moment; not what was left out', async () => {
  const bench = await scene.workbench([
    says('The Walrus answers'),
    calls('walrus call'),
    says('done'),
    hangs('and a WALRUS still being written'),
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'Where is the walrus? It is "quoted\\" too'))
  const second = await bench.start(actor, 'nothing here')
  ;(await bench.tools.running('walrus call')).finish({ text: 'found one' })
  await window.settled(second)
  const third = await bench.start(actor, 'go on')
  await window.until(({ items }) => items.some((item) => item.kind === 'text' && item.text.includes('WALRUS')))

  const found = async (text: string) => {
    const { matches } = await bench.sessions.find(actor.id, text)
    return matches.map(({ itemId }) => window.items.find((item) => item.id === itemId)?.kind)
  }
  expect(await found('walrus')).toEqual(['user', 'text', 'tool', 'text'])
  expect(await found('quoted\\"')).toEqual(['user'])
  expect(await found('found one')).toEqual(['tool'])
  // What is stored beside the words is not found.
  expect(await found('contextual')).toEqual([])
  await bench.sessions.command(actor.id, { type: 'stop', turnId: third, reason: 'person' })
  await window.settled(third)
})
