/** One lock per real file, across all sessions (F-601, F-605). */
import { LatheError } from '../../preload/contract/errors.ts'

const lockWaitMs = 30_000

export class FileLocks {
  /** The last holder or waiter of each key; whoever comes next waits for it. */
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` holding the locks of all keys, taken in sorted order so that no two callers wait for each other. Throws
   * `file.busy` after 30 s of waiting, or the signal's reason at once; `work` itself is never interrupted.
   */
  async hold<T>(keys: readonly string[], signal: AbortSignal, work: () => Promise<T>, waitMs = lockWaitMs): Promise<T> {
    const releases: (() => void)[] = []
    const until = performance.now() + waitMs
    try {
      for (const key of [...new Set(keys)].sort()) releases.push(await this.#take(key, signal, until))
      return await work()
    } finally {
      for (const release of releases) release()
    }
  }

  async #take(key: string, signal: AbortSignal, until: number): Promise<() => void> {
    const before = this.#tails.get(key)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const tail = before ? before.then(() => released) : released
    this.#tails.set(key, tail)
    void tail.then(() => this.#tails.get(key) === tail && this.#tails.delete(key))
    if (before) {
      await waitFor(before, signal, until).catch((error: unknown) => {
        release()
        throw error
      })
    }
    return release
  }
}

function waitFor(turn: Promise<void>, signal: AbortSignal, until: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) return onAbort()
    const timer = setTimeout(
      () => reject(new LatheError('file.busy', 'Another change of this file did not end in time.')),
      until - performance.now(),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    void turn.then(resolve).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    })
  })
}
