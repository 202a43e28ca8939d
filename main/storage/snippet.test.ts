import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeSnippet } from './snippet.ts'

const term = (text: string, prefix = false) => ({ text, prefix })
const marked = (text: string, ...terms: { text: string; prefix: boolean }[]) => {
  const { snippet, ranges } = makeSnippet(text, terms)
  return ranges.map(([from, to]) => snippet.slice(from, to))
}

test('S-98 ranges mark whole words, without case or accents, phrases over punctuation', () => {
  expect(marked('The MÜLLER case, muller and mullers', term('müller'))).toEqual(['MÜLLER', 'muller'])
  expect(makeSnippet('reorder the orders', [term('order', true)]).ranges).toEqual([[12, 17]])
  expect(marked('foo-bar foo, bar', term('foo bar'))).toEqual(['foo-bar', 'foo, bar'])
  expect(marked('reorderItems', term('order'))).toEqual(['order'])
  expect(marked('今日は日本語です', term('日本'))).toEqual(['日本'])
  expect(marked('nothing here', term('absent'))).toEqual([])
})

test('S-98 a snippet is 160 characters around the first match', () => {
  const { snippet, ranges } = makeSnippet(`${'before '.repeat(50)}needle${' after'.repeat(50)}`, [term('needle')])
  expect(snippet.length).toBe(162)
  expect(ranges).toEqual([[36, 42]])
  expect(snippet.slice(36, 42)).toBe('needle')
})

test('S-98 ranges lie inside the snippet, in order, whatever the text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .array(fc.constantFrom('ß', 'İ', 'ﬁ', '😀', 'a', 'é', '日', ' ', '\n'), { maxLength: 400 })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), (text, word) => {
      const { snippet, ranges } = makeSnippet(text, [term(word), term('a'), term('日')])
      let end = 0
      for (const [from, to] of ranges) {
        expect(from).toBeGreaterThanOrEqual(end)
        expect(to).toBeGreaterThanOrEqual(from)
        end = to
      }
      expect(end).toBeLessThanOrEqual(snippet.length)
    }),
  )
})
