/**
 * The main loop never blocks: no synchronous disk, process or compression calls in main/. A worker has a loop of its own
 * to block, so it is free of this, with every module that only workers import. The list may only shrink.
 */
import { glob, readFile } from 'node:fs/promises'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Files on the main loop that may call something synchronous, with how often and why. */
const allowed: Record<string, { calls: number; because: string }> = {
  'main/shell/desktop.ts': {
    calls: 1,
    because: 'Electron wants its data folder before it is ready, with nothing awaited.',
  },
}

const withoutComments = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"])\/\/.*$/gm, '')

/** How often a source calls something that blocks. Comments may speak of it. */
function blockingCalls(source: string): number {
  return [...withoutComments(source).matchAll(/\b(?:[a-z]\w*Sync|Atomics\.wait)\s*\(/g)].length
}

/** The modules of the repository that a module runs; importing a type runs nothing. */
function imports(file: string, source: string): string[] {
  const statements = withoutComments(source).matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...statements].map(([, fixed, later]) => posix.join(posix.dirname(file), fixed ?? later ?? ''))
}

/** Worker entries, and what nobody but workers imports. */
function workerOnly(sources: Map<string, string>): Set<string> {
  const importers = new Map<string, Set<string>>()
  for (const [file, source] of sources)
    for (const target of imports(file, source)) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  const found = new Set([...sources.keys()].filter((file) => /(^|[/-])worker\.ts$/.test(file)))
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const [file, by] of importers) if ([...by].every((importer) => found.has(importer))) found.add(file)
  }
  return found
}

test('main/ calls nothing synchronous beyond the list, and the list says no more than is there', async () => {
  const sources = new Map<string, string>()
  for await (const path of glob('main/**/*.ts', { cwd: root }))
    if (!/(\.test|(^|[/\\])test-[^/\\]*)\.ts$/.test(path))
      sources.set(path.replaceAll('\\', '/'), await readFile(resolve(root, path), 'utf8'))
  const free = workerOnly(sources)
  const found = Object.fromEntries(
    [...sources]
      .map(([file, source]) => [file, free.has(file) ? 0 : blockingCalls(source)] as const)
      .filter(([, calls]) => calls > 0),
  )
  const listed = Object.fromEntries(Object.entries(allowed).map(([file, { calls }]) => [file, calls]))
  expect(found, 'use the asynchronous call, or a worker; lower a number that fell, never raise one').toEqual(listed)
})

test('a planted blocking call is counted, a mention is not', () => {
  expect(blockingCalls("const text = readFileSync('a')\nexecSync(`git`)\nAtomics.wait(a, 0, 0)")).toBe(3)
  expect(blockingCalls('// readFileSync(x) would block\n/* execSync() */\nawait readFile(x)\nsync()')).toBe(0)
})

test('a module is free only while nobody on the main loop runs it', () => {
  const sources = new Map([
    ['main/storage/worker.ts', "import { open } from './database.ts'\nimport { both } from './both.ts'"],
    ['main/storage/database.ts', "export { sweep } from './sweep.ts'"],
    ['main/storage/sweep.ts', ''],
    ['main/storage/both.ts', ''],
    ['main/storage/storage.ts', "import type { Open } from './database.ts'\nimport {\n  both,\n} from './both.ts'"],
  ])
  expect([...workerOnly(sources)].sort()).toEqual([
    'main/storage/database.ts',
    'main/storage/sweep.ts',
    'main/storage/worker.ts',
  ])
})
