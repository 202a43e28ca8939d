import { RotateCw } from 'lucide-react'
import { classNames } from '../ui/class-names.ts'
import type { Loading } from '../state/session-state.ts'
import { Button } from '../ui/button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { counted } from './amounts.ts'

const words = { older: ['older entry', 'older entries'], newer: ['newer entry', 'newer entries'] } as const

/** At an edge of what is held: how many entries there are beyond it. They load as one comes near. */
export function MoreEntries({
  which,
  state,
  count,
  onRetry,
}: {
  which: 'older' | 'newer'
  state: Loading
  count: number
  onRetry: () => void
}) {
  const [one, many] = words[which]
  return (
    <div
      className={classNames(
        'absolute inset-x-0 flex h-24 items-center justify-center gap-8 text-11 text-faint',
        which === 'older' ? 'top-0' : 'bottom-0',
      )}
    >
      {state === 'failed' ? (
        <>
          The {many} could not be loaded.
          <Button size="small" variant="ghost" className="h-20!" onClick={onRetry}>
            <RotateCw size={12} strokeWidth={1.75} aria-hidden /> Try again
          </Button>
        </>
      ) : (
        <>
          {state === 'loading' && <Spinner size={11} />} {counted(count, one, many)}
        </>
      )}
    </div>
  )
}
