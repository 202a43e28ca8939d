/** Text with what was found in it marked. Ranges are `[from, to)` in UTF-16 units, ascending. */
export function Marked({ text, ranges }: { text: string; ranges: readonly (readonly [number, number])[] }) {
  if (ranges.length === 0) return text
  const parts = []
  let at = 0
  for (const [from, to] of ranges) {
    if (from < at || to > text.length) continue
    if (from > at) parts.push(text.slice(at, from))
    parts.push(
      <mark key={from} className="bg-transparent font-semibold text-accent-ink">
        {text.slice(from, to)}
      </mark>,
    )
    at = to
  }
  parts.push(text.slice(at))
  return <>{parts}</>
}
