/** When a session counts as read: open in a focused window, scrolled to its end, for a second (S-49). */
import { useEffect, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { act, client } from '../state/link.ts'
import { useView } from '../state/session-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { transcriptView } from '../transcript/view-state.ts'

const readAfterMs = 1_000

/** Sessions marked unread by hand: that holds until they are opened again. */
const heldUnread = new Set<string>()

export function holdUnread(sessionId: string): void {
  heldUnread.add(sessionId)
}

function followFocus(changed: () => void): () => void {
  addEventListener('focus', changed)
  addEventListener('blur', changed)
  return () => {
    removeEventListener('focus', changed)
    removeEventListener('blur', changed)
  }
}

export function useReadMark(sessionId: string): void {
  const unread = useView(sessionId, ({ header }) => header.notableSeq > header.readSeq, false)
  const seq = useView(sessionId, ({ header }) => header.notableSeq, 0)
  const atEnd = useStore(transcriptView(sessionId), ({ anchor }) => anchor === null)
  const mayAct = useMayAct()
  const focused = useSyncExternalStore(followFocus, () => document.hasFocus())
  useEffect(() => void heldUnread.delete(sessionId), [sessionId])
  useEffect(() => {
    if (!unread || !atEnd || !focused || !mayAct) return
    const timer = setTimeout(() => {
      // A mark that is lost with the connection is made again with the next event.
      if (!heldUnread.has(sessionId))
        client()
          .sessions.markRead({ ...act(), sessionId, seq })
          .catch(() => {})
    }, readAfterMs)
    return () => clearTimeout(timer)
  }, [sessionId, unread, atEnd, focused, mayAct, seq])
}
