/** The reader's place in the transcript, as rows come, go and are folded (S-71). Pure. */
import type { Row } from './rows.ts'
import type { Anchor } from './view-state.ts'

/** The place of a row that stands `offset` pixels below the top of the viewport. */
export function anchorAt(rows: readonly Row[], index: number, offset: number): Anchor | null {
  const row = rows[index]
  if (!row) return null
  for (let at = index; at >= 0; at--) {
    const itemId = itemOf(rows[at]!)
    if (itemId !== null) return { rowId: row.id, itemId, offset }
  }
  return { rowId: row.id, itemId: null, offset }
}

function itemOf(row: Row): string | null {
  if ('item' in row) return row.item.id
  return row.kind === 'group' ? row.items[0]!.id : null
}

/** Where the reader's place is now: its row, else the group that took it in, else the nearest row before it (S-71). */
export function keptPlace(
  rows: readonly Row[],
  { rowId, offset }: Pick<Anchor, 'rowId' | 'offset'>,
  before: readonly Row[] = [],
): { index: number; offset: number } | null {
  const index = rows.findIndex((row) => row.id === rowId)
  if (index >= 0) return { index, offset }
  const group = rows.findIndex((row) => row.kind === 'group' && row.items.some((item) => item.id === rowId))
  if (group >= 0) return { index: group, offset: Math.max(0, offset) }
  for (let at = before.findIndex((row) => row.id === rowId) - 1; at >= 0; at--) {
    const nearest = rows.findIndex((row) => row.id === before[at]!.id)
    if (nearest >= 0) return { index: nearest, offset: 0 }
  }
  return null
}
