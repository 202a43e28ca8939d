/**
 * Markdown in blocks while it grows: only the end is parsed again, since text that is added can change no more than the
 * last blocks (K-03). What would take longer than a frame to lay out is shown as plain text (K-17, Z-194).
 */
import { blocksOf } from './markdown-lexer.ts'

/** Blocks at the end that added text may still change: a list goes on after a blank line, a heading's underline follows it. */
const unsettled = 2

/** A splitter for one growing text; blocks that cannot change any more are the same strings as before. */
export function growingBlocks(): (markdown: string) => string[] {
  let before = ''
  let blocks: string[] = []
  return (markdown) => {
    if (markdown === before) return blocks
    const last = blocks.at(-1)
    const added = markdown.startsWith(before) ? markdown.slice(before.length) : null
    before = markdown
    if (added !== null && last !== undefined && readFence(last)?.closed === false && !/[`~]/.test(added)) {
      // Inside a fence nothing but its end means anything.
      blocks = [...blocks.slice(0, -1), last + added]
      return blocks
    }
    const settled = added === null ? [] : blocks.slice(0, Math.max(0, blocks.length - unsettled))
    const length = settled.reduce((sum, block) => sum + block.length, 0)
    // The parser may leave characters out (footnotes are joined); then the parts no longer add up and all is parsed.
    blocks = markdown.startsWith(settled.join('')) ? [...settled, ...split(markdown.slice(length))] : split(markdown)
    return blocks
  }
}

/** Parsed into blocks, unless even that costs too much: then heavy stretches are blocks as they stand. */
function split(text: string): string[] {
  if (text === '') return []
  if (!isHeavy(text)) return blocksOf(text)
  // A stretch ends at a blank line before what can be neither of a list, a quote, a table, nor of indented code.
  const cut = /\n[ \t]*\n(?=[^\s>|*+\-\d`~])/.exec(text)
  if (!cut) return readFence(text) || !/\n(```|~~~)/.test(text) ? [text] : blocksOf(text)
  const to = cut.index + cut[0].length
  const first = text.slice(0, to)
  return [...(isHeavy(first) ? [first] : blocksOf(first)), ...split(text.slice(to))]
}

export type Fence = { language: string; code: string; closed: boolean }

/** A block that is one fence and nothing else. */
export function readFence(block: string): Fence | null {
  const opening = /^\n* {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*(\n|$)/.exec(block)
  if (!opening) return null
  const [head, mark = '', language = ''] = opening
  const body = block.slice(head.length)
  // The end is a line of the same marks, at least as many.
  const end = new RegExp(`(^|\\n) {0,3}\\${mark[0]}{${mark.length},}[ \\t]*(?:\\n\\s*)?$`).exec(tail(body))
  if (!end) return { language, code: body, closed: false }
  return { language, code: body.slice(0, body.length - (tail(body).length - end.index)) + end[1], closed: true }
}

/** Whether a text stops within a fence, be it one in a list or a quote. */
export function hasOpenFence(text: string): boolean {
  let open: string | null = null
  for (const [, mark = ''] of text.matchAll(/^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})/gm)) {
    if (open === null) open = mark
    else if (mark.startsWith(open)) open = null
  }
  return open !== null
}

/** Enough of the end to hold a closing fence. */
function tail(text: string): string {
  return text.slice(-200)
}

const blockCharsMax = 128 * 1024
const proseCharsMax = 24 * 1024
const columnsMax = 64
const cellsMax = 2_000
const depthMax = 12
const runMax = 200

/** Whether a text is too much to lay out within a frame, so that it is shown as it was written. */
export function isHeavy(text: string): boolean {
  if (text.length > blockCharsMax) return true
  if (readFence(text)) return false
  if (text.length > proseCharsMax) return true
  if (new RegExp(`([^\\w\\s=.\\-])\\1{${runMax},}`, 'u').test(text)) return true
  let cells = 0
  let from = 0
  while (from < text.length) {
    const at = text.indexOf('\n', from)
    const to = at < 0 ? text.length : at
    const line = text.slice(from, Math.min(to, from + 8_192))
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

/** Levels a line stands in: quote marks, list marks, and the indentation of a list. */
function depthOf(line: string): number {
  const lead = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]+)*/.exec(line)![0]
  if (lead.trim() === '') return 0
  const marks = countOf(lead, '>') + (lead.match(/[-*+](?=\s)|\d[.)](?=\s)/g)?.length ?? 0)
  return marks + Math.floor(/^ */.exec(line)![0].length / 2)
}
