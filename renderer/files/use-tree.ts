import { useCallback, useEffect, useMemo, useState } from 'react'
import { client, failure } from '../state/link.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { type Folder, foldersAbove, sortNodes, type TreeRow, treeRows } from './file-tree.ts'

/** Which folders are open, by workspace: kept while the tab is away. */
const opened = new Map<string, ReadonlySet<string>>()

export interface Tree {
  rows: TreeRow[]
  setOpen: (path: string, open: boolean) => void
  /** Opens every folder above a file, so that it shows. */
  reveal: (path: string) => void
  reload: (path: string) => void
}

/** A workspace's tree: folders are read as they open, and again when files in them change. */
export function useTree(workspace: string, showsIgnored: boolean): Tree {
  const [folders, setFolders] = useState<ReadonlyMap<string, Folder>>(new Map())
  const [open, setOpenSet] = useState<ReadonlySet<string>>(() => opened.get(workspace) ?? new Set())
  const changed = useWorkbench(({ filesChanged }) => filesChanged.get(workspace))

  const read = useCallback(
    (path: string) => {
      client()
        .files.list({ workspace, path })
        .then(
          (nodes) => setFolders((before) => new Map(before).set(path, { state: 'ready', nodes: sortNodes(nodes) })),
          (thrown: unknown) =>
            setFolders((before) => new Map(before).set(path, { state: 'failed', error: failure(thrown) })),
        )
    },
    [workspace],
  )

  // A folder that is not read yet shows as being read; the tab is made anew for another workspace.
  useEffect(() => {
    for (const path of ['', ...(opened.get(workspace) ?? [])]) read(path)
  }, [workspace, read])

  useEffect(() => {
    if (!changed) return
    const touched =
      changed.paths === 'rescan'
        ? null
        : new Set(changed.paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))))
    for (const path of ['', ...(opened.get(workspace) ?? [])]) if (touched === null || touched.has(path)) read(path)
  }, [changed, workspace, read])

  const change = useCallback(
    (update: (before: Set<string>) => void) => {
      const next = new Set(opened.get(workspace))
      const before = new Set(next)
      update(next)
      opened.set(workspace, next)
      setOpenSet(next)
      for (const path of next) if (!before.has(path)) read(path)
    },
    [workspace, read],
  )
  const setOpen = useCallback(
    (path: string, isOpen: boolean) => change((paths) => void (isOpen ? paths.add(path) : paths.delete(path))),
    [change],
  )
  const reveal = useCallback(
    (path: string) => change((paths) => foldersAbove(path).forEach((folder) => paths.add(folder))),
    [change],
  )
  const rows = useMemo(() => treeRows(folders, open, showsIgnored), [folders, open, showsIgnored])
  return { rows, setOpen, reveal, reload: read }
}
