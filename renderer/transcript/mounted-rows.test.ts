import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mountedRows, type Span } from './mounted-rows.ts'

/** Rows of these heights, and a viewport of 700 px at `top`. */
function layoutOf(heights: readonly number[], top: number) {
  const starts = heights.map((_, at) => heights.slice(0, at).reduce((sum, height) => sum + height, 0))
  const start = (index: number) => starts[index]!
  const end = (index: number) => starts[index]! + heights[index]!
  const bottom = top + 700
  const inSight = heights.map((_, at) => at).filter((at) => end(at) > top && start(at) < bottom)
  return { seen: { from: inSight[0]!, to: inSight.at(-1)! }, count: heights.length, top, bottom, start, end }
}

const heights = fc.array(fc.integer({ min: 20, max: 3_000 }), { minLength: 1, maxLength: 80 })
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })

test('what is in sight is mounted at once, what is near it within some frames, and nothing far', () => {
  fc.assert(
    fc.property(heights, places, (rows, tops) => {
      const length = rows.reduce((sum, height) => sum + height, 0)
      let mounted: Span | null = null
      for (const place of tops) {
        const layout = layoutOf(rows, Math.floor(place * Math.max(0, length - 700)))
        const { seen, count, top, bottom, start, end } = layout
        for (let frame = 0; ; frame++) {
          const next = mountedRows(layout, mounted)
          expect(next.from).toBeLessThanOrEqual(seen.from)
          expect(next.to).toBeGreaterThanOrEqual(seen.to)
          mounted = { from: next.from, to: next.to }
          if (!next.more) break
          expect(frame).toBeLessThan(count)
        }
        expect(mounted.from === 0 || start(mounted.from) <= top - 1_000).toBe(true)
        expect(mounted.to === count - 1 || end(mounted.to) >= bottom + 1_000).toBe(true)
        expect(mounted.from >= seen.from - 2 || end(mounted.from) > top - 1_000).toBe(true)
        expect(mounted.to <= seen.to + 2 || start(mounted.to) < bottom + 1_000).toBe(true)
      }
    }),
  )
})

test('a tall row beyond the edge is mounted alone in its frame', () => {
  const layout = layoutOf([2_000, 2_000, 2_000, 700, 2_000, 2_000], 6_000)
  const first = mountedRows(layout, null)
  expect(first).toEqual({ from: 3, to: 3, more: true })
  const sizes: number[] = []
  for (let now = first; now.more;) {
    const next = mountedRows(layout, now)
    sizes.push(next.to - next.from - (now.to - now.from))
    now = next
  }
  expect(sizes).toEqual([1, 1, 1, 1])
})
