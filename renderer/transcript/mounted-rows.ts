/**
 * Which rows are mounted. What is in sight is, at once; what is near it follows in portions, one a frame, so that a tall
 * answer beyond the edge costs no frame of the scrolling that leads to it.
 */

/** Rows this near the viewport are mounted before they are seen, in CSS pixels; and this many on each side in any case. */
const nearPx = 1_000
const nearRows = 2
/** Estimated height that is added in one portion. */
const portionPx = 600

export type Span = { from: number; to: number }

type Layout = {
  /** Rows in sight, by index. */
  seen: Span
  count: number
  /** Pixels between which the viewport lies. */
  top: number
  bottom: number
  start(index: number): number
  end(index: number): number
}

/** The rows to mount next, given those that are (null: none yet), and whether there are more to come. */
export function mountedRows(
  { seen, count, top, bottom, start, end }: Layout,
  before: Span | null,
): Span & { more: boolean } {
  const near = { ...seen }
  while (near.from > 0 && (seen.from - near.from < nearRows || end(near.from - 1) > top - nearPx)) near.from--
  while (near.to < count - 1 && (near.to - seen.to < nearRows || start(near.to + 1) < bottom + nearPx)) near.to++
  const joins = before !== null && before.from <= seen.to + 1 && before.to >= seen.from - 1
  // The first sight of a place is what is in sight, and nothing else.
  if (!joins) return { ...seen, more: near.from < seen.from || near.to > seen.to }
  const added = {
    from: Math.min(seen.from, Math.max(near.from, before.from)),
    to: Math.max(seen.to, Math.min(near.to, before.to)),
  }
  // What comes into sight by itself is the portion of this frame.
  let left = seen.from < before.from || seen.to > before.to ? 0 : portionPx
  while (left > 0 && (added.from > near.from || added.to < near.to)) {
    const up = added.from > near.from && (added.to >= near.to || seen.from - added.from <= added.to - seen.to)
    const index = up ? --added.from : ++added.to
    left -= end(index) - start(index)
  }
  return { ...added, more: added.from > near.from || added.to < near.to }
}
