import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzyMatch, fuzzyRank } from './fuzzy.ts'

test('letters must occur in order; beginnings of words and whole words rank first', () => {
  expect(fuzzyMatch('Toggle inspector', 'tgi')).not.toBeNull()
  expect(fuzzyMatch('Toggle inspector', 'xyz')).toBeNull()
  const ranked = fuzzyRank(['Discussion of news', 'New session', 'Renew lease'], 'new', (text) => text, 10)
  expect(ranked.map(({ candidate }) => candidate)[0]).toBe('New session')
})

test('every word of a query must be found, in any order', () => {
  expect(fuzzyMatch('Theme: high contrast', 'contrast theme')).not.toBeNull()
  expect(fuzzyMatch('Theme: dark', 'contrast theme')).toBeNull()
})

test('marked ranges are ascending, inside the text, and hold the letters asked for', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 6 }), (text, query) => {
      const match = fuzzyMatch(text, query)
      if (!match) return
      let at = 0
      for (const [from, to] of match.ranges) {
        expect(from).toBeGreaterThanOrEqual(at)
        expect(to).toBeGreaterThan(from)
        at = to
      }
      expect(at).toBeLessThanOrEqual(Math.max(text.length, text.toLowerCase().length))
    }),
  )
})
