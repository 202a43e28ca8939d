/** A diff as the list of places F7 walks through (F-911). */
import type { FileDiffMetadata } from '@pierre/diffs'

export interface ChangeBlock {
  side: 'additions' | 'deletions'
  /** Line numbers on that side, both inclusive. */
  from: number
  to: number
  added: number
  removed: number
}

export function changeBlocks(diff: Pick<FileDiffMetadata, 'hunks'>): ChangeBlock[] {
  const blocks: ChangeBlock[] = []
  for (const hunk of diff.hunks) {
    let before = hunk.deletionStart
    let after = hunk.additionStart
    for (const content of hunk.hunkContent) {
      if (content.type === 'context') {
        before += content.lines
        after += content.lines
        continue
      }
      const { additions, deletions } = content
      const side = additions > 0 ? 'additions' : 'deletions'
      const from = additions > 0 ? after : before
      blocks.push({
        side,
        from,
        to: from + Math.max(1, additions > 0 ? additions : deletions) - 1,
        added: additions,
        removed: deletions,
      })
      before += deletions
      after += additions
    }
  }
  return blocks
}

const lines = (count: number) => (count === 1 ? '1 line' : `${count} lines`)

/** A block in words, as it is announced: "3 lines added, 1 line removed at line 14". */
export function blockText({ from, added, removed }: ChangeBlock): string {
  const what = [added > 0 && `${lines(added)} added`, removed > 0 && `${lines(removed)} removed`]
    .filter(Boolean)
    .join(', ')
  return `${what} at line ${from}`
}
