/** Which turns a summary covers, and which stay whole (C-59): by ids and tokens, never by what a text says. */
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import type { Turn } from '../../preload/contract/session.ts'

export type Coverage = {
  /** What the summary stands for, oldest first; an earlier mark first where there is one. */
  covered: Item[]
  /** What stays as it is. */
  kept: Item[]
  /** The last item covered. */
  through: Item
  /** The place of the mark: before the message that opens the next turn, null where none follows. */
  place: number | null
}

/**
 * Null where nothing can be covered. `items` is what is sent now, an earlier mark first; `tokens` counts a stretch of it;
 * `room` is what whole turns may take. With `keepItems` no more is kept than it takes to reach that many entries.
 * Items from `before` on, those of a turn that runs, are left out of both.
 */
export function planCoverage(input: {
  items: readonly Item[]
  turns: readonly Turn[]
  tokens(items: readonly Item[]): number
  room: number
  before?: number
  keepItems?: number
}): Coverage | null {
  const { before = Number.POSITIVE_INFINITY, keepItems = Number.POSITIVE_INFINITY } = input
  const items = input.items.filter((item) => item.pos < before)
  const openings = new Set(input.turns.map((turn) => turn.userItemId))
  const starts = items.flatMap((item, at) => (openings.has(item.id) ? [at] : []))
  if (starts.length === 0) return null
  let first = items.length
  let left = input.room
  for (const start of starts.toReversed()) {
    const tokens = input.tokens(items.slice(start, first))
    const enough = items.length - first >= keepItems
    if (tokens > left || (enough && first < items.length)) break
    left -= tokens
    first = start
  }
  // Messages of sessions from before there were summaries have no place free before them: one of today is looked for.
  const isTaken = (at: number): boolean => {
    const earlier = items[at - 1]
    return earlier !== undefined && earlier.kind !== 'compaction' && earlier.pos === items[at]!.pos - 1
  }
  while (first < items.length && isTaken(first)) first = starts.find((start) => start > first) ?? items.length
  // A mark alone, or nothing, before what is kept: there is nothing new to cover.
  const covered = items.slice(0, first)
  const through = covered.findLast((item) => item.kind !== 'compaction')
  if (!through) return null
  const next = items[first]?.pos ?? (Number.isFinite(before) ? before : null)
  return { covered, kept: items.slice(first), through, place: next === null ? null : next - 1 }
}

/**
 * Whether `tokens` reach a threshold. Where a summary left as much as that, the next waits until a tenth of the window has
 * come on top: one that frees nothing is not made again and again (C-68, K-27).
 */
export function isDue(
  tokens: number,
  threshold: number,
  mark: Pick<ItemOf<'compaction'>, 'tokensAfter'> | undefined,
  window: number,
): boolean {
  if (tokens < threshold) return false
  return !mark || mark.tokensAfter < threshold || tokens >= mark.tokensAfter + Math.floor(window / 10)
}
