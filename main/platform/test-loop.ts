/** How long this thread holds its loop, in its own processor time: what other processes take of a busy machine is not in it. */

/** Watches until the answered function is called, which answers the longest time between two turns, in milliseconds. */
export function watchTurns(): () => number {
  let longest = 0
  let last = process.threadCpuUsage()
  const beat = setInterval(() => {
    longest = Math.max(longest, cpuMs(last))
    last = process.threadCpuUsage()
  }, 5)
  return () => {
    clearInterval(beat)
    return Math.max(longest, cpuMs(last))
  }
}

/** Milliseconds of processor time that this thread has used since `from`. */
export function cpuMs(from: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1_000
}
