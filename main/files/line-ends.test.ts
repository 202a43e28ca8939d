import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptLineEnds } from './line-ends.ts'

const seen = (text: string) => text.replaceAll(/\r\n|\r/g, '\n')

test('F-519 lines that stay keep their ends, new ones take those of what they replace', () => {
  expect(keptLineEnds('a\r\nb\r\n', 'a\nB\nc\n')).toBe('a\r\nB\r\nc\r\n')
  expect(keptLineEnds('a\rb', 'a\nb\nc')).toBe('a\rb\rc')
  expect(keptLineEnds('a\r\nb\r\nc\r\nd\n', 'a\nx\ny\nc\nd\n')).toBe('a\r\nx\r\ny\r\nc\r\nd\n')
  expect(keptLineEnds('a\nb\r\nc', 'a\nb\nc\nd')).toBe('a\nb\r\nc\nd')
  expect(keptLineEnds('', 'a\nb')).toBe('a\nb')
  expect(keptLineEnds('a\n', 'a')).toBe('a')
})

const end = fc.constantFrom('\n', '\r\n', '\r')
const line = fc.constantFrom('', 'a', 'b', 'c', '\u{1F600}')

test('F-519 whatever the line ends: an edit changes the lines it changes, and no others', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, end), { maxLength: 12 }),
      line,
      fc.nat(),
      fc.nat(4),
      fc.array(line, { maxLength: 4 }),
      (lines, last, at, removed, added) => {
        const before = lines.map(([text, lineEnd]) => text + lineEnd).join('') + last
        const edited = seen(before).split('\n')
        const unchanged = keptLineEnds(before, edited.join('\n'))
        expect(unchanged).toBe(before)
        edited.splice(at % edited.length, removed, ...added)
        const kept = keptLineEnds(before, edited.join('\n'))
        expect(seen(kept)).toBe(edited.join('\n'))
      },
    ),
  )
})
