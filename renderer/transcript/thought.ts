import type { ItemOf } from '../../preload/contract/items.ts'

const headingCharsMax = 120

/** The line that names a thought, and what it says beside that: a title is not said twice. */
export function thought(
  { title, text }: Pick<ItemOf<'reasoning'>, 'title' | 'text'>,
  live: boolean,
): { title: string; body: string } {
  const first = /^\s*(?:#+[ \t]+)?(?:\*\*)?(.+?)(?:\*\*)?[ \t]*(?:\n|$)/.exec(text)
  const line = first?.[1] ?? ''
  const rest = text.slice(first?.[0].length ?? 0).replace(/^\n+/, '')
  if (title != null) return { title, body: line === title ? rest : text }
  if (live) return { title: '', body: text }
  // A long line is a sentence of the thought: it stays where it is, its beginning names it.
  return line.length <= headingCharsMax
    ? { title: line, body: rest }
    : { title: `${line.slice(0, headingCharsMax)}…`, body: text }
}
