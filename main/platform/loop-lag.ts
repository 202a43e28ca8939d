/** How late the main loop is (Z-240): the expected against the actual time of a tick, by the monotonic clock. */

const tickMs = 500
const bucketMs = 60_000
const buckets = 60

export type LoopLag = {
  /** How late the newest tick was or the next one is by now, and the worst of the last hour, in whole milliseconds. */
  read(): { nowMs: number; worstMs: number }
  stop(): void
}

export function watchLoop(now: () => number = () => performance.now()): LoopLag {
  /** The worst of each minute that had a tick, the newest last. */
  const worst: { minute: number; lagMs: number }[] = []
  let due = now() + tickMs
  let newest = 0

  function note(lagMs: number): void {
    const minute = Math.floor(now() / bucketMs)
    const last = worst.at(-1)
    if (last?.minute === minute) last.lagMs = Math.max(last.lagMs, lagMs)
    else worst.push({ minute, lagMs })
    while (worst[0]!.minute <= minute - buckets) worst.shift()
  }

  const timer = setInterval(() => {
    newest = Math.max(0, now() - due)
    note(newest)
    due = now() + tickMs
  }, tickMs)
  timer.unref()

  return {
    read() {
      const late = Math.max(newest, now() - due)
      note(late)
      return { nowMs: Math.round(late), worstMs: Math.round(Math.max(...worst.map(({ lagMs }) => lagMs))) }
    },
    stop: () => clearInterval(timer),
  }
}
