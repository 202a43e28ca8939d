import { Layers } from 'lucide-react'
import type { GroupRow as Group } from '../rows.ts'
import { groupPage } from '../rows.ts'
import { activityCounts } from '../tools.ts'
import { Button } from '../../ui/button.tsx'
import { counted } from '../amounts.ts'
import { Disclosure } from './disclosure.tsx'

/** Many activities behind one line (S-61): how many of each kind, and which of them failed. */
export function GroupRow({ row, onToggle }: { row: Group; onToggle: (shown: number) => void }) {
  const { text, failed } = activityCounts(row.items)
  const open = row.shown > 0
  const left = row.items.length - row.shown
  return (
    <div>
      <Disclosure
        open={open}
        onToggle={() => onToggle(open ? 0 : groupPage)}
        icon={<Layers size={14} strokeWidth={1.75} aria-hidden />}
      >
        <span className="min-w-0 truncate">
          {row.running ? 'So far: ' : ''}
          {text}
        </span>
        {failed.length > 0 && (
          <span className="ml-auto max-w-240 shrink-0 truncate text-11 text-failed">
            {failed.length === 1 ? 'Failed: ' : `${failed.length} failed: `}
            {failed.join(', ')}
          </span>
        )}
      </Disclosure>
      {open && left > 0 && (
        <Button size="small" variant="ghost" className="ml-8" onClick={() => onToggle(row.shown + groupPage)}>
          {counted(left, 'more', 'more')}
        </Button>
      )}
    </div>
  )
}
