import { chmod, link, lstat, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { settleOpenIntents, type WriteRequest } from './gate.ts'
import type { Author } from './intents.ts'
import { codeOf, makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { hashOf } from './version.ts'

const author: Author = { sessionId: 's1', turnId: 't1', callId: 'c1', by: 'tool' }
const never = new AbortController().signal
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

let workspace: TestWorkspace

beforeEach(async () => {
  workspace = await makeWorkspace()
})
afterEach(() => workspace[Symbol.asyncDispose]())

async function request(path: string, base: string | null, content: string | null): Promise<WriteRequest> {
  return {
    path: await workspace.paths.resolve(workspace.place, path),
    base: base === null ? null : await hashOf(bytes(base)),
    content: content === null ? null : bytes(content),
  }
}

async function commit(requests: WriteRequest[], signal = never) {
  return workspace.gate.commit(workspace.place, requests, author, signal)
}

describe('a change is complete or did not happen', () => {
  test('F-601 F-613 a created file has its change, blobs and state', async () => {
    const [change] = await commit([await request('a/b/c.txt', null, 'one\ntwo\n')])
    expect(change).toMatchObject({
      path: 'a/b/c.txt',
      kind: 'created',
      before: null,
      added: 2,
      removed: 0,
      by: 'tool',
      callId: 'c1',
    })
    expect(await workspace.read('a/b/c.txt')).toBe('one\ntwo\n')
    expect([...workspace.blobs.bodies.keys()]).toEqual([change!.after])
    expect([workspace.intents.changes, workspace.intents.pending.size]).toEqual([[change], 0])
    expect(
      await workspace.states.standing(
        's1',
        (await workspace.paths.resolve(workspace.place, 'a/b/c.txt')).key,
        change!.after!,
      ),
    ).toBe('seen')
  })

  test('FA-20 F-603 a stop before the intent leaves no file, no folder, no temporary file', async () => {
    const stop = new AbortController()
    workspace.reached = (point) => void (point === 'checked' && stop.abort(new Error('stopped')))
    await expect(commit([await request('new/a.txt', null, 'x')], stop.signal)).rejects.toThrow('stopped')
    expect([await workspace.names(), workspace.intents.changes, workspace.blobs.bodies.size]).toEqual([[], [], 0])
  })

  test('FA-20 F-603 T-8 a stop once the intent is recorded waits until all is recorded', async () => {
    const stop = new AbortController()
    workspace.reached = (point) => void (point === 'written' && stop.abort(new Error('stopped')))
    await workspace.put('a.txt', 'old')
    const changes = await commit([await request('a.txt', 'old', 'new')], stop.signal)
    expect([await workspace.read('a.txt'), changes.length, workspace.intents.changes.length]).toEqual(['new', 1, 1])
  })

  test('FA-22 F-612 a full disk leaves the old bytes and no temporary file', async () => {
    await workspace.put('a.txt', 'old')
    workspace.reached = (point) => {
      if (point === 'written') throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    }
    expect(await codeOf(commit([await request('a.txt', 'old', 'new')]))).toBe('file.disk_full')
    expect(await codeOf(commit([await request('deep/b.txt', null, 'new')]))).toBe('file.disk_full')
    expect([
      await workspace.names(),
      await workspace.read('a.txt'),
      workspace.intents.pending.size,
      workspace.intents.changes,
    ]).toEqual([['a.txt'], 'old', 0, []])
  })

  test('FA-21 F-604 an intent left open is settled by what the file holds', async () => {
    await workspace.put('done.txt', 'old')
    await workspace.put('not-begun.txt', 'old')
    await workspace.put('other.txt', 'old')
    const hang = new Promise<never>(() => {})
    const reached = new Map<string, () => void>()
    const stoppedAt = (name: string, point: string) =>
      new Promise<void>((resolve) => {
        reached.set(`${point}:${join(workspace.folder, name)}`, resolve)
      })
    workspace.reached = (point, file) => {
      const arrive = reached.get(`${point}:${file}`)
      arrive?.()
      return arrive ? hang : undefined
    }
    const arrivals = [
      stoppedAt('done.txt', 'renamed'),
      stoppedAt('not-begun.txt', 'written'),
      stoppedAt('other.txt', 'intended'),
    ]
    for (const name of ['done.txt', 'not-begun.txt', 'other.txt']) void commit([await request(name, 'old', 'new')])
    await Promise.all(arrivals)
    await workspace.put('other.txt', 'somebody else')

    expect(await workspace.names()).toHaveLength(4)
    const settled = await settleOpenIntents(workspace.intents)
    expect(await workspace.names()).toEqual(['done.txt', 'not-begun.txt', 'other.txt'])
    expect(workspace.intents.changes.map(({ path }) => path)).toEqual(['done.txt'])
    expect(settled.flatMap(({ unclear }) => unclear.map(({ path }) => path))).toEqual(['other.txt'])
    expect(settled.flatMap(({ changes }) => changes.map(({ path }) => path))).toEqual(['done.txt'])
    expect(workspace.intents.pending.size).toBe(0)
  })

  test('F-601 F-604 what was written stays known until its session has recorded it, whatever happens to the file', async () => {
    await workspace.put('a.txt', 'old')
    const [change] = await commit([await request('a.txt', 'old', 'new')])
    const file = {
      change: change!,
      key: 'k',
      real: join(workspace.folder, 'a.txt'),
      temporary: join(workspace.folder, '.t'),
    }
    await workspace.put('a.txt', 'by hand')
    await workspace.intents.begin({ id: 'i1', author, files: [file], written: true })
    expect(await settleOpenIntents(workspace.intents)).toEqual([{ author, changes: [change], unclear: [] }])
  })

  test('FA-23 F-701 when the third file fails, the first two have their old bytes', async () => {
    await workspace.put('a.txt', 'a')
    await workspace.put('c.txt', 'c')
    workspace.reached = (point, file) => {
      if (point === 'renamed' && file.endsWith('z.txt')) throw new Error('failed')
    }
    const requests = [
      await request('a.txt', 'a', 'A'),
      await request('c.txt', 'c', null),
      await request('new/z.txt', null, 'Z'),
    ]
    expect(await codeOf(commit(requests))).toBe('patch.rolled_back')
    expect([await workspace.names(), await workspace.read('a.txt'), await workspace.read('c.txt')]).toEqual([
      ['a.txt', 'c.txt'],
      'a',
      'c',
    ])
    expect(workspace.intents.changes).toEqual([])
  })
})

describe('another writer', () => {
  test('FA-19 F-602 an edit is made again on what another program wrote', async () => {
    await workspace.put('a.txt', 'one\ntwo\n')
    let writes = 0
    workspace.reached = async (point) => {
      if (point === 'matched' && writes++ === 0) await workspace.put('a.txt', 'one\ntwo\nthree\n')
    }
    const edit = async (current: Uint8Array) => bytes(new TextDecoder().decode(current).replace('one', 'ONE'))
    await commit([{ ...(await request('a.txt', 'one\ntwo\n', 'ONE\ntwo\n')), again: edit }])
    expect(await workspace.read('a.txt')).toBe('ONE\ntwo\nthree\n')

    workspace.reached = async (point) => {
      if (point === 'matched') await workspace.put('a.txt', `${writes++}`)
    }
    expect(await codeOf(commit([{ ...(await request('a.txt', 'ONE\ntwo\nthree\n', 'x')), again: edit }]))).toBe(
      'file.changed_during_edit',
    )
    expect(await workspace.read('a.txt')).toBe('4')
  })

  test('F-602 a whole write is refused at once, also where the file has gone or come', async () => {
    await workspace.put('a.txt', 'theirs')
    expect(await codeOf(commit([await request('a.txt', 'mine', 'x')]))).toBe('file.changed_during_edit')
    expect(await codeOf(commit([await request('a.txt', null, 'x')]))).toBe('file.changed_during_edit')
    expect(await codeOf(commit([await request('gone.txt', 'mine', 'x')]))).toBe('file.changed_during_edit')
    expect([await workspace.names(), await workspace.read('a.txt')]).toEqual([['a.txt'], 'theirs'])
  })

  test('FA-3 F-106 a folder replaced by a link between check and write is refused', async () => {
    await mkdir(join(workspace.folder, 'sub'))
    await mkdir(join(workspace.folder, '../outside'))
    const wanted = await request('sub/a.txt', null, 'x')
    await rm(join(workspace.folder, 'sub'), { recursive: true })
    await symlink('../outside', join(workspace.folder, 'sub'))
    expect(await codeOf(commit([wanted]))).toBe('path.swapped')
    expect(await workspace.names('../outside')).toEqual([])
  })

  test('FA-24 F-601 patches of the same files in other orders all end, one after another', async () => {
    await workspace.put('a', '')
    await workspace.put('b', '')
    const append = (letter: string) => async (current: Uint8Array) => bytes(new TextDecoder().decode(current) + letter)
    const patch = async (names: string[], letter: string) => {
      const requests = await Promise.all(
        names.map(async (name) => ({ ...(await request(name, 'unknown', '')), again: append(letter) })),
      )
      return commit(requests)
    }
    const rounds = Array.from({ length: 50 }, (_, at) => [patch(['a', 'b'], `x${at};`), patch(['b', 'a'], `y${at};`)])
    await Promise.all(rounds.flat())
    const [a, b] = [await workspace.read('a'), await workspace.read('b')]
    expect(a).toBe(b)
    expect(a.split(';')).toHaveLength(101)
  })

  test('FA-4 F-107 where case is ignored, two spellings wait for each other', async () => {
    await using folded = await makeWorkspace({ ignoresCase: async () => true })
    const order: string[] = []
    folded.reached = async (point, file) => {
      order.push(`${point} ${file.slice(-4)}`)
    }
    const write = async (name: string) =>
      folded.gate.commit(
        folded.place,
        [{ path: await folded.paths.resolve(folded.place, name), base: null, content: bytes('x') }],
        author,
        never,
      )
    await Promise.all([write('A.ts'), write('a.ts')])
    // Whichever came first, it is through with all five points before the other begins.
    const files = order.map((step) => step.slice(-4))
    expect(files.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => files[0]))
    expect(files.slice(5)).toEqual(Array.from({ length: 5 }, () => (files[0] === 'A.ts' ? 'a.ts' : 'A.ts')))
  })

  test('F-605 waiting for a lock ends with a cancel at once', async () => {
    await workspace.put('a', '1')
    const entered = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    workspace.reached = (point) => {
      entered.resolve()
      return point === 'checked' ? go.promise : undefined
    }
    const first = commit([await request('a', '1', '2')])
    await entered.promise
    const stop = new AbortController()
    const second = commit([await request('a', '2', '3')], stop.signal)
    stop.abort(new Error('stopped'))
    await expect(second).rejects.toThrow('stopped')
    go.resolve()
    await first
    expect(await workspace.read('a')).toBe('2')
  })
})

describe('what a file keeps', () => {
  test('FA-13 F-610 F-611 mode and link stay, hard links still share their bytes', async () => {
    const real = await workspace.put('real.sh', 'old')
    await chmod(real, 0o755)
    await symlink('real.sh', join(workspace.folder, 'link.sh'))
    await commit([await request('link.sh', 'old', 'new')])
    expect([
      (await stat(real)).mode & 0o777,
      (await lstat(join(workspace.folder, 'link.sh'))).isSymbolicLink(),
      await workspace.read('real.sh'),
    ]).toEqual([0o755, true, 'new'])

    const first = await workspace.put('first', 'a longer text')
    await link(first, join(workspace.folder, 'second'))
    const before = (await stat(first)).ino
    await commit([await request('first', 'a longer text', 'short')])
    expect([(await stat(first)).ino, await workspace.read('second')]).toEqual([before, 'short'])
  })

  test('F-612 a file without write permission is left alone', async () => {
    await chmod(await workspace.put('a', 'old'), 0o444)
    expect(await codeOf(commit([await request('a', 'old', 'new')]))).toBe('file.read_only')
    expect(await workspace.read('a')).toBe('old')
  })

  test('F-611 a link to nothing is written where it leads', async () => {
    await symlink('target.txt', join(workspace.folder, 'link.txt'))
    await commit([await request('link.txt', null, 'x')])
    expect([
      await workspace.read('target.txt'),
      (await lstat(join(workspace.folder, 'link.txt'))).isSymbolicLink(),
    ]).toEqual(['x', true])
  })

  test('F-601 a parent that is a file is refused', async () => {
    await writeFile(join(workspace.folder, 'a'), '')
    expect(await codeOf(commit([await request('a/b', null, 'x')]))).toBe('path.invalid')
  })
})
