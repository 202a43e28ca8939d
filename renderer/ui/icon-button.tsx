import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { type Acts, useMayAct } from './acting.ts'
import { classNames } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

const sizes = {
  small: { box: 'size-24', icon: 14 },
  medium: { box: 'size-28', icon: 16 },
}

export type IconButtonProps = Omit<ComponentProps<'button'>, 'children' | 'aria-label' | 'title'> &
  Acts & {
    icon: LucideIcon
    /** Accessible name and tooltip. Never left out: an icon alone says nothing. */
    label: string
    /** Shown in the tooltip, in the platform's notation: `⌘B`, `Ctrl+B`. */
    keys?: string | undefined
    size?: keyof typeof sizes | undefined
    /** For a button that stays down, such as "show the side bar". */
    pressed?: boolean | undefined
    tooltipSide?: 'top' | 'right' | 'bottom' | 'left' | undefined
  }

export function IconButton({
  icon: Icon,
  label,
  keys,
  size = 'medium',
  pressed,
  tooltipSide,
  acts = false,
  className,
  ...rest
}: IconButtonProps) {
  const mayAct = useMayAct()
  const { box, icon } = sizes[size]
  if (acts && !mayAct) return null
  return (
    <Tooltip label={label} keys={keys} side={tooltipSide}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-pressed={pressed}
        className={classNames(
          'inline-grid shrink-0 place-items-center rounded-6 text-muted transition-colors hover:bg-hover hover:text-ink active:bg-pressed',
          'aria-pressed:bg-selected aria-pressed:text-ink opened:bg-pressed opened:text-ink off:pointer-events-none off:text-disabled',
          box,
          className,
        )}
      >
        <Icon size={icon} strokeWidth={1.75} aria-hidden />
      </button>
    </Tooltip>
  )
}
