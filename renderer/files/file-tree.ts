/** The tree of a workspace's files as rows: folders are read when they are opened. Pure but for the reading. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { TreeNode } from '../../preload/contract/file-routes.ts'

export type Folder = { state: 'failed'; error: ErrorBody } | { state: 'ready'; nodes: readonly TreeNode[] }

export type TreeRow =
  | { kind: 'node'; node: TreeNode; depth: number; open: boolean; position: number; size: number }
  | { kind: 'loading'; path: string; depth: number }
  | { kind: 'failed'; path: string; depth: number; error: ErrorBody }
  | { kind: 'empty'; path: string; depth: number }

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Folders first, then by name as people count. */
export function sortNodes(nodes: readonly TreeNode[]): TreeNode[] {
  return [...nodes].sort(
    (a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || collator.compare(a.name, b.name),
  )
}

/**
 * What is on screen: the root's children and those of open folders below them, ignored ones only where they are asked for.
 * `folders` is by path, the root's is ''.
 */
export function treeRows(
  folders: ReadonlyMap<string, Folder>,
  open: ReadonlySet<string>,
  showsIgnored = true,
): TreeRow[] {
  const rows: TreeRow[] = []
  const add = (path: string, depth: number) => {
    const folder = folders.get(path)
    if (!folder) return void rows.push({ kind: 'loading', path, depth })
    if (folder.state === 'failed') return void rows.push({ kind: 'failed', path, depth, error: folder.error })
    const nodes = showsIgnored ? folder.nodes : folder.nodes.filter(({ ignored }) => !ignored)
    if (nodes.length === 0) return void rows.push({ kind: 'empty', path, depth })
    nodes.forEach((node, index) => {
      const isOpen = node.kind === 'folder' && open.has(node.path)
      rows.push({ kind: 'node', node, depth, open: isOpen, position: index + 1, size: nodes.length })
      if (isOpen) add(node.path, depth + 1)
    })
  }
  add('', 0)
  return rows
}

/** The folders above a path, outermost first: `a/b/c.ts` is in `a` and `a/b`. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** A path as the files room takes it: relative to its workspace where it is below it. */
export function inWorkspace(workspace: string, path: string): string {
  const root = workspace.replace(/[\\/]+$/, '')
  const relative = path.startsWith(`${root}/`) || path.startsWith(`${root}\\`) ? path.slice(root.length + 1) : path
  return relative.replace(/^\.\//, '')
}
