import { History } from 'lucide-react'
import { durationText } from '../../ui/time-text.ts'
import { outcomeWords } from '../outcome.ts'
import type { RowOf } from '../rows.ts'
import { Disclosure } from './disclosure.tsx'

/** A turn that was tried again, in one line (T-179). */
export function AttemptRow({ row: { turn, open }, onToggle }: { row: RowOf<'attempt'>; onToggle: () => void }) {
  return (
    <div className="mt-16 py-2">
      <Disclosure open={open} onToggle={onToggle} icon={<History size={14} strokeWidth={1.75} aria-hidden />}>
        <span className="min-w-0 truncate">
          Earlier attempt <span className="text-faint">· {outcomeWords(turn).toLowerCase()}</span>
        </span>
        {turn.durationMs !== null && (
          <span className="figures ml-auto text-11 text-faint">{durationText(turn.durationMs)}</span>
        )}
      </Disclosure>
    </div>
  )
}
