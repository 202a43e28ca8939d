/**
 * Output on its way to somebody who watches: joined over 16 ms, and never more than 256 Ki characters in a second, whatever
 * the program prints. What goes to a card is journaled too, so there it is less the more there was: all of the first
 * 64 Ki characters, then the last 16 Ki every 250 ms, behind half a megabyte the last 2 Ki every second. What is passed
 * over is said; the full output is kept elsewhere.
 */
import type { OutputStream } from './carrier.ts'

const intervalMs = 16

/** Characters that may wait, and go out at once after a pause; the next go out when as many could be sent at this rate. */
type Pace = { burst: number; perSecond: number }

const watching: Pace = { burst: 32 * 1024, perSecond: 256 * 1024 }
const journaled: [until: number, pace: Pace][] = [
  [64 * 1024, watching],
  [512 * 1024, { burst: 16 * 1024, perSecond: 64 * 1024 }],
  [Infinity, { burst: 2 * 1024, perSecond: 2 * 1024 }],
]
/** Streams that alternate faster than anybody reads lose their exact interleaving, not text. */
const maxPieces = 32

export class LiveOutput {
  readonly #send: (text: string, stream: OutputStream) => void
  #waiting: { stream: OutputStream; text: string }[] = []
  #size = 0
  #skipped = 0
  #sent = 0
  #credit: number
  #creditAt = performance.now()
  #timer: NodeJS.Timeout | null = null
  readonly #isJournaled: boolean

  constructor(send: (text: string, stream: OutputStream) => void, { isJournaled = false } = {}) {
    this.#send = send
    this.#isJournaled = isJournaled
    this.#credit = this.#pace.burst
  }

  get #pace(): Pace {
    return this.#isJournaled ? journaled.find(([until]) => this.#sent < until)![1] : watching
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
    const { burst } = this.#pace
    // What alone is more than may wait is cut before it is joined: a flood is not copied to be dropped.
    const end = text.length > burst ? text.slice(-burst) : text
    if (joined && end === text) joined.text += text
    else this.#waiting.push({ stream, text: end })
    this.#size += end.length
    this.#skipped += text.length - end.length
    if (this.#size > burst) this.#passOver()
    this.#timer ??= setTimeout(() => this.#flush(), intervalMs)
  }

  /** Oldest first, so that what is shown is what is new. */
  #passOver(): void {
    const { burst } = this.#pace
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
    const { burst, perSecond } = this.#pace
    this.#credit = Math.min(burst, this.#credit + ((now - this.#creditAt) / 1_000) * perSecond)
    this.#creditAt = now
    if (this.#size > this.#credit) {
      this.#timer = setTimeout(
        () => this.#flush(),
        Math.max(intervalMs, ((this.#size - this.#credit) / perSecond) * 1_000),
      )
      return
    }
    this.#sendAll()
  }

  #sendAll(): void {
    const pieces = this.#waiting
    const skipped = this.#skipped
    this.#credit -= this.#size
    this.#sent += this.#size
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
