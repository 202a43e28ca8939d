/** Checkpoints and undo over a person's repository (F-1001 to F-1005, FA-32 to FA-37): with git on the PATH, and without. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FileChange } from './change.ts'
import { Differ } from './diff.ts'
import { SearchProgram } from './search-program.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { applyReturns, planReturns, redoOf, undoOf, type FileReturn } from './undo.ts'
import { WorkspaceChanges, type WorkspaceChangesOptions } from './workspace-changes.ts'

const never = new AbortController().signal
let workspace: TestWorkspace
let watched: WorkspaceChanges

beforeEach(async () => {
  workspace = await makeWorkspace()
})
afterEach(async () => {
  await watched.dispose()
  await workspace[Symbol.asyncDispose]()
})

function watch(
  env: Record<string, string> = { PATH: process.env['PATH'] ?? '' },
  more: Partial<WorkspaceChangesOptions> & { search?: string } = {},
): void {
  const { paths, blobs, dataFolder, home } = workspace
  const { search, ...options } = more
  const program = new SearchProgram({
    paths,
    env: { ...env, HOME: home },
    ...(search === undefined ? {} : { program: search }),
  })
  watched = new WorkspaceChanges({ paths, program, blobs, folder: join(dataFolder, 'checkpoints'), home, ...options })
}

const begin = (turnId = 't1') => watched.begin({ place: workspace.place, turnId, callId: `call of ${turnId}` })

async function go(returns: FileReturn[]): Promise<string[]> {
  const planned = await planReturns(workspace, workspace.place, returns, never)
  const author = { sessionId: 's1', turnId: 't1' }
  await applyReturns(workspace, workspace.place, planned, new Set(), author, never)
  return planned.map(({ path, state }) => `${state} ${path}`)
}
const undo = (changes: readonly FileChange[]) => go(changes.map(undoOf))
const redo = (changes: readonly FileChange[]) => go(changes.map((change) => redoOf(change, change.after)))
const git = (...args: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=P', '-c', 'user.email=p@localhost', ...args], { cwd: workspace.folder })

describe.each([
  ['with git on the PATH', { PATH: process.env['PATH'] ?? '' }],
  ['without git on the PATH', { PATH: '/nonexistent' }],
])('F-1002 the one store, %s', (_, env) => {
  test('F-1003 F-1004 FA-32 FA-36 a repository stays byte for byte, with its filters and hooks unused', async () => {
    const ran = join(workspace.home, 'ran')
    const filter = `sh -c 'echo filtered >> ${ran}; cat'`
    await git('init', '-q')
    await workspace.put('.gitattributes', '*.txt text eol=crlf filter=mine diff=mine\n')
    for (const name of ['committed.txt', 'staged', 'unstaged', 'stashed']) await workspace.put(name, 'old\n')
    await git('add', '.')
    await git('commit', '-qm', 'first')
    await workspace.put('stashed', 'work')
    await git('stash', '-q')
    await workspace.put('staged', 'work')
    await git('add', 'staged')
    for (const name of ['filter.mine.clean', 'filter.mine.smudge', 'diff.mine.textconv', 'core.fsmonitor'])
      await git('config', name, filter)
    for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
      await writeFile(join(workspace.folder, '.git/hooks', hook), `#!/bin/sh\necho hook >> ${ran}\n`, { mode: 0o755 })
    await workspace.put('unstaged', 'work')
    await workspace.put('untracked', 'work')
    await workspace.put('mixed.txt', 'a\r\nb\nno end')
    const was = await repository()
    watch(env)
    const close = await begin()
    const names = ['committed.txt', 'staged', 'unstaged', 'mixed.txt', 'new']
    for (const name of names) await workspace.put(name, 'by the turn\n')
    const changes = await close()
    expect(changes.map(({ path }) => path).toSorted()).toEqual(names.toSorted())
    await undo(changes)
    const read = (name: string) => workspace.read(name)
    expect(await Promise.all(['committed.txt', 'staged', 'unstaged', 'untracked', 'mixed.txt'].map(read))).toEqual([
      'old\n',
      'work',
      'work',
      'work',
      'a\r\nb\nno end',
    ])
    expect(await repository()).toBe(was)
    await redo(changes)
    expect(await Promise.all(names.map(read))).toEqual(names.map(() => 'by the turn\n'))
    expect(await repository()).toBe(was)
    await expect(stat(ran)).rejects.toThrow('ENOENT')
  })

  test('F-1005 FA-33 FA-36 a rewrite of the same size and time is seen and undone', async () => {
    const file = await workspace.put('a.txt', 'aaaa')
    const at = new Date(Date.now() - 60_000)
    await utimes(file, at, at)
    watch(env)
    const close = await begin()
    await writeFile(file, 'bbbb')
    await utimes(file, at, at)
    const changes = await close()
    await undo(changes)
    expect(await workspace.read('a.txt')).toBe('aaaa')
  })

  test('FA-34 FA-36 of four files the one edited by hand since stays, and a redo restores the three exactly', async () => {
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await workspace.put(name, 'before')
    watch(env)
    const close = await begin()
    for (const name of names) await workspace.put(name, `after ${name}`)
    const changes = await close()
    await workspace.put('b', 'by hand')
    expect((await undo(changes)).toSorted()).toEqual(['conflict b', 'ready a', 'ready c', 'ready d'])
    expect(await Promise.all(names.map((name) => workspace.read(name)))).toEqual([
      'before',
      'by hand',
      'before',
      'before',
    ])
    await redo(changes.filter(({ path }) => path !== 'b'))
    expect(await Promise.all(names.map((name) => workspace.read(name)))).toEqual([
      'after a',
      'by hand',
      'after c',
      'after d',
    ])
  })

  test('FA-35 FA-36 K-12 beside an ignored untracked folder an undo deletes the new file only', async () => {
    await workspace.put('.gitignore', 'data/\n')
    for (let at = 0; at < 20; at++) await workspace.put(`data/${at}.bin`, Buffer.alloc(64 * 1024, at))
    const shape = async () =>
      Promise.all(
        (await readdir(join(workspace.folder, 'data'))).toSorted().map(async (name) => {
          const { size, mtimeMs, ino } = await stat(join(workspace.folder, 'data', name))
          return [name, size, mtimeMs, ino]
        }),
      )
    const was = await shape()
    watch(env)
    const close = await begin()
    await workspace.put('new.txt', 'new')
    const changes = await close()
    expect(changes.map(({ path }) => path)).toEqual(['new.txt'])
    await undo(changes)
    expect(await workspace.names()).toEqual(['.gitignore', 'data'])
    expect(await shape()).toEqual(was)
  })

  test('F-1006 K-11 links are undone as links, and what they lead to is not touched', async () => {
    await workspace.put('../outside.txt', 'outside')
    for (const name of ['turned', 'gone']) await symlink('../outside.txt', join(workspace.folder, name))
    await workspace.put('file', 'a file')
    watch(env)
    const close = await begin()
    await rm(join(workspace.folder, 'gone'))
    for (const name of ['turned', 'file']) await rm(join(workspace.folder, name))
    await symlink('elsewhere', join(workspace.folder, 'turned'))
    await symlink('../outside.txt', join(workspace.folder, 'file'))
    await symlink('..', join(workspace.folder, 'new'))
    const changes = await close()
    expect(changes.map(({ path, kind }) => `${kind} ${path}`).toSorted()).toEqual([
      'created new',
      'deleted gone',
      'edited file',
      'edited turned',
    ])
    expect(new Set((await undo(changes)).map((one) => one.split(' ')[0]))).toEqual(new Set(['ready']))
    const kinds = async () =>
      (await readdir(workspace.folder, { withFileTypes: true })).map((entry) =>
        entry.isSymbolicLink() ? `${entry.name} @` : entry.name,
      )
    expect((await kinds()).toSorted()).toEqual(['file', 'gone @', 'turned @'])
    expect([await workspace.read('file'), await workspace.read('turned')]).toEqual(['a file', 'outside'])
    await redo(changes)
    expect((await kinds()).toSorted()).toEqual(['file @', 'new @', 'turned @'])
    expect(await workspace.read('../outside.txt')).toBe('outside')
  })
})

test('F-906 a file that moved is one change with where it was, and both paths are undone', async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at} of it\n`).join('')
  await workspace.put('old/exact.txt', 'equal\n')
  await workspace.put('old/half.txt', lines)
  await workspace.put('other.txt', 'nothing alike\n')
  watch()
  const close = await begin()
  for (const name of ['exact.txt', 'half.txt']) await rm(join(workspace.folder, 'old', name))
  await rm(join(workspace.folder, 'other.txt'))
  await workspace.put('new/exact.txt', 'equal\n')
  await workspace.put('new/half.md', lines.replace('line 3 of it\n', 'three\n'))
  await workspace.put('another.txt', 'something else\n')
  const changes = await close()
  expect(changes.map(({ kind, path, from }) => [kind, path, from]).toSorted()).toEqual([
    ['created', 'another.txt', undefined],
    ['deleted', 'old/exact.txt', undefined],
    ['deleted', 'old/half.txt', undefined],
    ['deleted', 'other.txt', undefined],
    ['renamed', 'new/exact.txt', 'old/exact.txt'],
    ['renamed', 'new/half.md', 'old/half.txt'],
  ])
  await undo(changes)
  expect([await workspace.read('old/exact.txt'), await workspace.read('old/half.txt')]).toEqual(['equal\n', lines])
})

describe('time', () => {
  /** A search program that waits until it is let go. */
  async function slowSearch(): Promise<{ search: string; letGo(): Promise<void> }> {
    const [search, go] = [join(workspace.home, 'slow-rg'), join(workspace.home, 'go')]
    await writeFile(search, `#!/bin/sh\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\nexec '${rgPath}' "$@"\n`)
    await chmod(search, 0o755)
    return { search, letGo: () => writeFile(go, '') }
  }

  test('F-1001 FA-37 F-1014 a checkpoint that takes too long is partial and told, and edits by tools still undo', async () => {
    await workspace.put('a.txt', 'before')
    const { search, letGo } = await slowSearch()
    watch(undefined, { search, firstWaitMs: 300 })
    watched.prepare(workspace.place)
    const from = performance.now()
    const close = await begin()
    expect(performance.now() - from).toBeGreaterThan(250)
    const path = await workspace.paths.resolve(workspace.place, 'a.txt')
    const author = { sessionId: 's1', turnId: 't1', callId: 'c1', by: 'tool' as const }
    const base = await workspace.blobs.put('before')
    const made = await workspace.gate.commit(
      workspace.place,
      [{ path, base, content: Buffer.from('after') }],
      author,
      never,
    )
    await letGo()
    await close()
    expect((await watched.turnEnded('t1')).notice).toContain('partial')
    await undo(made)
    expect(await workspace.read('a.txt')).toBe('before')
    // The next turn has one that is whole.
    const next = await begin('t2')
    await workspace.put('a.txt', 'by a command')
    expect((await next()).map((change) => change.path)).toEqual(['a.txt'])
    expect((await watched.turnEnded('t2')).notice).toBeNull()
  })

  test('F-902 F-903 what a call had no time to look at is found at the end of its turn, as uncertain', async () => {
    await workspace.put('a.txt', 'before')
    watch()
    await (
      await begin('t0')
    )()
    await watched.dispose()
    const { search, letGo } = await slowSearch()
    await letGo()
    watch(undefined, { search })
    const close = await begin()
    await rm(join(workspace.home, 'go'))
    await workspace.put('a.txt', 'after')
    expect(await close()).toEqual([])
    await letGo()
    const { changes, notice } = await watched.turnEnded('t1')
    expect(changes.map(({ path, uncertain }) => [path, uncertain])).toEqual([['a.txt', true]])
    expect(notice).toBeNull()
  }, 30_000)
})

test('F-1004 the git that compares two texts runs with no configuration of the person or the system', async () => {
  const ran = join(workspace.home, 'ran')
  await writeFile(
    join(workspace.home, '.gitconfig'),
    `[diff]\n  external = touch ${ran}\n  context = 0\n  interHunkContext = 500\n  noprefix = true\n[core]\n  attributesFile = ${workspace.home}/attributes\n[diff "mine"]\n  textconv = touch ${ran}; echo\n`,
  )
  await writeFile(join(workspace.home, 'attributes'), '* diff=mine\n')
  const differ = new Differ(workspace.workers, { PATH: process.env['PATH'] ?? '', HOME: workspace.home })
  const text = (changed: string) =>
    Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at === 9_000 ? changed : `line ${at}`)).join('\n'))
  const { hunks } = await differ.diff(text('old'), text('new'))
  expect(hunks?.map(({ lines }) => lines.length)).toEqual([8])
  await expect(stat(ran)).rejects.toThrow('ENOENT')
  watch()
})

async function repository(): Promise<string> {
  const entries = await readdir(join(workspace.folder, '.git'), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.folder.length + 1))
  const bodies = await Promise.all(files.toSorted().map(async (file) => `${file} ${await workspace.read(file)}`))
  return createHash('sha256').update(bodies.join('\0')).digest('hex')
}
