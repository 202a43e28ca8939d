import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useWindow } from '../state/window-store.ts'
import { classNames } from '../ui/class-names.ts'
import { scrim } from '../ui/dialog.tsx'
import { useFocusBack } from '../ui/focus-back.ts'
import { focusRegion } from './regions.ts'

/** A side pane over a window that has no room beside the transcript (S-176). */
export function SideSheet({
  pane,
  title,
  children,
}: {
  pane: 'list' | 'inspector'
  title: string
  children: ReactNode
}) {
  const open = useWindow(({ overlay }) => overlay === pane)
  const giveFocusBack = useFocusBack(open)
  return (
    <Radix.Root open={open} onOpenChange={(next) => useWindow.setState({ overlay: next ? pane : null })}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={giveFocusBack}
          onOpenAutoFocus={(event) => {
            // To the chosen entry, not to the first button, whose tooltip would open over the rest.
            event.preventDefault()
            focusRegion(pane === 'list' ? 'sessions' : 'inspector')
          }}
          className={classNames(
            'fixed inset-y-0 z-40 flex max-w-[92vw] animate-appear flex-col bg-canvas text-ink shadow-float outline-none',
            pane === 'list' ? 'left-0 w-[19rem]' : 'right-0 w-[34rem]',
          )}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
