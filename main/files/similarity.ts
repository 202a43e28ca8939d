/** How alike two texts are: for close names and for the place an edit probably meant. */

/** Dice's coefficient over pairs of characters: 1 for equal texts, 0 for nothing in common. Linear in their length. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1
  if (a.length < 2 || b.length < 2) return 0
  const pairs = new Map<string, number>()
  for (let at = 0; at < a.length - 1; at++) {
    const pair = a.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let at = 0; at < b.length - 1; at++) {
    const pair = b.slice(at, at + 2)
    const left = pairs.get(pair) ?? 0
    if (left > 0) {
      shared++
      pairs.set(pair, left - 1)
    }
  }
  return (2 * shared) / (a.length + b.length - 2)
}

/** The names most like the wanted one, best first, without those that are not like it at all. */
export function closeNames(wanted: string, names: readonly string[], limit: number): string[] {
  const low = wanted.toLowerCase()
  return names
    .map((name) => ({ name, score: Math.max(similarity(low, name.toLowerCase()), contained(low, name.toLowerCase())) }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** One name inside the other counts as close even where the lengths differ much. */
function contained(a: string, b: string): number {
  return a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a)) ? 0.5 : 0
}
