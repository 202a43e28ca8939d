/**
 * Output on its way to a card that shows it live: joined over 16 ms, and never more than 256 Ki characters in a second,
 * whatever the program prints. What is passed over is said; the full output is kept elsewhere.
 */
import type { OutputStream } from './carrier.ts'

const intervalMs = 16
const charactersPerSecond = 256 * 1024
/** What may wait, and go out at once after a pause. */
const burst = charactersPerSecond / 8
/** Streams that alternate faster than anybody reads lose their exact interleaving, not text. */
const maxPieces = 32

export class LiveOutput {
  readonly #send: (text: string, stream: OutputStream) => void
  #waiting: { stream: OutputStream; text: string }[] = []
  #size = 0
  #skipped = 0
  #credit = burst
  #creditAt = performance.now()
  #timer: NodeJS.Timeout | null = null

  constructor(send: (text: string, stream: OutputStream) => void) {
    this.#send = send
  }

  push(stream: OutputStream, text: string): void {
    if (text === '') return
    const last = this.#waiting.at(-1)
    const joined =
      last?.stream === stream
        ? last
        : this.#waiting.length >= maxPieces
          ? this.#waiting.findLast((piece) => piece.stream === stream)
          : undefined
    if (joined) joined.text += text
    else this.#waiting.push({ stream, text })
    this.#size += text.length
    if (this.#size > burst) this.#passOver()
    this.#timer ??= setTimeout(() => this.#flush(), intervalMs)
  }

  /** Oldest first, so that what is shown is what is new. */
  #passOver(): void {
    while (this.#size > burst) {
      const first = this.#waiting[0]!
      const cut = Math.min(this.#size - burst, first.text.length)
      this.#skipped += cut
      this.#size -= cut
      if (cut === first.text.length) this.#waiting.shift()
      else first.text = first.text.slice(cut)
    }
  }

  #flush(): void {
    this.#timer = null
    const now = performance.now()
    this.#credit = Math.min(burst, this.#credit + ((now - this.#creditAt) / 1_000) * charactersPerSecond)
    this.#creditAt = now
    if (this.#size > this.#credit) {
      this.#timer = setTimeout(
        () => this.#flush(),
        Math.max(intervalMs, ((this.#size - this.#credit) / charactersPerSecond) * 1_000),
      )
      return
    }
    this.#sendAll()
  }

  #sendAll(): void {
    const pieces = this.#waiting
    const skipped = this.#skipped
    this.#credit -= this.#size
    this.#waiting = []
    this.#size = 0
    this.#skipped = 0
    if (skipped > 0)
      this.#send(`\n[... ${skipped.toLocaleString('en-US')} characters not shown live ...]\n`, pieces[0]!.stream)
    for (const piece of pieces) this.#send(piece.text, piece.stream)
  }

  /** Sends the last of it, which was kept small enough to go at once. */
  end(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#sendAll()
  }
}
