/**
 * Loaded into a measured process before its own code (`--import`): at its end it writes peak memory, processor time and
 * every time the main loop was late (and how much processor time it used meanwhile: on a busy machine it may just have
 * waited for its turn) to the file that `LATHE_PROBE` names. Plain JavaScript, so that it costs next to nothing.
 */
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const tickMs = 2
const toldMs = 5
const keptMax = 10_000

if (isMainThread && process.env.LATHE_PROBE && process.argv[1]?.endsWith('lathe.js')) {
  const file = process.env.LATHE_PROBE
  const stalls = []
  const worked = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let last = performance.now()
  let workedLast = worked()
  setInterval(() => {
    const now = performance.now()
    const workedNow = worked()
    const late = now - last - tickMs
    if (late >= toldMs && stalls.length < keptMax)
      stalls.push({ at: performance.timeOrigin + last, ms: late, cpuMs: workedNow - workedLast })
    last = now
    workedLast = workedNow
  }, tickMs).unref()
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    const cpuMs = (userCPUTime + systemCPUTime) / 1_000
    writeFileSync(
      file,
      JSON.stringify({ began: performance.timeOrigin, ended: Date.now(), peakMb: maxRSS / 1_024, cpuMs, stalls }),
    )
  })
}
