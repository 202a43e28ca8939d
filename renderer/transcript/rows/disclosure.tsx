import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'

type DisclosureProps = {
  open: boolean
  onToggle: () => void
  /** Left of the chevron's place: what kind of thing this is. */
  icon: ReactNode
  children: ReactNode
  /** At the end of the line; not part of the button. */
  end?: ReactNode
  className?: string | undefined
}

/** One quiet line that opens: the shape shared by thoughts, tool calls and groups. */
export function Disclosure({ open, onToggle, icon, children, end, className }: DisclosureProps) {
  return (
    <div className={classNames('group/line -mx-6 flex min-h-28 items-center gap-4', className)}>
      <button
        type="button"
        aria-expanded={open}
        data-toggle
        onClick={onToggle}
        className="flex min-h-28 min-w-0 grow items-center gap-8 rounded-6 px-6 text-left text-13 text-muted transition-colors hover:bg-hover hover:text-ink"
      >
        <span className="relative grid size-16 shrink-0 place-items-center">
          <span
            className={classNames(
              'grid place-items-center transition-opacity group-hover/line:opacity-0',
              open && 'opacity-0',
            )}
          >
            {icon}
          </span>
          <ChevronRight
            size={14}
            strokeWidth={1.75}
            aria-hidden
            className={classNames(
              'absolute opacity-0 transition-[opacity,rotate] group-hover/line:opacity-100',
              open && 'rotate-90 opacity-100',
            )}
          />
        </span>
        {children}
      </button>
      {end}
    </div>
  )
}
