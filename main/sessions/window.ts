/** What a window opens with: the newest slice of a session's view and what belongs to it (T-199). */
import { sliceItems } from '../../preload/contract/limits.ts'
import type { SessionView } from '../../preload/contract/session.ts'

/** The newest 80 visible items, or all from index `from` on where that is earlier, with their turns and changes. */
export function trimView(view: SessionView, from = -1): SessionView {
  let first = view.items.length
  for (let visible = 0; first > 0 && visible < sliceItems; first--) if (view.items[first - 1]!.visible) visible++
  if (from >= 0) first = Math.min(first, from)
  if (first === 0) return view
  const items = view.items.slice(first)
  const dropped = view.items.slice(0, first).filter((item) => item.visible).length
  const kept = new Set(items.map((item) => item.turnId))
  const { currentTurnId, lastTurnId } = view.header
  const isKept = (id: string) => kept.has(id) || id === currentTurnId || id === lastTurnId
  return {
    ...view,
    items,
    itemsBefore: view.itemsBefore + dropped,
    turns: view.turns.filter((turn) => isKept(turn.id)),
    changes: view.changes.filter((change) => isKept(change.turnId)),
  }
}
