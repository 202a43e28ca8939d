import { Fragment, memo } from 'react'
import { shownParts } from './shown-text.ts'

/** Text from outside, its direction isolated, each invisible character a mark that can be seen and heard (Z-200). */
export const Shown = memo(function Shown({ text, className }: { text: string; className?: string | undefined }) {
  return (
    <bdi className={className}>
      {shownParts(text).map((part, index) =>
        'text' in part ? (
          <Fragment key={index}>{part.text}</Fragment>
        ) : (
          <span
            key={index}
            title={part.code}
            className="mx-1 rounded-4 border border-needs/50 bg-needs-soft px-2 font-mono text-[0.85em] text-needs select-none"
          >
            {part.mark}
          </span>
        ),
      )}
    </bdi>
  )
})
