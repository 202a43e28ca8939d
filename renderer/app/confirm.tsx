import { useState } from 'react'
import { type Asking, useWindow } from '../state/window-store.ts'
import { AlertDialog } from '../ui/alert-dialog.tsx'
import { Checkbox } from '../ui/checkbox.tsx'

/** Shows the question of `ask`, where there is one. */
export function Confirm() {
  const asking = useWindow((state) => state.asking)
  return asking && <Question key={asking.title} asking={asking} />
}

function Question({ asking }: { asking: Asking }) {
  const [ticked, setTicked] = useState(false)
  const { title, description, confirm, cancel, danger, grants, option, other, answer } = asking
  return (
    <AlertDialog
      open
      onOpenChange={() => answer('no')}
      title={title}
      description={description}
      confirm={confirm}
      cancel={cancel}
      danger={danger}
      grants={grants}
      other={other === undefined ? undefined : { label: other, onChoose: () => answer('other') }}
      onConfirm={() => {
        if (ticked) option?.ticked()
        answer('yes')
      }}
    >
      {option && <Checkbox label={option.label} checked={ticked} onChange={setTicked} />}
    </AlertDialog>
  )
}
