/** Where a scrolled view stands, in CSS pixels. */
export type Place = { top: number; height: number }

/**
 * Whether the reader moved the view up. Content that shrinks (a row measured smaller than it was estimated) takes the view
 * up by itself, but never by more than it shrank.
 */
export function movedUp(before: Place, now: Place): boolean {
  return before.top - now.top > Math.max(0, before.height - now.height) + 1
}

/**
 * By how much the reader moved the view since it stood at `before`, below zero for up: all that is not ours, where every
 * place we put it at is kept as `before`.
 */
export function readersMove(before: Place, now: Place): number {
  return now.top > before.top + 1 || movedUp(before, now) ? now.top - before.top : 0
}
