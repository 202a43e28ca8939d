import { Combine } from 'lucide-react'
import { compactionExcerptChars } from '../../../preload/contract/limits.ts'
import type { ItemOf } from '../../../preload/contract/items.ts'
import { tokensText } from '../amounts.ts'
import { Markdown } from '../markdown.tsx'
import type { RowOf } from '../rows.ts'
import { Shown } from '../shown.tsx'
import { Disclosure } from './disclosure.tsx'

const reasons: Record<ItemOf<'compaction'>['reason'], string> = {
  before_turn: 'before a turn',
  in_turn: 'during a turn',
  after_settle: 'after a turn',
  manual: 'at your request',
}

/** Where older turns end for the model: a divider, the beginning of the summary, all of it on demand (S-62, C-71). */
export function CompactionRow({
  row: { item },
  open,
  onToggle,
}: {
  row: RowOf<'compaction'>
  open: boolean
  onToggle: () => void
}) {
  const rule = <span aria-hidden className="h-1 min-w-16 grow bg-line" />
  return (
    <section aria-label="Context compacted" className="my-12">
      <div className="flex items-center gap-12">
        {rule}
        <Disclosure open={open} onToggle={() => onToggle()} icon={<Combine size={14} strokeWidth={1.75} aria-hidden />}>
          <span>Context compacted</span>
          <span className="figures text-12 text-faint">
            {tokensText(item.tokensBefore)} to {tokensText(item.tokensAfter)} tokens
          </span>
        </Disclosure>
        {rule}
      </div>
      {open ? (
        <div className="mx-auto mt-4 max-w-600 rounded-8 border border-line bg-sunken px-16 py-10 [&_.prose]:text-[0.8125rem] [&_.prose]:text-muted [&_h2]:mt-12! [&_h2]:text-13!">
          <p className="mb-8 text-11 text-faint">
            Made {reasons[item.reason]},{' '}
            {item.model === null ? (
              'without a model: what is known is listed'
            ) : (
              <>
                by <Shown text={item.model} />
              </>
            )}
            . The model is given this in place of everything above; the transcript stays as it is.
          </p>
          <Markdown text={item.summary} live={false} />
        </div>
      ) : (
        <p className="mx-auto mt-2 line-clamp-2 max-w-600 text-center text-12 text-faint">
          <Shown text={excerpt(item.summary)} />
        </p>
      )}
    </section>
  )
}

/** The beginning without marks of structure. */
function excerpt(summary: string): string {
  const plain = summary
    .replace(/^#+\s.*$/gm, ' ')
    .replace(/^\s*(?:[-+*]|\d+\.)\s+/gm, ' ')
    .replace(/[*_`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.length > compactionExcerptChars ? `${plain.slice(0, compactionExcerptChars)}…` : plain
}
