/**
 * What the model sees of a program's output: text as a terminal would show it, cut to a budget. All of
 * it is pure, works on chunks of any size with the same result, and holds a bounded amount of text.
 */

import { isLowSurrogate, type Kept } from './head-tail.ts'

/** Control characters except tab and line feed, C1 included, and the invisible characters of Z-132. */
const special =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g

/** A whole control sequence; those cut by a chunk's end go the slow way. */
const sequence = /\x1b\[([0-?]*)[ -/]*([@-~])/y

/** Cursor movement reaches back this many lines. */
const reach = 200
/** A line that grows past this is handed on and can no longer be rewritten. */
const lineLimit = 8_192
/** A cursor set to the right of the text does not go further than this. */
const columnLimit = 1_000

/** A line that was only appended to is text; one that was rewritten is a list of code points. */
type Line = string | string[]

type Mode = 'text' | 'escape' | 'intermediate' | 'sequence' | 'string' | 'stringEscape'

/**
 * Reduces a stream of terminal output to plain text: carriage returns, backspaces, cursor movement and erasing act on the
 * last 200 lines, everything else that is not text is dropped. Finished text leaves through `emit`, in order.
 */
export class TerminalText {
  #emit: (text: string) => void
  #lines: Line[] = ['']
  #row = 0
  #column = 0
  /** The cursor stands behind the last character of its line; then `#column` means nothing. */
  #atEnd = true
  #mode: Mode = 'text'
  #parameters = ''
  #heldSurrogate = ''
  /** A full-screen program draws on a screen of its own, which is no text of its output. */
  #alternate = false

  constructor(emit: (text: string) => void) {
    this.#emit = emit
  }

  write(chunk: string): void {
    let text = this.#heldSurrogate + chunk
    this.#heldSurrogate = ''
    if (/[\ud800-\udbff]$/.test(text)) {
      this.#heldSurrogate = text.slice(-1)
      text = text.slice(0, -1)
    }
    // To a terminal a carriage return before a line feed changes nothing; most of them are met here at once.
    text = text.replace(/\r+\n/g, '\n')
    let at = 0
    while (at < text.length) at = this.#mode === 'text' ? this.#text(text, at) : this.#control(text, at)
  }

  /** Hands on what is still held, so that it can be read; from then on it can no longer be rewritten. */
  flush(): void {
    this.#emit(this.#lines.map(asText).join('\n'))
    this.#lines = ['']
    this.#row = 0
    this.#atEnd = true
  }

  /** Hands on what is still held. Nothing may be written afterwards. */
  end(): void {
    if (this.#heldSurrogate) this.#plain('\ufffd')
    this.#heldSurrogate = ''
    this.#emit(this.#lines.map(asText).join('\n'))
    this.#lines = ['']
  }

  #text(text: string, from: number): number {
    special.lastIndex = from
    const found = special.exec(text)
    const end = found?.index ?? text.length
    if (end > from) this.#plain(text.slice(from, end))
    if (!found) return end
    if (found[0] === '\x1b') return this.#escape(text, end)
    if (this.#alternate) return end + found[0].length
    if (found[0] === '\r') this.#moveTo(this.#row, 0)
    else if (found[0] === '\b') this.#moveTo(this.#row, Math.max(0, this.#here() - 1))
    return end + found[0].length
  }

  #escape(text: string, at: number): number {
    sequence.lastIndex = at
    const whole = sequence.exec(text)
    if (whole === null) {
      this.#mode = 'escape'
      return at + 1
    }
    if (whole[2] !== 'm') this.#act(whole[2]!, whole[1]!)
    return sequence.lastIndex
  }

  #plain(text: string): void {
    if (this.#alternate) return
    if (this.#row === this.#lines.length - 1 && this.#atEnd) return this.#append(text)
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.#overwrite(text.slice(from, at))
      this.#newLine()
      from = at + 1
      if (this.#row === this.#lines.length - 1 && this.#atEnd) return this.#append(text.slice(from))
    }
    this.#overwrite(text.slice(from))
  }

  /** The usual case, and the only one on the way of gigabytes: text at the very end. */
  #append(chunk: string): void {
    const text = chunk.length > 4 * reach ? this.#leaveAtOnce(chunk) : chunk
    const last = this.#lines.at(-1)!
    const lines = text.includes('\n') ? text.split('\n') : [text]
    this.#lines[this.#lines.length - 1] = typeof last === 'string' ? last + lines[0]! : [...last, ...lines[0]!]
    for (let at = 1; at < lines.length; at += 1) this.#lines.push(lines[at]!)
    this.#row = this.#lines.length - 1
    this.#leaveOldLines()
    this.#leaveLongLine()
  }

  /** Hands on, unsplit, what the text itself already puts out of reach; answers the rest. */
  #leaveAtOnce(text: string): string {
    let at = text.length
    for (let lines = 0; lines <= reach; lines += 1) {
      at = text.lastIndexOf('\n', at - 1)
      if (at <= 0) return text
    }
    const held = this.#lines.map(asText).join('\n')
    if (held !== '') this.#emit(held)
    this.#emit(text.slice(0, at + 1))
    this.#lines = ['']
    return text.slice(at + 1)
  }

  #leaveOldLines(): void {
    // Lines leave many at a time: one by one they would cost more than the text itself.
    if (this.#lines.length <= 2 * reach) return
    const old = this.#lines.length - 1 - reach
    this.#emit(this.#lines.splice(0, old).map(asText).join('\n') + '\n')
    this.#row = Math.max(0, this.#row - old)
  }

  /** Whole multiples of the limit leave, so that chunks of any size leave the same. */
  #leaveLongLine(): void {
    const line = this.#lines[this.#row]!
    if (line.length <= lineLimit) return
    if (this.#row < this.#lines.length - 1) {
      this.#moveTo(this.#row, Math.min(this.#here(), lineLimit))
      this.#cells().length = lineLimit
      return
    }
    const cut = line.length - (line.length % lineLimit)
    this.#emit([...this.#lines.slice(0, -1), line.slice(0, cut)].map(asText).join('\n'))
    this.#lines = [line.slice(cut)]
    this.#row = 0
    this.#atEnd = true
  }

  #overwrite(text: string): void {
    if (text === '') return
    const line = this.#cells()
    let column = this.#here()
    while (line.length < column) line.push(' ')
    for (const character of text) line[column++] = character
    this.#moveTo(this.#row, column)
    this.#leaveLongLine()
  }

  #newLine(): void {
    if (this.#row === this.#lines.length - 1) this.#lines.push('')
    this.#moveTo(this.#row + 1, 0)
    this.#leaveOldLines()
  }

  #here(): number {
    return this.#atEnd ? this.#cells().length : this.#column
  }

  #cells(): string[] {
    const line = this.#lines[this.#row]!
    if (typeof line !== 'string') return line
    return (this.#lines[this.#row] = [...line])
  }

  #moveTo(row: number, column: number): void {
    const last = this.#lines.length - 1
    this.#row = Math.min(Math.max(0, last - reach, row), last)
    const line = this.#lines[this.#row]!
    this.#column = column
    // The length of text counts code units; only the beginning is known without counting code points.
    this.#atEnd = column === 0 ? line.length === 0 : column === this.#cells().length
  }

  /** Inside an escape sequence, one character at a time. */
  #control(text: string, at: number): number {
    const character = text[at]!
    const inString = this.#mode === 'string' || this.#mode === 'stringEscape'
    // An unfinished sequence must not swallow the rest of the output.
    if (character === '\n' || character === '\x18' || character === '\x1a') {
      this.#mode = 'text'
      return character === '\n' ? at : at + 1
    }
    if (character === '\x1b') {
      this.#mode = inString ? 'stringEscape' : 'escape'
      return at + 1
    }
    if (this.#mode === 'escape') {
      this.#parameters = ''
      if (character === '[') this.#mode = 'sequence'
      else if (/[\]PX^_]/.test(character)) this.#mode = 'string'
      else this.#mode = /[ -/]/.test(character) ? 'intermediate' : 'text'
    } else if (this.#mode === 'intermediate') {
      if (!/[ -/]/.test(character)) this.#mode = 'text'
    } else if (this.#mode === 'sequence') {
      if (/[@-~]/.test(character)) {
        this.#mode = 'text'
        this.#act(character, this.#parameters)
      } else if (/[0-?]/.test(character) && this.#parameters.length < 32) {
        this.#parameters += character
      }
    } else if (this.#mode === 'stringEscape') {
      this.#mode = character === '\\' ? 'text' : 'string'
    } else if (character === '\x07' || character === '\x9c') {
      this.#mode = 'text'
    }
    return at + 1
  }

  #act(final: string, parameters: string): void {
    if (/^\?(1049|1047|47)$/.test(parameters) && (final === 'h' || final === 'l')) this.#alternate = final === 'h'
    if (this.#alternate) return
    const first = Number(/^\d{1,9}(?=;|$)/.exec(parameters)?.[0] ?? 0)
    const count = Math.max(1, first)
    if (final === 'A' || final === 'F') this.#moveTo(this.#row - count, final === 'F' ? 0 : this.#here())
    else if (final === 'B' || final === 'E') this.#moveTo(this.#row + count, final === 'E' ? 0 : this.#here())
    else if (final === 'C') this.#moveTo(this.#row, Math.min(this.#here() + count, Math.max(columnLimit, this.#here())))
    else if (final === 'D') this.#moveTo(this.#row, Math.max(0, this.#here() - count))
    else if (final === 'G') this.#moveTo(this.#row, Math.min(count - 1, columnLimit))
    else if (final === 'K') this.#eraseInLine(first)
    else if (final === 'J' && first === 0) this.#eraseBelow()
    // Where a pipe's screen begins nobody knows: a program that paints a new screen goes on below the old one.
    else if (final === 'H' || final === 'f') this.#freshLine()
  }

  #eraseInLine(which: number): void {
    const column = this.#here()
    const line = this.#cells()
    if (which === 0) line.length = Math.min(line.length, column)
    else if (which === 1) line.fill(' ', 0, Math.min(line.length, column + 1))
    else line.length = 0
    this.#moveTo(this.#row, column)
  }

  #eraseBelow(): void {
    this.#eraseInLine(0)
    this.#lines.length = this.#row + 1
  }

  #freshLine(): void {
    this.#moveTo(this.#lines.length - 1, 0)
    if (this.#lines.at(-1)!.length > 0) this.#newLine()
  }
}

function asText(line: Line): string {
  return typeof line === 'string' ? line : line.join('')
}

/** A whole text at once, as `TerminalText` reduces it. */
export function reduceText(raw: string): string {
  let reduced = ''
  const text = new TerminalText((part) => (reduced += part))
  text.write(raw)
  text.end()
  return reduced
}

/** A line end this near to a cut is where the cut goes. */
const nearLineEnd = 200

/**
 * The first 40 % and the last 60 % of `budget` characters with a marker line between them, which is not counted.
 * `whole` says where all of it can be read, such as `output:HASH`. What was kept must be longer than the budget wherever
 * anything was dropped.
 */
export function cutOutput(kept: Kept, budget: number, whole?: string): string {
  const { head, tail, dropped, droppedLines } = kept
  if (dropped === 0 && head.length + tail.length <= budget) return head + tail
  const text = head + tail
  const headBudget = Math.floor(budget * 0.4)
  const first = text.slice(0, headCut(text, headBudget))
  const last = text.slice(tailCut(text, text.length - (budget - headBudget)))
  const between = text.slice(first.length, text.length - last.length)
  const characters = (dropped + between.length).toLocaleString('en-US')
  const lines = (droppedLines + linesIn(between)).toLocaleString('en-US')
  const where = whole === undefined ? '' : `; all of it: ${whole}`
  return `${first}${first === '' || first.endsWith('\n') ? '' : '\n'}[... ${characters} characters, ${lines} lines left out${where} ...]\n${last}`
}

/** The first and the last characters of a text, and between them how many were left out. */
export function cutEnds(head: string, tail: string, dropped: number, first: number, last: number): string {
  const text = head + tail
  if (dropped === 0 && text.length <= first + last) return text
  const from = text.slice(0, isLowSurrogate(text, first) ? first - 1 : first)
  const end = text.length - last
  const to = text.slice(isLowSurrogate(text, end) ? end + 1 : end)
  const omitted = dropped + text.length - from.length - to.length
  return `${from}\n[... ${omitted.toLocaleString('en-US')} characters left out ...]\n${to}`
}

function headCut(text: string, at: number): number {
  const lineEnd = text.lastIndexOf('\n', at - 1) + 1
  if (lineEnd > 0 && at - lineEnd <= nearLineEnd) return lineEnd
  return isLowSurrogate(text, at) ? at - 1 : at
}

function tailCut(text: string, at: number): number {
  const lineEnd = text.indexOf('\n', at - 1) + 1
  if (lineEnd > 0 && lineEnd - at <= nearLineEnd) return lineEnd
  return isLowSurrogate(text, at) ? at + 1 : at
}

function linesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** Whether decoded text was no text: over 30 % of its first 4,096 characters are U+FFFD or NUL. */
export function looksBinary(firstCharacters: string): boolean {
  const start = firstCharacters.slice(0, 4_096)
  return (start.match(/[\ufffd\0]/g)?.length ?? 0) > start.length * 0.3
}
