/** Tells when nothing can be stored any more, and when it can again (sessions.md 19): the host is degraded meanwhile. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Storage } from './storage.ts'

const lookAgainMs = 2_000

/** `commit` as given, watched. While it fails, a small value is written again and again, since nobody else may try. */
export function toldWhenLost(
  { commit, setValue }: Pick<Storage, 'commit' | 'setValue'>,
  tell: (isLost: boolean) => void,
  { everyMs = lookAgainMs } = {},
): { commit: Storage['commit']; stop(): void } {
  let isLost = false
  let looking: NodeJS.Timeout | undefined
  let ended = false

  function become(lost: boolean): void {
    if (lost === isLost || ended) return
    isLost = lost
    tell(lost)
    if (lost) lookAgain()
    else clearTimeout(looking)
  }

  function lookAgain(): void {
    looking = setTimeout(() => {
      setValue('storage.lookedAt', Date.now()).then(
        () => become(false),
        () => isLost && !ended && lookAgain(),
      )
    }, everyMs)
    looking.unref()
  }

  return {
    async commit(write) {
      try {
        await commit(write)
        become(false)
      } catch (error) {
        // Another refusal is an answer: storage is there.
        if (error instanceof LatheError && (error.code === 'storage.failed' || error.code === 'storage.timeout'))
          become(true)
        throw error
      }
    },
    stop() {
      ended = true
      clearTimeout(looking)
    },
  }
}
