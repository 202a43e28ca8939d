import type { StoredEvent } from '../../preload/contract/events.ts'

/** Merged deltas of a replayed turn are begun anew at this length. */
const mergedCharsMax = 64 * 1024

export type JournalRow = { type: string; body: string }

/**
 * A running turn's events with each run of deltas to one item as one delta, numbered as the last of them: folding them
 * gives the same, and an hour of streaming is read in a moment.
 */
export function mergeDeltas(rows: Iterable<JournalRow>): string[] {
  type Delta = Extract<StoredEvent, { type: 'item.delta' }>
  const merged: string[] = []
  let open: Delta | null = null
  for (const row of rows) {
    if (row.type !== 'item.delta') {
      close()
      merged.push(row.body)
      continue
    }
    const delta = JSON.parse(row.body) as Delta
    if (open && continues(open, delta)) open = { ...delta, offset: open.offset, add: open.add + delta.add }
    else {
      close()
      open = delta
    }
  }
  close()
  return merged

  function continues(before: Delta, next: Delta): boolean {
    return (
      before.itemId === next.itemId &&
      before.field === next.field &&
      before.turnId === next.turnId &&
      before.offset + before.add.length === next.offset &&
      before.add.length + next.add.length <= mergedCharsMax
    )
  }

  function close(): void {
    if (open) merged.push(JSON.stringify(open))
    open = null
  }
}
