/** Answers about files of a workspace: the tree, the viewer, quick open. Only folders the person opened are looked into. */
import { LatheError } from '../../../preload/contract/errors.ts'
import { listFiles } from '../../files/file-search.ts'
import type { FilePath, Paths } from '../../files/paths.ts'
import { rankPaths } from '../../files/quick-open.ts'
import type { SearchProgram } from '../../files/search-program.ts'
import { listFolder, viewFile } from '../../files/tree.ts'
import type { Handlers } from '../handlers.ts'

export type FileServices = {
  paths: Paths
  program: SearchProgram
  knowsWorkspace(path: string): Promise<boolean>
  /** Somebody looks at this workspace: its changes are to be told (F-1110). */
  watch(workspace: string): void
}

const quickOpenPathsMax = 200_000
const quickOpenHits = 50
/** A list of paths is used again for so long: quick open asks at each key press. */
const listedMs = 5_000
const viewedBytesMax = 2 * 1024 * 1024

export function fileAnswers(files: FileServices): Pick<Handlers, 'files'> {
  const lists = new Map<string, { at: number; paths: Promise<{ paths: string[] }> }>()

  async function resolve(workspace: string, path: string): Promise<FilePath> {
    if (!(await files.knowsWorkspace(workspace))) throw new LatheError('access.denied', 'This folder is not open.')
    const found = await files.paths.resolve({ sessionId: 'window', workspace, extraFolders: [] }, path)
    files.watch(workspace)
    if (!found.inside) throw new LatheError('path.outside_workspace', `${path} leads outside the workspace.`)
    return found
  }

  function listed(root: FilePath, signal: AbortSignal): Promise<{ paths: string[] }> {
    const known = lists.get(root.real)
    if (known && performance.now() - known.at < listedMs) return known.paths
    const paths = listFiles(files.program, root, quickOpenPathsMax, signal)
    lists.set(root.real, { at: performance.now(), paths })
    paths.catch(() => lists.delete(root.real))
    return paths
  }

  return {
    files: {
      list: async ({ workspace, path }) => {
        const folder = await resolve(workspace, path === '' ? '.' : path)
        const { entries } = await listFolder(folder)
        return entries.map(({ name, kind, bytes, ignored }) => ({
          name,
          path: path === '' ? name : `${path}/${name}`,
          kind,
          bytes,
          ignored,
        }))
      },
      read: async ({ workspace, path }) => {
        const file = await viewFile(await resolve(workspace, path), viewedBytesMax)
        return { path, ...file, binary: file.text === null }
      },
      find: async ({ workspace, query }) => {
        const root = await resolve(workspace, '.')
        // Not the caller's signal: several key presses share one list.
        const { paths } = await listed(root, AbortSignal.timeout(10_000))
        return rankPaths(paths, query, quickOpenHits).map((path) => ({ path, kind: 'file' as const }))
      },
    },
  }
}
