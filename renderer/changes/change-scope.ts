/** Which changes the tab shows: one turn's, or all of the session's by file (F-1304). Pure. */
import type { ChangedFile, Turn } from '../../preload/contract/session.ts'

/** The newest turn with changes, one turn by its id, or the whole session. */
export type ChangeScope = 'latest' | 'session' | (string & {})

/** One file in the tab: every change of it in the scope, oldest first. */
export interface ScopedFile {
  path: string
  kind: ChangedFile['kind']
  added: number | null
  removed: number | null
  changes: ChangedFile[]
}

const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b)

/** First and last of a file's changes make what happened to it: created then edited is created, created then deleted is nothing. */
function combinedKind(first: ChangedFile, last: ChangedFile): ChangedFile['kind'] | null {
  if (first.kind === 'renamed' && last.kind === 'edited') return 'renamed'
  if (first.kind === 'created') return last.kind === 'deleted' ? null : 'created'
  if (last.kind === 'deleted') return 'deleted'
  return first.kind === 'deleted' ? 'edited' : last.kind
}

export function filesInScope(
  changes: readonly ChangedFile[],
  turns: readonly Turn[],
  scope: ChangeScope,
): ScopedFile[] {
  const turnId = scope === 'latest' ? latestChangedTurn(changes, turns) : scope
  const chosen = scope === 'session' ? changes : changes.filter((change) => change.turnId === turnId)
  const order = new Map(turns.map((turn, index) => [turn.id, index]))
  const sorted = [...chosen].sort((a, b) => (order.get(a.turnId) ?? 0) - (order.get(b.turnId) ?? 0))
  const files = new Map<string, ChangedFile[]>()
  for (const change of sorted) files.set(change.path, [...(files.get(change.path) ?? []), change])
  const movedFrom = new Set(
    chosen.flatMap(({ kind, from }) => (kind === 'renamed' && from !== undefined ? [from] : [])),
  )
  const scoped: ScopedFile[] = []
  for (const [path, list] of files) {
    const [first] = list
    const last = list.at(-1)
    if (!first || !last) continue
    const kind = combinedKind(first, last)
    // It stands under its new name (F-906).
    if (kind === 'deleted' && movedFrom.has(path)) continue
    // Back to what it was before: nothing to review.
    if (kind === null || (list.length > 1 && first.before !== null && first.before === last.after)) continue
    scoped.push({
      path,
      kind,
      added: list.reduce<number | null>((total, { added }) => sum(total, added), 0),
      removed: list.reduce<number | null>((total, { removed }) => sum(total, removed), 0),
      changes: list,
    })
  }
  return scoped.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** How many files these are; a renamed one is one. */
export function countFiles(changes: readonly ChangedFile[]): number {
  const movedFrom = new Set(changes.flatMap(({ from }) => from ?? []))
  return new Set(changes.flatMap(({ path }) => (movedFrom.has(path) ? [] : [path]))).size
}

export function latestChangedTurn(changes: readonly ChangedFile[], turns: readonly Turn[]): string | null {
  const changed = new Set(changes.map(({ turnId }) => turnId))
  return turns.findLast(({ id }) => changed.has(id))?.id ?? changes.at(-1)?.turnId ?? null
}

/** A file unfolds by itself only up to this many changed lines (F-905). */
const unfoldedLinesMax = 300

export function unfoldsItself({ added, removed }: { added: number | null; removed: number | null }): boolean {
  return added !== null && removed !== null && added + removed <= unfoldedLinesMax
}
