/** The line ends of a file, kept while its text is edited as lines (F-519). Pure. */
import { changedBlocks, coarseBlock } from './line-diff.ts'

type Line = { text: string; /** Empty at the last line of a text that does not end in one. */ end: string }

/** Differences looked for between the two texts; past them what lies between the first and the last counts as new. */
const distanceMax = 1_000

/**
 * `after`, with whatever line ends an editor gave it, as it is written over `before`: every line that is still there has
 * the end it had, a new one that of the first line it replaces, else that of most lines, else LF.
 */
export function keptLineEnds(before: string, after: string): string {
  const old = linesOf(before)
  const now = linesOf(after)
  const usual = usualEnd(old)
  const ends = new Set(old.map(({ end }) => end).filter((end) => end !== ''))
  if (ends.size > 1) keepEach(old, now)
  else for (const line of now) if (line.end !== '') line.end = usual
  return joined(now)
}

/** No LF comes to stand right after the CR that ends the line before: the two would be one line end. */
function joined(lines: readonly Line[]): string {
  let text = ''
  for (const line of lines)
    text += line.text + (line.text === '' && text.endsWith('\r') && line.end === '\n' ? '\r' : line.end)
  return text
}

function keepEach(old: readonly Line[], now: Line[]): void {
  const usual = usualEnd(old)
  const [before, after] = [old.map(({ text }) => text), now.map(({ text }) => text)]
  const blocks = changedBlocks(before, after, { distance: distanceMax }) ?? coarseBlock(before, after)
  let at = 0
  let from = 0
  const keep = (to: number) => {
    for (; at < to; at++, from++) put(now[at]!, old[from]!.end || usual)
  }
  for (const block of blocks) {
    keep(block.afterFrom)
    const replaced = block.beforeTo > block.beforeFrom ? old[block.beforeFrom]!.end : ''
    for (; at < block.afterTo; at++) put(now[at]!, replaced || usual)
    from = block.beforeTo
  }
  keep(now.length)
}

function put(line: Line, end: string): void {
  if (line.end !== '') line.end = end
}

function usualEnd(lines: readonly Line[]): string {
  const counts = new Map<string, number>()
  for (const { end } of lines) if (end !== '') counts.set(end, (counts.get(end) ?? 0) + 1)
  let usual = '\n'
  for (const [end, count] of counts) if (count > (counts.get(usual) ?? 0)) usual = end
  return usual
}

/** A CR alone ends a line here as well: editors show it so. */
function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let from = 0
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: text.slice(from, index), end })
    from = index + end.length
  }
  lines.push({ text: text.slice(from), end: '' })
  return lines
}
