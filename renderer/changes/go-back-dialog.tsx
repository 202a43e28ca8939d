/** Going back to before a message, with the files its turns changed or without them (S-79, S-80, S-83). */
import { useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { UndoPlan } from '../../preload/contract/change-routes.ts'
import { composerOf } from '../composer/composer-store.ts'
import { failure } from '../state/link.ts'
import { useSessionController } from '../state/session-store.ts'
import { type GoBack, showDialog } from '../state/window-store.ts'
import { counted } from '../transcript/amounts.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { applyUndo, previewUndo } from './review-actions.ts'
import { UndoFiles, writtenFiles } from './undo-files.tsx'

const words = {
  delete: { title: 'Delete from here', confirm: 'Delete from here' },
  edit: { title: 'Send the edited message', confirm: 'Send' },
  undo: { title: 'Undo the last turn', confirm: 'Undo' },
} as const

export function GoBackDialog({ sessionId, itemId, turnId, purpose, message }: GoBack) {
  const controller = useSessionController(sessionId)
  const [withFiles, setWithFiles] = useState(purpose === 'undo')
  const [plan, setPlan] = useState<UndoPlan | null>(null)
  const [force, setForce] = useState<ReadonlySet<string>>(new Set())
  const [error, setError] = useState<ErrorBody | null>(null)
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    previewUndo({ sessionId, turnId, andLater: true, redo: false }, ended.signal).then(setPlan, (thrown: unknown) => {
      if (!ended.signal.aborted) setError(failure(thrown))
    })
    return () => ended.abort()
  }, [sessionId, turnId])

  async function apply() {
    setBusy(true)
    setError(null)
    try {
      if (withFiles) await applyUndo({ sessionId, turnId, andLater: true, redo: false }, [...force])
      await controller.rewind(itemId, { withFiles, ...(purpose === 'edit' ? { edited: message } : {}) })
      showDialog(null)
      if (purpose === 'edit') composerOf(sessionId).endEdit()
      if (purpose === 'undo') composerOf(sessionId).restore(message)
    } catch (thrown) {
      setError(failure(thrown))
      setBusy(false)
    }
  }

  const files = plan?.files ?? []
  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title={words[purpose].title}
      description="This message and what came after it is set aside. A mark in the transcript brings it back."
      footer={
        <>
          <Button variant="ghost" onClick={() => showDialog(null)}>
            Cancel
          </Button>
          <Button variant="primary" busy={busy} disabled={withFiles && !plan} onClick={() => void apply()}>
            {words[purpose].confirm}
          </Button>
        </>
      }
    >
      {error && (
        <p role="alert" className="mb-8 rounded-6 bg-failed-soft px-8 py-6 text-12">
          {[error.message, error.hint].filter(Boolean).join(' ')}
        </p>
      )}
      <Checkbox
        label={
          plan === null
            ? 'Set the changed files back too'
            : `Set ${counted(writtenFiles(files, force).length, 'file')} back too`
        }
        checked={withFiles}
        onChange={setWithFiles}
        className="mb-8"
      />
      {withFiles && (
        <UndoFiles
          files={files}
          asked={{ sessionId, turnId, andLater: true, redo: false }}
          force={force}
          onForce={setForce}
        />
      )}
    </Dialog>
  )
}
