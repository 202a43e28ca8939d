/** Processes that end, and the turns they start, for tests. */
import { wakeGatherMs } from '../../preload/contract/limits.ts'
import { type AutomaticRequest, nextStart } from './automatic.ts'
import type { Driver, Reply } from './test-driver.ts'

/** A process that ran in the background and ended by itself. */
export function ends(
  driver: Driver,
  more: { wakes?: boolean; reason?: 'exited' | 'stopped' | 'shutdown' } = {},
): string {
  const { wakes = true, reason = 'exited' } = more
  const session = {
    owner: 'agent' as const,
    preview: 'npm run build',
    folder: '.',
    startedAt: 1,
    tty: false,
    itemId: 'tool',
    ...(wakes ? { wakes } : {}),
  }
  const { id } = driver.command({ type: 'exec.started', session })
  driver.command({
    type: 'exec.ended',
    id,
    end: { at: 2, reason, exitCode: 1, signal: null },
    notice: { text: `${id} ended`, prompt: `The process ${id} ended` },
  })
  return id
}

export const later = (driver: Driver) => nextStart(driver.state, driver.environment.now + wakeGatherMs)

export function wake(driver: Driver): Reply {
  const next = later(driver)
  if (next?.start !== 'automatic') throw new Error('Nothing would start.')
  return automatic(driver, next.request)
}

function automatic(driver: Driver, request: AutomaticRequest): Reply {
  const { text, ...more } = request
  return driver.submit(text, more)
}

export function answers(driver: Driver): void {
  driver.report({ type: 'running' })
  driver.report({ type: 'boundary' })
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
}
