/** Ranks paths for quick open and `@` mentions: the letters of the query in order, best where they begin words (F-819). */

/** Of each path once: in lower case, and which letters and digits it holds at all. */
type Prepared = { low: string[]; letters: Uint32Array }

const prepared = new WeakMap<readonly string[], Prepared>()

/**
 * The best paths for a query, at most `limit`. Letters must come in order; held together, in the name, at word starts
 * they count more, and shorter paths before longer. Give the same list again: what is made of it once is kept with it.
 */
export function rankPaths(paths: readonly string[], query: string, limit: number): string[] {
  const wanted = query.toLowerCase().replace(/[\s\\]+/g, '')
  if (wanted === '') return paths.slice(0, limit)
  const { low, letters } = prepare(paths)
  const needed = lettersOf(wanted)
  let best: { index: number; score: number }[] = []
  for (let index = 0; index < paths.length; index++) {
    if ((letters[index]! & needed) !== needed) continue
    const score = scoreOf(paths[index]!, low[index]!, wanted)
    if (score === -Infinity || (best.length >= limit && score <= best[limit - 1]!.score)) continue
    best.push({ index, score })
    if (best.length >= 2 * limit) best = firstOf(best, limit)
  }
  return firstOf(best, limit).map(({ index }) => paths[index]!)
}

const foldered = new WeakMap<readonly string[], readonly string[]>()

/** The paths and the folders they lie in, which end in `/`; of the same list the same answer. */
export function withFolders(paths: readonly string[]): readonly string[] {
  const known = foldered.get(paths)
  if (known) return known
  const folders = new Set<string>()
  for (const path of paths) {
    // Up to the first folder that is known already: its own are too.
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at + 1)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  const all = [...paths, ...folders]
  foldered.set(paths, all)
  return all
}

function prepare(paths: readonly string[]): Prepared {
  let known = prepared.get(paths)
  if (!known) {
    const low = paths.map((path) => path.toLowerCase())
    prepared.set(paths, (known = { low, letters: Uint32Array.from(low, lettersOf) }))
  }
  return known
}

/** A bit for each letter; digits share the bits above them. */
function lettersOf(text: string): number {
  let bits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 97 && code <= 122) bits |= 1 << (code - 97)
    else if (code >= 48 && code <= 57) bits |= 1 << (26 + ((code - 48) % 5))
  }
  return bits
}

/** Equal scores keep the order of the list. */
function firstOf<T extends { index: number; score: number }>(scored: T[], limit: number): T[] {
  return scored.sort((a, b) => b.score - a.score || a.index - b.index).slice(0, limit)
}

/** Walks from the end, so that letters are found in the name before they are found in a folder. */
function scoreOf(path: string, low: string, wanted: string): number {
  let score = -path.length / 100
  let letter = wanted.length - 1
  let last = low.length
  let inName = true
  for (let at = low.length - 1; at >= 0 && letter >= 0; at--) {
    const code = low.charCodeAt(at)
    if (code === 47 /* / */) inName = false
    if (code !== wanted.charCodeAt(letter)) continue
    score += (at === last - 1 ? 3 : 0) + (inName ? 2 : 0) + (startsWord(path, at) ? 3 : 0)
    last = at
    letter--
  }
  if (letter >= 0) return -Infinity
  const whole = low.lastIndexOf(wanted)
  if (whole === -1) return score
  const nameAt = low.lastIndexOf('/') + 1
  return score + 8 * wanted.length + (whole >= nameAt ? 20 : 0) + (startsWord(path, whole) ? 10 : 0)
}

function startsWord(path: string, at: number): boolean {
  if (at === 0) return true
  const before = path.charCodeAt(at - 1)
  const isLower = before >= 97 && before <= 122
  if (!isLower) return !(before >= 65 && before <= 90) && !(before >= 48 && before <= 57)
  const here = path.charCodeAt(at)
  return here >= 65 && here <= 90
}
