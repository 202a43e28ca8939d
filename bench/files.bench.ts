/**
 * Finding, searching, checkpoints and undo in two large workspaces, beside plain `rg` and `git` on the same tree in the
 * same run: a real repository of at least 20,000 files (copies of node_modules) and one of 200,000 small files; finding
 * alone among 1,000,000 empty ones. `LATHE_FILES=1000` makes all of them smaller.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { findFiles } from '../main/files/file-search.ts'
import { searchText } from '../main/files/text-search.ts'
import { SearchProgram } from '../main/files/search-program.ts'
import { TestWorkspace } from '../main/files/test-workspace.ts'
import { applyReturns, planReturns, undoOf } from '../main/files/undo.ts'
import { WorkspaceChanges } from '../main/files/workspace-changes.ts'
import { report, stallFigures, type Figure } from './figures.ts'

const run = promisify(execFile)
const wanted = Number(process.env['LATHE_FILES'] ?? Number.POSITIVE_INFINITY)
const runs = 3
const changedByTurn = 500
const lookMs = 2
const never = new AbortController().signal
const root = resolve(import.meta.dirname, '..')
const output = { maxBuffer: 1024 * 1024 * 1024 }
const figures: Figure[] = []

type Stall = { ms: number; cpuMs: number }

await measureTree('packages', (app) => copiesOfPackages(app, Math.min(20_000, wanted)))
await measureTree('small files', (app) => smallFiles(app, Math.min(200_000, wanted)))
await measureTree('empty files', (app) => emptyFiles(app, Math.min(1_000_000, wanted)), { findsOnly: true })
report(figures)

async function measureTree(
  tree: string,
  fill: (app: string) => Promise<number>,
  { findsOnly = false } = {},
): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-bench-files-')))
  await Promise.all(['app', 'home', 'data'].map((name) => mkdir(join(folder, name))))
  await using workspace = new TestWorkspace(folder, {})
  const { place, paths, blobs, home, dataFolder } = workspace
  const app = workspace.folder
  const name = `${(await fill(app)).toLocaleString('en')} ${tree}`

  const env = { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' }
  const program = new SearchProgram({ paths, env })
  const watched = new WorkspaceChanges({ paths, program, blobs, folder: join(dataFolder, 'checkpoints') })
  const at = await paths.resolve(place, '.')

  /** Times `work` several times, and the longest delay of this loop meanwhile, which is what the main loop would wait. */
  const time = async (what: string, work: () => Promise<unknown>, times = runs): Promise<void> => {
    const values: number[] = []
    const stalls: Stall[] = []
    for (let count = 0; count < times; count++) {
      const stop = watchLoop()
      const from = performance.now()
      await work()
      values.push(performance.now() - from)
      stalls.push(stop())
    }
    figures.push({ name: `${name}: ${what}`, unit: 'ms', values }, ...stallFigures('meanwhile', stalls))
  }

  /** A program beside it: only the time counts. */
  const beside = async (what: string, file: string, args: string[], times = runs): Promise<void> => {
    const values: number[] = []
    for (let count = 0; count < times; count++) {
      const from = performance.now()
      await run(file, args, { cwd: app, env, ...output }).catch(() => null)
      values.push(performance.now() - from)
    }
    figures.push({ name: `  beside it: ${what}`, unit: 'ms', values })
  }

  const find = { root: at, offset: 0, limit: 200, noIgnore: false, sort: 'path' as const, includeDirs: false }
  await time('first page of find, 200 files', () => findFiles(program, find, never))
  await beside('rg --files --sort path', rgPath, ['--files', '--sort', 'path'])
  // Of a million it looks at the first half million, which is its budget (F-806).
  await time('find of one name that is not there', () => findFiles(program, { ...find, query: 'no such' }, never))
  if (findsOnly) return watched.dispose()
  const query = { root: at, fixedStrings: false, caseInsensitive: false, noIgnore: false, before: 2, after: 2 }
  const grep = (pattern: string) => () =>
    searchText(program, { ...query, pattern, limit: 100, offset: 0, charsMax: 64_000 }, never)
  await time('grep with few hits', grep('MIT License \\(MIT\\)$'))
  await beside('rg', rgPath, ['MIT License \\(MIT\\)$', '.'])
  await beside('rg --sort path', rgPath, ['--sort', 'path', 'MIT License \\(MIT\\)$', '.'])
  await time('grep with many hits, first 100', grep('const'))
  await beside('rg', rgPath, ['const', '.'])

  const around = async (turnId: string) => (await watched.begin({ place, turnId, callId: `call of ${turnId}` }))()
  await time('first checkpoint of the workspace', () => around('t0'), 1)
  await beside('git add, into a new repository', 'sh', ['-c', 'git init -q . && git add -A'], 1)
  await time('checkpoint of a turn: before and after a command', () => around('t1'))
  await beside('git status, twice', 'sh', ['-c', 'git status --porcelain > /dev/null; git status --porcelain'])

  const changed = (await listed(app)).filter((path) => /\.(js|ts|json|md)$/.test(path)).slice(0, changedByTurn)
  const before = await hashes(app, changed)
  const close = await watched.begin({ place, turnId: 't2', callId: 'c2' })
  for (const path of changed) await writeFile(join(app, path), `${await readFile(join(app, path), 'utf8')}\nchanged\n`)
  let changes: Awaited<ReturnType<typeof close>> = []
  await time(`changes of a command that wrote ${changed.length} files`, async () => (changes = await close()), 1)
  await beside('git status', 'git', ['status', '--porcelain'], 1)
  await time(
    `undo of these ${changed.length} files`,
    async () => {
      const planned = await planReturns(workspace, place, changes.map(undoOf), never)
      await applyReturns(workspace, place, planned, new Set(), { sessionId: 's1', turnId: 't2' }, never)
    },
    1,
  )
  if ((await hashes(app, changed)) !== before) throw new Error('The undo did not restore every byte.')
  for (const path of changed) await writeFile(join(app, path), `${await readFile(join(app, path), 'utf8')}\nchanged\n`)
  await beside('git checkout of the same files, nothing flushed', 'git', ['checkout', '--', '.'], 1)
  await watched.dispose()
}

/** The longest this loop did not come round, and the most it worked in such a time itself; a busy machine makes it wait. */
function watchLoop(): () => Stall {
  const longest: Stall = { ms: 0, cpuMs: 0 }
  let [at, worked] = [performance.now(), process.threadCpuUsage()]
  const look = (): void => {
    const now = performance.now()
    const { user, system } = process.threadCpuUsage(worked)
    longest.ms = Math.max(longest.ms, now - at - lookMs)
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1_000)
    at = now
    worked = process.threadCpuUsage()
  }
  const timer = setInterval(look, lookMs)
  return () => {
    look()
    clearInterval(timer)
    return longest
  }
}

/** Copies of the packages in node_modules until there are enough files, in folders that nothing ignores. */
async function copiesOfPackages(app: string, least: number): Promise<number> {
  const source = join(root, 'node_modules')
  let count = 0
  for (let copy = 0; count < least; copy++) {
    for (const name of (await readdir(source)).filter((one) => !one.startsWith('.'))) {
      if (count >= least) break
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

/** A hundred to a folder; one in 20,000 holds what is searched for. */
async function smallFiles(app: string, count: number): Promise<number> {
  for (let from = 0; from < count; from += 100) {
    const folder = join(app, `m${Math.floor(from / 10_000)}`, `p${(from / 100) % 100}`)
    await mkdir(folder, { recursive: true })
    const names = Array.from({ length: Math.min(100, count - from) }, (_, at) => from + at)
    await Promise.all(
      names.map((at) =>
        writeFile(
          join(folder, `f${at}.ts`),
          `export const v${at} = ${at}\n${at % 20_000 === 0 ? '// The MIT License (MIT)\n' : ''}`,
        ),
      ),
    )
  }
  return count
}

/** A thousand to a folder. */
async function emptyFiles(app: string, count: number): Promise<number> {
  for (let from = 0; from < count; from += 1_000) {
    const folder = join(app, `m${Math.floor(from / 100_000)}`, `p${(from / 1_000) % 100}`)
    await mkdir(folder, { recursive: true })
    const names = Array.from({ length: Math.min(1_000, count - from) }, (_, at) => `f${from + at}.ts`)
    await Promise.all(names.map((name) => writeFile(join(folder, name), '')))
  }
  return count
}

async function listed(app: string): Promise<string[]> {
  const { stdout } = await run(rgPath, ['--files', '--hidden'], { cwd: app, ...output })
  return stdout.split('\n').filter((path) => path !== '')
}

async function hashes(app: string, of: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of of) hash.update(await readFile(join(app, path)))
  return hash.digest('hex')
}
