import { CopyButton } from '../copy-button.tsx'
import { Markdown } from '../markdown.tsx'
import type { RowOf } from '../rows.ts'

/** What the agent says. */
export function TextRow({ row: { item } }: { row: RowOf<'text'> }) {
  const live = item.status === 'live'
  return (
    <div className="group/text relative py-8">
      <Markdown text={item.text} live={live} />
      {!live && item.final && (
        <div className="mt-4 -ml-6 opacity-0 transition-opacity group-focus-within/text:opacity-100 group-hover/text:opacity-100">
          <CopyButton text={item.text} label="Copy answer" />
        </div>
      )}
    </div>
  )
}
