import { useEffect, useState } from 'react'
import { link } from '../state/link.ts'

type Found = { path: string; kind: 'file' | 'folder' }[]
const none: Found = []
/** A pause in typing this long asks; shorter ones would only make answers overtake each other. */
const quietMs = 60

/** Files of a workspace, and with `folders` its folders, that fit a query, best first; while a word is being typed its last answer stays until the next one. */
export function useFoundFiles(workspace: string, query: string | null, folders = false): Found {
  const [answer, setAnswer] = useState<{ workspace: string; query: string; files: Found }>({
    workspace: '',
    query: '',
    files: none,
  })
  useEffect(() => {
    if (query === null || workspace === '') return
    const ended = new AbortController()
    const timer = setTimeout(() => {
      link()
        .client.files.find({ workspace, query: query.slice(0, 200), folders }, { signal: ended.signal })
        .then(
          (files) => setAnswer({ workspace, query, files }),
          () => ended.signal.aborted || setAnswer({ workspace, query, files: none }),
        )
    }, quietMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [workspace, query, folders])
  if (query === null || answer.workspace !== workspace) return none
  return query.startsWith(answer.query) || answer.query.startsWith(query) ? answer.files : none
}
