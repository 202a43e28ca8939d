// @vitest-environment happy-dom
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { Item } from '../../preload/contract/items.ts'
import { heldItemsMax } from '../../preload/contract/limits.ts'
import type { ItemSlice, SessionView } from '../../preload/contract/session.ts'
import { cutView, trimView, visibleCount } from '../../preload/contract/stretch.ts'
import { header, textItem, turn, userItem, view as viewOf } from '../transcript/fixtures.ts'
import { shownView } from './session-state.ts'
import { createSession, type Session, type SessionLink } from './session-store.ts'

type Read = Parameters<SessionLink['read']>

/** A host that holds all of a session and answers stretches of it. */
class WholeHost {
  whole: SessionView
  asked = 0
  private send: (event: SessionEvent) => void = () => {}

  constructor(count: number, hidden: (at: number) => boolean = () => false) {
    const items = Array.from({ length: count }, (_, at): Item => {
      const own = { id: `item-${at}`, pos: at + 1, turnId: `turn-${Math.floor(at / 10)}`, visible: !hidden(at) }
      return at % 10 === 0 ? userItem(`question ${at}`, own) : textItem(`answer ${at}`, own)
    })
    const turns = Array.from({ length: Math.ceil(count / 10) }, (_, at) => turn(`turn-${at}`, { startedAt: at }))
    this.whole = viewOf(items, turns, {
      header: header({ itemCount: visibleCount(items), lastSeq: 1, lastTurnId: turns.at(-1)?.id ?? null }),
    })
  }

  session(around: string | null = null): Session {
    return createSession('session-1', { client: this.client, read: this.read } as unknown as SessionLink, around)
  }

  /** Decides an event and sends it. */
  tell(event: Record<string, unknown>): void {
    const stored = { at: 1, ...event, seq: this.whole.header.lastSeq + 1 } as unknown as StoredEvent
    this.whole = foldEvent(this.whole, stored)
    this.send(stored)
  }

  /** Tells the stream that it has to be opened again. */
  resync(): void {
    this.send({ type: 'stream.resync', seq: null, at: 1, reason: 'pruned' })
  }

  private client = {
    session: {
      open: async ({ around }: { around?: string }) => {
        this.asked++
        const at = this.whole.items.findIndex((item) => item.id === around)
        if (around !== undefined && at < 0)
          throw Object.assign(new Error('no'), { data: { code: 'request.invalid', message: 'No such item.' } })
        return at < 0 ? trimView(this.whole) : cutView(this.whole, Math.max(0, at - 40), at + 40)
      },
      events: async () => [],
      items: async ({ before, after, limit }: { before?: string; after?: string; limit: number }) => {
        this.asked++
        const at = this.whole.items.findIndex((item) => item.id === (before ?? after))
        const [from, end] = before === undefined ? [at + 1, at + 1 + limit] : [Math.max(0, at - limit), at]
        return this.slice(from, end)
      },
    },
  }

  private slice(from: number, end: number): ItemSlice {
    const { items, itemsBefore, itemsAfter, turns, changes } = cutView(this.whole, from, end)
    return { items, before: itemsBefore, after: itemsAfter, turns, changes }
  }

  private read = async (...[open, handlers, signal]: Read): Promise<void> => {
    await open('stream', signal)
    if (signal.aborted) return
    handlers.opened?.()
    this.send = (event) => void (signal.aborted || handlers.frame(event as never))
  }
}

/** What is shown is one stretch of the session as it is, and its counts are right on both sides. */
function expectStretch(session: Session, host: WholeHost): void {
  const shown = shownView(session.store.getState())!
  const from = host.whole.items.findIndex((item) => item.id === shown.items[0]?.id)
  const end = from + shown.items.length
  expect(shown.items).toEqual(host.whole.items.slice(from, end))
  expect(shown.itemsBefore).toBe(visibleCount(host.whole.items.slice(0, from)))
  expect(shown.itemsAfter).toBe(visibleCount(host.whole.items.slice(end)))
  expect(shown.header.lastSeq).toBe(host.whole.header.lastSeq)
  // The rows of its turns are there, in order, and that of the newest turn last.
  const ids = [...new Set(shown.items.map((item) => item.turnId))]
  const known = shown.turns.map(({ id }) => id)
  expect(known.filter((id) => ids.includes(id))).toEqual(ids)
  expect(known.at(-1)).toBe(host.whole.turns.at(-1)?.id)
  expect(shown.items.length).toBeLessThanOrEqual(heldItemsMax + 80)
  // The end is always at hand.
  expect(session.store.getState().view!.items.at(-1)).toEqual(host.whole.items.at(-1))
  expect(session.store.getState().view!.itemsAfter).toBe(0)
}

const frame = () => vi.advanceTimersByTimeAsync(300)

async function within<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers()
  try {
    return await work()
  } finally {
    vi.useRealTimers()
  }
}

test('S-57 S-67 any way through a long session shows a true stretch of it, while it grows and changes', async () => {
  const step = fc.oneof(
    fc.constantFrom('older' as const, 'newer' as const, 'end' as const, 'trim' as const, 'grow' as const),
    fc.record({ reveal: fc.nat(699) }),
    fc.record({ change: fc.nat(699) }),
  )
  await within(() =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const host = new WholeHost(700, (at) => at % 17 === 3)
        const session = host.session()
        await frame()
        for (const next of steps) {
          if (next === 'older') await session.controller.loadOlder()
          else if (next === 'newer') await session.controller.loadNewer()
          else if (next === 'end') session.controller.showEnd()
          else if (next === 'trim') session.controller.trimEnd()
          else if (next === 'grow') {
            const pos = host.whole.items.length + 1
            const turnId = host.whole.turns.at(-1)!.id
            host.tell({ type: 'item.put', item: textItem('more', { id: `item-${pos}`, pos, turnId }) })
          } else if ('reveal' in next) expect(await session.controller.reveal(`item-${next.reveal}`)).toBe(true)
          else host.tell({ type: 'item.patch', itemId: `item-${next.change}`, set: { status: 'partial' } })
          await frame()
          expectStretch(session, host)
          if (typeof next === 'object' && 'reveal' in next) {
            const ids = shownView(session.store.getState())!.items.map(({ id }) => id)
            expect(ids).toContain(`item-${next.reveal}`)
          }
        }
        session.close()
      }),
      { numRuns: 40 },
    ),
  )
}, 30_000)

test('SA-24 from a hit far up both ends are reached, each item once, and what is held stays bounded', async () => {
  await within(async () => {
    const host = new WholeHost(10_000)
    const session = host.session()
    await frame()
    const before = host.asked
    expect(await session.controller.reveal('item-37')).toBe(true)
    expect(host.asked - before).toBe(1)
    const seen = new Set<string>()
    const look = () => {
      expectStretch(session, host)
      for (const { id } of shownView(session.store.getState())!.items) seen.add(id)
    }
    while (shownView(session.store.getState())!.itemsBefore > 0) await session.controller.loadOlder()
    look()
    expect(shownView(session.store.getState())!.items[0]!.id).toBe('item-0')
    while (shownView(session.store.getState())!.itemsAfter > 0) {
      await session.controller.loadNewer()
      look()
    }
    expect(seen.size).toBe(10_000)
    expect(session.store.getState().apart).toBeNull()
    session.close()
  })
})

test('S-71 a window that opens again opens where its reader was', async () => {
  await within(async () => {
    const host = new WholeHost(1_000)
    const session = host.session('item-100')
    await frame()
    expectStretch(session, host)
    expect(shownView(session.store.getState())!.items.map(({ id }) => id)).toContain('item-100')
    session.close()
    const gone = host.session('item-never')
    await frame()
    expect(gone.store.getState().apart).toBeNull()
    expectStretch(gone, host)
    gone.close()
  })
})

test('S-71 what is set aside elsewhere leaves the stretch a reader is in, and the reader stays', async () => {
  await within(async () => {
    const host = new WholeHost(1_000)
    const session = host.session('item-100')
    await frame()
    // Everything from the 121st item on is set aside.
    const items = host.whole.items.slice(0, 120)
    const kept = header({ itemCount: 120, lastSeq: 2, lastTurnId: 'turn-11' })
    host.tell({
      type: 'session.rewound',
      markItemId: 'mark',
      from: 121,
      items: 880,
      turns: 88,
      restored: false,
      deleted: false,
      session: kept,
      slice: { items: items.slice(40), before: 40, after: 0, turns: host.whole.turns.slice(4, 12), changes: [] },
    })
    await frame()
    const shown = shownView(session.store.getState())!
    expect(shown.items.at(-1)!.id).toBe('item-119')
    expect(shown.items.map(({ id }) => id)).toContain('item-100')
    expect(shown.itemsAfter).toBe(0)
    session.close()
  })
})

test('SA-7 S-37 a reader whose journal was pruned opens once more, in the same place, and is never shown nothing', async () => {
  await within(async () => {
    const host = new WholeHost(1_000)
    const session = host.session('item-100')
    await frame()
    const before = host.asked
    const shown: string[][] = []
    session.store.subscribe((state) => void shown.push(shownView(state)!.items.map(({ id }) => id)))
    host.resync()
    await frame()
    // The end, and the stretch around the reader.
    expect(host.asked - before).toBe(2)
    expect(shown.length).toBeGreaterThan(0)
    for (const ids of shown) expect(ids).toContain('item-100')
    expectStretch(session, host)
    session.close()
  })
})
