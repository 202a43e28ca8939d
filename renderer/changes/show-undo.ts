import { openSession } from '../state/session-store.ts'
import { showDialog } from '../state/window-store.ts'

/** Opens the plan of an undo, or redo, of the newest turn that has something to undo; false where none has. */
export function showUndo(sessionId: string, redo: boolean): boolean {
  const { view } = openSession(sessionId).store.getState()
  const turn = view?.turns.findLast(({ id }) =>
    view.changes.some(({ turnId, undone }) => turnId === id && (undone !== undefined) === redo),
  )
  if (!turn) return false
  showDialog({ kind: 'undo', sessionId, turnId: turn.id, redo })
  return true
}
