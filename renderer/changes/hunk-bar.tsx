import { Check, MessageSquarePlus, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { Button } from '../ui/button.tsx'
import { ConflictNote } from './conflict-note.tsx'
import { hunkState, keepChange, undoChange } from './review-actions.ts'

/** Stands below a hunk: keep it, or put the old text back. */
export function HunkBar({
  sessionId,
  change,
  hunkId,
  line,
  onComment,
}: {
  sessionId: string
  change: ChangedFile
  hunkId: string
  line: number
  onComment: () => void
}) {
  const [conflict, setConflict] = useState<ErrorBody | null>(null)
  const [busy, setBusy] = useState(false)
  const state = hunkState(change, hunkId)
  const undo = async () => {
    setBusy(true)
    setConflict(await undoChange(sessionId, change.id, hunkId))
    setBusy(false)
  }
  return (
    <div
      role="group"
      aria-label={`Change at line ${line}`}
      className="border-y border-line bg-side px-8 py-2 font-sans"
    >
      <div className="flex h-24 items-center justify-end gap-4">
        {state === 'rejected' ? (
          <span className="text-11 text-muted">Undone</span>
        ) : (
          <>
            <Button acts size="small" variant="ghost" className="mr-auto" onClick={onComment}>
              <MessageSquarePlus size={12} strokeWidth={1.75} aria-hidden />
              Comment
            </Button>
            {state === 'accepted' && <span className="text-11 text-ok">Kept</span>}
            <Button
              acts
              size="small"
              variant="ghost"
              disabled={change.undone !== undefined}
              onClick={() => void keepChange(sessionId, change.id, hunkId, state !== 'accepted')}
            >
              <Check size={12} strokeWidth={1.75} aria-hidden />
              {state === 'accepted' ? 'Open again' : 'Keep'}
            </Button>
            <Button
              acts
              size="small"
              variant="ghost"
              busy={busy}
              disabled={change.undone !== undefined}
              onClick={() => void undo()}
            >
              <Undo2 size={12} strokeWidth={1.75} aria-hidden />
              Undo
            </Button>
          </>
        )}
      </div>
      {conflict && <ConflictNote error={conflict} onClose={() => setConflict(null)} />}
    </div>
  )
}
