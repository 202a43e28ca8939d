/**
 * The edit matcher (F-510 to F-523): where the old text stands in a file, and the file with it replaced. Pure: text in,
 * text out. Matching sees LF only; what is outside the replaced lines keeps its characters.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import { shortDiff, splitLines } from './line-diff.ts'
import { closestWindows } from './closest-lines.ts'

export type EditRequest = {
  oldText: string
  newText: string
  /** At most one of the three choosers. */
  replaceAll?: boolean | undefined
  /** From 1. */
  occurrence?: number | undefined
  /** A line, from 1. */
  lineHint?: number | undefined
  expected?: number | undefined
}

/** How the old text was found, strictest first (F-511). */
const strategies = ['exact', 'trimmed lines', 'trimmed lines with straight quotes', 'straight quotes'] as const
export type Strategy = (typeof strategies)[number]

export type LineRange = { first: number; last: number }

export type Match = LineRange & {
  /** Offsets in the original text. */
  start: number
  end: number
  text: string
}

export type Edit = {
  /** The whole new text. */
  text: string
  strategy: Strategy
  replaced: Match[]
  /** Lines that hold each replacement now. */
  now: LineRange[]
}

/** Lines around a hint in which the only nearest match counts (F-513). */
const hintReach = 50
const listedMatchesMax = 10

/**
 * The text with the request done. `found` sees the strategy and all its matches before one is chosen, and may refuse
 * them (F-521).
 * Throws `edit.no_match`, `edit.ambiguous_match`, `edit.occurrence_out_of_range`, `edit.count_mismatch`, `edit.no_change`.
 */
export function editText(
  text: string,
  request: EditRequest,
  found?: (strategy: Strategy, matches: readonly Match[]) => void,
): Edit {
  const file = new FileLines(text)
  const oldText = file.normalise(request.oldText)
  const newText = file.normalise(request.newText).replace(/\r+(?=\n|$)/g, '')
  const search = findMatches(file, oldText, newText, request, found ? Infinity : (request.occurrence ?? Infinity))
  if (!search) throw noMatch(file, oldText)
  found?.(
    search.strategy,
    search.matches.map((match) => file.describe(match)),
  )
  const chosen = choose(file, search, request)
  const edit = replace(file, chosen, search.strategy)
  if (edit.text === text) throw new LatheError('edit.no_change', 'The replacement leaves the file as it is.')
  return edit
}

/** A match in LF offsets, with the old and new text as they apply there (indented alike, F-517). */
type Found = { start: number; end: number; oldText: string; newText: string }

type Search = { strategy: Strategy; matches: Found[] }

function findMatches(
  file: FileLines,
  oldText: string,
  newText: string,
  request: EditRequest,
  limit: number,
): Search | null {
  const tries: Record<Strategy, () => Found[]> = {
    exact: () => findText(file.text, oldText, newText, limit),
    'trimmed lines': () => findLines(file, oldText, newText, limit, (line) => line.trim()),
    'trimmed lines with straight quotes': () =>
      findLines(file, oldText, newText, limit, (line) => straightQuotes(line).trim()),
    'straight quotes': () => findText(straightQuotes(file.text), straightQuotes(oldText), newText, limit),
  }
  // A loose match may be wrong once; everywhere at once only where the number is known (F-515).
  const allowed = request.replaceAll && request.expected === undefined ? strategies.slice(0, 1) : strategies
  for (const strategy of allowed) {
    const matches = tries[strategy]()
    if (matches.length > 0) return { strategy, matches }
  }
  return null
}

function findText(text: string, oldText: string, newText: string, limit: number): Found[] {
  const matches: Found[] = []
  for (
    let start = text.indexOf(oldText);
    start !== -1 && matches.length < limit;
    start = text.indexOf(oldText, start + oldText.length)
  ) {
    matches.push({ start, end: start + oldText.length, oldText, newText })
  }
  return matches
}

/** Runs of whole lines equal after `fold`, found in linear time (Knuth, Morris, Pratt over lines). */
function findLines(
  file: FileLines,
  oldText: string,
  newText: string,
  limit: number,
  fold: (line: string) => string,
): Found[] {
  const closed = oldText.endsWith('\n')
  const wanted = (closed ? oldText.slice(0, -1) : oldText).split('\n')
  const folded = wanted.map(fold)
  if (folded.every((line) => line === '')) return []
  const fallback = [0]
  for (let at = 1, same = 0; at < folded.length; at++) {
    while (same > 0 && folded[at] !== folded[same]) same = fallback[same - 1]!
    if (folded[at] === folded[same]) same++
    fallback.push(same)
  }

  const matches: Found[] = []
  let free = 0
  for (let line = 0, same = 0; line < file.lineCount && matches.length < limit; line++) {
    const here = fold(file.line(line))
    while (same > 0 && here !== folded[same]) same = fallback[same - 1]!
    if (here === folded[same]) same++
    if (same < folded.length) continue
    same = fallback[same - 1]!
    const first = line - folded.length + 1
    const shift = first < free ? null : indentShift(wanted, (at) => file.line(first + at))
    const shiftedNew = shift && shiftLines(newText, shift)
    if (shift === null || shiftedNew === null) continue
    // A last line without a line end keeps having none (F-520).
    const trim = closed && !file.lineIsClosed(line) ? withoutLastEnd : (text: string) => text
    matches.push({
      start: file.lineStart(first),
      end: closed ? file.lineStart(line + 1) : file.lineStart(first) + file.lineSpan(first, line),
      oldText: trim(shiftLines(oldText, shift)!),
      newText: trim(shiftedNew),
    })
    free = line + 1
  }
  return matches
}

/** By what prefix the lines of the file are indented more, or less, than the lines asked for. */
type Shift = { add: string; cut: string }

/** The one constant difference in indent, or null where it is not constant (F-517). */
function indentShift(wanted: readonly string[], actual: (at: number) => string): Shift | null {
  let shift: Shift | undefined
  for (const [at, line] of wanted.entries()) {
    if (line.trim() === '') continue
    const [asked, found] = [indentOf(line), indentOf(actual(at))]
    const here = found.endsWith(asked)
      ? { add: found.slice(0, found.length - asked.length), cut: '' }
      : { add: '', cut: asked.slice(0, asked.length - found.length) }
    if (here.add + asked !== here.cut + found) return null
    if (shift && (shift.add !== here.add || shift.cut !== here.cut)) return null
    shift = here
  }
  return shift ?? null
}

/** Null where a line has less indent than is to be cut. */
function shiftLines(text: string, { add, cut }: Shift): string | null {
  const lines = text.split('\n')
  if (lines.some((line) => line.trim() !== '' && !line.startsWith(cut))) return null
  return lines.map((line) => (line.trim() === '' ? line : add + line.slice(cut.length))).join('\n')
}

function choose(file: FileLines, { strategy, matches }: Search, request: EditRequest): Found[] {
  const chosen = chosenOf(file, strategy, matches, request)
  if (request.expected !== undefined && request.expected !== chosen.length) {
    throw new LatheError(
      'edit.count_mismatch',
      `${chosen.length} would be replaced, not ${request.expected}; nothing was written.`,
      { data: { count: chosen.length } },
    )
  }
  return chosen
}

function chosenOf(
  file: FileLines,
  strategy: Strategy,
  matches: Found[],
  { occurrence, replaceAll, lineHint }: EditRequest,
): Found[] {
  if (occurrence !== undefined) {
    const match = matches[occurrence - 1]
    if (match) return [match]
    throw new LatheError(
      'edit.occurrence_out_of_range',
      `Occurrence ${occurrence} was asked for, but the text stands there only ${matches.length === 1 ? 'once' : `${matches.length} times`}.`,
    )
  }
  if (replaceAll || matches.length === 1) return matches
  if (lineHint !== undefined) {
    const near = nearest(file, matches, lineHint)
    if (near) return [near]
  }
  const lines = matches.slice(0, listedMatchesMax).map((match) => file.lineOf(match.start) + 1)
  throw new LatheError(
    'edit.ambiguous_match',
    `The old text fits ${matches.length} places (${strategy}), on lines ${lines.join(', ')}${matches.length > lines.length ? ', ...' : ''}.`,
    {
      hint: 'Add lines around it to make it unique, or choose with occurrence, line_hint or replace_all.',
      data: { lines, count: matches.length },
    },
  )
}

/** The match that covers the line, else the only nearest within reach. */
function nearest(file: FileLines, matches: readonly Found[], line: number): Found | null {
  let best: Found[] = []
  let least = hintReach
  for (const match of matches) {
    const { first, last } = file.linesOf(match)
    const distance = Math.max(0, first - line, line - last)
    if (distance < least) {
      least = distance
      best = [match]
    } else if (distance === least) best.push(match)
  }
  return best.length === 1 ? best[0]! : null
}

/** New text for each match; equal lines at its edges are not touched, so they keep their bytes (F-519, K-07). */
function replace(file: FileLines, matches: readonly Found[], strategy: Strategy): Edit {
  const parts: string[] = []
  const now: LineRange[] = []
  let copied = 0
  let shift = 0
  for (const match of matches) {
    const { from, to, lines } = changedPart(file, match)
    const end = file.lineEndAt(from < to ? from : match.start)
    parts.push(file.original.slice(copied, file.toOriginal(from)), end === '\n' ? lines : lines.replaceAll('\n', end))
    copied = file.toOriginal(to)

    const first = file.lineOf(match.start) + 1 + shift
    const held = lineCountOf(match.newText)
    now.push({ first, last: first + Math.max(0, held - 1) })
    shift += newlinesIn(match.newText) - newlinesIn(match.oldText)
  }
  parts.push(file.original.slice(copied))
  return { text: parts.join(''), strategy, replaced: matches.map((match) => file.describe(match)), now }
}

/** The span of a match without the whole lines that old and new text share at both ends. */
function changedPart(file: FileLines, match: Found): { from: number; to: number; lines: string } {
  if (!match.oldText.includes('\n')) return { from: match.start, to: match.end, lines: match.newText }
  const actual = splitLines(file.text.slice(match.start, match.end))
  const [before, after] = [splitLines(match.oldText), splitLines(match.newText)]
  const shared = Math.min(before.length, after.length)
  let head = 0
  while (head < shared && before[head] === after[head] && before[head]!.endsWith('\n')) head++
  let tail = 0
  while (tail < shared - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return {
    from: match.start + lengthOf(actual.slice(0, head)),
    to: match.end - lengthOf(actual.slice(actual.length - tail)),
    lines: after.slice(head, after.length - tail).join(''),
  }
}

function noMatch(file: FileLines, oldText: string): LatheError {
  const [closest, ...others] = closestWindows(file.text, oldText)
  const message = 'The old text is not in the file.'
  if (!closest)
    return new LatheError('edit.no_match', message, {
      hint: 'Nothing in the file is like it. Read the file again and copy from it; do not fall back to a shell editor.',
    })
  const also =
    others.length === 0
      ? ''
      : ` Also like it: ${others.map(({ line, ratio }) => `line ${line} (${ratio.toFixed(2)})`).join(', ')}.`
  return new LatheError(
    'edit.no_match',
    `${message} Closest is line ${closest.line} (similarity ${closest.ratio.toFixed(2)}):\n${shortDiff(oldText, closest.text, 20)}`,
    {
      hint: `Read that range again and copy from it; do not fall back to a shell editor.${also}`,
      data: { line: closest.line, ratio: closest.ratio },
    },
  )
}

/** Curly quotes as straight ones, character for character, so that positions hold. */
function straightQuotes(text: string): string {
  return text.replace(/[\u2018\u2019\u201a\u201b]/g, "'").replace(/[\u201c\u201d\u201e\u201f]/g, '"')
}

/** A file's text as matching sees it, and the way back. Lines count from 0 in here. */
class FileLines {
  readonly original: string
  /** With every line end as LF. */
  readonly text: string
  /** Offsets in `text` of the LFs that are CRLF in the original, ascending. */
  readonly #carriages: number[] = []
  readonly #starts: number[] = [0]
  /** Line ends are CR alone: there is no LF in the file (F-204). */
  readonly #carriageOnly: boolean
  readonly #commonEnd: string

  constructor(original: string) {
    this.original = original
    this.#carriageOnly = original.includes('\r') && !original.includes('\n')
    this.text = this.normalise(original)
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) {
      if (original[at + this.#carriages.length] === '\r' && !this.#carriageOnly) this.#carriages.push(at)
      this.#starts.push(at + 1)
    }
    this.#commonEnd = this.#carriageOnly ? '\r' : this.#carriages.length > (this.#starts.length - 1) / 2 ? '\r\n' : '\n'
  }

  /** CRLF as LF, and CR too in a file that has only those. */
  normalise(text: string): string {
    const joined = text.replaceAll('\r\n', '\n')
    return this.#carriageOnly ? joined.replaceAll('\r', '\n') : joined
  }

  get lineCount(): number {
    return this.#starts.length
  }

  line(index: number): string {
    return this.text.slice(
      this.lineStart(index),
      this.lineIsClosed(index) ? this.lineStart(index + 1) - 1 : this.text.length,
    )
  }

  lineStart(index: number): number {
    return this.#starts[index] ?? this.text.length
  }

  lineIsClosed(index: number): boolean {
    return index + 1 < this.#starts.length
  }

  /** Characters from the start of one line to the end of another, its line end left out. */
  lineSpan(first: number, last: number): number {
    return this.lineStart(last) + this.line(last).length - this.lineStart(first)
  }

  lineOf(offset: number): number {
    return countUpTo(this.#starts, offset) - 1
  }

  toOriginal(offset: number): number {
    return this.#carriages.length === 0 ? offset : offset + countUpTo(this.#carriages, offset - 1)
  }

  /** The line end of the line an offset is on; the file's most frequent one where it has none. */
  lineEndAt(offset: number): string {
    const line = this.lineOf(offset)
    if (!this.lineIsClosed(line) || this.#carriageOnly) return this.#commonEnd
    return this.original[this.toOriginal(this.lineStart(line + 1) - 1)] === '\r' ? '\r\n' : '\n'
  }

  linesOf({ start, end }: { start: number; end: number }): LineRange {
    return {
      first: this.lineOf(start) + 1,
      last: this.lineOf(end > start && this.text[end - 1] === '\n' ? end - 1 : end) + 1,
    }
  }

  describe(match: Found): Match {
    const [start, end] = [this.toOriginal(match.start), this.toOriginal(match.end)]
    return { start, end, text: this.original.slice(start, end), ...this.linesOf(match) }
  }
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length)
}

function withoutLastEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}

function newlinesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

function lineCountOf(text: string): number {
  return newlinesIn(text) + (text === '' || text.endsWith('\n') ? 0 : 1)
}
