/**
 * Output on its way to an emulator. One that has the keyboard is written to at once; another, which may be flooded, a few
 * times a second and not much at once, so that the page has time for the keys and their echo.
 */

/** Between two writes to an emulator that has not the keyboard, at least. */
const asideMs = 50
/** It rests so many times as long as a write took: a slow or busy page gives it no larger share of its time. */
const restShare = 4
const restMaxMs = 400
/** Characters of such a write; whoever brings more than may wait, waits until they are written. */
const asideMax = 32 * 1024

export class PacedWrites {
  readonly #write: (data: string) => Promise<void>
  readonly #inFront: () => boolean
  #waiting = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #underWay = 0
  #restedAt = -Infinity
  /** Settles when some of what waits was written, or dropped. */
  #moved = Promise.withResolvers<void>()

  /** `write` is done once the text is parsed. */
  constructor(write: (data: string) => Promise<void>, inFront: () => boolean) {
    this.#write = write
    this.#inFront = inFront
  }

  /** Resolves once more may be brought. */
  async push(data: string): Promise<void> {
    this.#waiting += data
    if (this.#inFront()) return this.flush()
    this.#writeAside()
    while (this.#waiting.length >= asideMax) await this.#moved.promise
  }

  /** Writes what waits; resolves once all is parsed. */
  flush(): Promise<void> {
    return this.#take(this.#waiting.length)
  }

  /** What waits is not wanted any more. */
  drop(): void {
    this.#waiting = ''
    this.#hasMoved()
  }

  #writeAside(): void {
    if (this.#waiting === '' || this.#underWay > 0 || this.#timer !== undefined) return
    const early = this.#restedAt - performance.now()
    if (early <= 0) void this.#take(asideMax)
    else this.#timer = setTimeout(() => void this.#take(asideMax), early)
  }

  #take(count: number): Promise<void> {
    const data = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    this.#hasMoved()
    if (data === '') return this.#writing
    const from = performance.now()
    this.#underWay++
    return (this.#writing = this.#write(data).then(() => {
      const took = performance.now() - from
      this.#restedAt = from + Math.min(restMaxMs, Math.max(asideMs, took * (1 + restShare)))
      this.#underWay--
      this.#writeAside()
    }))
  }

  #hasMoved(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }
}
