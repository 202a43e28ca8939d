/**
 * Loaded into a measured process before its own code (`--import`): at its end it writes peak memory, processor time and
 * every time the main loop was late to the file that `LATHE_PROBE` names. Plain JavaScript, so that it costs next to nothing.
 */
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const tickMs = 2
const toldMs = 5
const keptMax = 10_000

if (isMainThread && process.env.LATHE_PROBE && process.argv[1]?.endsWith('lathe.js')) {
  const file = process.env.LATHE_PROBE
  const stalls = []
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    const late = now - last - tickMs
    if (late >= toldMs && stalls.length < keptMax) stalls.push([performance.timeOrigin + last, late])
    last = now
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
