/** Looks at sessions when it is time, one timer a session (T-85): it keeps no process alive and no session in memory. */

/** Timers end at 2^31-1 ms; a longer wait is begun anew. */
const timerMsMax = 2 ** 31 - 1

export class SessionClock {
  private readonly timers = new Map<string, NodeJS.Timeout>()
  private readonly look: (sessionId: string) => void
  private readonly now: () => number

  constructor(look: (sessionId: string) => void, now: () => number) {
    this.look = look
    this.now = now
  }

  /** Looks at `at`, instead of when it was to look before. */
  arm(sessionId: string, at: number): void {
    clearTimeout(this.timers.get(sessionId))
    const wait = Math.max(0, Math.min(at - this.now(), timerMsMax))
    const timer = setTimeout(() => {
      this.timers.delete(sessionId)
      this.look(sessionId)
    }, wait)
    timer.unref()
    this.timers.set(sessionId, timer)
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer)
    this.timers.clear()
  }
}
