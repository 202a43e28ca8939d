/** What a search hit shows of its message: the words as they read, without the marks of Markdown. Pure. */
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'

type Range = [number, number]

/** Marks of Markdown that are not read: emphasis, code, headings, quotes, list points, rules of tables, targets of links. */
const marks =
  /\*\*|~~|`+|^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+|^[ \t]*\|?(?:[ \t]*:?-{3,}:?[ \t]*\|?)+[ \t]*$|!?\[(?=[^\]\n]*\]\([^)\s]*\))|(?<=\[[^\]\n]*)\]\([^)\s]*\)/gm

/** The snippet of a hit without what is not read, on one line; the ranges still cover the same words. */
export function readSnippet({ kind, snippet, ranges }: Pick<SearchHit, 'kind' | 'snippet' | 'ranges'>): {
  text: string
  ranges: Range[]
} {
  const cuts =
    kind === 'text' ? [...snippet.matchAll(marks)].map(({ index, 0: cut }): Range => [index, index + cut.length]) : []
  const place = (at: number) => cuts.reduce((now, [from, to]) => now - Math.max(0, Math.min(at, to) - from), at)
  let text = ''
  let from = 0
  for (const [start, end] of cuts) {
    text += snippet.slice(from, start)
    from = end
  }
  text += snippet.slice(from)
  return {
    // One character for one, so that the ranges stay.
    text: text.replaceAll(/\s/g, ' '),
    ranges: ranges.map(([start, end]): Range => [place(start), place(end)]).filter(([start, end]) => end > start),
  }
}

/** The words of a hit that were found, to be marked where it opens. */
export function foundWords({ snippet, ranges }: Pick<SearchHit, 'snippet' | 'ranges'>): string[] {
  return [...new Set(ranges.map(([start, end]) => snippet.slice(start, end).toLowerCase()))]
}
