import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { failure } from './link.ts'

export interface Answer<T> {
  answer: T | null
  error: ErrorBody | null
  /** The question was asked and is not answered yet. */
  busy: boolean
  again: () => void
}

/**
 * What the host answers to a question, asked anew whenever `question` differs; null asks nothing. Answers to earlier
 * questions are dropped, unless `keepsLast` shows the last one until the next is there. `pauseMs` waits for more typing.
 */
export function useAnswer<T>(
  question: string | null,
  ask: (signal: AbortSignal) => Promise<T>,
  { pauseMs = 0, keepsLast = false } = {},
): Answer<T> {
  const [asked, setAsked] = useState(0)
  const [held, setHeld] = useState<{ key: string; answer: T | null; error: ErrorBody | null } | null>(null)
  const key = question === null ? null : `${asked} ${question}`
  const askNow = useEffectEvent(ask)
  useEffect(() => {
    if (key === null) return
    const ended = new AbortController()
    const put = (answer: T | null, error: ErrorBody | null) => {
      if (!ended.signal.aborted) setHeld({ key, answer, error })
    }
    const timer = setTimeout(() => {
      askNow(ended.signal).then(
        (answer) => put(answer, null),
        (thrown: unknown) => put(null, failure(thrown)),
      )
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [key, pauseMs])
  const answered = held !== null && held.key === key
  const shown = answered || (keepsLast && key !== null) ? held : null
  return {
    answer: shown?.answer ?? null,
    error: shown?.error ?? null,
    busy: key !== null && !answered,
    again: useCallback(() => setAsked((count) => count + 1), []),
  }
}
