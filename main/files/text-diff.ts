/** Diffs of two texts as plain functions: what a worker runs where git is not there, and counts of very large files. */
import { changedBlocks, coarseBlock, countChanges, hunksOf, splitLines, type Hunk } from './line-diff.ts'
import { decodeText } from './text.ts'

/** `coarse`: the search ended early, all between the first and the last change is one hunk (F-904). */
export type TextDiff = { hunks: Hunk[]; added: number; removed: number; coarse: boolean }

export function diffText({
  before,
  after,
  context,
  milliseconds,
}: {
  before: string
  after: string
  context: number
  milliseconds: number
}): TextDiff {
  const [a, b] = [splitLines(before), splitLines(after)]
  const blocks = changedBlocks(a, b, { deadline: performance.now() + milliseconds })
  return diffOf(a, b, blocks, context)
}

/** `blocks` null: the coarse diff. */
export function diffOf(
  before: readonly string[],
  after: readonly string[],
  blocks: ReturnType<typeof changedBlocks>,
  context: number,
): TextDiff {
  const found = blocks ?? coarseBlock(before, after)
  return { hunks: hunksOf(before, after, found, context), ...countChanges(found), coarse: blocks === null }
}

/** Lines one version has more of than the other: a lower bound of a diff's counts, in linear time. */
export async function countTextChanges(versions: {
  before: Uint8Array | null
  after: Uint8Array | null
}): Promise<{ added: number; removed: number }> {
  const left = new Map<string, number>()
  for (const line of await linesOf(versions.before)) left.set(line, (left.get(line) ?? 0) + 1)
  let added = 0
  for (const line of await linesOf(versions.after)) {
    const count = left.get(line) ?? 0
    if (count === 0) added++
    else left.set(line, count - 1)
  }
  return { added, removed: [...left.values()].reduce((sum, count) => sum + count, 0) }
}

async function linesOf(bytes: Uint8Array | null): Promise<string[]> {
  return splitLines((bytes && (await decodeText(bytes)))?.text ?? '')
}
