import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeBlocks } from './change-blocks.ts'
import { parseDiff } from './diff-items.ts'
import { hunkText, linesOfSide, withoutWhitespace } from './patch-text.ts'

test('headers before the first hunk are left out, and a removed line that looks like one is kept', () => {
  const hunk = '@@ -1,2 +1,1 @@\n--- a/looks like a header\n kept\n'
  expect(hunkText(`diff --git a/x b/x\n--- a/x\n+++ b/x\n${hunk}`)).toBe(hunk)
  expect(hunkText(hunk)).toBe(hunk)
  expect(hunkText('Binary files differ\n')).toBe('')
  const diff = parseDiff('x', 'edited', hunk, false)
  expect([diff.name, diff.prevName]).toEqual(['x', undefined])
  expect(changeBlocks(diff)).toEqual([{ side: 'deletions', from: 1, to: 1, added: 0, removed: 1 }])
  expect(diff.name).toBe('x')
})

test('changes of white space alone become context, others stay', () => {
  const patch = '@@ -1,3 +1,3 @@\n-if (a)  {\n-  old()\n+if (a) {\n+    fresh()\n }\n'
  expect(withoutWhitespace(patch)).toBe('@@ -1,3 +1,3 @@\n if (a) {\n-  old()\n+    fresh()\n }\n')
  expect(withoutWhitespace('@@ -1,1 +1,1 @@\n-\ta\n+  a\n')).toBe('')
})

test('F-911 places to walk to are the blocks of changed lines, with their line numbers', () => {
  const patch = '@@ -10,6 +10,6 @@\n one\n-two\n+TWO\n+three\n four\n five\n-six\n seven\n'
  expect(changeBlocks(parseDiff('a.ts', 'edited', patch, false))).toEqual([
    { side: 'additions', from: 11, to: 12, added: 2, removed: 1 },
    { side: 'deletions', from: 14, to: 14, added: 0, removed: 1 },
  ])
})

test('line counts of a hunk’s header stay true whatever white space is hidden', () => {
  const line = fc
    .tuple(fc.constantFrom(' ', '-', '+'), fc.constantFrom('a', ' a', 'b  ', 'c', '\tb'))
    .map(([mark, text]) => mark + text)
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
      const count = (all: string[], other: string) => all.filter((one) => !one.startsWith(other)).length
      const patch = `@@ -1,${count(lines, '+')} +1,${count(lines, '-')} @@\n${lines.join('\n')}\n`
      const shown = withoutWhitespace(patch)
      if (shown === '') return
      const body = shown.split('\n').slice(1, -1)
      expect([count(body, '+'), count(body, '-')]).toEqual([count(lines, '+'), count(lines, '-')])
    }),
  )
})

test('F-912 the lines of a side are quoted by their numbers, as far as the patch holds them', () => {
  const patch = '--- a\n+++ b\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n@@ -10 +11 @@\n-ten\n+zehn\n'
  expect(linesOfSide(patch, { side: 'after', from: 2, to: 3 }, 100)).toBe('zwei\ndrei')
  expect(linesOfSide(patch, { side: 'before', from: 1, to: 2 }, 100)).toBe('one\ntwo')
  expect(linesOfSide(patch, { side: 'after', from: 4, to: 11 }, 100)).toBe('three\nzehn')
  expect(linesOfSide(patch, { side: 'before', from: 10, to: 10 }, 100)).toBe('ten')
  expect(linesOfSide(patch, { side: 'after', from: 1, to: 4 }, 9)).toBe('one\nzwei\n…')
})
