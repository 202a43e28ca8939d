/** The patch language of `apply_patch` (section 7): parsed as a whole, then fitted to each file's text. Pure. */
import { LatheError } from '../../preload/contract/errors.ts'
import { closestWindows } from './closest-lines.ts'
import { splitLines } from './line-diff.ts'

export type PatchLine = { mark: ' ' | '-' | '+'; text: string }

export type PatchHunk = {
  /** Text of the line the place is after, where one was given. */
  after: string | null
  lines: PatchLine[]
  atEnd: boolean
}

export type FilePatch =
  | { act: 'add'; path: string; content: string }
  | { act: 'delete'; path: string }
  | { act: 'update'; path: string; moveTo: string | null; hunks: PatchHunk[] }

const heads = { add: '*** Add File: ', delete: '*** Delete File: ', update: '*** Update File: ' } as const
const moveHead = '*** Move to: '
const endOfFile = '*** End of File'

/** Throws `tool.invalid_arguments` naming the line. */
export function parsePatch(patch: string): FilePatch[] {
  const lines = patch.replaceAll('\r\n', '\n').trim().split('\n')
  if (lines[0]?.trim() !== '*** Begin Patch') throw bad(1, 'It must begin with "*** Begin Patch"')
  if (lines.at(-1)?.trim() !== '*** End Patch') throw bad(lines.length, 'It must end with "*** End Patch"')
  const files: FilePatch[] = []
  let at = 1
  const until = (isEnd: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length - 1 && !isEnd(lines[at]!)) at++
    return lines.slice(from, at)
  }
  while (at < lines.length - 1) {
    const line = lines[at]!
    if (line.trim() === '') at++
    else if (line.startsWith(heads.add)) {
      at++
      files.push({ act: 'add', path: line.slice(heads.add.length).trim(), content: added(until(isHead), at) })
    } else if (line.startsWith(heads.delete)) {
      at++
      files.push({ act: 'delete', path: line.slice(heads.delete.length).trim() })
    } else if (line.startsWith(heads.update)) {
      at++
      const move = lines[at]!.startsWith(moveHead) ? lines[at++]!.slice(moveHead.length).trim() : null
      const from = at
      const hunks = parseHunks(until(isHead), from)
      if (hunks.length === 0 && move === null) throw bad(from, 'An update needs at least one hunk')
      files.push({ act: 'update', path: line.slice(heads.update.length).trim(), moveTo: move, hunks })
    } else throw bad(at + 1, `"${line.slice(0, 60)}" is no file header`)
  }
  if (files.length === 0) throw bad(2, 'It names no file')
  return files
}

function isHead(line: string): boolean {
  return Object.values(heads).some((head) => line.startsWith(head))
}

function added(lines: string[], at: number): string {
  const wrong = lines.findIndex((line) => !line.startsWith('+') && line.trim() !== '')
  if (wrong !== -1) throw bad(at - lines.length + wrong + 1, 'Every line of an added file begins with "+"')
  return lines
    .filter((line) => line.startsWith('+'))
    .map((line) => `${line.slice(1)}\n`)
    .join('')
}

function parseHunks(lines: string[], from: number): PatchHunk[] {
  const hunks: PatchHunk[] = []
  let hunk: PatchHunk | null = null
  for (const [index, line] of lines.entries()) {
    const mark = line[0]
    if (line.startsWith('@@')) {
      const text = line.slice(2).replace(/@@$/, '').trim()
      hunk = { after: text === '' ? null : text, lines: [], atEnd: false }
      hunks.push(hunk)
    } else if (line.trim() === endOfFile && hunk) hunk.atEnd = true
    else if (mark === undefined || mark === ' ' || mark === '+' || mark === '-') {
      if (!hunk || hunk.atEnd) hunks.push((hunk = { after: null, lines: [], atEnd: false }))
      hunk.lines.push({ mark: mark ?? ' ', text: line.slice(1) })
    } else throw bad(from + index + 1, 'A line of a hunk begins with " ", "-" or "+"')
  }
  // Blank lines before the next file are nobody's.
  for (const one of hunks) while (one.lines.at(-1)?.mark === ' ' && one.lines.at(-1)!.text === '') one.lines.pop()
  return hunks.filter((one) => one.lines.length > 0)
}

function bad(line: number, reason: string): LatheError {
  return new LatheError('tool.invalid_arguments', `The patch cannot be read at line ${line}: ${reason}.`)
}

export type HunkFault = {
  /** From 1. */
  hunk: number
  code: 'edit.no_match' | 'edit.ambiguous_match'
  expected: string
  /** Lines it fits, or the closest ones with their text. */
  found: string
}

export type Patched = {
  text: string
  faults: HunkFault[]
  /** Every hunk stood there character for character. */
  exact: boolean
}

const foldings: ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => folded(line).trim(),
]
const shownCharsMax = 1_200

/** Fits the hunks to the text, one after the other (F-703); text that was not touched keeps its bytes (F-519, F-520). */
export function applyHunks(text: string, hunks: readonly PatchHunk[]): Patched {
  const lines = splitLines(text)
  const bare = lines.map((line) => line.replace(/\r?\n$/, ''))
  const made: string[] = []
  const faults: HunkFault[] = []
  let from = 0
  let exact = true
  for (const [index, hunk] of hunks.entries()) {
    const place = placeOf(bare, hunk, from)
    if ('code' in place) {
      faults.push({ hunk: index + 1, expected: clip(oldLines(hunk).join('\n')), ...place })
      continue
    }
    exact &&= place.exact
    made.push(...lines.slice(from, place.at))
    let at = place.at
    const end = endOf(lines[at] ?? '') || mostEnds(lines)
    for (const { mark, text: content } of hunk.lines) {
      if (mark === ' ') made.push(lines[at++]!)
      else if (mark === '-') at++
      else made.push(content + end)
    }
    from = at
  }
  made.push(...lines.slice(from))
  return { text: faults.length > 0 ? text : joined(made, text), faults, exact }
}

type Place = { at: number; exact: boolean } | Pick<HunkFault, 'code' | 'found'>

function placeOf(lines: readonly string[], hunk: PatchHunk, from: number): Place {
  const wanted = oldLines(hunk)
  let start = from
  if (hunk.after !== null) {
    const anchor = anchorOf(lines, hunk.after, from)
    if (anchor === -1) return { code: 'edit.no_match', found: `The line after "@@" is not there: ${clip(hunk.after)}` }
    start = anchor + 1
  }
  if (wanted.length === 0) return { at: hunk.after === null || hunk.atEnd ? lines.length : start, exact: true }
  // The anchor itself may be the first kept line of the hunk.
  const first = hunk.after === null ? start : start - 1
  for (const [loose, fold] of foldings.entries()) {
    const places = placesOf(lines, wanted, first, fold, hunk.atEnd)
    if (places.length === 0) continue
    if (places.length > 1 && hunk.after === null)
      return {
        code: 'edit.ambiguous_match',
        found: `It fits lines ${places.map((at) => at + 1).join(', ')}; name the place with "@@ LINE".`,
      }
    return { at: places[0]!, exact: loose === 0 }
  }
  const closest = closestWindows(lines.slice(from).join('\n'), wanted.join('\n'))[0]
  return {
    code: 'edit.no_match',
    found: closest
      ? `Closest at line ${closest.line + from}:\n${clip(closest.text)}`
      : 'Nothing in the file is like it.',
  }
}

const placesMax = 10

function placesOf(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  fold: (line: string) => string,
  atEnd: boolean,
): number[] {
  const target = wanted.map(fold)
  const places: number[] = []
  const last = lines.length - wanted.length
  for (let at = atEnd ? Math.max(from, last) : from; at <= last && places.length < placesMax; at++) {
    if (target.every((line, offset) => fold(lines[at + offset]!) === line)) places.push(at)
  }
  return places
}

function anchorOf(lines: readonly string[], text: string, from: number): number {
  for (const fold of foldings) {
    const wanted = fold(text)
    const at = lines.findIndex((line, index) => index >= from && fold(line) === wanted)
    if (at !== -1) return at
  }
  return lines.findIndex((line, index) => index >= from && folded(line).includes(folded(text).trim()))
}

function oldLines({ lines }: PatchHunk): string[] {
  return lines.filter(({ mark }) => mark !== '+').map(({ text }) => text)
}

/** Dashes, quotes and blanks as the keyboard has them, character for character. */
function folded(line: string): string {
  return line
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
}

function endOf(line: string): string {
  return /\r?\n$/.exec(line)?.[0] ?? ''
}

function mostEnds(lines: readonly string[]): string {
  const crlf = lines.reduce((count, line) => count + (line.endsWith('\r\n') ? 1 : 0), 0)
  const lf = lines.reduce((count, line) => count + (line.endsWith('\n') ? 1 : 0), 0) - crlf
  return crlf > lf ? '\r\n' : '\n'
}

/** A line that lost its place at the end gets a line end; the new last one has one only if the old had. */
function joined(lines: string[], old: string): string {
  const end = mostEnds(splitLines(old))
  const whole = lines.map((line, at) => (at < lines.length - 1 && endOf(line) === '' ? line + end : line))
  const last = whole.at(-1)
  if (last === undefined || old === '') return whole.join('')
  const bare = last.replace(/\r?\n$/, '')
  whole[whole.length - 1] = old.endsWith('\n') ? bare + (endOf(last) || end) : bare
  return whole.join('')
}

function clip(text: string): string {
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}...`
}
