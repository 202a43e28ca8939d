import { fuzzyMatch } from '../app/fuzzy.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Marked } from '../search/marked.tsx'

/** A path with its name first and its folder after it, what was typed marked. */
export function FoundPath({ path, query }: { path: string; query: string }) {
  const cut = path.lastIndexOf('/') + 1
  const name = shownText(path.slice(cut))
  const folder = shownText(path.slice(0, Math.max(0, cut - 1)))
  const inName = fuzzyMatch(name, query)
  return (
    <span className="flex min-w-0 items-baseline gap-8">
      <bdi className="shrink-0">
        <Marked text={name} ranges={inName?.ranges ?? []} />
      </bdi>
      <bdi className="min-w-0 truncate text-11 text-faint">{folder}</bdi>
    </span>
  )
}
