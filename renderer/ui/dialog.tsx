import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { useFocusBack } from './focus-back.ts'
import { IconButton } from './icon-button.tsx'

export const scrim = 'fixed inset-0 z-40 animate-appear bg-scrim'
export const sheet =
  'fixed left-1/2 z-40 flex w-[calc(100vw-2rem)] -translate-x-1/2 animate-rise flex-col rounded-12 bg-raised text-ink shadow-float outline-none'

type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Its accessible name. Shown as a heading unless `bare`. */
  title: string
  description?: string | undefined
  /** Draws no heading and no padding: for the palette and settings, which bring their own. */
  bare?: boolean | undefined
  /** Largest width in pixels at 100 %. */
  width?: number | undefined
  footer?: ReactNode | undefined
  className?: string | undefined
  children: ReactNode
}

/** A modal surface: focus moves in, stays in, and returns to where it came from; Escape closes it. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  bare = false,
  width = 480,
  footer,
  className,
  children,
}: DialogProps) {
  const giveFocusBack = useFocusBack(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          className={classNames(sheet, 'top-[12vh] max-h-[76vh]', className)}
          onCloseAutoFocus={giveFocusBack}
          style={{ maxWidth: `${width / 16}rem` }}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          {bare ? (
            <Radix.Title className="sr-only">{title}</Radix.Title>
          ) : (
            <header className="py-12 pr-48 pl-16">
              <Radix.Title className="text-14 font-semibold">{title}</Radix.Title>
              {description && <Radix.Description className="mt-2 text-13 text-muted">{description}</Radix.Description>}
            </header>
          )}
          <div className={classNames('flex min-h-0 grow flex-col', !bare && 'overflow-auto px-16 pt-2 pb-16')}>
            {children}
          </div>
          {footer && <footer className="flex justify-end gap-8 border-t border-line px-16 py-12">{footer}</footer>}
          {/* Last in the order of focus, so that a dialog opens on its first field. */}
          {!bare && (
            <Radix.Close asChild>
              <IconButton icon={X} label="Close" size="small" className="absolute top-10 right-10" />
            </Radix.Close>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
