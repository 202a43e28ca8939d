import { Tooltip as Radix } from 'radix-ui'
import type { FocusEvent, ReactElement, ReactNode } from 'react'
import { Kbd } from './kbd.tsx'

/** Stands once around the application: the first tooltip waits, the next ones come at once. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={500} skipDelayDuration={300}>
      {children}
    </Radix.Provider>
  )
}

type TooltipProps = {
  label: ReactNode
  keys?: string | undefined
  side?: 'top' | 'right' | 'bottom' | 'left' | undefined
  /** The one element that is described; it must pass on its props and ref. */
  children: ReactElement
}

/** A focus that no key moved, as when a click opens a dialog, explains nothing: it would cover what was asked for. */
function stayQuiet(event: FocusEvent): void {
  if (!event.currentTarget.matches(':focus-visible')) event.preventDefault()
}

/** Explains a control on hover and focus. It adds to an accessible name and never replaces one. */
export function Tooltip({ label, keys, side = 'bottom', children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild onFocus={stayQuiet}>
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-320 animate-appear items-center gap-8 rounded-6 bg-raised px-8 py-4 text-12 text-ink shadow-float select-none"
        >
          {label}
          {keys && <Kbd keys={keys} className="text-muted" />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
