import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

const tones = {
  neutral: 'bg-pressed text-muted',
  accent: 'bg-accent-soft text-accent-ink',
  running: 'bg-running-soft text-running',
  needs: 'bg-needs-soft text-needs',
  failed: 'bg-failed-soft text-failed',
  ok: 'bg-ok-soft text-ok',
  note: 'bg-note-soft text-note',
}

export type Tone = keyof typeof tones

/** A short word or count. The tone repeats what the words say and never says it alone (S-150). */
export function Badge({
  tone = 'neutral',
  className,
  children,
}: {
  tone?: Tone | undefined
  className?: string | undefined
  children: ReactNode
}) {
  return (
    <span
      className={classNames(
        'figures inline-flex h-16 min-w-16 shrink-0 items-center justify-center gap-4 rounded-4 px-4 text-11 font-medium whitespace-nowrap',
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  )
}
