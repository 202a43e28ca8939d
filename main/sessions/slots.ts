/** How many turns run at once over all sessions (T-21); the others wait, persons' turns first, then in order. */
export class Slots {
  private running = 0
  private waiting: { rank: number; go: () => void }[] = []
  private readonly most: () => number

  constructor(most: () => number) {
    this.most = most
  }

  get full(): boolean {
    return this.running >= this.most()
  }

  /** Resolves with the release of a slot; rejects with the signal's reason. `rank` 0 goes before 1. */
  async take(rank: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.full) {
      await new Promise<void>((resolve, reject) => {
        const entry = { rank, go: resolve }
        const place = this.waiting.findIndex((other) => other.rank > rank)
        this.waiting.splice(place < 0 ? this.waiting.length : place, 0, entry)
        signal.addEventListener(
          'abort',
          () => {
            this.waiting = this.waiting.filter((other) => other !== entry)
            reject(signal.reason)
          },
          { once: true },
        )
      })
    } else this.running++
    let released = false
    return () => {
      if (released) return
      released = true
      this.running--
      this.fill()
    }
  }

  /** Gives away what is free: after an end, or where more may run than before. */
  fill(): void {
    while (!this.full) {
      const next = this.waiting.shift()
      if (!next) return
      this.running++
      next.go()
    }
  }
}
