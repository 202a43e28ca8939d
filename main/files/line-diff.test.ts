import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedBlocks, coarseBlock, countChanges, hunksOf, splitLines, unifiedText, type Hunk } from './line-diff.ts'

const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '}\n', 'long line\r\n')
const lines = fc.array(line, { maxLength: 30 })

/** Puts the after lines of each hunk where its before lines stand: what `patch` does. */
function apply(before: string[], hunks: Hunk[]): string[] {
  const after = [...before]
  for (const hunk of hunks.toReversed()) {
    const was = hunk.lines.filter((line) => line.mark !== '+').map((line) => line.text)
    expect(before.slice(hunk.beforeStart - 1, hunk.beforeStart - 1 + was.length)).toEqual(was)
    after.splice(
      hunk.beforeStart - 1,
      was.length,
      ...hunk.lines.filter((line) => line.mark !== '-').map((line) => line.text),
    )
  }
  return after
}

describe('line diff', () => {
  test('hunks of any two texts lead from one to the other', () => {
    fc.assert(
      fc.property(lines, lines, fc.nat({ max: 4 }), (before, after, context) => {
        for (const blocks of [changedBlocks(before, after)!, coarseBlock(before, after)]) {
          expect(apply(before, hunksOf(before, after, blocks, context))).toEqual(after)
        }
      }),
    )
  })

  test('no more lines are changed than a longest common sequence leaves', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { added, removed } = countChanges(changedBlocks(before, after)!)
        const common = longestCommonLength(before, after)
        expect([removed, added]).toEqual([before.length - common, after.length - common])
      }),
    )
  })

  test('splitting keeps every character', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r') }), (text) => {
        expect(splitLines(text).join('')).toBe(text)
      }),
    )
  })

  test('F-904 a rewritten file of 30,000 lines is one change, found at once', () => {
    const before = Array.from({ length: 30_000 }, (_, at) => `old ${at}\n`)
    const after = Array.from({ length: 30_000 }, (_, at) => `new ${at}\n`)
    expect(changedBlocks(before, after, { distance: 10 })).toEqual([
      { beforeFrom: 0, beforeTo: 30_000, afterFrom: 0, afterTo: 30_000 },
    ])
  })

  test('a unified diff tells a missing last line end and empty sides', () => {
    const before = splitLines('a\nb')
    const after = splitLines('a\nb\n')
    expect(unifiedText(hunksOf(before, after, changedBlocks(before, after)!))).toBe(
      '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n',
    )
    expect(unifiedText(hunksOf([], ['x\n'], changedBlocks([], ['x\n'])!))).toBe('@@ -0,0 +1 @@\n+x\n')
  })
})

function longestCommonLength(a: string[], b: string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const x of a) {
    const next = [0]
    for (const [at, y] of b.entries()) next.push(x === y ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!))
    row = next
  }
  return row.at(-1)!
}
