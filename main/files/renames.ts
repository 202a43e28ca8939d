/** Which of the files that came are those that went, under another name (F-906). */
import { linkMode, type FileChange } from './change.ts'
import { quickCounts } from './diff.ts'
import { isBinary } from './text.ts'

/** Only so many files that went, and came, are compared line by line, each up to a size; equal contents always are. */
const comparedMax = 20
const comparedBytesMax = 128 * 1024
/** So much of the lines of the longer one stand in the other too. */
const equalLinesMin = 0.5

/**
 * Marks each created file that took the place of a deleted one with its old path: the closest, where at least half of
 * the lines are equal. Both changes stay, so that each path is undone by itself; lines count where they differ, once.
 * `contentOf` answers what is stored.
 */
export async function markRenames<Change extends FileChange>(
  changes: readonly Change[],
  contentOf: (hash: string) => Uint8Array | null,
): Promise<Change[]> {
  const gone = changes.filter(isGone)
  const came = changes.filter(isNew)
  if (gone.length === 0 || came.length === 0) return [...changes]
  const from = new Map<string, Change>()
  const left = new Set(gone)
  const take = (one: Change, old: Change | undefined): void => {
    if (!old) return
    from.set(one.id, old)
    left.delete(old)
  }
  for (const one of came) {
    const equal = [...left].filter(({ before }) => before === one.after)
    take(one, equal.find(({ path }) => nameOf(path) === nameOf(one.path)) ?? equal[0])
  }
  const lines = new Map<string, Map<string, number> | null>()
  const linesOf = (hash: string): Map<string, number> | null => {
    if (!lines.has(hash)) lines.set(hash, countedLines(contentOf(hash)))
    return lines.get(hash)!
  }
  const open = came.filter(({ id }) => !from.has(id)).slice(0, comparedMax)
  const pairs = [...left]
    .slice(0, comparedMax)
    .flatMap((old) => open.map((one) => ({ one, old, equal: equalLines(linesOf(old.before!), linesOf(one.after!)) })))
  for (const { one, old, equal } of pairs.toSorted((a, b) => b.equal - a.equal)) {
    if (equal < equalLinesMin) break
    if (!from.has(one.id) && left.has(old)) take(one, old)
  }
  const moved = new Set(from.values())
  return Promise.all(
    changes.map(async (change) => {
      const old = from.get(change.id)
      if (old) return renamed(change, old.path, contentOf(old.before!), contentOf(change.after!))
      return moved.has(change) ? uncounted(change) : change
    }),
  )
}

/** The change that made the file under its new name. */
export async function renamed<Change extends FileChange>(
  change: Change,
  from: string,
  before: Uint8Array | null,
  after: Uint8Array | null,
): Promise<Change> {
  return { ...change, kind: 'renamed', from, ...(await quickCounts(before, after)) }
}

/** The change that deleted it under its old name: its lines are counted with the other. */
export function uncounted<Change extends FileChange>(change: Change): Change {
  return { ...change, added: 0, removed: 0 }
}

function isGone({ before, after, mode }: FileChange): boolean {
  return after === null && before !== null && mode?.before !== linkMode
}

function isNew({ before, after, mode }: FileChange): boolean {
  return before === null && after !== null && mode?.after !== linkMode
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** How often each line stands in a text; null where it is none, or too long to be compared. */
function countedLines(content: Uint8Array | null): Map<string, number> | null {
  if (!content || content.length === 0 || content.length > comparedBytesMax || isBinary(content)) return null
  const counts = new Map<string, number>()
  for (const line of Buffer.from(content).toString('latin1').split('\n'))
    counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1)
  counts.delete('')
  return counts
}

function equalLines(a: ReadonlyMap<string, number> | null, b: ReadonlyMap<string, number> | null): number {
  if (!a || !b) return 0
  let equal = 0
  for (const [line, count] of a) equal += Math.min(count, b.get(line) ?? 0)
  const most = Math.max(sum(a), sum(b))
  return most === 0 ? 0 : equal / most
}

function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0
  for (const count of counts.values()) all += count
  return all
}
