import { useEffect, useEffectEvent, useState } from 'react'

/**
 * A URL of bytes asked for once per `question`, while the caller is mounted; null while they come, `missing` where they
 * do not.
 */
export function useBlobUrl(
  question: string,
  ask: (signal: AbortSignal) => Promise<{ data: string; mediaType: string }>,
): string | null {
  const [held, setHeld] = useState<{ question: string; url: string } | null>(null)
  const askNow = useEffectEvent(ask)
  useEffect(() => {
    const ended = new AbortController()
    let made: string | null = null
    askNow(ended.signal).then(
      ({ data, mediaType }) => {
        if (ended.signal.aborted) return
        made = URL.createObjectURL(
          new Blob([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], { type: mediaType }),
        )
        setHeld({ question, url: made })
      },
      () => ended.signal.aborted || setHeld({ question, url: 'missing' }),
    )
    return () => {
      ended.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [question])
  return held?.question === question ? held.url : null
}
