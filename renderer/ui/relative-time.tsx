import { classNames } from './class-names.ts'
import { useTime } from './clock.ts'
import { agoText } from './time-text.ts'

/** How long ago `at` (epoch milliseconds) was, kept current; the exact time is in its title. */
export function RelativeTime({ at, className }: { at: number; className?: string | undefined }) {
  const text = useTime((now) => agoText(at, now))
  const date = new Date(at)
  return (
    <time
      dateTime={date.toISOString()}
      title={date.toLocaleString()}
      className={classNames('figures whitespace-nowrap', className)}
    >
      {text}
    </time>
  )
}
