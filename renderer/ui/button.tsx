import type { ComponentProps } from 'react'
import { type Acts, useMayAct } from './acting.ts'
import { classNames } from './class-names.ts'
import { Spinner } from './spinner.tsx'

const base =
  'relative inline-flex shrink-0 items-center justify-center gap-6 rounded-6 font-medium whitespace-nowrap select-none ' +
  'transition-[background-color,border-color,color,box-shadow] off:pointer-events-none'

const variants = {
  /** The one thing this view is for. */
  primary: 'bg-accent text-on-accent hover:bg-accent-hover off:bg-pressed off:text-disabled',
  secondary:
    'border border-line-strong bg-raised text-ink shadow-low hover:bg-[color-mix(in_oklab,var(--raised),var(--ink)_5%)] active:shadow-none off:bg-transparent off:text-disabled off:shadow-none',
  ghost:
    'text-muted hover:bg-hover hover:text-ink active:bg-pressed aria-pressed:bg-selected aria-pressed:text-ink opened:bg-pressed opened:text-ink off:text-disabled',
  /** Only for what destroys, and only where it is confirmed. */
  danger: 'bg-danger text-on-danger hover:bg-danger-hover off:bg-pressed off:text-disabled',
}

const sizes = {
  small: 'h-24 px-8 text-12',
  medium: 'h-28 px-10 text-13',
  large: 'h-32 px-12 text-13',
}

export type ButtonProps = ComponentProps<'button'> &
  Acts & {
    variant?: keyof typeof variants | undefined
    size?: keyof typeof sizes | undefined
    /** Shows a spinner over the label and refuses clicks; the width stays, so nothing beside it moves. */
    busy?: boolean | undefined
  }

export function Button({
  variant = 'secondary',
  size = 'medium',
  busy = false,
  acts = false,
  disabled,
  className,
  children,
  ...rest
}: ButtonProps) {
  const mayAct = useMayAct()
  if (acts && !mayAct) return null
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classNames(base, variants[variant], sizes[size], className)}
    >
      {busy ? (
        <>
          <span className="absolute inset-0 grid place-items-center">
            <Spinner size={14} />
          </span>
          <span className="inline-flex items-center gap-6 opacity-0">{children}</span>
        </>
      ) : (
        children
      )}
    </button>
  )
}
