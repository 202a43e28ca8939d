/** The left pane: every session there is, grouped by workspace; virtualised, so that ten thousand are as quick as ten. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { FolderOpen, ListFilter, MessagesSquare, Search, Settings2, SquarePen, Trash2 } from 'lucide-react'
import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useZoom } from '../app/appearance.ts'
import { useCommandKeys } from '../app/commands.ts'
import { prefer, usePreference } from '../state/preferences.ts'
import { useListed } from '../state/session-store.ts'
import { showDialog, showSession, useWindow } from '../state/window-store.ts'
import { loadArchived, reloadEntries, useEntries, useWorkbench } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { DropdownMenu, MenuCheckItem, MenuItem, MenuLabel, MenuRadio, MenuSeparator } from '../ui/menu.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { FilterField } from '../ui/filter-field.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { steppedTo } from '../ui/list-keys.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { deleteSession, newSession, openFolder } from './session-actions.ts'
import { type Grouping, type ListRow, sessionRows } from './session-groups.ts'
import { SessionRow, toggleGroup, WorkspaceRow } from './session-row.tsx'

const rowHeight = { group: 32, entry: 30 }
const rowKey = (row: ListRow) => (row.kind === 'group' ? row.key : row.entry.id)

function useRows(filter: string, archived: boolean): ListRow[] {
  const all = useEntries()
  const workspaces = useWorkbench((state) => state.workspaces)
  const collapsed = usePreference('list.collapsed')
  const grouping = usePreference('list.grouping')
  return useMemo(() => {
    const entries = all.filter(({ archivedAt }) => (archivedAt !== null) === archived)
    return sessionRows(entries, {
      collapsed: new Set(collapsed),
      filter,
      grouping,
      workspaces: archived ? [] : workspaces.keys(),
    })
  }, [all, workspaces, collapsed, grouping, filter, archived])
}

export function SessionList() {
  const [text, setText] = useState('')
  const [archived, setArchived] = useState(false)
  const filter = useDeferredValue(text)
  const rows = useRows(filter, archived)
  const loading = useWorkbench(({ entriesLoading }) => entriesLoading)
  const list = useRef<Rows>(null)
  return (
    <div className="flex min-h-0 grow flex-col">
      <div className="flex shrink-0 items-center gap-4 px-8 pb-6">
        <FilterField
          label="Filter sessions"
          placeholder="Filter"
          value={text}
          onChange={setText}
          onDown={() => list.current?.focusFirst()}
        />
        <ListOptions archived={archived} onArchived={setArchived} />
      </div>
      {typeof loading === 'object' ? (
        <ErrorState
          what="Could not load the sessions"
          message={loading.message}
          hint={loading.hint}
          code={loading.code}
          onRetry={reloadEntries}
        />
      ) : loading === 'loading' && rows.length === 0 ? (
        <Skeleton label="Loading sessions" lines={[0.4, 0.8, 0.7, 0.85, 0.5, 0.75]} />
      ) : rows.length === 0 ? (
        <NoSessions filter={filter} archived={archived} onClear={() => setText('')} />
      ) : (
        <VirtualRows ref={list} rows={rows} />
      )}
    </div>
  )
}

function ListOptions({ archived, onArchived }: { archived: boolean; onArchived: (archived: boolean) => void }) {
  const grouping = usePreference('list.grouping')
  return (
    <DropdownMenu align="end" trigger={<IconButton icon={ListFilter} label="List options" size="small" />}>
      <MenuLabel>Group by</MenuLabel>
      <MenuRadio<Grouping>
        value={grouping}
        onChange={(next) => prefer({ 'list.grouping': next })}
        choices={[
          { value: 'workspace', label: 'Folder' },
          { value: 'time', label: 'Time only' },
        ]}
      />
      <MenuSeparator />
      <MenuCheckItem
        checked={archived}
        onChange={(next) => {
          if (next) loadArchived()
          onArchived(next)
        }}
      >
        Archived sessions
      </MenuCheckItem>
      <MenuItem acts icon={Trash2} onSelect={() => showDialog({ kind: 'deleted' })}>
        Recently deleted
      </MenuItem>
    </DropdownMenu>
  )
}

function NoSessions({ filter, archived, onClear }: { filter: string; archived: boolean; onClear: () => void }) {
  if (filter !== '')
    return (
      <EmptyState
        title="No session has that title"
        detail="Search looks inside of all sessions."
        action={
          <>
            <Button size="small" onClick={() => showDialog({ kind: 'search' })}>
              Search inside
            </Button>
            <Button size="small" variant="ghost" onClick={onClear}>
              Clear
            </Button>
          </>
        }
      />
    )
  if (archived)
    return <EmptyState title="Nothing is archived" detail="Archived sessions leave the list and stay searchable." />
  return (
    <EmptyState
      icon={MessagesSquare}
      title="Sessions appear here"
      detail="Open a folder to start the first one."
      action={
        <Button acts size="small" onClick={() => void openFolder()}>
          Open folder
        </Button>
      }
    />
  )
}

interface Rows {
  focusFirst(): void
}

function VirtualRows({ rows, ref }: { rows: ListRow[]; ref: React.Ref<Rows> }) {
  const scroller = useRef<HTMLDivElement>(null)
  const sessionId = useListed(useWindow((state) => state.sessionId))
  const grouping = usePreference('list.grouping')
  const zoom = useZoom()
  /** The row Tab reaches, by key so that it survives rows coming and going. */
  const [active, setActive] = useState<string | null>(sessionId)
  const activeIndex = Math.max(
    0,
    rows.findIndex((row) => rowKey(row) === active),
  )
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rowHeight[rows[index]?.kind ?? 'entry'] * zoom,
    getItemKey: (index) => rowKey(rows[index]!),
    overscan: 12,
    // The row with the focus is never unmounted (S-147 holds for lists too).
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const from = Math.max(0, startIndex - overscan)
      const to = Math.min(count - 1, endIndex + overscan)
      const shown = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      return activeIndex < from
        ? [activeIndex, ...shown]
        : activeIndex > to && activeIndex < count
          ? [...shown, activeIndex]
          : shown
    },
  })

  useLayoutEffect(() => virtual.measure(), [zoom, virtual])
  const showCurrent = useEffectEvent((id: string) => {
    setActive(id)
    const index = rows.findIndex((row) => rowKey(row) === id)
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' })
  })
  // Only when another session is shown: not whenever the list moves under the person.
  useEffect(() => {
    if (sessionId !== null) showCurrent(sessionId)
  }, [sessionId])

  const focusRow = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))]
    if (!row) return
    setActive(rowKey(row))
    virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' })
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(rowKey(row))}"]`)?.focus(),
    )
  }
  useImperativeHandle(ref, () => ({ focusFirst: () => focusRow(rows.findIndex((row) => row.kind === 'entry')) }))

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const index = rows.findIndex((row) => rowKey(row) === event.currentTarget.dataset['row'])
    const row = rows[index]
    if (!row) return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 300) / (rowHeight.entry * zoom)) - 1)
    const to = steppedTo(event.key, index, rows.length, page)
    if (to !== undefined) focusRow(to)
    else if (row.kind === 'group' && event.key === 'ArrowLeft') toggleGroup(row.key, true)
    else if (row.kind === 'group' && event.key === 'ArrowRight') toggleGroup(row.key, false)
    else if (row.kind === 'entry' && event.key === 'ArrowLeft')
      focusRow(rows.findLastIndex((other, at) => at < index && other.kind === 'group'))
    else if (row.kind === 'entry' && event.key === 'F2')
      useWindow.setState({ renaming: { sessionId: row.entry.id, place: 'list' } })
    else if (row.kind === 'entry' && event.key === 'Delete') void deleteSession(row.entry.id)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div ref={scroller} className="min-h-0 grow overflow-y-auto overscroll-contain pb-8 [scrollbar-width:thin]">
      <div role="list" aria-label="Sessions" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start, size }) => {
          const row = rows[index]!
          return (
            <div
              key={key}
              role="listitem"
              aria-posinset={index + 1}
              aria-setsize={rows.length}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              {row.kind === 'group' ? (
                <WorkspaceRow row={row} focusable={index === activeIndex} onKeyDown={onKeyDown} />
              ) : (
                <SessionRow
                  entry={row.entry}
                  current={row.entry.id === sessionId}
                  focusable={index === activeIndex}
                  filed={grouping === 'workspace'}
                  onKeyDown={onKeyDown}
                />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** The row above the list: what starts something. */
export function SessionListHeader() {
  const newKeys = useCommandKeys('session.new')
  const openKeys = useCommandKeys('workspace.open')
  const searchKeys = useCommandKeys('search.sessions')
  return (
    <div className="flex items-center gap-2">
      <IconButton
        icon={Search}
        label="Search in all sessions"
        keys={searchKeys}
        onClick={() => showDialog({ kind: 'search' })}
      />
      <IconButton acts icon={FolderOpen} label="Open folder" keys={openKeys} onClick={() => void openFolder()} />
      <IconButton acts icon={SquarePen} label="New session" keys={newKeys} onClick={() => void newSession()} />
    </div>
  )
}

/** The row below the list. */
export function SessionListFooter() {
  const keys = useCommandKeys('settings.open')
  return (
    <div className="flex shrink-0 items-center justify-between border-t border-line px-6 py-4">
      <Button
        acts
        variant="ghost"
        size="small"
        onClick={() => showDialog({ kind: 'settings', page: 'general' })}
        title={keys}
      >
        <Settings2 size={14} strokeWidth={1.75} aria-hidden />
        Settings
      </Button>
      <Button variant="ghost" size="small" onClick={() => showSession(null)}>
        Welcome
      </Button>
    </div>
  )
}
