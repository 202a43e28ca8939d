/** Files by name, glob and type (F-801 to F-807), and the list behind quick open (F-819). */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { belowRoot } from './below-root.ts'
import { parseGlob } from './glob.ts'
import { notFound, type FilePath } from './paths.ts'
import { shownBelow, type SearchProgram } from './search-program.ts'

export type FileQuery = {
  root: FilePath
  query?: string | undefined
  glob?: string | undefined
  type?: string | undefined
  includeDirs: boolean
  noIgnore: boolean
  sort: 'path' | 'modified'
  /** 0 is all. */
  limit: number
  offset: number
}

export type FoundFiles = {
  /** As shown; folders end in `/`. */
  entries: string[]
  /** There are more after these, from `offset` on. */
  nextOffset: number | null
  /** Time or the number of entries ran out; in path order only. */
  incomplete: boolean
  unreadable: number
}

const searchTimeMs = 10_000
const listedMax = 500_000
const statsAtOnce = 64
/** More entries than fit into any reply. */
const allMax = 16_000

export async function findFiles(
  program: SearchProgram,
  query: FileQuery,
  signal: AbortSignal,
  deadline = performance.now() + searchTimeMs,
): Promise<FoundFiles> {
  const { root, sort, offset } = query
  if (root.kind === 'missing') throw await notFound(root)
  if (query.type !== undefined) await program.checkType(query.type, signal)
  const fits = filterOf(query)
  const limit = query.limit === 0 ? allMax : query.limit

  const found: string[] = []
  let listed = 0
  const folders = query.includeDirs && query.type === undefined && root.kind === 'folder' ? new FolderTrail() : null
  const keep = (below: string, folder: boolean): void => {
    if (fits(below, folder)) found.push(folder ? `${below}/` : below)
  }
  const end = await program.names({
    root,
    args: [...(sort === 'path' ? ['--sort', 'path'] : []), ...(query.type === undefined ? [] : ['--type', query.type])],
    noIgnore: query.noIgnore,
    deadline,
    signal,
    onName(name) {
      const below = belowRoot(name)
      for (const folder of folders?.enter(below) ?? []) keep(folder, true)
      keep(below, false)
      return ++listed < listedMax && (sort === 'modified' || found.length <= offset + limit)
    },
  })
  const incomplete = end.cut === 'time' || listed >= listedMax
  if (sort === 'modified') {
    if (incomplete)
      throw new LatheError('search.budget', 'There are too many files to sort by time.', {
        hint: 'Narrow path, query, glob or type, or sort by path.',
      })
    const newest = await newestFirst(root, found, { keep: offset + limit + 1, deadline, signal })
    return pageOf(newest, root, offset, limit, false, end.unreadable)
  }
  return pageOf(found, root, offset, limit, incomplete, end.unreadable)
}

/** All paths below a folder for quick open, in path order, at most `limit`. */
export async function listFiles(
  program: SearchProgram,
  root: FilePath,
  limit: number,
  signal: AbortSignal,
): Promise<{ paths: string[]; truncated: boolean }> {
  const paths: string[] = []
  const end = await program.names({
    root,
    args: ['--sort', 'path'],
    noIgnore: false,
    deadline: performance.now() + 3 * searchTimeMs,
    signal,
    onName: (name) => paths.push(belowRoot(name)) < limit,
  })
  return { paths, truncated: end.cut !== 'no' }
}

function pageOf(
  found: readonly string[],
  root: FilePath,
  offset: number,
  limit: number,
  incomplete: boolean,
  unreadable: number,
): FoundFiles {
  const entries = found
    .slice(offset, offset + limit)
    .map((below) => (below === './' ? `${root.shown}/` : shownBelow(root, below)))
  return {
    entries,
    nextOffset: found.length > offset + entries.length ? offset + entries.length : null,
    incomplete,
    unreadable,
  }
}

/** Words in the shown path, and the glob on the path below the root or the bare name: all must hold (F-801). */
function filterOf({ root, query, glob }: FileQuery): (below: string, folder: boolean) => boolean {
  const words =
    query
      ?.toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '') ?? []
  const pattern = glob === undefined || glob.trim() === '' ? null : parseGlob(glob)
  return (below) => {
    const shown = shownBelow(root, below).toLowerCase()
    return words.every((word) => shown.includes(word)) && (pattern === null || pattern.matches(below))
  }
}

/** Folders on the way to each file, each once, outermost first (F-803). */
class FolderTrail {
  readonly #seen = new Set<string>()

  enter(file: string): string[] {
    const fresh: string[] = []
    for (let at = file.lastIndexOf('/'); at !== -1; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at)
      if (this.#seen.has(folder)) break
      this.#seen.add(folder)
      fresh.unshift(folder)
      if (at === 0) break
    }
    if (!this.#seen.has('.')) {
      this.#seen.add('.')
      fresh.unshift('.')
    }
    return fresh
  }
}

/** By time of change, newest first; equal times by path, unreadable ones last (F-804). Only the first `keep` are kept. */
export async function newestFirst(
  root: FilePath,
  found: readonly string[],
  { keep, deadline, signal }: { keep: number; deadline: number; signal: AbortSignal },
): Promise<string[]> {
  let best: { below: string; time: bigint }[] = []
  const prune = (): void => {
    best = best
      .sort((a, b) => (a.time === b.time ? comparePaths(a.below, b.below) : a.time > b.time ? -1 : 1))
      .slice(0, keep)
  }
  for (let at = 0; at < found.length; at += statsAtOnce) {
    signal.throwIfAborted()
    if (performance.now() > deadline)
      throw new LatheError('search.budget', 'There are too many files to sort by time.', {
        hint: 'Narrow path, query, glob or type.',
      })
    const timed = found.slice(at, at + statsAtOnce).map(async (below) => {
      const stats = await lstat(root.kind === 'folder' ? join(root.real, below) : root.real, { bigint: true }).catch(
        () => null,
      )
      return { below, time: stats?.mtimeNs ?? -1n }
    })
    best.push(...(await Promise.all(timed)))
    if (best.length > 2 * keep + statsAtOnce) prune()
  }
  prune()
  return best.map(({ below }) => below)
}

/** Segment by segment, by code point (F-804). */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    if (left[at] !== right[at]) return compareByCodePoint(left[at]!, right[at]!)
  }
  return left.length - right.length
}

function compareByCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
