/**
 * A line diff of our own: for counts, short diffs in answers, and where there is no git. Pure; callers bound its input
 * or its time, and run it in a worker where it may be long.
 */

/** Lines `[beforeFrom, beforeTo)` became `[afterFrom, afterTo)`; indexes from 0. */
export type Block = { beforeFrom: number; beforeTo: number; afterFrom: number; afterTo: number }

export type HunkLine = {
  mark: ' ' | '-' | '+'
  /** With its line end, which only the last line of a file may lack. */
  text: string
}

/** A run of changes with the lines around it; line numbers from 1. */
export type Hunk = { beforeStart: number; afterStart: number; lines: HunkLine[] }

export type DiffLimits = {
  /** Differences looked for before giving up. */
  distance?: number
  /** `performance.now()` to stop at. */
  deadline?: number
}

const distanceMax = 4_000

/** Lines with their ends: joined they are the text again. */
export function splitLines(text: string): string[] {
  const lines: string[] = []
  let from = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    lines.push(text.slice(from, at + 1))
    from = at + 1
  }
  if (from < text.length) lines.push(text.slice(from))
  return lines
}

/** What changed between two lists of lines, in order; null where the limits ended the search. */
export function changedBlocks(
  before: readonly string[],
  after: readonly string[],
  limits: DiffLimits = {},
): Block[] | null {
  const pairs = commonLines(before, after, limits)
  if (pairs === null) return null
  const blocks: Block[] = []
  let [beforeFrom, afterFrom] = [0, 0]
  for (const [beforeTo, afterTo] of [...pairs, [before.length, after.length] as const]) {
    if (beforeTo > beforeFrom || afterTo > afterFrom) blocks.push({ beforeFrom, beforeTo, afterFrom, afterTo })
    beforeFrom = beforeTo + 1
    afterFrom = afterTo + 1
  }
  return blocks
}

/** Everything between the first and the last differing line as one change: the answer where time ran out (F-904). */
export function coarseBlock(before: readonly string[], after: readonly string[]): Block[] {
  const { head, tail } = equalEnds(before, after)
  if (head === before.length && head === after.length) return []
  return [{ beforeFrom: head, beforeTo: before.length - tail, afterFrom: head, afterTo: after.length - tail }]
}

/** Blocks as hunks with `context` lines around; blocks that near each other share one. */
export function hunksOf(
  before: readonly string[],
  after: readonly string[],
  blocks: readonly Block[],
  context = 3,
): Hunk[] {
  const hunks: Hunk[] = []
  let hunk: Hunk | undefined
  let shownTo = 0
  for (const [index, block] of blocks.entries()) {
    if (!hunk || block.beforeFrom - shownTo > context) {
      const from = Math.max(shownTo, block.beforeFrom - context)
      hunk = { beforeStart: from + 1, afterStart: block.afterFrom - (block.beforeFrom - from) + 1, lines: [] }
      hunks.push(hunk)
      shownTo = from
    }
    for (; shownTo < block.beforeFrom; shownTo++) hunk.lines.push({ mark: ' ', text: before[shownTo]! })
    for (; shownTo < block.beforeTo; shownTo++) hunk.lines.push({ mark: '-', text: before[shownTo]! })
    for (let at = block.afterFrom; at < block.afterTo; at++) hunk.lines.push({ mark: '+', text: after[at]! })
    const to = Math.min(block.beforeTo + context, blocks[index + 1]?.beforeFrom ?? before.length)
    for (; shownTo < to; shownTo++) hunk.lines.push({ mark: ' ', text: before[shownTo]! })
  }
  return hunks
}

export function countChanges(blocks: readonly Block[]): { added: number; removed: number } {
  let [added, removed] = [0, 0]
  for (const block of blocks) {
    added += block.afterTo - block.afterFrom
    removed += block.beforeTo - block.beforeFrom
  }
  return { added, removed }
}

/** Hunks as the body of a unified diff. */
export function unifiedText(hunks: readonly Hunk[]): string {
  return hunks
    .map((hunk) => `@@ -${span(hunk, 'before')} +${span(hunk, 'after')} @@\n${hunk.lines.map(unifiedLine).join('')}`)
    .join('')
}

function span(hunk: Hunk, side: 'before' | 'after'): string {
  const count = countOf(hunk, side)
  return `${headerStarts(hunk)[side]}${count === 1 ? '' : `,${count}`}`
}

/** Line numbers as the header of a hunk gives them: a side without lines starts at the line before. */
export function headerStarts(hunk: Hunk): { before: number; after: number } {
  return {
    before: hunk.beforeStart - (countOf(hunk, 'before') === 0 ? 1 : 0),
    after: hunk.afterStart - (countOf(hunk, 'after') === 0 ? 1 : 0),
  }
}

function countOf({ lines }: Hunk, side: 'before' | 'after'): number {
  const other = side === 'before' ? '+' : '-'
  return lines.reduce((count, { mark }) => count + (mark === other ? 0 : 1), 0)
}

function unifiedLine({ mark, text }: HunkLine): string {
  return text.endsWith('\n') ? mark + text : `${mark}${text}\n\\ No newline at end of file\n`
}

/** A diff of two short texts for an answer: changed lines with one line around, at most `lineMax` lines. */
export function shortDiff(before: string, after: string, lineMax: number): string {
  const [a, b] = [splitLines(before), splitLines(after)]
  const blocks = changedBlocks(a, b, { distance: 500 }) ?? coarseBlock(a, b)
  const lines = hunksOf(a, b, blocks, 1).flatMap((hunk) => [
    `@@ line ${hunk.afterStart} @@`,
    ...hunk.lines.map(({ mark, text }) => mark + text.replace(/\r?\n$/, '')),
  ])
  return lines.length <= lineMax
    ? lines.join('\n')
    : [...lines.slice(0, lineMax - 1), `... ${lines.length - lineMax + 1} more lines`].join('\n')
}

/**
 * Pairs of equal lines in both orders, as many as possible. Lines the other side does not have at all are set aside
 * first, so a rewritten file costs little.
 */
function commonLines(
  before: readonly string[],
  after: readonly string[],
  limits: DiffLimits,
): [number, number][] | null {
  const { head, tail } = equalEnds(before, after)
  const ids = new Map<string, number>()
  const idOf = (line: string): number => ids.get(line) ?? (ids.set(line, ids.size), ids.size - 1)
  const a = before.slice(head, before.length - tail).map(idOf)
  const known = ids.size
  const b = after.slice(head, after.length - tail).map(idOf)
  const inAfter = new Set(b)
  const keptA = [...a.keys()].filter((at) => inAfter.has(a[at]!))
  const keptB = [...b.keys()].filter((at) => b[at]! < known)
  const middle = longestCommon(
    keptA.map((at) => a[at]!),
    keptB.map((at) => b[at]!),
    limits,
  )
  if (middle === null) return null

  const pairs: [number, number][] = []
  for (let at = 0; at < head; at++) pairs.push([at, at])
  for (const [x, y] of middle) pairs.push([head + keptA[x]!, head + keptB[y]!])
  for (let at = tail; at > 0; at--) pairs.push([before.length - at, after.length - at])
  return pairs
}

/** Myers' greedy search: the furthest point on each diagonal for each number of differences. */
function longestCommon(
  a: number[],
  b: number[],
  { distance = distanceMax, deadline = Infinity }: DiffLimits,
): [number, number][] | null {
  const most = Math.min(a.length + b.length, distance)
  const furthest = new Int32Array(2 * most + 3)
  const steps: Int32Array[] = []
  for (let d = 0; d <= most; d++) {
    if (deadline !== Infinity && performance.now() > deadline) return null
    steps.push(furthest.slice(most + 1 - d - 1, most + 1 + d + 2))
    for (let k = -d; k <= d; k += 2) {
      const at = most + 1 + k
      let x = k === -d || (k !== d && furthest[at - 1]! < furthest[at + 1]!) ? furthest[at + 1]! : furthest[at - 1]! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest[at] = x
      if (x >= a.length && x - k >= b.length) return walkBack(steps, a.length, b.length)
    }
  }
  return null
}

/** `steps[d]` holds the furthest points before step `d`, diagonals `-d-1` to `d+1`. */
function walkBack(steps: Int32Array[], x: number, y: number): [number, number][] {
  const pairs: [number, number][] = []
  for (let d = steps.length - 1; d >= 0; d--) {
    const before = (k: number): number => steps[d]![k + d + 1]!
    const k = x - y
    const down = k === -d || (k !== d && before(k - 1) < before(k + 1))
    const startX = d === 0 ? 0 : down ? before(k + 1) : before(k - 1) + 1
    while (x > startX && y > startX - k) pairs.push([--x, --y])
    if (d > 0) {
      if (down) y--
      else x--
    }
  }
  return pairs.reverse()
}

function equalEnds(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  return { head, tail }
}
