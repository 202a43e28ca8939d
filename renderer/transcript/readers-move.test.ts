import fc from 'fast-check'
import { expect, test } from 'vitest'
import { movedUp, readersMove } from './readers-move.ts'

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

test('S-71 what the reader moved is told from what was put right for rows that came out larger or smaller', () => {
  const before = { top: 900, height: 1_500 }
  expect(readersMove(before, { top: 780, height: 1_500 })).toBe(-120)
  expect(readersMove(before, { top: 1_020, height: 1_900 })).toBe(120)
  expect(readersMove(before, { top: 900, height: 1_900 })).toBe(0)
  // The browser takes the view up where there is no more below it.
  expect(readersMove(before, { top: 700, height: 1_300 })).toBe(0)
})
