/**
 * What section 5 to 7 promise, for any file and any edit: bytes outside the edited span are identical, a turn undone is as
 * it was, a patch that fails anywhere changes nothing. `LATHE_RUNS=100` tries each a hundred times as often.
 */
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileChange } from '../files/change.ts'
import { mergeChanges } from '../files/merged-changes.ts'
import { runs } from '../files/test-runs.ts'
import { makeWorkspace, type TestWorkspace } from '../files/test-workspace.ts'
import { applyReturns, planReturns, redoOf, undoOf, type FileReturn } from '../files/undo.ts'
import { FileTools } from './test-context.ts'

const never = new AbortController().signal
const longTest = 60_000 * runs(1)
let workspace: TestWorkspace
let tools: FileTools

beforeEach(async () => {
  workspace = await makeWorkspace()
  tools = new FileTools(workspace)
})
afterEach(() => workspace[Symbol.asyncDispose]())

type Encoding = { name: string; mark: number[]; encode(text: string): Buffer; decode(bytes: Buffer): string }
function encodingOf(name: string, mark: number[], as: string): Encoding {
  return { name, mark, encode: (text) => iconv.encode(text, as), decode: (bytes) => iconv.decode(bytes, as) }
}
const encodings: Encoding[] = [
  encodingOf('utf-8', [], 'utf8'),
  encodingOf('utf-8 with mark', [0xef, 0xbb, 0xbf], 'utf8'),
  encodingOf('utf-16le', [0xff, 0xfe], 'utf16le'),
  encodingOf('utf-16be', [0xfe, 0xff], 'utf16be'),
  encodingOf('windows-1252', [], 'windows-1252'),
]

const word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\ud83d\ude80 \ud834\udd1e',
      '\u65e5\u672c',
      '\u00e9t\u00e9',
      '  ',
      '\t',
      '\u201cq\u201d',
      '}',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\0', 'a\0b', '\ud800') },
  { weight: 1, arbitrary: fc.nat(30_000).map((length) => 'long '.repeat(length / 5)) },
)
const line = word.map((text) => text.replace(/[\r\n\u2028\u2029\u0085]/g, ''))
const file = fc.record({
  encoding: fc.constantFrom(...encodings),
  lines: fc.array(fc.record({ text: line, end: fc.constantFrom('\n', '\r\n') }), {
    minLength: 1,
    maxLength: 12,
  }),
  isClosed: fc.boolean(),
  ends: fc.constantFrom('mixed', '\n', '\r\n', '\r'),
})

test(
  'K-07 F-519 F-520 F-203 whatever the file and the edit, every byte outside the edited span is as it was',
  async () => {
    let edited = 0
    await fc.assert(
      fc.asyncProperty(
        file,
        fc.nat(),
        fc.nat(2),
        fc.array(line, { maxLength: 3 }),
        async ({ encoding, lines, isClosed, ends }, at, more, replacement) => {
          const first = at % lines.length
          const last = Math.min(lines.length - 1, first + more)
          const endOf = (index: number): string =>
            index === lines.length - 1 && !isClosed ? '' : ends === 'mixed' ? lines[index]!.end : ends
          const whole = (from: number, to: number): string =>
            lines
              .slice(from, to)
              .map(({ text }, index) => text + endOf(from + index))
              .join('')
          const [before, span, after] = [
            whole(0, first),
            whole(first, last) + lines[last]!.text,
            endOf(last) + whole(last + 1, lines.length),
          ]
          const [prefix, middle, suffix] = [
            Buffer.concat([Buffer.from(encoding.mark), encoding.encode(before)]),
            encoding.encode(span),
            encoding.encode(after),
          ]
          // An empty one fills a blank file, and of places that overlap the first is meant (F-513).
          const toLf = (text: string) => text.replace(/\r\n?/g, '\n')
          const text = toLf(before + span + after)
          fc.pre(span !== '' && text.indexOf(toLf(span)) === text.lastIndexOf(toLf(span)))
          const was = Buffer.concat([prefix, middle, suffix])
          await rm(workspace.folder, { recursive: true })
          await mkdir(workspace.folder)
          await workspace.put('f', was)
          // The model sends LF, or what it was shown.
          const oldText = toLf(span)
          const result = await tools
            .call('edit_file', { path: 'f', old_text: oldText, new_text: replacement.join('\n'), line_hint: first + 1 })
            .catch(() => null)
          const is = await readFile(join(workspace.folder, 'f'))
          if (result === null || result.changes?.length !== 1) {
            expect(is.equals(was)).toBe(true)
            return
          }
          edited++
          const told = `${encoding.name} ${JSON.stringify([before, span, after, replacement]).slice(0, 400)}`
          const isSameBefore = is.subarray(0, prefix.length).equals(prefix)
          const isSameAfter = is.subarray(is.length - suffix.length).equals(suffix)
          expect([told, isSameBefore, isSameAfter]).toEqual([told, true, true])
          const made = is.subarray(prefix.length, is.length - suffix.length)
          const lf = replacement.join('\n')
          // Bytes with several meanings are taken for another encoding at times; what is outside the edit is kept even so.
          if (encoding.name === 'windows-1252' && /[^\0-\x7f]/.test(lf)) return
          // Lines that old and new text share keep their ends; those of new lines are proved with F-519 alone.
          expect([told, toLf(encoding.decode(made))]).toEqual([told, lf])
        },
      ),
      { numRuns: runs(120) },
    )
    // Most of these can be edited: the property is not about refusals.
    expect(edited).toBeGreaterThan(runs(30))
  },
  longTest,
)

const names = ['a', 'b c', 'd/e', 'd/\u00fc', 'link']
const content = fc.constantFrom('', 'x\n', 'a\r\nb\r\n', '\ufeffone\ntwo', 'one\ntwo\nthree\n', 'one\r\ntwo\nthree')
const step = fc.oneof(
  fc.record({ tool: fc.constant('write' as const), name: fc.constantFrom(...names), content }),
  fc.record({
    tool: fc.constant('edit' as const),
    name: fc.constantFrom(...names),
    old: fc.constantFrom('one', 'two', 'x', 'b'),
  }),
  fc.record({ tool: fc.constant('delete' as const), name: fc.constantFrom(...names) }),
  fc.record({
    tool: fc.constant('move' as const),
    name: fc.constantFrom(...names),
    to: fc.constantFrom(...names, 'new/f'),
  }),
)
const before = fc.array(
  fc.record({ name: fc.constantFrom(...names.slice(0, 4)), content, mode: fc.constantFrom(0o644, 0o755, 0o600) }),
  { maxLength: 4 },
)

async function lay(files: readonly { name: string; content: string; mode: number }[]): Promise<void> {
  await rm(workspace.folder, { recursive: true, force: true })
  await mkdir(workspace.folder)
  for (const { name, content, mode } of files) {
    await mkdir(dirname(join(workspace.folder, name)), { recursive: true })
    await writeFile(join(workspace.folder, name), content)
    await chmod(join(workspace.folder, name), mode)
  }
  if (files.some(({ name }) => name === 'a')) await symlink('a', join(workspace.folder, 'link'))
}

/** All entries: kind, mode, bytes, where links lead. */
async function state(): Promise<string[]> {
  const entries = await readdir(workspace.folder, { recursive: true, withFileTypes: true })
  const lines = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      if (entry.isDirectory()) return `${path}/`
      if (entry.isSymbolicLink()) return `${path} -> ${await readlink(path)}`
      const [{ mode }, bytes] = [await lstat(path), await readFile(path)]
      return `${path} ${(mode & 0o7777).toString(8)} ${createHash('sha256').update(bytes).digest('hex')}`
    }),
  )
  return lines.toSorted()
}

async function perform(one: typeof step extends fc.Arbitrary<infer Step> ? Step : never): Promise<FileChange[]> {
  const patch = (lines: string) => tools.call('apply_patch', { patch: `*** Begin Patch\n${lines}\n*** End Patch` })
  const read = () => tools.call('read_file', { path: one.name, force: true }).catch(() => null)
  const result = await read()
    .then(() => {
      if (one.tool === 'write') return tools.call('write_file', { path: one.name, content: one.content })
      if (one.tool === 'edit')
        return tools.call('edit_file', { path: one.name, old_text: one.old, new_text: 'NEW\nlines' })
      if (one.tool === 'delete') return patch(`*** Delete File: ${one.name}`)
      return patch(`*** Update File: ${one.name}\n*** Move to: ${one.to}\n@@\n-one\n+ONE`)
    })
    .catch(() => null)
  return result?.changes ?? []
}

test(
  'F-1008 F-1009 F-1010 whatever tools did in a turn, undo restores bytes, modes, links and folders, and redo too',
  async () => {
    let undone = 0
    await fc.assert(
      fc.asyncProperty(before, fc.array(step, { minLength: 1, maxLength: 6 }), async (files, steps) => {
        await lay(files)
        const was = await state()
        const changes: FileChange[] = []
        for (const one of steps) changes.push(...(await perform(one)))
        const is = await state()
        const merged = mergeChanges(changes)
        undone += merged.length
        const go = async (returns: FileReturn[]): Promise<void> => {
          const planned = await planReturns(workspace, workspace.place, returns, never)
          const author = { sessionId: 's1', turnId: 't1' }
          await applyReturns(workspace, workspace.place, planned, new Set(), author, never)
        }
        await go(merged.map(undoOf))
        // A file that came and went in the same turn left its folder, and no change that would tell of it.
        const vanished = changes.some((one) => one.before === null && !merged.some(({ path }) => path === one.path))
        const seen = (lines: string[]) => (vanished ? lines.filter((one) => !one.endsWith('/')) : lines)
        expect(seen(await state())).toEqual(seen(was))
        await go(merged.map((change) => redoOf(change, change.after)))
        expect(seen(await state())).toEqual(seen(is))
      }),
      { numRuns: runs(40) },
    )
    expect(undone).toBeGreaterThan(runs(12))
  },
  longTest,
)

test(
  'F-701 FA-23 a patch that fails anywhere changes nothing: no byte, no mode, no folder, no file left behind',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        before,
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom('hunk', 'gate', 'none'),
        fc.nat(3),
        async (files, failAt, fault, badAt) => {
          await lay(files)
          for (const { name } of files) await tools.call('read_file', { path: name, force: true })
          const parts = [...new Set(files.map(({ name }) => name))].map((name, at) =>
            at % 3 === 0
              ? `*** Delete File: ${name}`
              : at % 3 === 1
                ? `*** Update File: ${name}\n*** Move to: moved/deep/${at}\n@@\n-one\n+ONE`
                : `*** Update File: ${name}\n@@\n-two\n+TWO`,
          )
          parts.push('*** Add File: made/here/f\n+new', '*** Add File: made/there\n+new')
          if (fault === 'hunk') parts.splice(badAt, 0, '*** Update File: nowhere\n@@\n-none\n+NONE')
          const was = await state()
          let count = 0
          workspace.reached = () => {
            if (fault === 'gate' && count++ === failAt) throw Object.assign(new Error('disk'), { code: 'ENOSPC' })
          }
          const result = await tools
            .call('apply_patch', { patch: `*** Begin Patch\n${parts.join('\n')}\n*** End Patch` })
            .catch(() => null)
          workspace.reached = () => {}
          if (result === null) expect(await state()).toEqual(was)
          else expect([fault === 'hunk', await state()]).not.toEqual([true, was])
          expect(workspace.intents.pending.size).toBe(0)
        },
      ),
      { numRuns: runs(40) },
    )
  },
  longTest,
)
