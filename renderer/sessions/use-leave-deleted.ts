import { useEffect, useRef } from 'react'
import { useView } from '../state/session-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { leaveDeleted } from './session-actions.ts'

/** Leaves the session on screen once it is deleted, here or in another window; one that is just being brought back stays. */
export function useLeaveDeleted(sessionId: string): void {
  const deleted = useView(sessionId, ({ header }) => header.deletedAt !== null, false)
  const was = useRef(deleted)
  const mayAct = useMayAct()
  useEffect(() => {
    if (deleted && !was.current) leaveDeleted(sessionId, mayAct)
    was.current = deleted
  }, [deleted, sessionId, mayAct])
}
