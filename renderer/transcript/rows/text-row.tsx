import { CopyButton } from '../copy-button.tsx'
import { Markdown } from '../markdown.tsx'
import type { RowOf } from '../rows.ts'
import { ShowMore, useWholeText } from '../show-more.tsx'

/** What the agent says. */
export function TextRow({ row: { item } }: { row: RowOf<'text'> }) {
  const live = item.status === 'live'
  const whole = useWholeText(item)
  return (
    <div className="group/text relative py-10">
      <Markdown text={item.text} live={live} />
      <ShowMore item={item} />
      {!live && (
        <CopyButton
          text={whole}
          label="Copy answer"
          className="absolute top-8 -right-6 bg-canvas opacity-0 group-hover/text:opacity-100 focus-visible:opacity-100"
        />
      )}
    </div>
  )
}
