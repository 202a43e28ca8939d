import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

type EmptyStateProps = {
  icon?: LucideIcon | undefined
  /** One sentence: what will be here. */
  title: string
  detail?: ReactNode | undefined
  /** The one thing to do about it. */
  action?: ReactNode | undefined
  className?: string | undefined
}

export function EmptyState({ icon: Icon, title, detail, action, className }: EmptyStateProps) {
  return (
    <div className={classNames('grid h-full place-items-center p-24', className)}>
      <div className="flex max-w-320 flex-col items-center text-center">
        {Icon && <Icon size={20} strokeWidth={1.5} aria-hidden className="mb-10 text-faint" />}
        <p className="text-13 font-medium text-ink">{title}</p>
        {detail && <p className="mt-4 text-12 text-balance text-muted">{detail}</p>}
        {action && <div className="mt-16 flex gap-8">{action}</div>}
      </div>
    </div>
  )
}
