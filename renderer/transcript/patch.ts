/** A unified diff's lines with their numbers, for small diffs on a card. */

export type PatchLine = {
  kind: 'same' | 'added' | 'removed' | 'hunk'
  text: string
  before: number | null
  after: number | null
}

/** One side of a patch as text, and which of its lines each line of the patch is; null where it stands on the other side. */
export function sideOf(lines: readonly PatchLine[], side: 'before' | 'after'): { text: string; at: (number | null)[] } {
  const other = side === 'before' ? 'added' : 'removed'
  const texts: string[] = []
  const at = lines.map(({ kind, text }) => (kind === other || kind === 'hunk' ? null : texts.push(text) - 1))
  return { text: texts.join('\n'), at }
}

/** The path a patch says its file has now, or had; null where it names none, or is of more than one file. */
export function patchPath(patch: string): string | null {
  const heads = [...patch.matchAll(/^--- (?:a\/)?(.+?)\t?\n\+\+\+ (?:b\/)?(.+?)\t?$/gm)]
  const [, before, after] = heads.length === 1 ? heads[0]! : []
  return (after === '/dev/null' ? before : after) ?? null
}

/** File headers are left out; what is no hunk is ignored. */
export function patchLines(patch: string): PatchLine[] {
  const lines: PatchLine[] = []
  let before = 0
  let after = 0
  let inHunk = false
  for (const line of patch.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line)
    if (hunk) {
      before = Number(hunk[1])
      after = Number(hunk[2])
      inHunk = true
      lines.push({ kind: 'hunk', text: hunk[3]!, before: null, after: null })
    } else if (!inHunk) continue
    else if (line.startsWith('+')) lines.push({ kind: 'added', text: line.slice(1), before: null, after: after++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text: line.slice(1), before: before++, after: null })
    else if (line.startsWith(' ')) lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ })
    else if (line.startsWith('diff ')) inHunk = false
  }
  return lines
}
