import { createHash } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cpuMs } from '../platform/test-loop.ts'
import type { FileChange } from './change.ts'
import { rejectChange, rejectionNote, reviewHunks, type RejectDeps } from './changes.ts'
import { Differ, patchText, quickCounts } from './diff.ts'
import { splitLines } from './line-diff.ts'
import { mergeChanges } from './merged-changes.ts'
import { comparePaths } from './file-search.ts'
import { PathList, rankPaths } from './quick-open.ts'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { viewFile } from './tree.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const never = new AbortController().signal
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

let workspace: TestWorkspace
let differ: Differ

beforeEach(async () => {
  workspace = await makeWorkspace()
  differ = new Differ(workspace.workers, env)
})
afterEach(() => workspace[Symbol.asyncDispose]())

function change(path: string, before: string | null, after: string | null, more: Partial<FileChange> = {}): FileChange {
  return {
    id: `${before}-${after}`,
    path,
    kind: before === null ? 'created' : after === null ? 'deleted' : 'edited',
    before,
    after,
    added: 1,
    removed: 1,
    by: 'tool',
    ...more,
  }
}

describe('merging', () => {
  test('F-901 FA-41 one change a file, from the first before to the last after', () => {
    const merged = mergeChanges([
      change('a', '1', '2'),
      change('b', null, '5'),
      change('a', '2', '3', { by: 'command' }),
    ])
    expect(merged).toEqual([change('a', '1', '3', { id: '1-2', added: 2, removed: 2 }), change('b', null, '5')])
  })

  test('F-901 FA-29 what ends as it began vanishes, kinds follow from both ends', () => {
    expect(mergeChanges([change('a', '1', '2'), change('a', '2', '1')])).toEqual([])
    expect(mergeChanges([change('a', null, '1'), change('a', '1', null)])).toEqual([])
    expect(mergeChanges([change('a', null, '1'), change('a', '1', '2')])).toMatchObject([
      { kind: 'created', after: '2' },
    ])
    expect(mergeChanges([change('a', '1', null), change('a', null, '2')])).toMatchObject([
      { kind: 'edited', before: '1', after: '2' },
    ])
  })
})

describe('diffs', () => {
  const long = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')

  test('F-904 git and our own search give diffs that lead to the same text', async () => {
    const texts = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\r\n', '日\n'), { maxLength: 12 })
      .map((lines) => lines.join(''))
    const withoutGit = new Differ(workspace.workers, { PATH: '/nonexistent' })
    await fc.assert(
      fc.asyncProperty(texts, texts, async (before, after) => {
        const padded = (text: string) => bytes(text + long(9_000, 'padding'))
        for (const each of [differ, withoutGit]) {
          const { hunks } = await each.diff(padded(before), padded(after), { raw: true })
          const lines = splitLines(before + long(9_000, 'padding'))
          for (const hunk of (hunks ?? []).toReversed()) {
            const was = hunk.lines.filter(({ mark }) => mark !== '+').map(({ text }) => text)
            expect(lines.slice(hunk.beforeStart - 1, hunk.beforeStart - 1 + was.length)).toEqual(was)
            lines.splice(
              hunk.beforeStart - 1,
              was.length,
              ...hunk.lines.filter(({ mark }) => mark !== '-').map(({ text }) => text),
            )
          }
          expect(lines.join('')).toBe(after + long(9_000, 'padding'))
        }
      }),
      { numRuns: 8 },
    )
  })

  test('FA-30 F-904 a rewritten file has counts only, a huge one too', async () => {
    const rewritten = await differ.diff(bytes(long(30_000, 'old')), bytes(long(30_000, 'new')))
    expect(rewritten).toMatchObject({ hunks: null, added: 30_000, removed: 30_000 })
    const huge = await differ.diff(bytes(long(200_000, 'same line')), bytes(`${long(200_000, 'same line')}one more\n`))
    expect(huge).toMatchObject({ hunks: null, added: 1, removed: 0 })
  })

  test('F-904 a diff that takes too long is one coarse hunk', async () => {
    const shuffled = (seed: number) =>
      Array.from({ length: 8_000 }, (_, at) => `line ${(at * seed) % 8_009}\n`).join('')
    const diff = await new Differ(workspace.workers, { PATH: '/nonexistent' }).diff(
      bytes(shuffled(3)),
      bytes(shuffled(7)),
    )
    expect([diff.coarse, diff.hunks?.length]).toEqual([true, 1])
  })

  test('F-906 changes that no line shows are a sentence', async () => {
    expect(await differ.diff(bytes('a\nb\n'), bytes('a\r\nb\r\n'))).toMatchObject({
      hunks: [],
      added: 0,
      note: 'Line ends changed from lf to crlf.',
    })
    expect(await differ.diff(bytes('a\n'), bytes('\ufeffa\n'))).toMatchObject({
      hunks: [],
      note: expect.stringContaining('byte order mark'),
    })
    expect(await differ.diff(bytes('a\0'), bytes('a\0b'))).toMatchObject({
      binary: true,
      hunks: null,
      note: 'Binary, 2 bytes to 3 bytes',
    })
  })

  test('a patch names odd paths as git does', async () => {
    const { hunks } = await differ.diff(null, bytes('x'))
    expect(patchText('new\n"line"', hunks!, { before: false, after: true })).toBe(
      '--- /dev/null\n+++ "b/new\\012\\"line\\""\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n',
    )
    expect(await quickCounts(bytes('a\nb\n'), bytes('a\nc\nd\n'))).toEqual({ added: 2, removed: 1 })
    expect(await quickCounts(null, bytes('a\0'))).toEqual({ added: null, removed: null })
  })
})

describe('review', () => {
  const before = Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join('')
  const after = before.replace('line 5\n', 'five\n').replace('line 30\n', 'thirty\nand more\n').replace('line 55\n', '')
  const author = { sessionId: 's1', turnId: 't1' }
  let deps: RejectDeps

  beforeEach(() => {
    deps = { paths: workspace.paths, gate: workspace.gate, blobs: workspace.blobs, differ }
  })

  async function edited(from: string | null, to: string | null): Promise<FileChange> {
    if (to !== null) await workspace.put('a.txt', to)
    return change(
      'a.txt',
      from === null ? null : await workspace.blobs.put(from),
      to === null ? null : await workspace.blobs.put(to),
    )
  }

  async function hunkIds(one: FileChange): Promise<string[]> {
    const { hunks } = await differ.diff(await workspace.blobs.get(one.before!), await workspace.blobs.get(one.after!), {
      raw: true,
    })
    return reviewHunks(one.path, hunks!, new Map()).map(({ id }) => id)
  }

  test('FA-31 F-908 F-909 rejecting one of three hunks puts back its lines only, and the file is stale for the agent', async () => {
    const one = await edited(before, after)
    const [, second] = await hunkIds(one)
    await workspace.states.note('s1', (await workspace.paths.resolve(workspace.place, 'a.txt')).key, one.after!)
    const { changes } = await rejectChange(deps, workspace.place, one, second!, author, never)
    expect(await workspace.read('a.txt')).toBe(after.replace('thirty\nand more\n', 'line 30\n'))
    expect(changes).toMatchObject([{ by: 'person', kind: 'edited' }])
    expect(
      await workspace.states.standing(
        's1',
        (await workspace.paths.resolve(workspace.place, 'a.txt')).key,
        changes[0]!.after!,
      ),
    ).toBe('stale')
  })

  test('FA-31 F-908 a hunk changed by hand is a conflict, one whose neighbours changed is not', async () => {
    const one = await edited(before, after)
    const [first, second, third] = await hunkIds(one)
    const byHand = after.replace('thirty', 'dreissig').replace('line 4\n', 'four\n')
    await workspace.put('a.txt', byHand)
    const error = await failureOf(rejectChange(deps, workspace.place, one, second!, author, never))
    expect([error.code, error.data?.['after']]).toEqual(['changes.hunk_conflict', expect.stringContaining('thirty')])
    expect(await workspace.read('a.txt')).toBe(byHand)
    await rejectChange(deps, workspace.place, one, first!, author, never)
    expect(await workspace.read('a.txt')).toBe(byHand.replace('five\n', 'line 5\n'))
    await rejectChange(deps, workspace.place, one, third!, author, never)
    expect(await workspace.read('a.txt')).toContain('line 55\n')
  })

  test('F-908 a created file is deleted, a deleted one restored, only from the state the change left', async () => {
    const created = await edited(null, 'new')
    await workspace.put('a.txt', 'new and more')
    expect(await codeOf(rejectChange(deps, workspace.place, created, null, author, never))).toBe(
      'changes.hunk_conflict',
    )
    await workspace.put('a.txt', 'new')
    await rejectChange(deps, workspace.place, created, null, author, never)
    expect(await workspace.names()).toEqual([])
    const deleted = await edited('old', null)
    await rejectChange(deps, workspace.place, deleted, null, author, never)
    expect(await workspace.read('a.txt')).toBe('old')
    expect(await codeOf(rejectChange(deps, workspace.place, deleted, null, author, never))).toBe(
      'changes.hunk_conflict',
    )
  })

  test('F-907 a state holds for a hunk until its text changes; equal hunks are told apart', async () => {
    const hunks = (await differ.diff(bytes(before), bytes(after))).hunks!
    const [first, ...rest] = reviewHunks('a', hunks, new Map())
    const states = new Map([[first!.id, 'accepted' as const]])
    expect(reviewHunks('a', hunks, states).map(({ state }) => state)).toEqual(['accepted', 'open', 'open'])
    const later = (await differ.diff(bytes(before), bytes(after.replace('five', 'FIVE')))).hunks!
    expect(reviewHunks('a', later, states)[0]!.state).toBe('open')
    const twice = reviewHunks('a', [hunks[0]!, hunks[0]!], states)
    expect(twice.map(({ state }) => state)).toEqual(['accepted', 'open'])
    expect(new Set([first!.id, ...rest.map(({ id }) => id)]).size).toBe(3)
    expect(rejectionNote('a', hunks[1]!)).toContain('a, lines 27-33')
    expect(rejectionNote('b', null)).toContain('your change of b:')
  })
})

describe('the Files tab', () => {
  test('F-1303 a file is shown as text up to a limit, or as what it is', async () => {
    const view = async (path: string, max?: number) =>
      viewFile(await workspace.paths.resolve(workspace.place, path), max)
    await chmod(await workspace.put('a', 'one\r\ntwo'), 0o644)
    await workspace.put('b', Buffer.from('89504e470d0a1a0a0000000d4948445200', 'hex'))
    expect(await view('a')).toEqual({
      text: 'one\r\ntwo',
      bytes: 8,
      truncated: false,
      mediaType: 'text/plain',
      version: createHash('sha256').update('one\r\ntwo').digest('hex'),
      readOnly: null,
    })
    expect(await view('a', 3)).toMatchObject({ text: 'one', bytes: 8, truncated: true })
    expect(await view('b')).toMatchObject({ text: null, mediaType: 'image/png' })
  })

  test('F-819 a fuzzy query finds names, word starts and letters in order', async () => {
    const paths = [
      'docs/open.md',
      'main/files/paths.ts',
      'main/files/quick-open.ts',
      'main/tools/grep.ts',
      'renderer/ui/QuickOpen.tsx',
    ]
    const list = [await PathList.of(paths)]
    expect(rankPaths(list, 'paths', 3)).toEqual(['main/files/paths.ts'])
    expect(rankPaths(list, 'qo', 3)).toEqual(['main/files/quick-open.ts', 'renderer/ui/QuickOpen.tsx'])
    expect(rankPaths(list, 'quick open', 3)).toEqual(['renderer/ui/QuickOpen.tsx', 'main/files/quick-open.ts'])
    expect(rankPaths(list, 'open', 1)).toEqual(['docs/open.md'])
    expect(rankPaths(list, 'zz', 3)).toEqual([])
    expect(rankPaths(list, ' ', 2)).toEqual(paths.slice(0, 2))
  })

  test('F-819 a list that files come to and go from is the list of those there are', async () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'b.ts', 'é'), { minLength: 1, maxLength: 3 })
      .map((at) => at.join('/'))
    const step = fc.record({ act: fc.constantFrom('add', 'delete', 'deleteBelow'), path })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const list = await PathList.of([])
        const model = new Set<string>()
        for (const { act, path: at } of steps) {
          if (act === 'add') model.add(at)
          if (act === 'delete') model.delete(at)
          if (act === 'deleteBelow') for (const one of model) if (one.startsWith(`${at}/`)) model.delete(one)
          if (act === 'deleteBelow') list.deleteBelow(`${at}/`)
          else list[act as 'add' | 'delete'](at)
        }
        expect(list.first(100)).toEqual([...model].sort(comparePaths))
        expect(rankPaths([list], 'b', 100).sort()).toEqual([...model].filter((one) => one.includes('b')).sort())
      }),
    )
  })

  test('F-819 200,000 paths are ranked while the window waits', async () => {
    const many = Array.from({ length: 200_000 }, (_, at) => `packages/module${at % 500}/src/component${at}/index.ts`)
    const list = [await PathList.of(many)]
    const began = process.threadCpuUsage()
    expect(rankPaths(list, 'mod9comp19idx', 20)).toHaveLength(20)
    expect(cpuMs(began)).toBeLessThan(1_000)
  })
})
