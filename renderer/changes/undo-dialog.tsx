/** What an undo or redo of a turn would do to each file, before it does it (K-12, F-1008). */
import { useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { UndoPlan } from '../../preload/contract/change-routes.ts'
import type { Turn } from '../../preload/contract/session.ts'
import { failure } from '../state/link.ts'
import { useView } from '../state/session-store.ts'
import { showDialog } from '../state/window-store.ts'
import { counted } from '../transcript/amounts.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { toast } from '../ui/toast.tsx'
import { applyUndo, previewUndo } from './review-actions.ts'
import { UndoFiles, writtenFiles } from './undo-files.tsx'

const noTurns: Turn[] = []

type UndoDialogProps = { sessionId: string; turnId: string; redo: boolean; andLater?: boolean | undefined }

export function UndoDialog({ sessionId, turnId, redo, andLater: alsoLater = false }: UndoDialogProps) {
  const turns = useView(sessionId, (view) => view.turns, noTurns)
  const later = turns.length - 1 - turns.findIndex(({ id }) => id === turnId)
  const [andLater, setAndLater] = useState(alsoLater)
  const [planned, setPlanned] = useState<{ plan: UndoPlan; andLater: boolean } | null>(null)
  const [error, setError] = useState<ErrorBody | null>(null)
  const [force, setForce] = useState<ReadonlySet<string>>(new Set())
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    previewUndo({ sessionId, turnId, andLater, redo }, ended.signal).then(
      (plan) => setPlanned({ plan, andLater }),
      (thrown: unknown) => {
        if (!ended.signal.aborted) setError(failure(thrown))
      },
    )
    return () => ended.abort()
  }, [sessionId, turnId, andLater, redo])

  const plan = planned?.andLater === andLater ? planned.plan : null
  const files = plan?.files ?? []
  const written = writtenFiles(files, force)
  const verb = redo ? 'Redo' : 'Undo'

  async function apply() {
    setBusy(true)
    setError(null)
    try {
      await applyUndo({ sessionId, turnId, andLater, redo }, [...force])
      showDialog(null)
      toast.done(`${counted(written.length, 'file')} ${redo ? 'brought forward' : 'set back'}`, {
        action: redo ? undefined : { label: 'Redo', onSelect: () => void applyAgain() },
      })
    } catch (thrown) {
      setError(failure(thrown))
      setBusy(false)
    }
  }
  async function applyAgain() {
    try {
      await applyUndo({ sessionId, turnId, andLater, redo: true }, [])
    } catch (thrown) {
      toast.failed('Could not redo', { detail: failure(thrown).message })
    }
  }

  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title={redo ? 'Redo the changes of this turn' : 'Undo the changes of this turn'}
      description="Only the files listed here are touched. The conversation stays as it is."
      footer={
        <>
          <Button variant="ghost" onClick={() => showDialog(null)}>
            Cancel
          </Button>
          <Button variant="primary" busy={busy} disabled={written.length === 0} onClick={() => void apply()}>
            {verb} {counted(written.length, 'file')}
          </Button>
        </>
      }
    >
      {later > 0 && (
        <Checkbox
          label={`And of the ${counted(later, 'turn')} after it`}
          checked={andLater}
          onChange={setAndLater}
          className="mb-8"
        />
      )}
      {error && (
        <p role="alert" className="mb-8 rounded-6 bg-failed-soft px-8 py-6 text-12">
          {[error.message, error.hint].filter(Boolean).join(' ')}
        </p>
      )}
      {!plan && !error && <Skeleton label="Looking at the files" lines={[0.8, 0.6]} />}
      {plan && files.length === 0 && <p className="text-12 text-muted">There is nothing to {verb.toLowerCase()}.</p>}
      <UndoFiles files={files} asked={{ sessionId, turnId, andLater, redo }} force={force} onForce={setForce} />
    </Dialog>
  )
}
