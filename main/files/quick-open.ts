/** Ranks paths for quick open and `@` mentions: the letters of the query in order, best where they begin words (F-819). */
import { setImmediate } from 'node:timers/promises'
import { comparePaths } from './file-search.ts'

/** Paths in path order, each with what ranking needs of it, made once: files come and go one by one (F-1112). */
export class PathList {
  readonly #paths: string[] = []
  readonly #low: string[] = []
  readonly #letters: number[] = []

  /** Of paths that are in order; gives way to other work meanwhile. */
  static async of(paths: readonly string[]): Promise<PathList> {
    const list = new PathList()
    let until = performance.now() + workMs
    for (const [at, path] of paths.entries()) {
      list.#insert(at, path)
      if (at % 512 !== 0 || performance.now() < until) continue
      await setImmediate()
      until = performance.now() + workMs
    }
    return list
  }

  get length(): number {
    return this.#paths.length
  }

  has(path: string): boolean {
    return this.#paths[this.#placeOf(path)] === path
  }

  /** Whether a path begins with this one, which ends in `/`. */
  holdsBelow(folder: string): boolean {
    return this.#paths[this.#placeOf(folder)]?.startsWith(folder) ?? false
  }

  add(path: string): void {
    const at = this.#placeOf(path)
    if (this.#paths[at] !== path) this.#insert(at, path)
  }

  delete(path: string): void {
    const at = this.#placeOf(path)
    if (this.#paths[at] === path) this.#cut(at, 1)
  }

  /** Takes out all paths that begin with this one, which ends in `/`. */
  deleteBelow(folder: string): void {
    const at = this.#placeOf(folder)
    const others = this.#paths.findIndex((path, index) => index >= at && !path.startsWith(folder))
    const count = (others === -1 ? this.#paths.length : others) - at
    if (count > 0) this.#cut(at, count)
  }

  first(count: number): string[] {
    return this.#paths.slice(0, count)
  }

  /** Tells those that fit `wanted` (lower case, no blanks), and how well. */
  eachFitting(wanted: string, tell: (path: string, score: number) => void): void {
    const needed = lettersOf(wanted)
    for (let at = 0; at < this.#paths.length; at++) {
      if ((this.#letters[at]! & needed) !== needed) continue
      const path = this.#paths[at]!
      const score = scoreOf(path, this.#low[at]!, wanted)
      if (score > -Infinity) tell(path, score)
    }
  }

  #insert(at: number, path: string): void {
    const low = path.toLowerCase()
    put(this.#paths, at, path)
    put(this.#low, at, low)
    put(this.#letters, at, lettersOf(low))
  }

  #cut(at: number, count: number): void {
    for (const column of [this.#paths, this.#low, this.#letters]) column.splice(at, count)
  }

  /** Where it stands, or would. */
  #placeOf(path: string): number {
    let [from, to] = [0, this.#paths.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (comparePaths(this.#paths[middle]!, path) < 0) from = middle + 1
      else to = middle
    }
    return from
  }
}

function put<T>(column: T[], at: number, value: T): void {
  if (at === column.length) column.push(value)
  else column.splice(at, 0, value)
}

const workMs = 5
/** A file used lately counts as much more: the newest of them so much, the others less and less. */
const recentBonus = 15

/**
 * The best paths for a query, at most `limit`. Letters must come in order; held together, in the name, at word starts
 * they count more, shorter paths before longer, and those of `recent`, the newest first, before what fits as well (S-111).
 */
export function rankPaths(
  lists: readonly PathList[],
  query: string,
  limit: number,
  recent: readonly string[] = [],
): string[] {
  const wanted = query.toLowerCase().replace(/[\s\\]+/g, '')
  if (wanted === '') {
    const used = recent.filter((path) => lists.some((list) => list.has(path)))
    const others = lists.flatMap((list) => list.first(limit + used.length))
    return [...new Set([...used, ...others])].slice(0, limit)
  }
  const bonus = new Map(recent.map((path, at) => [path, recentBonus * (1 - at / (3 * recent.length))]))
  let best: Found[] = []
  let index = 0
  const take = (path: string, fit: number): void => {
    const score = fit + (bonus.get(path) ?? 0)
    index++
    if (best.length >= limit && score <= best[limit - 1]!.score) return
    best.push({ path, index, score })
    if (best.length >= 2 * limit) best = firstOf(best, limit)
  }
  for (const list of lists) list.eachFitting(wanted, take)
  return firstOf(best, limit).map(({ path }) => path)
}

type Found = { path: string; index: number; score: number }

/** The folders that paths in order lie in, ending in `/`, in order. */
export function foldersOf(paths: readonly string[]): string[] {
  const folders: string[] = []
  const known = new Set<string>()
  for (const path of paths) {
    const found: string[] = []
    // Up to the first folder that is known already: those it lies in are too.
    for (const folder of foldersAbove(path)) {
      if (known.has(folder)) break
      known.add(folder)
      found.push(folder)
    }
    folders.push(...found.reverse())
  }
  return folders
}

/** The folders a path lies in, innermost first. */
export function* foldersAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1))
    yield path.slice(0, at + 1)
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

/** Equal scores keep the order they were found in. */
function firstOf(found: Found[], limit: number): Found[] {
  return found.sort((a, b) => b.score - a.score || a.index - b.index).slice(0, limit)
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
  // What was typed whole is meant, whatever else was used lately.
  if (low === wanted) return score + 8 * wanted.length + 30 + 2 * recentBonus
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
