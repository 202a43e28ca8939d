import { useEffect, useState } from 'react'
import { link } from '../state/link.ts'

type Found = { path: string; kind: 'file' | 'folder' }[]
const none: Found = []
/** A pause in typing this long asks; shorter ones would only make answers overtake each other. */
const quietMs = 60

/** Files of a workspace that fit a query, best first; the last answer stays until the next one is there. */
export function useFoundFiles(workspace: string, query: string | null): Found {
  const [found, setFound] = useState<Found>(none)
  const asking = query !== null && workspace !== ''
  useEffect(() => {
    if (!asking) return setFound(none)
    const ended = new AbortController()
    const timer = setTimeout(() => {
      link()
        .client.files.find({ workspace, query: query.slice(0, 200) }, { signal: ended.signal })
        .then(setFound, () => ended.signal.aborted || setFound(none))
    }, quietMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [workspace, query, asking])
  return asking ? found : none
}
