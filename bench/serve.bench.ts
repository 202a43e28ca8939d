/** `lathe serve`: from its start to the line with its address, which it prints once requests are answered. */
import { Lab } from '../e2e/lab.ts'
import { fiveTimes, report } from './figures.ts'
import { startMeasured } from './measured.ts'

await using lab = await Lab.open()

const runs = await fiveTimes(async () => {
  const from = performance.now()
  const { process, measured } = startMeasured(lab, ['serve', '--json'])
  const line = await process.line((text) => text.includes('"url"'))
  const readyMs = performance.now() - from
  const { url } = JSON.parse(line) as { url: string }
  const reply = await fetch(new URL('/health', url))
  await reply.text()
  if (reply.status !== 200) throw new Error(`/health answered ${reply.status}.`)
  const answeredMs = performance.now() - from
  process.kill('SIGTERM')
  const figures = await measured
  return { ...figures, readyMs, answeredMs, closeMs: figures.wallMs - answeredMs }
})

report([
  { name: 'web host ready', unit: 'ms', values: runs.map((run) => run.readyMs), aim: 600 },
  { name: 'its first answer', unit: 'ms', values: runs.map((run) => run.answeredMs) },
  { name: 'its end after SIGTERM', unit: 'ms', values: runs.map((run) => run.closeMs) },
  { name: 'peak memory', unit: 'MB', values: runs.map((run) => run.peakMb) },
])
