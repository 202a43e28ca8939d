/**
 * Finding, searching, checkpoints and undo in a large workspace, beside plain `rg` and `git` on the same tree in the same
 * run. The tree is made of copies of node_modules; `LATHE_FILES=200000` makes it as large as wished.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { findFiles } from '../main/files/file-search.ts'
import { searchText } from '../main/files/text-search.ts'
import { SearchProgram } from '../main/files/search-program.ts'
import { TestWorkspace } from '../main/files/test-workspace.ts'
import { applyReturns, planReturns, undoOf } from '../main/files/undo.ts'
import { WorkspaceChanges } from '../main/files/workspace-changes.ts'
import { report, type Figure } from './figures.ts'

const run = promisify(execFile)
const wanted = Number(process.env['LATHE_FILES'] ?? 20_000)
const runs = 3
const changedByTurn = 500
const never = new AbortController().signal
const root = resolve(import.meta.dirname, '..')
const output = { maxBuffer: 1024 * 1024 * 1024 }

const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-bench-files-')))
await Promise.all(['app', 'home', 'data'].map((name) => mkdir(join(folder, name))))
await using workspace = new TestWorkspace(folder, {})
const app = workspace.folder
const files = await fill()

const env = { PATH: process.env['PATH'] ?? '', HOME: workspace.home, GIT_CONFIG_GLOBAL: '/dev/null' }
const program = new SearchProgram({ paths: workspace.paths, env })
const watched = new WorkspaceChanges({
  paths: workspace.paths,
  program,
  blobs: workspace.blobs,
  folder: join(workspace.dataFolder, 'checkpoints'),
})
const place = workspace.place
const at = await workspace.paths.resolve(place, '.')
const figures: Figure[] = []
const loop = monitorEventLoopDelay({ resolution: 5 })
loop.enable()

/** Times `work` several times, and the longest delay of this loop meanwhile, which is what the main loop would wait. */
async function time(name: string, work: () => Promise<unknown>, times = runs): Promise<void> {
  const values: number[] = []
  const stalls: number[] = []
  for (let count = 0; count < times; count++) {
    loop.reset()
    const from = performance.now()
    await work()
    values.push(performance.now() - from)
    stalls.push(loop.max / 1e6)
  }
  figures.push({ name, unit: 'ms', values }, { name: `  longest stall meanwhile`, unit: 'ms', values: stalls })
}

/** A program beside it: only the time counts. */
async function beside(name: string, file: string, args: string[], times = runs): Promise<void> {
  const values: number[] = []
  for (let count = 0; count < times; count++) {
    const from = performance.now()
    await run(file, args, { cwd: app, env, ...output }).catch(() => null)
    values.push(performance.now() - from)
  }
  figures.push({ name: `  beside it: ${name}`, unit: 'ms', values })
}

console.log(`${files} files`)
await time('first page of find, 200 files', () =>
  findFiles(program, { root: at, offset: 0, limit: 200, noIgnore: false, sort: 'path', includeDirs: false }, never),
)
await beside('rg --files', rgPath, ['--files', '--sort', 'path'])
const query = { root: at, fixedStrings: false, caseInsensitive: false, noIgnore: false, before: 2, after: 2 }
const grep = (pattern: string) => () =>
  searchText(program, { ...query, pattern, limit: 100, offset: 0, charsMax: 64_000 }, never)
await time('grep with few hits', grep('MIT License \\(MIT\\)$'))
await beside('rg', rgPath, ['MIT License \\(MIT\\)$', '.'])
await time('grep with many hits, first 100', grep('const'))
await beside('rg', rgPath, ['const', '.'])

await time(
  'first checkpoint of the workspace',
  async () => (await watched.begin({ place, turnId: 't0', callId: 'c0' }))(),
  1,
)
await beside('git add, into a new repository', 'sh', ['-c', 'git init -q . && git add -A'], 1)
await time('before and after a command that changes nothing', async () =>
  (await watched.begin({ place, turnId: 't1', callId: 'c1' }))(),
)
await beside('git status, twice', 'sh', ['-c', 'git status --porcelain > /dev/null; git status --porcelain'])

const paths = (await listed()).filter((path) => /\.(js|ts|json|md)$/.test(path)).slice(0, changedByTurn)
const before = await hashes(paths)
const close = await watched.begin({ place, turnId: 't2', callId: 'c2' })
for (const path of paths) await writeFile(join(app, path), `${await readFile(join(app, path), 'utf8')}\nchanged\n`)
let changes: Awaited<ReturnType<typeof close>> = []
await time(`changes of a command that wrote ${paths.length} files`, async () => (changes = await close()), 1)
await time(
  `undo of these ${paths.length} files`,
  async () => {
    const planned = await planReturns(workspace, place, changes.map(undoOf), never)
    await applyReturns(workspace, place, planned, new Set(), { sessionId: 's1', turnId: 't2' }, never)
  },
  1,
)
if ((await hashes(paths)) !== before) throw new Error('The undo did not restore every byte.')
await watched.dispose()
report(figures)

/** Copies of the packages in node_modules until there are enough files, in folders that nothing ignores. */
async function fill(): Promise<number> {
  const source = join(root, 'node_modules')
  let count = 0
  for (let copy = 0; count < wanted; copy++) {
    for (const name of (await readdir(source)).filter((one) => !one.startsWith('.'))) {
      if (count >= wanted) break
      const target = join(app, `copy${copy}`, name)
      await cp(join(source, name), target, {
        recursive: true,
        filter: (path) =>
          !/\.(node|wasm|map)$/.test(path) && !path.slice(source.length + name.length + 1).includes('node_modules'),
      })
      count += (await readdir(target, { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      ).length
    }
  }
  return count
}

async function listed(): Promise<string[]> {
  const { stdout } = await run(rgPath, ['--files', '--hidden'], { cwd: app, ...output })
  return stdout.split('\n').filter((path) => path !== '')
}

async function hashes(of: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of of) hash.update(await readFile(join(app, path)))
  return hash.digest('hex')
}

await rm(folder, { recursive: true, force: true })
