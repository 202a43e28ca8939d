/**
 * The main loop never blocks: no synchronous disk, process or compression calls in main/. The list names what is allowed
 * and may only shrink; workers have a loop of their own to block.
 */
import { glob, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Files that may call something synchronous, with how often and why. */
const allowed: Record<string, { calls: number; because: string }> = {}

/** Comments and strings may speak of it; only a call counts. */
export function blockingCalls(source: string): number {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  return [...code.matchAll(/\b(?:[a-z]\w*Sync|Atomics\.wait)\s*\(/g)].length
}

test('main/ calls nothing synchronous beyond the list, and the list says no more than is there', async () => {
  const found: Record<string, number> = {}
  for await (const path of glob('main/**/*.ts', { cwd: root })) {
    const file = path.replaceAll('\\', '/')
    if (/\.test\.ts$|(^|[/-])worker\.ts$/.test(file)) continue
    const calls = blockingCalls(await readFile(resolve(root, path), 'utf8'))
    if (calls > 0) found[file] = calls
  }
  const listed = Object.fromEntries(Object.entries(allowed).map(([file, { calls }]) => [file, calls]))
  expect(found, 'use the asynchronous call, or a worker; lower a number that fell, never raise one').toEqual(listed)
})

test('a planted blocking call is counted, a mention is not', () => {
  expect(blockingCalls("const text = readFileSync('a')\nexecSync(`git`)\nAtomics.wait(a, 0, 0)")).toBe(3)
  expect(blockingCalls('// readFileSync(x) would block\n/* execSync() */\nawait readFile(x)\nsync()')).toBe(0)
})
