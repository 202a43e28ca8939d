import type { ComponentProps } from 'react'
import { classNames } from './class-names.ts'

/** Native scrolling with thin bars that take no room. Focusable, so that the keyboard can scroll what holds no control. */
export function ScrollArea({ className, label, ...rest }: ComponentProps<'div'> & { label?: string | undefined }) {
  return (
    <div
      {...(label ? { role: 'region', 'aria-label': label, tabIndex: 0 } : {})}
      {...rest}
      className={classNames(
        'ring-inside min-h-0 min-w-0 overflow-auto overscroll-contain [scrollbar-width:thin]',
        className,
      )}
    />
  )
}
