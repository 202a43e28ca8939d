import { commitSlowMs } from '../../preload/contract/limits.ts'
import type { Storage } from './storage.ts'

/** Tells when a commit has taken 5 s, and when it is over (S-18). */
export function toldWhenSlow(commit: Storage['commit'], tell: (slow: boolean) => void): Storage['commit'] {
  let slow = 0
  return async (write) => {
    let counted = false
    const timer = setTimeout(() => {
      counted = true
      if (++slow === 1) tell(true)
    }, commitSlowMs)
    try {
      await commit(write)
    } finally {
      clearTimeout(timer)
      if (counted && --slow === 0) tell(false)
    }
  }
}
