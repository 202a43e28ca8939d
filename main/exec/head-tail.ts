/** The first and the last of a text too long to keep, with what was dropped between them counted. */

/** `dropped` characters, with `droppedLines` line ends among them, stood between head and tail. */
export type Kept = { head: string; tail: string; dropped: number; droppedLines: number }

const lineEnd = 10
/** Units a new tail has room for; it doubles up to its limit. */
const firstRoom = 4_096

export class HeadTail {
  #headLimit: number
  readonly #tail: Tail
  #head = ''
  #missing = 0
  #missingLines = 0

  /** Limits in characters. */
  constructor(headLimit = 262_144, tailLimit = 786_432) {
    this.#headLimit = headLimit
    this.#tail = new Tail(tailLimit)
  }

  push(text: string): void {
    const room = this.#headLimit - this.#head.length
    if (room > 0) this.#head += text.slice(0, room)
    if (text.length > room) this.#tail.push(room > 0 ? text.slice(room) : text)
  }

  /** Another stretch of text behind this one. */
  add({ head, tail, dropped, droppedLines }: Kept): void {
    this.push(head)
    if (dropped > 0) {
      // Text is missing from here on: what follows can only be an end.
      this.#headLimit = this.#head.length
      this.#missing += this.#tail.length + dropped
      this.#missingLines += this.#tail.lines + droppedLines
      this.#tail.clear()
    }
    this.push(tail)
  }

  /** All characters pushed so far. */
  get length(): number {
    return this.#head.length + this.#missing + this.#tail.length
  }

  kept(): Kept {
    const { text, lines } = this.#tail.newest()
    // Half a pair that was cut is no character.
    const tail = text.length < this.#tail.length && isLowSurrogate(text, 0) ? text.slice(1) : text
    return {
      head: this.#head,
      tail,
      dropped: this.#missing + this.#tail.length - tail.length,
      droppedLines: this.#missingLines + this.#tail.lines - lines,
    }
  }
}

/**
 * The newest of a text. It lies outside the engine's heap, each new stretch over the oldest: text that is kept a while and then
 * dropped would be moved among the long-lived first, and a flood would grow the heap by all it prints between two full
 * collections.
 */
class Tail {
  readonly #limit: number
  #units = new Uint16Array(0)
  #bytes = Buffer.from(this.#units.buffer)
  /** Characters pushed in all, and line ends among them. */
  length = 0
  lines = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(text: string): void {
    this.#makeRoom(Math.min(this.#limit, this.length + text.length))
    for (let from = 0; from < text.length;) {
      const at = this.length % this.#limit
      const count = Math.min(text.length - from, this.#units.length - at)
      this.#bytes.write(from === 0 && count === text.length ? text : text.slice(from, from + count), at * 2, 'utf16le')
      this.lines += this.#linesIn(at, at + count)
      this.length += count
      from += count
    }
  }

  #makeRoom(wanted: number): void {
    if (wanted <= this.#units.length) return
    const units = new Uint16Array(Math.min(this.#limit, Math.max(firstRoom, wanted, this.#units.length * 2)))
    units.set(this.#units)
    this.#units = units
    this.#bytes = Buffer.from(units.buffer)
  }

  #linesIn(from: number, to: number): number {
    const units = this.#units
    let count = 0
    for (let at = from; at < to; at += 1) if (units[at] === lineEnd) count += 1
    return count
  }

  newest(): { text: string; lines: number } {
    if (this.length <= this.#limit) return { text: this.#text(0, this.length), lines: this.lines }
    const oldest = this.length % this.#limit
    return {
      text: this.#text(oldest, this.#limit) + this.#text(0, oldest),
      lines: this.#linesIn(0, this.#limit),
    }
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf16le', from * 2, to * 2)
  }

  clear(): void {
    this.length = 0
    this.lines = 0
  }
}

export function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}
