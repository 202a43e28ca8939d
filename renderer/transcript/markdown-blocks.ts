/**
 * Markdown in blocks while it grows: only the end is parsed again, since text that is added can change no more than the
 * last blocks (K-03). What would take longer than a frame to lay out is shown as plain text (K-17, Z-194).
 */
import { parseMarkdownIntoBlocks } from 'streamdown'

/** Blocks at the end that added text may still change: a list goes on after a blank line, a heading's underline follows it. */
const unsettled = 2

export type SplitBlocks = (markdown: string) => string[]

/** A splitter for one growing text. */
export function growingBlocks(): SplitBlocks {
  let before = ''
  let blocks: string[] = []
  return (markdown) => {
    if (markdown === before) return blocks
    // Blocks can stop adding up to the text where the splitter joins or trims (footnotes); then it is parsed whole.
    const keep = markdown.startsWith(before) ? blocks.slice(0, Math.max(0, blocks.length - unsettled)) : []
    const kept = keep.join('')
    blocks = kept !== '' && markdown.startsWith(kept) ? [...keep, ...parseMarkdownIntoBlocks(markdown.slice(kept.length))] : parseMarkdownIntoBlocks(markdown)
    before = markdown
    return blocks
  }
}

const blockCharsMax = 128 * 1024
const proseCharsMax = 24 * 1024
const columnsMax = 64
const cellsMax = 2_000
const depthMax = 24

/** Whether a block is too much to lay out within a frame, so that it is shown as it was written. */
export function isHeavy(block: string): boolean {
  if (block.length > blockCharsMax) return true
  if (/^ {0,3}(```|~~~)/.test(block)) return false
  if (block.length > proseCharsMax) return true
  let cells = 0
  let from = 0
  while (from < block.length) {
    const at = block.indexOf('\n', from)
    const to = at < 0 ? block.length : at
    const line = block.slice(from, Math.min(to, from + 8_192))
    const columns = countOf(line, '|')
    cells += columns
    if (columns > columnsMax || cells > cellsMax || depthOf(line) > depthMax) return true
    from = to + 1
  }
  return false
}

function countOf(line: string, char: string): number {
  let count = 0
  for (let at = line.indexOf(char); at >= 0; at = line.indexOf(char, at + 1)) count++
  return count
}

/** Quote marks and list marks a line begins with, and how far it is indented in steps of two. */
function depthOf(line: string): number {
  const lead = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]+)*/.exec(line)![0]
  const marks = countOf(lead, '>') + (lead.match(/[-*+](?=\s)|\d[.)](?=\s)/g)?.length ?? 0)
  return marks + Math.floor((/^ */.exec(line)![0].length) / 2)
}
