import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasHidden, plainOutput, shownParts, shownText, tailOf } from './shown-text.ts'

test.each([
  ['bidirectional override', 'exa\u202emple', 'exa⟨RLO⟩mple'],
  ['zero width', 'rm\u200b -rf', 'rm⟨ZWSP⟩ -rf'],
  ['tag characters', `a\u{e0041}b`, 'a⟨U+E0041⟩b'],
  ['escape and carriage return', '\u001b[2K\rls', '⟨ESC⟩[2K⟨CR⟩ls'],
  ['C1', 'a\u0085b', 'a⟨U+0085⟩b'],
  ['newline and tab are what they look like', 'a\n\tb', 'a\n\tb'],
  ['an emoji family is one sign', '👩‍👩‍👧', '👩‍👩‍👧'],
  ['a joiner outside of an emoji', 'a\u200db', 'a⟨ZWJ⟩b'],
])('Z-200 %s', (_, text, shown) => {
  expect(shownText(text)).toBe(shown)
})

test('Z-200 no text loses or gains a visible character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const parts = shownParts(text)
      const plain = parts.map((part) => ('text' in part ? part.text : '')).join('')
      expect(text.length - plain.length).toBe(
        parts.reduce(
          (sum, part) =>
            sum + ('code' in part ? String.fromCodePoint(Number.parseInt(part.code.slice(2), 16)).length : 0),
          0,
        ),
      )
      expect(hasHidden(shownText(text))).toBe(false)
    }),
  )
})

test.each([
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['a link of the terminal', '\u001b]8;;http://x\u0007text\u001b]8;;\u0007', 'text'],
  ['a title', '\u001b]0;title\u001b\\a', 'a'],
  ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
  ['overstrike', 'ab\bc', 'ac'],
  ['a cut escape at the end', 'a\u001b]0;ti', 'a'],
])('output as plain lines: %s', (_, output, plain) => {
  expect(plainOutput(output)).toBe(plain)
})

test('K-01 a progress bar is its last state', () => {
  const bar = Array.from({ length: 500 }, (_, percent) => `\rdownloading ${percent}%`).join('')
  expect(plainOutput(`${bar}\ndone\n`)).toBe('downloading 499%\ndone\n')
})

test('the tail of an output is its last lines, with how many came before', () => {
  expect(tailOf('a\nb\nc\nd\n', 2)).toEqual({ text: 'c\nd', before: 2 })
  expect(tailOf('a\nb', 5)).toEqual({ text: 'a\nb', before: 0 })
  expect(tailOf('', 3)).toEqual({ text: '', before: 0 })
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 14 }),
      (lines, count) => {
        const { text, before } = tailOf(`${lines.join('\n')}\n`, count)
        expect(text).toBe(lines.slice(-count).join('\n'))
        expect(before).toBe(Math.max(0, lines.length - count))
      },
    ),
  )
})
