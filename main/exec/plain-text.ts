/** Text without its escape sequences, as `wait_for` is sought in it: nothing is reduced, nothing moves. */

const whole = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g
/** A sequence that may go on in the next chunk. */
const open = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)$/
const openMax = 4_096

/** Takes escape sequences out of a stream of chunks of any size. */
export class PlainText {
  #held = ''

  push(chunk: string): string {
    const text = (this.#held + chunk).replaceAll(whole, '')
    const start = open.exec(text)?.index ?? text.length
    // What never ends is no sequence.
    const cut = text.length - start > openMax ? text.length : start
    this.#held = text.slice(cut)
    return text.slice(0, cut)
  }
}

/** Seeks a literal text in a stream of chunks. */
export class TextSearch {
  readonly #wanted: string
  readonly #plain = new PlainText()
  #end = ''
  found = false

  constructor(wanted: string) {
    this.#wanted = wanted
  }

  /** Whether the text was seen by now. */
  push(chunk: string): boolean {
    if (this.found) return true
    const text = this.#end + this.#plain.push(chunk)
    this.found = text.includes(this.#wanted)
    this.#end = text.slice(-(this.#wanted.length - 1) || text.length)
    return this.found
  }
}
