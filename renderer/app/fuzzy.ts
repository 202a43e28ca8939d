/** Fuzzy matching for palettes and lists: the letters in order, better where they are whole words, runs and beginnings. */
export interface Match {
  score: number
  /** What matched, as `[from, to)` in UTF-16 units, ascending. */
  ranges: [number, number][]
}

const boundary = /[\s/\\._\-:]/

/** Null where a word of the query is not in the text. An empty query matches everything with score 0. */
export function fuzzyMatch(text: string, query: string): Match | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = text.toLowerCase()
  let score = 0
  const hit = new Set<number>()
  for (const word of words) {
    const found = matchWord(text, lower, word)
    if (!found) return null
    score += found.score
    for (const at of found.at) hit.add(at)
  }
  return { score: score - text.length * 0.01, ranges: toRanges([...hit].sort((a, b) => a - b)) }
}

function matchWord(text: string, lower: string, word: string): { score: number; at: number[] } | null {
  const whole = bestWhole(lower, word)
  if (whole >= 0) {
    const starts = whole === 0 || boundary.test(text[whole - 1] ?? '')
    return {
      score: word.length * 4 + (starts ? 12 : 0) + (whole === 0 ? 6 : 0),
      at: Array.from({ length: word.length }, (_, index) => whole + index),
    }
  }
  const at: number[] = []
  let score = 0
  let from = 0
  for (const letter of word) {
    const next = lower.indexOf(letter, from)
    if (next < 0) return null
    const starts =
      next === 0 ||
      boundary.test(text[next - 1] ?? '') ||
      (text[next] !== lower[next] && text[next - 1] === lower[next - 1])
    score += 1 + (next === from && from > 0 ? 2 : 0) + (starts ? 3 : 0)
    at.push(next)
    from = next + 1
  }
  return { score, at }
}

/** The occurrence that begins a word, else the last one (file names stand at the end of their paths). */
function bestWhole(lower: string, word: string): number {
  let best = -1
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (at === 0 || boundary.test(lower[at - 1] ?? '')) return at
    best = at
  }
  return best
}

function toRanges(at: number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const index of at) {
    const last = ranges.at(-1)
    if (last && last[1] === index) last[1] = index + 1
    else ranges.push([index, index + 1])
  }
  return ranges
}

/** The best `limit` of `candidates` for a query, best first; equal scores keep the order they came in. */
export function fuzzyRank<T>(
  candidates: readonly T[],
  query: string,
  text: (candidate: T) => string,
  limit: number,
): { candidate: T; match: Match }[] {
  const found: { candidate: T; match: Match }[] = []
  for (const candidate of candidates) {
    const match = fuzzyMatch(text(candidate), query)
    if (match) found.push({ candidate, match })
  }
  if (query.trim() !== '') found.sort((a, b) => b.match.score - a.match.score)
  return found.slice(0, limit)
}
