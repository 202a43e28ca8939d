import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { splitLines } from '../files/line-diff.ts'
import { applyHunks, parsePatch, type PatchHunk } from '../files/patch.ts'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from '../files/test-workspace.ts'
import { FileTools } from './test-context.ts'

let workspace: TestWorkspace
let tools: FileTools

beforeEach(async () => {
  workspace = await makeWorkspace()
  tools = new FileTools(workspace)
})
afterEach(() => workspace[Symbol.asyncDispose]())

const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const apply = (...lines: string[]) => tools.call('apply_patch', { patch: patchOf(...lines) })

describe('apply_patch', () => {
  test('F-701 F-704 files are added, changed, moved and deleted in one call, with a change for each', async () => {
    await workspace.put('a.txt', 'one\ntwo\nthree\n')
    await workspace.put('old/name.sh', 'run\n')
    await workspace.put('gone.txt', 'bye\n')
    const result = await apply(
      '*** Update File: a.txt',
      ' one',
      '-two',
      '+TWO',
      '*** Add File: new/b.txt',
      '+b',
      '+',
      '*** Update File: old/name.sh',
      '*** Move to: name.sh',
      '-run',
      '+run fast',
      '*** Delete File: gone.txt',
    )
    expect([await workspace.read('a.txt'), await workspace.read('new/b.txt'), await workspace.read('name.sh')]).toEqual(
      ['one\nTWO\nthree\n', 'b\n\n', 'run fast\n'],
    )
    expect(await workspace.names()).toEqual(['a.txt', 'name.sh', 'new', 'old'])
    expect(result.changes!.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'edited a.txt',
      'created new/b.txt',
      'deleted old/name.sh',
      'renamed name.sh',
      'deleted gone.txt',
    ])
  })

  test('FA-23 F-701 F-705 a hunk that does not fit changes nothing, and every fault is told', async () => {
    await workspace.put('a.txt', 'one\ntwo\n')
    await workspace.put('b.txt', 'alpha beta\ngamma delta\n')
    const error = await failureOf(
      apply(
        '*** Update File: a.txt',
        '-two',
        '+2',
        '*** Add File: c.txt',
        '+c',
        '*** Update File: b.txt',
        '-alpha betta',
        '+x',
        '@@ gamma delta',
        '-nothing',
        '+y',
        '*** Delete File: none.txt',
      ),
    )
    expect(error.code).toBe('edit.no_match')
    for (const part of ['b.txt, hunk 1', 'alpha betta', 'Closest at line 1:\nalpha beta', 'b.txt, hunk 2', 'none.txt'])
      expect(error.message).toContain(part)
    expect(error.hint).toContain('force')
    expect([await workspace.read('a.txt'), await workspace.names()]).toEqual(['one\ntwo\n', ['a.txt', 'b.txt']])
  })

  test('F-704 what is there is not added, what is not there not changed, and no path stands twice', async () => {
    await workspace.put('a.txt', 'a\n')
    await workspace.put('b.txt', 'b\n')
    expect(await codeOf(apply('*** Add File: a.txt', '+x'))).toBe('edit.not_empty')
    expect(await codeOf(apply('*** Update File: a.txt', '*** Move to: b.txt', '-a', '+x'))).toBe('edit.not_empty')
    expect(await codeOf(apply('*** Update File: none.txt', '-a', '+x'))).toBe('file.not_found')
    expect(await codeOf(apply('*** Update File: a.txt', '-a', '+x', '*** Delete File: ./a.txt'))).toBe(
      'tool.invalid_arguments',
    )
    expect([await workspace.read('a.txt'), await workspace.read('b.txt')]).toEqual(['a\n', 'b\n'])
  })

  test('FA-25 F-706 a dry run shows the diff and touches nothing', async () => {
    const file = await workspace.put('a.txt', 'one\n')
    const before = await stat(file)
    const result = await tools.call('apply_patch', {
      patch: patchOf('*** Update File: a.txt', '-one', '+1', '*** Add File: d/e.txt', '+e'),
      dry_run: true,
    })
    expect(result.text).toContain('-one\n+1\n')
    expect([(await stat(file)).mtimeMs, await workspace.names()]).toEqual([before.mtimeMs, ['a.txt']])
    expect(workspace.intents.changes).toEqual([])
  })

  test('F-702 one look names every file and shows all of the diff', async () => {
    await workspace.put('a.txt', 'one\n')
    const plan = await tools.plan('apply_patch', {
      patch: patchOf('*** Update File: a.txt', '-one', '+1', '*** Add File: b.txt', '+b'),
    })
    expect(plan.effects.map((effect) => 'path' in effect && [effect.kind, effect.path])).toEqual([
      ['write', join(workspace.folder, 'a.txt')],
      ['write', join(workspace.folder, 'b.txt')],
    ])
    expect(plan.preview).toMatchObject({ title: 'Patch 2 files', detailKind: 'diff' })
    expect(plan.preview.detail).toContain('-one\n+1')
    expect(plan.preview.detail).toContain('+++ b/b.txt')
  })

  test('F-704 F-502 a file that changed after it was read is patched only where the lines stand exactly', async () => {
    await workspace.put('a.txt', 'one\n  two\nthree\n')
    await tools.call('read_file', { path: 'a.txt' })
    await workspace.put('a.txt', 'ONE\n  two\nthree\n')
    expect(await codeOf(apply('*** Update File: a.txt', '-two', '+2'))).toBe('file.stale')
    await apply('*** Update File: a.txt', '-  two', '+  2')
    expect(await workspace.read('a.txt')).toBe('ONE\n  2\nthree\n')
  })
})

describe('fitting hunks', () => {
  const fit = (text: string, ...lines: string[]) =>
    applyHunks(text, (parsePatch(patchOf('*** Update File: f', ...lines))[0] as { hunks: PatchHunk[] }).hunks)

  test('F-703 exact lines, then without trailing blanks, then trimmed, then folded; kept lines keep their bytes', () => {
    expect(fit('a  \nb\n', ' a', '-b', '+B').text).toBe('a  \nB\n')
    expect(fit('\ta\n\tb\n', ' a', '-b', '+\tB').text).toBe('\ta\n\tB\n')
    expect(fit('say “hi” – now\nb\n', ' say "hi" - now', '-b', '+B').text).toBe('say “hi” – now\nB\n')
    expect(fit('b \nb\n', '-b', '+B')).toMatchObject({ text: 'b \nB\n', exact: true })
  })

  test('F-703 a hunk that fits several places needs a place; hunks are sought after the one before', () => {
    const text = 'start\nx\nmid\nx\nend\n'
    expect(fit(text, '-x', '+y').faults).toMatchObject([
      { hunk: 1, code: 'edit.ambiguous_match', found: expect.stringContaining('lines 2, 4') },
    ])
    expect(fit(text, '@@ mid', '-x', '+y').text).toBe('start\nx\nmid\ny\nend\n')
    expect(fit(text, '@@', ' start', '-x', '+1', '@@', '-x', '+2').text).toBe('start\n1\nmid\n2\nend\n')
    expect(fit('a\nb\na\n', '-a', '+z', '*** End of File').text).toBe('a\nb\nz\n')
    expect(fit('a\n', '+b').text).toBe('a\nb\n')
  })

  test('F-519 F-520 line ends and the end of the file are kept', () => {
    expect(fit('a\r\nb\r\nc', '-b', '+x', '+y').text).toBe('a\r\nx\r\ny\r\nc')
    expect(fit('a\nb', '-b', '+x').text).toBe('a\nx')
    expect(fit('a\nb', ' b', '+c').text).toBe('a\nb\nc')
    expect(fit('a\nb\n', '-b').text).toBe('a\n')
  })

  test('F-703 F-519 lines outside a hunk are byte for byte as they were, for any text', () => {
    const line = fc
      .tuple(fc.stringMatching(/^[a-z \t]{0,8}$/), fc.constantFrom('\n', '\r\n'))
      .map(([text, end]) => text + end)
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), fc.nat(19), fc.boolean(), (lines, nth, cut) => {
        const at = nth % lines.length
        const before = lines.slice(0, at)
        const after = lines.slice(at + 1)
        let text = [...before, 'the unique one\n', ...after].join('')
        if (cut) text = text.replace(/\r?\n$/, '')
        const made = fit(text, '-the unique one', '+first', '+second')
        const now = splitLines(made.text)
        const was = splitLines(text)
        expect(made.faults).toEqual([])
        expect(now.slice(0, at)).toEqual(was.slice(0, at))
        expect(now.slice(at + 2)).toEqual(was.slice(at + 1))
        expect(made.text.endsWith('\n')).toBe(text.endsWith('\n'))
      }),
    )
  })
})
