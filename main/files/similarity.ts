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
    .map((name) => ({ name, score: likeness(low, name.toLowerCase()) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** Letters that were swapped or missed weigh little in a short name; one name inside the other counts as close. */
function likeness(a: string, b: string): number {
  const contained = a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a)) ? 0.5 : 0
  const letters = Math.max(a.length, b.length) <= 24 ? 1 - slips(a, b) / Math.max(a.length, b.length) : 0
  return Math.max(contained, letters, similarity(a, b))
}

/** Letters added, left out, replaced or swapped with the next one on the way from one name to the other. */
function slips(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? older[j - 2]! + 1 : Infinity
      row.push(Math.min(old[j - 1]! + same, old[j]! + 1, row[j - 1]! + 1, swap))
    }
    ;[older, old] = [old, row]
  }
  return old[b.length]!
}
