import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SearchProgram } from './search-program.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { runs } from './test-runs.ts'
import { countUncovered } from './uncovered.ts'
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
    expect(await watched.turnEnded('t1')).toMatchObject({
      changes: [
        { path: 'a.txt', by: 'command', before: await workspace.blobs.put('b'), after: await workspace.blobs.put('c') },
      ],
      notice: null,
    })
    expect(await watched.turnEnded('t1')).toEqual({ changes: [], notice: null })
  })

  test('F-902 F-1014 changes whose contents cannot be stored at once are found again at the end of their turn', async () => {
    const { paths, blobs, dataFolder, home } = workspace
    let full = 0
    const failing = {
      ...blobs,
      get: blobs.get.bind(blobs),
      put: async (bytes: Uint8Array | string) => {
        if (full-- > 0) throw new Error('ENOSPC')
        return blobs.put(bytes)
      },
    }
    const program = new SearchProgram({ paths, env: { PATH: process.env['PATH'] ?? '', HOME: home } })
    const folder = join(dataFolder, 'checkpoints')
    const over = new WorkspaceChanges({ paths, program, blobs: failing, folder, home, retryMs: [0, 0] })
    await workspace.put('a.txt', 'a')
    await workspace.put('gone.txt', 'g')
    const close = await over.begin(of('t1'))
    await workspace.put('a.txt', 'A')
    await rm(join(workspace.folder, 'gone.txt'))
    full = 2
    expect(await close()).toEqual([])
    await workspace.put('a.txt', 'again')
    const { changes, notice } = await over.turnEnded('t1')
    expect([shown(changes), notice]).toEqual([['deleted gone.txt', 'edited a.txt'], null])
    expect(changes.find(({ path }) => path === 'a.txt')?.before).toBe(await blobs.put('a'))

    const next = await over.begin(of('t2'))
    await workspace.put('b.txt', 'b')
    full = 100
    expect(await next()).toEqual([])
    expect(await over.turnEnded('t2')).toMatchObject({ changes: [], notice: expect.stringContaining('partial') })
    await over.dispose()
  })

  test('F-1006 F-802 F-110 ignored files, large ones and what links lead to are not covered, links are', async () => {
    await workspace.put('.gitignore', 'ignored*\n')
    await workspace.put('../outside.txt', 'outside')
    const close = await watched.begin(of('t1'))
    await workspace.put('ignored/x', 'x')
    await workspace.put('node_modules/x', 'x')
    await workspace.put('large.bin', Buffer.alloc(10 * 1024 * 1024 + 1))
    for (const name of ['up', 'ignored.link', 'node_modules/x.link', 'sub/link']) {
      await mkdir(join(workspace.folder, name, '..'), { recursive: true })
      await symlink('..', join(workspace.folder, name))
    }
    await workspace.put('../outside.txt', 'changed')
    await workspace.put('seen.txt', 'x')
    expect(shown(await close())).toEqual(['created seen.txt', 'created sub/link', 'created up'])
  })

  test('F-1006 what is not covered is counted, or said to be too much to count', async () => {
    await workspace.put('.gitignore', 'ignored*\n')
    for (const path of ['a.ts', 'ignored/x', 'ignored/y', 'node_modules/x/index.js', '.git/HEAD'])
      await workspace.put(path, 'x')
    await workspace.put('exact.bin', Buffer.alloc(10 * 1024 * 1024))
    await workspace.put('large.bin', Buffer.alloc(10 * 1024 * 1024 + 1))
    const { paths, place, home } = workspace
    const program = new SearchProgram({ paths, env: { PATH: process.env['PATH'] ?? '', HOME: home } })
    const { signal } = new AbortController()
    const root = await paths.resolve(place, '.')
    expect(await countUncovered(program, root, signal)).toEqual({ ignored: 3, large: 1 })
    expect(await countUncovered(program, root, signal, 0)).toEqual({ ignored: null, large: null })
    expect(await countUncovered(program, root, AbortSignal.abort(new Error('left'))).catch(String)).toContain('left')
  })

  test('F-1007 FA-36 a home folder gets no checkpoint and says why', async () => {
    const home = { ...workspace.place, workspace: workspace.home }
    const close = await watched.begin({ place: home, turnId: 't1', callId: 'c1' })
    await writeFile(join(workspace.home, 'x'), 'x')
    expect(await close()).toEqual([])
    expect((await watched.turnEnded('t1')).notice).toContain('home folder')
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
    fc.record({ do: fc.constant('link' as const), name, to: fc.constantFrom('a', '../away', '.', 'nothing \u00fc') }),
    fc.record({ do: fc.constant('move' as const), name, to: name }),
  )

  type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

  async function state(): Promise<string[]> {
    const entries = await readdir(workspace.folder, { recursive: true, withFileTypes: true })
    const lines = await Promise.all(
      entries
        .filter((entry) => !entry.isDirectory())
        .map(async (entry) => {
          const path = join(entry.parentPath, entry.name)
          if (entry.isSymbolicLink()) return `${path} -> ${await readlink(path)}`
          const [{ mode }, bytes] = [await stat(path), await readFile(path)]
          return `${path} ${(mode & 0o777).toString(8)} ${bytes.toString('hex')}`
        }),
    )
    return lines.toSorted()
  }

  test('F-1008 F-1009 F-1010 whatever a command did, undo restores bytes, modes and links exactly, and redo too', async () => {
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
      { numRuns: runs(25) },
    )
  }, 600_000)

  async function perform(acts: readonly Act[]): Promise<void> {
    for (const one of acts) {
      const file = join(workspace.folder, one.name)
      const isLink = await lstat(file).then(
        (stats) => stats.isSymbolicLink(),
        () => false,
      )
      if (one.do === 'remove' || one.do === 'link' || (one.do === 'write' && isLink)) await rm(file, { force: true })
      if (one.do === 'write') await workspace.put(one.name, one.content)
      else if (one.do === 'link') {
        await mkdir(dirname(file), { recursive: true })
        await symlink(one.to, file)
      } else if (one.do === 'move') {
        const to = join(workspace.folder, one.to)
        await mkdir(dirname(to), { recursive: true })
        await rename(file, to).catch(() => {})
      } else if (one.do === 'mode' && !isLink) await chmod(file, one.mode).catch(() => {})
    }
  }
})

test('F-1005 a file written in the very moment it was looked at is read again', async () => {
  await workspace.put('a.txt', 'aaaa')
  const scan = new WorkspaceScan(workspace.folder, join(workspace.dataFolder, 'scan'))
  scan.update(['a.txt'], { ms: 1_000, mayForget: true })
  const at = new Date(Date.now() - 10_000)
  await workspace.put('a.txt', 'bbbb')
  await utimes(join(workspace.folder, 'a.txt'), at, at)
  expect(scan.update(['a.txt'], { ms: 1_000, mayForget: true }).differences).toMatchObject([{ path: 'a.txt' }])
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

test('F-1014 a store that cannot be made fails no call', async () => {
  await writeFile(join(workspace.dataFolder, 'checkpoints'), 'in the way')
  const close = await watched.begin(of('t1'))
  await workspace.put('a.txt', 'a')
  expect(await close()).toEqual([])
})
