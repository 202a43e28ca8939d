import { classNames } from './class-names.ts'
import { useTime } from './clock.ts'
import { durationText } from './time-text.ts'

type DurationProps = {
  /** Epoch milliseconds. */
  from: number
  /** When it ended; left out while it goes on. */
  to?: number | undefined
  className?: string | undefined
}

/** A running clock, or how long something took. Only its own text is drawn again as time passes. */
export function Duration({ from, to, className }: DurationProps) {
  const text = useTime((now) => durationText((to ?? now) - from), to === undefined)
  return (
    <time role="timer" aria-live="off" className={classNames('figures whitespace-nowrap', className)}>
      {text}
    </time>
  )
}
