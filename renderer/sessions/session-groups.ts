/** The session list as rows: grouped by workspace, pinned first, by time (S-46, S-47). Pure, so that it can be proven. */
import type { Entry } from '../../preload/contract/session.ts'

export type Grouping = 'workspace' | 'time'

export interface GroupRow {
  kind: 'group'
  key: string
  label: string
  /** Full path behind the label; null for groups that are none. */
  workspace: string | null
  count: number
  collapsed: boolean
}
interface EntryRow {
  kind: 'entry'
  entry: Entry
}
export type ListRow = GroupRow | EntryRow

const later = (a: Entry, b: Entry) =>
  (b.pinnedAt ?? 0) - (a.pinnedAt ?? 0) || b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)

/** Folder names short enough to read and long enough to differ, by path. */
export function folderLabels(paths: Iterable<string>): Map<string, string> {
  const labels = new Map<string, string>()
  const all = [...new Set(paths)]
  const parts = new Map(all.map((path) => [path, path.split(/[\\/]/).filter(Boolean)]))
  const tail = (path: string, depth: number) => (parts.get(path) ?? []).slice(-depth).join('/') || path
  for (const path of all) {
    const most = parts.get(path)?.length ?? 1
    let depth = 1
    while (depth < most && all.some((other) => other !== path && tail(other, depth) === tail(path, depth))) depth += 1
    labels.set(path, tail(path, depth))
  }
  return labels
}

/** Rows to show. `collapsed` holds keys of folded groups; a filter unfolds all, since what was searched must be seen. */
export function sessionRows(
  entries: Iterable<Entry>,
  options: { collapsed: ReadonlySet<string>; filter?: string; grouping?: Grouping; workspaces?: Iterable<string> },
): ListRow[] {
  const filter = options.filter?.trim().toLocaleLowerCase() ?? ''
  const shown: Entry[] = []
  for (const entry of entries) if (filter === '' || entry.title.toLocaleLowerCase().includes(filter)) shown.push(entry)
  if (options.grouping === 'time') {
    return shown
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
      .map((entry) => ({ kind: 'entry', entry }))
  }
  const groups = new Map<string, Entry[]>()
  for (const entry of shown) {
    const group = groups.get(entry.workspace)
    if (group) group.push(entry)
    else groups.set(entry.workspace, [entry])
  }
  // An opened workspace without sessions is a place to start one; while filtering it would only be in the way.
  if (filter === '') for (const path of options.workspaces ?? []) if (!groups.has(path)) groups.set(path, [])
  const newest = new Map(
    [...groups].map(([path, list]) => [path, list.reduce((time, entry) => Math.max(time, entry.updatedAt), 0)]),
  )
  const ordered = [...groups].sort(([a], [b]) => (newest.get(b) ?? 0) - (newest.get(a) ?? 0) || (a < b ? -1 : 1))
  const labels = folderLabels(groups.keys())
  const rows: ListRow[] = []
  for (const [path, list] of ordered) {
    const collapsed = filter === '' && options.collapsed.has(path)
    rows.push({
      kind: 'group',
      key: path,
      label: labels.get(path) ?? path,
      workspace: path,
      count: list.length,
      collapsed,
    })
    if (!collapsed) for (const entry of list.sort(later)) rows.push({ kind: 'entry', entry })
  }
  return rows
}
