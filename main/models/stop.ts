/** Waiting that a stop ends at once, leaving neither timer nor listener behind. */
import { LatheError } from '../../preload/contract/errors.ts'

/** Resolves after so many milliseconds, or at a stop; whoever waits looks at the signal afterwards. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}

/** The promise, or `provider.stopped` at a stop, whatever the other side does. */
export async function orStop<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const stopping = new Promise<never>((_, reject) => {
    stop = () => reject(new LatheError('provider.stopped', 'Stopped.'))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  try {
    return await Promise.race([promise, stopping])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
