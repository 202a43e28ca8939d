/** Unified diff text, worked on as lines. Pure. */

/** Blocks over this many line pairs are left as they are: comparing them would take longer than reading them. */
const comparedPairsMax = 250_000

/** The hunks of a one-file patch, without the headers before them: paths are known, and a quoted one needs no parsing. */
export function hunkText(patch: string): string {
  const at = patch.startsWith('@@ ') ? 0 : patch.indexOf('\n@@ ') + 1
  return at === 0 && !patch.startsWith('@@ ') ? '' : patch.slice(at)
}

const bare = (line: string) => line.slice(1).replaceAll(/\s+/g, '')

/**
 * The patch without changes of white space alone: such line pairs become context (the new text), and a hunk without any
 * other change goes. Line counts of hunk headers stay true, since a pair counts once on both sides either way.
 */
export function withoutWhitespace(patch: string): string {
  const kept: string[] = []
  for (const hunk of hunkText(patch).split(/^(?=@@ )/m)) {
    if (hunk === '') continue
    const lines = hunk.endsWith('\n') ? hunk.slice(0, -1).split('\n') : hunk.split('\n')
    const [header = '', ...body] = lines
    const merged = mergeBlocks(body)
    if (merged.some((line) => line.startsWith('+') || line.startsWith('-')))
      kept.push([header, ...merged, ''].join('\n'))
  }
  return kept.join('')
}

function mergeBlocks(lines: readonly string[]): string[] {
  const merged: string[] = []
  let removed: string[] = []
  let added: string[] = []
  const flush = () => {
    merged.push(...mergeBlock(removed, added))
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.startsWith('-')) {
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.startsWith('+')) added.push(line)
    else if (line.startsWith('\\')) {
      // "No newline at end of file" belongs to the line before it; the block is left as it is written.
      ;(added.length > 0 ? added : removed.length > 0 ? removed : merged).push(line)
    } else {
      flush()
      merged.push(line)
    }
  }
  flush()
  return merged
}

/** One block of removed and added lines with the longest common sequence, blind to white space, turned into context. */
function mergeBlock(removed: readonly string[], added: readonly string[]): string[] {
  const plain = [...removed, ...added]
  if (removed.length === 0 || added.length === 0 || removed.length * added.length > comparedPairsMax) return plain
  if (plain.some((line) => line.startsWith('\\'))) return plain
  const before = removed.map(bare)
  const after = added.map(bare)
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const merged: string[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      merged.push(` ${added[j]!.slice(1)}`)
      i += 1
      j += 1
    } else if (
      i < before.length &&
      (j === after.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    )
      merged.push(removed[i++]!)
    else merged.push(added[j++]!)
  }
  return merged
}

/** The lines of one side between two line numbers, as far as the patch holds them, at most `charsMax` characters. */
export function linesOfSide(
  patch: string,
  { side, from, to }: { side: 'before' | 'after'; from: number; to: number },
  charsMax: number,
): string {
  const own = side === 'before' ? '-' : '+'
  const found: string[] = []
  let number = 0
  let length = 0
  for (const line of hunkText(patch).split('\n')) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    if (header) number = Number(side === 'before' ? header[1] : header[2])
    else if (line.startsWith(own) || line.startsWith(' ')) {
      if (number >= from && number <= to) {
        length += line.length
        if (length > charsMax) return [...found, '…'].join('\n')
        found.push(line.slice(1))
      }
      number += 1
    }
  }
  return found.join('\n')
}
