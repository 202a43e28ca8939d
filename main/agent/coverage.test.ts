import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import type { Turn } from '../../preload/contract/session.ts'
import { isDue, planCoverage } from './coverage.ts'

/** Turns of so many entries, each entry of so many tokens; the place before a message is free, as admission leaves it. */
function session(sizes: readonly (readonly number[])[]) {
  const items: Item[] = []
  const tokens = new Map<string, number>()
  const turns: Turn[] = []
  let pos = 0
  sizes.forEach((entries, turn) => {
    entries.forEach((size, at) => {
      pos += at === 0 ? 2 : 1
      const id = `${turn}.${at}`
      tokens.set(id, size)
      items.push({
        id,
        pos,
        kind: at === 0 ? 'user' : 'text',
        turnId: `t${turn}`,
        contextual: true,
        text: id,
      } as unknown as Item)
    })
    if (entries.length > 0) turns.push({ id: `t${turn}`, userItemId: `${turn}.0` } as Turn)
  })
  return {
    items,
    turns,
    tokens: (some: readonly Item[]) => some.reduce((sum, { id }) => sum + (tokens.get(id) ?? 0), 0),
  }
}

describe('what a summary covers', () => {
  test('C-59 the newest whole turns stay while they fit; the last entry before the first of them is the last covered', () => {
    const plan = planCoverage({
      ...session([
        [50, 50],
        [50, 50],
        [50, 50],
        [50, 50],
      ]),
      room: 250,
    })!
    expect(plan.covered.map(({ id }) => id)).toEqual(['0.0', '0.1', '1.0', '1.1'])
    expect(plan.through.id).toBe('1.1')
    expect(plan.kept[0]!.id).toBe('2.0')
  })

  test('C-59 a newest turn that is too long by itself is covered too; a turn that runs never is', () => {
    const all = session([[50, 50], [50, 900], [10]])
    const idle = planCoverage({ ...all, room: 500, before: all.items.at(-1)!.pos })!
    expect(idle.kept).toEqual([])
    expect(idle.through.id).toBe('1.1')
    const running = planCoverage({ ...all, room: 0, before: all.items.find(({ id }) => id === '1.0')!.pos })!
    expect(running.covered.map(({ id }) => id)).toEqual(['0.0', '0.1'])
  })

  test('C-71 the mark takes a free place: messages without one before them are covered with what came earlier', () => {
    const { items, ...rest } = session([[50, 50], [50, 50], [50, 50], [50]])
    const closeUp = (from: number) => items.map((item, at) => (at < from ? { ...item, pos: at + 1 } : item))
    const some = planCoverage({ ...rest, items: closeUp(4), room: 200 })!
    expect(some.kept[0]!.id).toBe('2.0')
    expect(some.place).toBe(some.kept[0]!.pos - 1)
    expect(closeUp(4).map(({ pos }) => pos)).not.toContain(some.place)
    const none = planCoverage({ ...rest, items: closeUp(items.length), room: 200 })!
    expect([none.kept, none.place]).toEqual([[], null])
  })

  test('C-59 nothing to cover is no plan: an empty session, one turn that fits, a mark with what fits behind it', () => {
    expect(planCoverage({ ...session([]), room: 100 })).toBeNull()
    expect(planCoverage({ ...session([[50, 50]]), room: 100 })).toBeNull()
    const { items, ...rest } = session([[50, 50]])
    const mark = {
      id: 'm',
      pos: 1,
      kind: 'compaction',
      turnId: null,
      contextual: true,
      tokensAfter: 1,
    } as unknown as Item
    expect(planCoverage({ ...rest, items: [mark, ...items], room: 100 })).toBeNull()
    expect(planCoverage({ ...rest, items: [mark, ...items], room: 10 })!.covered.map(({ id }) => id)).toEqual([
      'm',
      '0.0',
      '0.1',
    ])
  })

  test('C-59 C-71 by hand no more stays than it takes to reach so many entries', () => {
    const many = session(Array.from({ length: 10 }, () => [1, 1]))
    expect(planCoverage({ ...many, room: 1_000 })).toBeNull()
    expect(planCoverage({ ...many, room: 1_000, keepItems: 8 })!.kept).toHaveLength(8)
  })

  test('C-59 C-67 C-71 whatever the turns: covered and kept are all there is, the place is free, and what stays fits', () => {
    const sizes = fc.array(fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 0, max: 4_000 }),
        fc.option(fc.nat(11), { nil: undefined }),
        (turns, room, running) => {
          const all = session(turns)
          const opening = all.items.find(({ id }) => id === `${running}.0`)
          const plan = planCoverage({ ...all, room, ...(opening ? { before: opening.pos } : {}) })
          const settled = all.items.filter(({ pos }) => !opening || pos < opening.pos)
          if (!plan) {
            expect(all.tokens(settled)).toBeLessThanOrEqual(room)
            return
          }
          expect([...plan.covered, ...plan.kept]).toEqual(settled)
          expect(all.tokens(plan.kept)).toBeLessThanOrEqual(room)
          expect(plan.kept[0]?.kind ?? 'user').toBe('user')
          expect(plan.covered.at(-1)).toBe(plan.through)
          expect(all.items.some(({ pos }) => pos === plan.place)).toBe(false)
          if (plan.place === null) {
            expect(plan.kept).toEqual([])
            return
          }
          expect(plan.place).toBeGreaterThan(plan.through.pos)
          for (const item of all.items) if (!plan.covered.includes(item)) expect(item.pos).toBeGreaterThan(plan.place)
        },
      ),
    )
  })
})

test('C-45 C-68 K-27 due at the threshold; after a summary that left as much, only once a tenth of the window has come', () => {
  expect(isDue(899, 900, undefined, 1_000)).toBe(false)
  expect(isDue(900, 900, undefined, 1_000)).toBe(true)
  expect(isDue(900, 900, { tokensAfter: 500 }, 1_000)).toBe(true)
  expect(isDue(1_019, 900, { tokensAfter: 920 }, 1_000)).toBe(false)
  expect(isDue(1_020, 900, { tokensAfter: 920 }, 1_000)).toBe(true)
})
