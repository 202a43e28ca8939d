/**
 * A view holds one stretch of its session's items. Here it is cut and joined: pure, and its counts, turns and changes
 * always fit what it holds (S-57, T-199).
 */
import type { Item } from './items.ts'
import { sliceItems } from './limits.ts'
import type { ItemSlice, SessionView } from './session.ts'

/** The newest 80 visible items, or all from index `from` on where that is earlier, with their turns and changes. */
export function trimView(view: SessionView, from = -1): SessionView {
  let first = view.items.length
  for (let visible = 0; first > 0 && visible < sliceItems; first--) if (view.items[first - 1]!.visible) visible++
  return cutView(view, from >= 0 ? Math.min(first, from) : first)
}

/** Items from index `first` to before `end`, with their turns, the newest two included, and their changes. */
export function cutView(view: SessionView, first: number, end = view.items.length): SessionView {
  if (first === 0 && end === view.items.length) return view
  const items = view.items.slice(first, end)
  const kept = new Set(items.map((item) => item.turnId))
  const { currentTurnId, lastTurnId } = view.header
  const isKept = (id: string) => kept.has(id) || id === currentTurnId || id === lastTurnId
  return {
    ...view,
    items,
    itemsBefore: view.itemsBefore + visibleCount(view.items.slice(0, first)),
    itemsAfter: view.itemsAfter + visibleCount(view.items.slice(end)),
    turns: view.turns.filter((turn) => isKept(turn.id)),
    changes: view.changes.filter((change) => isKept(change.turnId)),
  }
}

/** `slice` in place of what the view holds; the rest of the view, and the count of items, stay those of the end. */
export function viewAt(
  view: SessionView,
  slice: Pick<ItemSlice, 'items' | 'before' | 'turns' | 'changes'>,
): SessionView {
  const known = new Set(slice.turns.map((turn) => turn.id))
  const { currentTurnId, lastTurnId } = view.header
  const newest = view.turns.filter(({ id }) => !known.has(id) && (id === currentTurnId || id === lastTurnId))
  const all = view.itemsBefore + visibleCount(view.items) + view.itemsAfter
  return {
    ...view,
    items: slice.items,
    itemsBefore: slice.before,
    itemsAfter: Math.max(0, all - slice.before - visibleCount(slice.items)),
    turns: [...slice.turns, ...newest],
    changes: [...slice.changes, ...view.changes.filter((file) => newest.some(({ id }) => id === file.turnId))],
  }
}

/** An older slice put in front, without what it repeats. */
export function withOlder(view: SessionView, { items, before, turns, changes }: Omit<ItemSlice, 'after'>): SessionView {
  const first = view.items[0]
  const older = first ? items.filter((item) => item.pos < first.pos) : items
  const known = new Set(view.turns.map((turn) => turn.id))
  return {
    ...view,
    items: [...older, ...view.items],
    itemsBefore: before,
    turns: [...turns.filter((turn) => !known.has(turn.id)), ...view.turns],
    changes: [...changes.filter((file) => !known.has(file.turnId)), ...view.changes],
  }
}

/** A newer slice put behind, without what it repeats; its turns stand behind that of the last item held. */
export function withNewer(view: SessionView, { items, turns, changes }: Omit<ItemSlice, 'before'>): SessionView {
  const last = view.items.at(-1)
  const newer = last ? items.filter((item) => item.pos > last.pos) : items
  const known = new Set(view.turns.map((turn) => turn.id))
  const lastTurn = view.items.findLast((item) => item.turnId !== null)?.turnId
  const place = view.turns.findIndex((turn) => turn.id === lastTurn) + 1
  return {
    ...view,
    items: [...view.items, ...newer],
    itemsAfter: Math.max(0, view.itemsAfter - visibleCount(newer)),
    turns: view.turns.toSpliced(place, 0, ...turns.filter((turn) => !known.has(turn.id))),
    changes: [...view.changes, ...changes.filter((file) => !known.has(file.turnId))],
  }
}

/** Whether `held` reaches the first item of `later`. */
export function meets(held: SessionView, later: SessionView): boolean {
  const first = later.items[0]
  return first !== undefined && held.journalId === later.journalId && held.items.some((item) => item.id === first.id)
}

/** `later` with the older items of `held` kept in front of it where the two meet: the anchor stays (S-71). */
export function joinOlder(held: SessionView, later: SessionView): SessionView {
  if (!meets(held, later)) return later
  const older = held.items.slice(
    0,
    held.items.findIndex((item) => item.id === later.items[0]!.id),
  )
  return withOlder(later, {
    items: older,
    before: Math.max(0, later.itemsBefore - visibleCount(older)),
    turns: held.turns,
    changes: held.changes,
  })
}

export function visibleCount(items: readonly Item[]): number {
  return items.reduce((count, item) => count + (item.visible ? 1 : 0), 0)
}
