import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Exports } from './exports.ts'
import { calls, says, testScene } from './test-scene.ts'

const scene = testScene()

test('S-12 S-90 what a provider has kept between two steps goes back to it, and is not stored, opened, exported or searched', async () => {
  const proof = `proof${'Zq7'.repeat(20)}`
  const step = calls('one')
  const bench = await scene.workbench([{ emit: [{ carrier: proof }, ...step.emit] }, says('Done.')], {
    lab: { kind: 'anthropic' },
  })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'work')
  await bench.tools.running('one').then((tool) => tool.finish())
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  expect(JSON.stringify(scene.server.asked().at(-1)?.body)).toContain(proof)

  expect(JSON.stringify(await bench.sessions.open(actor.id))).not.toContain(proof)
  const exports = new Exports(bench)
  for (const format of ['md', 'json', 'html'] as const) {
    const { text } = await exports.part({ sessionId: actor.id, exportId: format, part: 0, format, exact: true })
    expect(text).toContain('Done.')
    expect(text).not.toContain(proof)
  }
  // A later turn does not have it either: it lived in the memory of its turn.
  scene.server.enqueue(says('Again.'))
  await window.settled(await bench.start(actor, 'more'))
  expect(JSON.stringify(scene.server.asked().at(-1)?.body)).not.toContain(proof)
  const stored = await readdir(bench.home, { recursive: true, withFileTypes: true })
  const files = stored.filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name)).toContain('lathe.db')
  for (const file of files) expect((await readFile(join(file.parentPath, file.name))).includes(proof)).toBe(false)
})
