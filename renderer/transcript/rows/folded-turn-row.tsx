import { History, Workflow } from 'lucide-react'
import { durationText } from '../../ui/time-text.ts'
import { foldedWords } from '../outcome.ts'
import type { RowOf } from '../rows.ts'
import { Shown } from '../shown.tsx'
import { Disclosure } from './disclosure.tsx'

/** A turn that was tried again, or that had nothing to report, in one line (T-179, A-117). */
export function FoldedTurnRow({ row: { turn, open }, onToggle }: { row: RowOf<'foldedTurn'>; onToggle: () => void }) {
  const Icon = turn.ending === 'quiet' ? Workflow : History
  return (
    <div className="mt-16 py-2">
      <Disclosure open={open} onToggle={onToggle} icon={<Icon size={14} strokeWidth={1.75} aria-hidden />}>
        <span className="min-w-0 truncate">
          <Shown text={foldedWords(turn)} />
        </span>
        {turn.durationMs !== null && (
          <span className="figures ml-auto text-11 text-faint">{durationText(turn.durationMs)}</span>
        )}
      </Disclosure>
    </div>
  )
}
