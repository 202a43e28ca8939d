/** A kill at any point of a write leaves the old file or the new one. `LATHE_RUNS=50` kills fifty times as often. */
import { execFile } from 'node:child_process'
import { chmod, lstat, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryPrefix } from './atomic-write.ts'
import { runs } from './test-runs.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'

const bytes = 512 * 1024
const names = ['a.txt', 'run.sh', 'target.txt']
const points = ['matched', 'checked', 'intended', 'written', 'renamed']
let workspace: TestWorkspace

beforeEach(async () => {
  workspace = await makeWorkspace()
  for (const name of names) await workspace.put(name, '0'.repeat(bytes))
  await chmod(join(workspace.folder, 'run.sh'), 0o755)
  await symlink('target.txt', join(workspace.folder, 'link'))
})
afterEach(() => workspace[Symbol.asyncDispose]())

/** Runs the writer until it is dead; with `ms` it is killed that long after it has begun. */
function untilKilled(args: string[], ms?: number): Promise<string | null> {
  return new Promise((resolve) => {
    const script = join(import.meta.dirname, 'test-killed-writer.ts')
    const child = execFile(process.execPath, [script, dirname(workspace.folder), ...args])
    if (ms !== undefined) child.stdout!.once('data', () => setTimeout(() => child.kill('SIGKILL'), ms))
    child.once('exit', (_, signal) => resolve(signal))
  })
}

/** Each file is whole; the link and the mode are as they were; only temporary files of the gate may be left. */
async function expectWhole(of: string): Promise<string> {
  const sides = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(workspace.folder, name), 'latin1')
      const side = content[0]!
      expect([of, name, content.length, content === side.repeat(bytes)]).toEqual([of, name, bytes, true])
      return side
    }),
  )
  expect([of, (await lstat(join(workspace.folder, 'run.sh'))).mode & 0o777]).toEqual([of, 0o755])
  expect([of, (await lstat(join(workspace.folder, 'link'))).isSymbolicLink()]).toEqual([of, true])
  const others = (await readdir(workspace.folder)).filter((name) => ![...names, 'link'].includes(name))
  expect(others.filter((name) => !name.startsWith(temporaryPrefix))).toEqual([])
  return sides.join('')
}

async function layAnew(): Promise<void> {
  for (const name of names) await writeFile(join(workspace.folder, name), '0'.repeat(bytes))
}

test('F-610 F-604 F-701 a host killed at any point of a write leaves each file old or new, with its mode and its link', async () => {
  const seen = new Set<string>()
  for (const point of points) {
    for (let nth = 0; nth < names.length; nth++) {
      if (point === 'intended' && nth > 0) continue
      await layAnew()
      expect(await untilKilled([point, `${nth}`])).toBe('SIGKILL')
      seen.add(await expectWhole(`${point} ${nth}`))
    }
  }
  // Before the first rename all are old, after the last all are new, and in between the files before it.
  expect([...seen].toSorted()).toEqual(['000', '100', '110', '111'])
}, 240_000)

test(
  'F-610 and so does one killed at any other moment',
  async () => {
    for (let run = 0; run < runs(4); run++) {
      await layAnew()
      expect(await untilKilled([], Math.round(Math.random() * 150))).toBe('SIGKILL')
      await expectWhole(`run ${run}`)
    }
  },
  120_000 * runs(1),
)
