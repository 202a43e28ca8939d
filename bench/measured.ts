/** Lathe as a measured process: wall time from outside, memory and stalls of the main loop from inside (`probe.mjs`). */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright'
import type { Ended, Lab, LatheProcess } from '../e2e/lab.ts'

const probe = pathToFileURL(join(import.meta.dirname, 'probe.mjs')).href

type Stall = { at: number; ms: number; cpuMs: number }

export type Measured = Ended & {
  /** Epoch milliseconds at which it was started and had ended, as its parent saw it. */
  from: number
  to: number
  wallMs: number
  peakMb: number
  cpuMs: number
  /**
   * The longest delay of the main loop that began between two moments, in milliseconds; 0 where none was over 5. `cpuMs`:
   * the most the loop's own thread worked in one of them, which is what it would be on a machine with nothing else to do.
   */
  longestStall(from?: number, to?: number): { ms: number; cpuMs: number }
}

/** Starts `lathe` measured; the figures are there once it has ended by itself or by a signal it handles. */
export function startMeasured(
  lab: Lab,
  args: string[],
  limitMs?: number,
): { process: LatheProcess; measured: Promise<Measured> } {
  const file = join(lab.folder, 'probe.json')
  const from = performance.timeOrigin + performance.now()
  const process = lab.start(args, {
    env: { NODE_OPTIONS: `--import=${probe}`, LATHE_PROBE: file },
    ...(limitMs === undefined ? {} : { limitMs }),
  })
  const measured = process.ended.then(async (ended) => {
    const to = performance.timeOrigin + performance.now()
    const read = JSON.parse(await readFile(file, 'utf8')) as { peakMb: number; cpuMs: number; stalls: Stall[] }
    await rm(file)
    return {
      ...ended,
      from,
      to,
      wallMs: to - from,
      peakMb: read.peakMb,
      cpuMs: read.cpuMs,
      longestStall: (after = -Infinity, before = Infinity) => {
        const stalls = read.stalls.filter(({ at }) => at >= after && at < before)
        return {
          ms: Math.max(0, ...stalls.map(({ ms }) => ms)),
          cpuMs: Math.max(0, ...stalls.map(({ cpuMs }) => cpuMs)),
        }
      },
    }
  })
  return { process, measured }
}

/** Runs `lathe` to its end; throws where it does not exit with 0. */
export async function measure(lab: Lab, args: string[]): Promise<Measured> {
  const measured = await startMeasured(lab, args).measured
  if (measured.code !== 0)
    throw new Error(`lathe ${args.join(' ')} ended with ${measured.code}.\n${measured.stdout}\n${measured.stderr}`)
  return measured
}

/** Milliseconds the page's main thread has worked since the answered function was called last: a busy machine does not tell. */
export async function pageWork(page: Page): Promise<() => Promise<number>> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  let before = 0
  const worked = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    const now = metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
    const since = now - before
    before = now
    return since
  }
  await worked()
  return worked
}
