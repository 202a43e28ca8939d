import { AlertDialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { scrim, sheet } from './dialog.tsx'
import { useFocusBack } from './focus-back.ts'

type AlertDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** What happens, and whether it can be taken back. */
  description: ReactNode
  /** The verb: "Delete session", never "OK". */
  confirm: string
  cancel?: string | undefined
  /** A second way to go on. */
  other?: { label: string; onChoose: () => void } | undefined
  danger?: boolean | undefined
  /** Going on gives something more power: neither answer is pressed on the reader by its looks. */
  grants?: boolean | undefined
  busy?: boolean | undefined
  /** The dialog closes by the caller once the work is done, so a failure can be shown in place. */
  onConfirm: () => void
  children?: ReactNode | undefined
}

/** Asks before something that is hard to take back. Focus starts on Cancel; a click outside does not answer it. */
export function AlertDialog({
  open,
  onOpenChange,
  title,
  description,
  confirm,
  cancel = 'Cancel',
  other,
  danger = false,
  grants = false,
  busy = false,
  onConfirm,
  children,
}: AlertDialogProps) {
  const giveFocusBack = useFocusBack(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          onCloseAutoFocus={giveFocusBack}
          className={classNames(sheet, 'top-[22vh] max-h-[70vh] max-w-[26rem] overflow-auto p-16')}
        >
          <Radix.Title className="text-14 font-semibold">{title}</Radix.Title>
          <Radix.Description asChild>
            <div className="mt-4 text-13 text-muted">{description}</div>
          </Radix.Description>
          {children && <div className="mt-12">{children}</div>}
          <footer className="mt-20 flex justify-end gap-8">
            <Radix.Cancel asChild>
              <Button variant="secondary">{cancel}</Button>
            </Radix.Cancel>
            {other && (
              <Button variant="secondary" onClick={other.onChoose}>
                {other.label}
              </Button>
            )}
            <Button variant={danger ? 'danger' : grants ? 'secondary' : 'primary'} busy={busy} onClick={onConfirm}>
              {confirm}
            </Button>
          </footer>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
