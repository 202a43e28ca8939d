import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { doctor } from './doctor.ts'
import type { Output } from './output.ts'

let home: string
let lines: { name: string; message: string; fix?: string }[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-doctor-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function examine(emptying = false): Promise<{ message: string; fix?: string } | undefined> {
  lines = []
  const output: Output = {
    json: true,
    print: () => {},
    line: (value) => void lines.push(value as never),
    note: () => {},
    fail: () => {},
    write: async () => {},
    flush: async () => {},
  }
  await doctor({ home, version: '0' }, output, emptying)
  return lines.find(({ name }) => name === 'checkpoints')
}

test('F-1015 the size of the checkpoints is told, with how to empty them, and that empties them alone', async () => {
  expect(await examine()).toMatchObject({ message: 'none' })
  for (const store of ['a', 'b']) {
    await mkdir(join(home, 'checkpoints', store), { recursive: true })
    await writeFile(join(home, 'checkpoints', store, 'pack'), Buffer.alloc(3 * 1024 * 1024))
  }
  await mkdir(join(home, 'blobs'))
  await writeFile(join(home, 'blobs', 'x'), 'kept')
  const told = await examine()
  expect(told).toMatchObject({ message: '6.0 MiB of 2 workspaces' })
  expect(told?.fix).toContain('--empty-checkpoints')
  expect(await examine(true)).toMatchObject({ message: 'none' })
  expect(await readdir(join(home, 'blobs'))).toEqual(['x'])
})
