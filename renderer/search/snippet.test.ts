import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foundWords, readSnippet } from './snippet.ts'

/** A hit whose ranges are the parts between ‹ and ›. */
function hit(marked: string, kind = 'text') {
  const ranges: [number, number][] = []
  let snippet = ''
  for (const part of marked.split(/(‹[^›]*›)/)) {
    const word = /^‹(.*)›$/s.exec(part)?.[1]
    if (word !== undefined) ranges.push([snippet.length, snippet.length + word.length])
    snippet += word ?? part
  }
  return { kind, snippet, ranges }
}
const marked = ({ text, ranges }: ReturnType<typeof readSnippet>) =>
  ranges.toReversed().reduce((now, [from, to]) => `${now.slice(0, from)}‹${now.slice(from, to)}›${now.slice(to)}`, text)

test.each([
  ['**What ‹changed›**: `src/‹app›.ts` keeps it', 'What ‹changed›: src/‹app›.ts keeps it'],
  ['## The ‹cause›\n\n> quoted ‹words›\n- a point', 'The ‹cause›  quoted ‹words› a point'],
  [
    'see [the ‹guide›](https://example.test/a_(b)) and ![a ‹picture›](x.png) here',
    'see the ‹guide›) and a ‹picture› here',
  ],
  ['| a | ‹b› |\n| --- | --- |\n| 1 | 2 |', '| a | ‹b› |  | 1 | 2 |'],
  ['```ts\nconst ‹x› = a * b * *p', 'ts const ‹x› = a * b * *p'],
  ['‹**bold**› and snake_case __init__', '‹bold› and snake_case __init__'],
])('S-98 the snippet %j reads as %j', (given, read) => {
  expect(marked(readSnippet(hit(given)))).toBe(read)
})

test('S-98 what a person wrote is shown as written', () => {
  expect(marked(readSnippet(hit('use **two** ‹stars›', 'user')))).toBe('use **two** ‹stars›')
})

test('S-98 the words found are those of the ranges, each once', () => {
  expect(foundWords(hit('The ‹Cart› and the ‹cart›, ‹total›'))).toEqual(['cart', 'total'])
})

test('S-98 whatever a snippet holds, its ranges lie within what is shown', () => {
  const piece = fc.constantFrom(
    'word',
    '**',
    '`',
    '# ',
    '[a](b)',
    '\n',
    '> ',
    '|---|',
    ' ',
    '‹x y›',
    '*',
    '![',
    '](',
    ')',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { text, ranges } = readSnippet(hit(pieces.join('')))
      for (const [from, to] of ranges) {
        expect(from).toBeGreaterThanOrEqual(0)
        expect(to).toBeLessThanOrEqual(text.length)
        expect(text.slice(from, to)).toMatch(/x y|./)
      }
      expect(text).not.toContain('\n')
    }),
  )
})
