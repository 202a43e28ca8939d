/** How late the main loop is (Z-240): the expected against the actual time of a tick, by the monotonic clock. */

const bucketMs = 60_000
const buckets = 60
/** The clock on the wall went on by so much more than the monotonic one: the machine slept. */
const sleptMs = 1_000

/** A tick that came late. */
export type LateTick = {
  operation: string
  /** Whole milliseconds. */
  lagMs: number
  intervalMs: number
  /** The machine slept meanwhile: this says nothing of the loop. */
  suspended: boolean
}

export type LoopLag = {
  /** How late the newest tick was or the next one is by now, and the worst of the last hour, in whole milliseconds. */
  read(): { nowMs: number; worstMs: number }
  /** The machine has slept, as the system says: the tick under way is not the loop's fault. */
  resumed(): void
  stop(): void
}

export type LoopWatch = {
  /** Monotonic milliseconds. */
  now?: () => number
  /** Milliseconds of the clock on the wall. */
  wall?: () => number
  intervalMs?: number
  /** From this lag on a tick is told. */
  limitMs?: number
  late?: (tick: LateTick) => void
}

export function watchLoop({
  now = () => performance.now(),
  wall = () => Date.now(),
  intervalMs = 500,
  limitMs = 250,
  late = () => {},
}: LoopWatch = {}): LoopLag {
  /** The worst of each minute that had a tick, the newest last. */
  const worst: { minute: number; lagMs: number }[] = []
  let due = now() + intervalMs
  let ahead = wall() - now()
  let newest = 0
  let hasSlept = false

  function note(lagMs: number): void {
    const minute = Math.floor(now() / bucketMs)
    const last = worst.at(-1)
    if (last?.minute === minute) last.lagMs = Math.max(last.lagMs, lagMs)
    else worst.push({ minute, lagMs })
    while (worst[0]!.minute <= minute - buckets) worst.shift()
  }

  /** Whether the machine slept since the last tick. */
  function slept(): boolean {
    return hasSlept || wall() - now() - ahead > sleptMs
  }

  const timer = setInterval(() => {
    const lag = Math.max(0, now() - due)
    const suspended = slept()
    newest = suspended ? 0 : lag
    note(newest)
    if (lag >= limitMs || suspended) late({ operation: 'main loop', lagMs: Math.round(lag), intervalMs, suspended })
    due = now() + intervalMs
    ahead = wall() - now()
    hasSlept = false
  }, intervalMs)
  timer.unref()

  return {
    read() {
      const lag = Math.max(newest, slept() ? 0 : now() - due)
      note(lag)
      return { nowMs: Math.round(lag), worstMs: Math.round(Math.max(...worst.map(({ lagMs }) => lagMs))) }
    },
    resumed: () => void (hasSlept = true),
    stop: () => clearInterval(timer),
  }
}
