/**
 * Output on its way to an emulator. One that has the keyboard is written to at once; another, which may be flooded, a few
 * times a second and much at once, so that the page has time for the keys and their echo.
 */

/** Between two writes to an emulator that has not the keyboard. */
const asideMs = 50
/** Characters that may wait; whoever brings more waits until they are written. */
const waitingMax = 64 * 1024

export class PacedWrites {
  readonly #write: (data: string) => Promise<void>
  readonly #inFront: () => boolean
  #waiting = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #wroteAt = -Infinity

  /** `write` is done once the text is parsed. */
  constructor(write: (data: string) => Promise<void>, inFront: () => boolean) {
    this.#write = write
    this.#inFront = inFront
  }

  /** Resolves once more may be brought. */
  async push(data: string): Promise<void> {
    this.#waiting += data
    const early = this.#inFront() ? 0 : this.#wroteAt + asideMs - performance.now()
    if (early <= 0) return this.flush()
    this.#timer ??= setTimeout(() => void this.flush(), early)
    if (this.#waiting.length < waitingMax) return
    await new Promise((resolve) => setTimeout(resolve, early))
    await this.flush()
  }

  /** Writes what waits; resolves once all is parsed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const data = this.#waiting
    if (data === '') return this.#writing
    this.#waiting = ''
    this.#wroteAt = performance.now()
    return (this.#writing = this.#write(data))
  }

  /** What waits is not wanted any more. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = ''
  }
}
