/** What a turn, or several, did to each file, of many changes to it (F-901, F-1304). */
import type { FileChange } from './change.ts'

/** Changes by path: the first before, the last after; what ends as it began is gone (F-901). Order: as first changed. */
export function mergeChanges<Change extends FileChange>(changes: readonly Change[]): Change[] {
  const merged = new Map<string, Change>()
  for (const change of changes) {
    const first = merged.get(change.path)
    merged.set(change.path, first ? joined(first, change) : change)
  }
  const left = [...merged.values()].filter((change) => change.before !== change.after || changesMode(change))
  const gone = new Set(left.flatMap(({ path, after }) => (after === null ? [path] : [])))
  return left.map((change) => {
    const { from, ...other } = change
    if (from === undefined) return change
    if (change.before === null && gone.has(from)) return { ...change, kind: 'renamed' }
    // What it was renamed from is there again, or this path was there before.
    return { ...(other as Change), kind: change.before === null ? 'created' : 'edited' }
  })
}

function changesMode({ mode }: FileChange): boolean {
  return mode !== undefined && mode.before !== null && mode.after !== null && mode.before !== mode.after
}

/** The record keeps the id of the first, so that what refers to it still finds it; counts are at most as given. */
function joined<Change extends FileChange>(first: Change, last: Change): Change {
  const kind = first.before === null ? 'created' : last.after === null ? 'deleted' : 'edited'
  const from = first.from ?? last.from
  const mode = joinedMode(first, last)
  return {
    ...first,
    kind,
    ...(from === undefined ? {} : { from }),
    after: last.after,
    added: sum(first.added, last.added),
    removed: sum(first.removed, last.removed),
    // The person's correction does not make the agent's change theirs.
    by: first.by === 'person' ? last.by : first.by,
    ...(last.uncertain ? { uncertain: true } : {}),
    ...(mode ? { mode } : {}),
  }
}

function joinedMode(first: FileChange, last: FileChange): FileChange['mode'] {
  if (!first.mode || !last.mode) return first.mode ?? last.mode
  return { before: first.mode.before, after: last.mode.after }
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}
