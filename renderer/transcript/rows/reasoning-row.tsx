import { Brain } from 'lucide-react'
import { Duration } from '../../ui/duration.tsx'
import { durationText } from '../../ui/time-text.ts'
import { Markdown } from '../markdown.tsx'
import type { RowOf } from '../rows.ts'
import { thought } from '../thought.ts'
import { Disclosure } from './disclosure.tsx'

/** A span of thinking: while it goes on its last lines, afterwards its title (S-60). */
export function ReasoningRow({
  row: { item },
  open,
  onToggle,
}: {
  row: RowOf<'reasoning'>
  open: boolean
  onToggle: () => void
}) {
  const live = item.status === 'live'
  const { title, body } = thought(item, live)
  return (
    <div>
      <Disclosure open={open} onToggle={() => onToggle()} icon={<Brain size={14} strokeWidth={1.75} aria-hidden />}>
        <span className="min-w-0 truncate">
          {live ? 'Thinking' : 'Thought'}
          {title && <span className="text-faint"> · {title}</span>}
        </span>
        <span className="ml-auto shrink-0 text-11 text-faint">
          {live ? (
            <Duration from={item.createdAt} />
          ) : item.endedAt !== null && item.endedAt - item.createdAt >= 1_000 ? (
            durationText(item.endedAt - item.createdAt)
          ) : null}
        </span>
      </Disclosure>
      {open && body !== '' && (
        <div className="my-4 ml-8 border-l border-line pl-16 [&_.prose]:text-[0.8125rem] [&_.prose]:text-muted">
          <Markdown text={body} live={live} />
        </div>
      )}
      {live && !open && item.text !== '' && (
        <p
          aria-hidden
          className="my-2 ml-8 flex max-h-60 flex-col justify-end overflow-hidden border-l border-line pl-16 text-12 leading-20 whitespace-pre-wrap text-faint"
        >
          <span>{item.text.slice(-600).trimStart()}</span>
        </p>
      )}
    </div>
  )
}
