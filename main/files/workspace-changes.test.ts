import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SearchProgram } from './search-program.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { planReturns, applyReturns, redoOf, undoOf } from './undo.ts'
import { WorkspaceChanges, type Running } from './workspace-changes.ts'
import { WorkspaceScan } from './workspace-scan.ts'

let workspace: TestWorkspace
let watched: WorkspaceChanges

function watch(): WorkspaceChanges {
  const { paths, blobs, dataFolder, home } = workspace
  const program = new SearchProgram({ paths, env: { PATH: process.env['PATH'] ?? '', HOME: home } })
  return new WorkspaceChanges({ paths, program, blobs, folder: join(dataFolder, 'checkpoints'), home })
}

beforeEach(async () => {
  workspace = await makeWorkspace()
  watched = watch()
})
afterEach(async () => {
  await watched.dispose()
  await workspace[Symbol.asyncDispose]()
})

const of = (turnId: string): Running => ({ place: workspace.place, turnId, callId: `call of ${turnId}` })
const shown = (changes: readonly { path: string; kind: string }[]) =>
  changes.map(({ path, kind }) => `${kind} ${path}`).toSorted()

describe('windows', () => {
  test('F-902 F-903 only what changes inside a window is its call\u2019s, the gate\u2019s own writes are not', async () => {
    await workspace.put('a.txt', 'a')
    const first = await watched.begin(of('t1'))
    await workspace.put('a.txt', 'A')
    const gated = await workspace.put('gated.txt', 'by the gate')
    const path = await workspace.paths.resolve(workspace.place, 'gated.txt')
    expect(path.real).toBe(gated)
    watched.noteWritten(gated, await workspace.blobs.put('by the gate'))
    expect(shown(await first())).toEqual(['edited a.txt'])
    await workspace.put('b.txt', 'between')
    const second = await watched.begin(of('t1'))
    await workspace.put('c.txt', 'c')
    expect(shown(await second())).toEqual(['created c.txt'])
  })

  test('F-903 what falls into the windows of two turns is uncertain in both', async () => {
    await workspace.put('a.txt', 'a')
    const [one, other] = [await watched.begin(of('t1')), await watched.begin(of('t2'))]
    await workspace.put('a.txt', 'A')
    const [first, second] = [await one(), await other()]
    expect([first, second].map((changes) => changes.map(({ path, uncertain }) => [path, uncertain]))).toEqual([
      [['a.txt', true]],
      [['a.txt', true]],
    ])
  })

  test('F-902 a process that outlives its call is watched until the turn ends', async () => {
    await workspace.put('a.txt', 'a')
    const call = await watched.begin(of('t1'), { lingers: true })
    await workspace.put('a.txt', 'b')
    expect(shown(await call())).toEqual(['edited a.txt'])
    await workspace.put('a.txt', 'c')
    expect(await watched.turnEnded('t1')).toMatchObject([
      { path: 'a.txt', by: 'command', before: await workspace.blobs.put('b'), after: await workspace.blobs.put('c') },
    ])
    expect(await watched.turnEnded('t1')).toEqual([])
  })

  test('F-1006 F-802 F-110 ignored files, links, large files and the way out of the workspace are not covered', async () => {
    await workspace.put('.gitignore', 'ignored/\n')
    await workspace.put('../outside.txt', 'outside')
    const close = await watched.begin(of('t1'))
    await workspace.put('ignored/x', 'x')
    await workspace.put('node_modules/x', 'x')
    await workspace.put('large.bin', Buffer.alloc(10 * 1024 * 1024 + 1))
    await symlink('..', join(workspace.folder, 'up'))
    await workspace.put('../outside.txt', 'changed')
    await workspace.put('seen.txt', 'x')
    expect(shown(await close())).toEqual(['created seen.txt'])
  })

  test('F-1007 FA-36 a home folder gets no checkpoint and says why', async () => {
    const home = { ...workspace.place, workspace: workspace.home }
    const close = await watched.begin({ place: home, turnId: 't1', callId: 'c1' })
    await writeFile(join(workspace.home, 'x'), 'x')
    expect(await close()).toEqual([])
    expect(await watched.unsuitable(home)).toContain('home folder')
  })

  test('F-1005 F-1013 the state of an earlier run is used again; a broken one is taken anew', async () => {
    await workspace.put('a.txt', 'a')
    await (
      await watched.begin(of('t1'))
    )()
    await watched.dispose()
    await workspace.put('a.txt', 'while away')
    watched = watch()
    const close = await watched.begin(of('t2'))
    await workspace.put('a.txt', 'now')
    expect(await close()).toMatchObject([{ path: 'a.txt', before: await workspace.blobs.put('while away') }])
    await watched.dispose()
    const [store] = await readdir(join(workspace.dataFolder, 'checkpoints'))
    await writeFile(join(workspace.dataFolder, 'checkpoints', store!, 'state.json'), '{"known":[[')
    watched = watch()
    const again = await watched.begin(of('t3'))
    await rm(join(workspace.folder, 'a.txt'))
    expect(shown(await again())).toEqual(['deleted a.txt'])
  })

  test('F-1013 stores that were long unused go, those in use stay', async () => {
    await (
      await watched.begin(of('t1'))
    )()
    const folder = join(workspace.dataFolder, 'checkpoints')
    const [used] = await readdir(folder)
    const old = new Date(Date.now() - 31 * 24 * 60 * 60 * 1_000)
    await mkdir(join(folder, 'old'))
    await writeFile(join(folder, 'old', 'pack'), 'x')
    await utimes(join(folder, 'old'), old, old)
    await watched.tidy()
    expect(await readdir(folder)).toEqual([used])
  })
})

describe('undo', () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom('a\r\nb\n', '', '\ufeffx', 'no end', '\0\0').map((text) => new Uint8Array(Buffer.from(text))),
  )
  const name = fc.constantFrom('a', 'b c', 'd/e', 'd/\u00fc', 'f/g/h')
  const act = fc.oneof(
    fc.record({ do: fc.constant('write' as const), name, content }),
    fc.record({ do: fc.constant('remove' as const), name }),
    fc.record({ do: fc.constant('mode' as const), name, mode: fc.constantFrom(0o644, 0o755, 0o600) }),
  )

  type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

  async function state(): Promise<string[]> {
    const entries = await readdir(workspace.folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const lines = await Promise.all(
      files.map(
        async (file) =>
          `${file} ${((await stat(file)).mode & 0o777).toString(8)} ${await workspace.read(file.slice(workspace.folder.length + 1))}`,
      ),
    )
    return lines.toSorted()
  }

  test('F-1008 F-1009 F-1010 whatever a command did, undo restores bytes and modes exactly, and redo too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 6 }),
        fc.array(act, { minLength: 1, maxLength: 8 }),
        async (before, during) => {
          await rm(workspace.folder, { recursive: true })
          await mkdir(workspace.folder)
          await perform(before)
          const close = await watched.begin(of('t1'))
          const was = await state()
          await perform(during)
          const changes = await close()
          const is = await state()
          const go = async (returns: Parameters<typeof planReturns>[2]) => {
            const planned = await planReturns(workspace, workspace.place, returns, new AbortController().signal)
            expect(planned.filter((one) => one.state !== 'ready')).toEqual([])
            await applyReturns(
              workspace,
              workspace.place,
              planned,
              new Set(),
              { sessionId: 's1', turnId: 't1' },
              new AbortController().signal,
            )
          }
          await go(changes.map(undoOf))
          expect(await state()).toEqual(was)
          await go(changes.map((change) => redoOf(change, change.after)))
          expect(await state()).toEqual(is)
        },
      ),
      { numRuns: 25 },
    )
  }, 60_000)

  async function perform(acts: readonly Act[]): Promise<void> {
    for (const one of acts) {
      const file = join(workspace.folder, one.name)
      if (one.do === 'write') await workspace.put(one.name, one.content)
      else if (one.do === 'remove') await rm(file, { force: true })
      else await chmod(file, one.mode).catch(() => {})
    }
  }
})

test('F-1005 a file written in the very moment it was looked at is read again', async () => {
  await workspace.put('a.txt', 'aaaa')
  const scan = new WorkspaceScan(workspace.folder, join(workspace.dataFolder, 'scan'))
  scan.update(['a.txt'], 1_000)
  const at = new Date(Date.now() - 10_000)
  await workspace.put('a.txt', 'bbbb')
  await utimes(join(workspace.folder, 'a.txt'), at, at)
  expect(scan.update(['a.txt'], 1_000).differences).toMatchObject([{ path: 'a.txt' }])
  expect(Buffer.from(scan.content(await workspace.blobs.put('aaaa'))!).toString()).toBe('aaaa')
  scan.close()
})

test('K-11 F-1009 an undo never follows a link out of the workspace', async () => {
  await workspace.put('d/a.txt', 'a')
  const close = await watched.begin(of('t1'))
  await workspace.put('d/a.txt', 'A')
  const changes = await close()
  await workspace.put('../outside/a.txt', 'A')
  await rm(join(workspace.folder, 'd'), { recursive: true })
  await symlink('../outside', join(workspace.folder, 'd'))
  const planned = await planReturns(workspace, workspace.place, changes.map(undoOf), new AbortController().signal)
  expect(planned.map(({ state }) => state)).toEqual(['conflict'])
  expect(await workspace.read('../outside/a.txt')).toBe('A')
})

test('F-1003 FA-32 the person’s repository is byte for byte the same through detection, undo and redo', async () => {
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=P', '-c', 'user.email=p@localhost', ...args], {
      cwd: workspace.folder,
    })
  await git('init', '-q')
  for (const name of ['committed', 'staged', 'unstaged', 'stashed']) await workspace.put(name, 'old')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  await workspace.put('stashed', 'work')
  await git('stash', '-q')
  await workspace.put('staged', 'work')
  await git('add', 'staged')
  await workspace.put('unstaged', 'work')
  await workspace.put('untracked', 'work')
  const repository = async () => {
    const entries = await readdir(join(workspace.folder, '.git'), { recursive: true, withFileTypes: true })
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(workspace.folder.length + 1))
    const bodies = await Promise.all(files.toSorted().map(async (file) => `${file} ${await workspace.read(file)}`))
    return createHash('sha256').update(bodies.join('\0')).digest('hex')
  }
  const was = await repository()
  const close = await watched.begin(of('t1'))
  for (const name of ['committed', 'staged', 'unstaged', 'new']) await workspace.put(name, 'by the turn')
  const changes = await close()
  const signal = new AbortController().signal
  const author = { sessionId: 's1', turnId: 't1' }
  const undo = await planReturns(workspace, workspace.place, changes.map(undoOf), signal)
  await applyReturns(workspace, workspace.place, undo, new Set(), author, signal)
  expect(
    await Promise.all(['committed', 'staged', 'unstaged', 'untracked'].map((name) => workspace.read(name))),
  ).toEqual(['old', 'work', 'work', 'work'])
  const redo = await planReturns(
    workspace,
    workspace.place,
    changes.map((change) => redoOf(change, change.after)),
    signal,
  )
  await applyReturns(workspace, workspace.place, redo, new Set(), author, signal)
  expect(await workspace.read('new')).toBe('by the turn')
  expect(await repository()).toBe(was)
})

test('F-1014 a store that cannot be made fails no call', async () => {
  await writeFile(join(workspace.dataFolder, 'checkpoints'), 'in the way')
  const close = await watched.begin(of('t1'))
  await workspace.put('a.txt', 'a')
  expect(await close()).toEqual([])
})
