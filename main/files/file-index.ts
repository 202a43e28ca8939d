/** The files of each open workspace for quick open and `@` mentions: listed once, then kept current by the watcher (F-819). */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { listFiles } from './file-search.ts'
import type { FilePath } from './paths.ts'
import { foldersAbove, foldersOf, PathList, rankPaths } from './quick-open.ts'
import type { SearchProgram } from './search-program.ts'

export type FileIndexOptions = {
  /** All paths below a folder that rules of F-802 leave in, in path order. */
  list(root: FilePath): Promise<string[]>
  /** Whether every change of this workspace is told from now on. */
  isWatched(workspace: string): boolean
}

type Indexed = {
  lists: Promise<{ files: PathList; folders: PathList }>
  /** Told since it was listed, and not looked at yet. */
  changed: Set<string>
  /** The looks at what was told, one after another: whether the lists are true after it. */
  looked: Promise<boolean>
  /** Changes are told since before it was listed: it stays true. Else it is listed again after a while. */
  isFollowed: boolean
  at: number
}

/** So long a list is used that nobody keeps current. */
const unfollowedMs = 5_000
/** More paths than these are quicker listed than looked at. */
const changedMax = 2_000
const pathsMax = 200_000
const listingMs = 10_000

export class FileIndex {
  readonly #options: FileIndexOptions
  readonly #indexed = new Map<string, Indexed>()

  constructor(options: FileIndexOptions) {
    this.#options = options
  }

  /** The watcher told that these paths of a workspace changed, or that nobody knows which. */
  changed(workspace: string, paths: readonly string[] | 'rescan'): void {
    const known = this.#indexed.get(workspace)
    if (!known) return
    if (paths === 'rescan' || known.changed.size + paths.length > changedMax) this.#indexed.delete(workspace)
    else for (const path of paths) known.changed.add(path)
  }

  /** The best paths for a query, with `folders` those too, ending in `/`; of `recent` as `rankPaths` takes it. */
  async find(
    workspace: string,
    root: FilePath,
    query: { text: string; folders: boolean; limit: number; recent: readonly string[] },
  ): Promise<string[]> {
    const known = this.#current(workspace, root)
    let { files, folders } = await known.lists
    known.looked = known.looked.then((isTrue) => isTrue && takeChanges(known, root, files, folders))
    if (!(await known.looked)) {
      if (this.#indexed.get(workspace) === known) this.#indexed.delete(workspace)
      ;({ files, folders } = await this.#current(workspace, root).lists)
    }
    return rankPaths(query.folders ? [files, folders] : [files], query.text, query.limit, query.recent)
  }

  #current(workspace: string, root: FilePath): Indexed {
    const known = this.#indexed.get(workspace)
    const isFollowed = this.#options.isWatched(workspace)
    const age = known ? performance.now() - known.at : Infinity
    if (known && (known.isFollowed ? isFollowed : !isFollowed && age < unfollowedMs)) return known
    const lists = this.#options.list(root).then(async (paths) => ({
      files: await PathList.of(paths),
      folders: await PathList.of(foldersOf(paths)),
    }))
    const indexed: Indexed = {
      lists,
      changed: new Set(),
      looked: Promise.resolve(true),
      isFollowed,
      at: performance.now(),
    }
    this.#indexed.set(workspace, indexed)
    lists.catch(() => this.#indexed.get(workspace) === indexed && this.#indexed.delete(workspace))
    return indexed
  }
}

/** Looks at what was told. False where only a new list would tell: a folder came, with whatever is in it. */
async function takeChanges(known: Indexed, root: FilePath, files: PathList, folders: PathList): Promise<boolean> {
  const paths = [...known.changed]
  known.changed.clear()
  for (const path of paths) {
    const stats = await lstat(join(root.real, path)).catch(() => null)
    if (stats?.isDirectory() && !folders.has(`${path}/`)) return false
    if (stats?.isFile()) {
      files.add(path)
      for (const folder of foldersAbove(path)) folders.add(folder)
    } else if (!stats?.isDirectory()) {
      files.delete(path)
      files.deleteBelow(`${path}/`)
      folders.delete(`${path}/`)
      folders.deleteBelow(`${path}/`)
      for (const folder of foldersAbove(path)) if (!files.holdsBelow(folder)) folders.delete(folder)
    }
  }
  return true
}

/** The files of workspaces, found by the search program; `watching` tells whether it hears of every change. */
export function createFileIndex(
  program: SearchProgram,
  watching: { isWatched(workspace: string): boolean },
): FileIndex {
  return new FileIndex({
    // Not a caller's signal: several key presses share one list.
    list: async (root) => (await listFiles(program, root, pathsMax, AbortSignal.timeout(listingMs))).paths,
    isWatched: (workspace) => watching.isWatched(workspace),
  })
}
