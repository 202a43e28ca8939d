/** Ranks paths for quick open and `@` mentions: the letters of the query in order, best where they begin words (F-819). */

/** Letters in order match; a path that holds them closer together, at word starts, in its name, or is shorter, is first. */
export function rankPaths(paths: readonly string[], query: string, limit: number): string[] {
  const wanted = query.toLowerCase().replace(/[\s\\]+/g, '')
  if (wanted === '') return paths.slice(0, limit)
  let best: { path: string; score: number }[] = []
  for (const path of paths) {
    const score = scoreOf(path, wanted)
    if (score === -Infinity || (best.length >= limit && score < best[limit - 1]!.score)) continue
    best.push({ path, score })
    if (best.length >= 2 * limit) best = firstOf(best, limit)
  }
  return firstOf(best, limit).map(({ path }) => path)
}

function firstOf(scored: { path: string; score: number }[], limit: number): { path: string; score: number }[] {
  return scored
    .sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
}

/** Walks from the end, so that letters are found in the name before they are found in a folder. */
function scoreOf(path: string, wanted: string): number {
  const low = path.toLowerCase()
  const nameAt = low.lastIndexOf('/') + 1
  const whole = low.lastIndexOf(wanted)
  let score = -path.length / 100
  if (whole !== -1)
    return (
      score +
      10 * wanted.length +
      (whole >= nameAt ? 20 : 0) +
      (whole === nameAt ? 10 : 0) +
      (startsWord(path, whole) ? 5 : 0)
    )
  let next = low.length
  for (let letter = wanted.length - 1; letter >= 0; letter--) {
    const at = next === 0 ? -1 : low.lastIndexOf(wanted[letter]!, next - 1)
    if (at === -1) return -Infinity
    if (at === next - 1) score += 3
    if (at >= nameAt) score += 2
    if (startsWord(path, at)) score += 3
    next = at
  }
  return score
}

function startsWord(path: string, at: number): boolean {
  if (at === 0 || /[/._ -]/.test(path[at - 1]!)) return true
  return /[a-z]/.test(path[at - 1]!) && /[A-Z]/.test(path[at]!)
}
