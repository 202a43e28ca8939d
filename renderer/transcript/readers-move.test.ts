import fc from 'fast-check'
import { expect, test } from 'vitest'
import { movedUp } from './readers-move.ts'

test('S-67 the view follows the end until the reader moves up, also where rows come out smaller on the way', () => {
  expect(movedUp({ top: 900, height: 1_500 }, { top: 400, height: 1_500 })).toBe(true)
  expect(movedUp({ top: 900, height: 1_500 }, { top: 400, height: 1_300 })).toBe(true)
  expect(movedUp({ top: 900, height: 1_500 }, { top: 700, height: 1_300 })).toBe(false)
  expect(movedUp({ top: 900, height: 1_500 }, { top: 900, height: 1_900 })).toBe(false)
  const px = fc.integer({ min: 0, max: 5_000 })
  fc.assert(
    fc.property(px, px, px, (top, shrink, up) => {
      const before = { top: top + 10_000, height: 20_000 }
      // What shrinking alone does is nobody's move; with a reader's on top of it, it is theirs.
      const shrunk = { top: before.top - shrink, height: before.height - shrink }
      expect(movedUp(before, shrunk)).toBe(false)
      expect(movedUp(before, { ...shrunk, top: shrunk.top - up })).toBe(up > 1)
    }),
  )
})
