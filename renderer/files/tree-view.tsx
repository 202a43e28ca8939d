import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, File, FileSymlink, Folder, FolderOpen } from 'lucide-react'
import { type KeyboardEvent, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { useZoom } from '../app/appearance.ts'
import { shownText } from '../transcript/shown-text.ts'
import { classNames } from '../ui/class-names.ts'
import { steppedTo } from '../ui/list-keys.ts'
import { changeKinds } from '../changes/change-kinds.ts'
import { ContextMenu } from '../ui/menu.tsx'
import { Spinner } from '../ui/spinner.tsx'
import type { TreeRow } from './file-tree.ts'
import { TreeMenu } from './tree-menu.tsx'
import type { Tree } from './use-tree.ts'

const rowPx = 24
const pathOf = (row: TreeRow) => (row.kind === 'node' ? row.node.path : `${row.path} ${row.kind}`)

/** The workspace's files (role tree): arrows move and open, Enter shows a file, letters jump to a name. */
export function TreeView({
  tree,
  chosen,
  unsaved,
  changed,
  onChoose,
  sessionId,
  workspace,
}: {
  tree: Tree
  chosen: string | null
  /** Paths of files with edits that were not saved. */
  unsaved: ReadonlySet<string>
  /** What the session did to files, by path. */
  changed: ReadonlyMap<string, ChangedFile['kind']>
  onChoose: (path: string) => void
  sessionId: string
  workspace: string
}) {
  const { rows, setOpen } = tree
  const zoom = useZoom()
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<string | null>(chosen)
  const [menuRow, setMenuRow] = useState<TreeRow | null>(null)
  const activeIndex = Math.max(
    0,
    rows.findIndex((row) => pathOf(row) === active),
  )
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx * zoom,
    getItemKey: (index) => pathOf(rows[index]!),
    overscan: 12,
  })
  useLayoutEffect(() => virtual.measure(), [zoom, virtual])

  const chosenIndex = chosen === null ? -1 : rows.findIndex((row) => pathOf(row) === chosen)
  const chosenShown = chosenIndex >= 0
  const showChosen = useEffectEvent((path: string | null) => {
    setActive(path)
    virtual.scrollToIndex(chosenIndex, { align: 'auto' })
  })
  // Once when it is chosen or becomes visible; not when rows above it come and go.
  useEffect(() => {
    if (chosenShown) showChosen(chosen)
  }, [chosen, chosenShown])

  const move = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))]
    if (!row) return
    setActive(pathOf(row))
    virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' })
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(pathOf(row))}"]`)?.focus(),
    )
  }
  const act = (row: TreeRow) => {
    if (row.kind !== 'node') return
    if (row.node.kind === 'folder') setOpen(row.node.path, !row.open)
    else onChoose(row.node.path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[activeIndex]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const folder = row.kind === 'node' && row.node.kind === 'folder'
    const parent = rows.findLastIndex(
      (other, at) => at < activeIndex && other.kind === 'node' && other.depth < row.depth,
    )
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 240) / (rowPx * zoom)) - 1)
    const to = steppedTo(event.key, activeIndex, rows.length, page)
    if (to !== undefined) move(to)
    else if (event.key === 'Enter' || event.key === ' ') act(row)
    else if (event.key === 'ArrowRight' && folder && !row.open) setOpen(row.node.path, true)
    else if (event.key === 'ArrowRight' && folder) move(activeIndex + 1)
    else if (event.key === 'ArrowLeft' && folder && row.open) setOpen(row.node.path, false)
    else if (event.key === 'ArrowLeft' && parent >= 0) move(parent)
    else if (event.key.length === 1) {
      const letter = event.key.toLowerCase()
      const order = [...rows.keys()].map((step) => (activeIndex + 1 + step) % rows.length)
      const found = order.find((index) => {
        const other = rows[index]
        return other?.kind === 'node' && other.node.name.toLowerCase().startsWith(letter)
      })
      if (found === undefined) return
      move(found)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div ref={scroller} className="min-h-0 grow overflow-y-auto overscroll-contain px-4 py-4 [scrollbar-width:thin]">
      <ContextMenu
        off={menuRow?.kind !== 'node'}
        items={
          menuRow?.kind === 'node' && (
            <TreeMenu sessionId={sessionId} workspace={workspace} node={menuRow.node} onOpen={() => act(menuRow)} />
          )
        }
      >
        <div
          role="tree"
          aria-label="Files"
          className="relative"
          style={{ height: virtual.getTotalSize() }}
          onContextMenuCapture={({ target }) => {
            const path = (target as HTMLElement).closest<HTMLElement>('[data-path]')?.dataset['path']
            const row = rows.find((one) => pathOf(one) === path) ?? null
            flushSync(() => setMenuRow(row))
            if (path !== undefined) setActive(path)
          }}
        >
          {virtual.getVirtualItems().map(({ index, key, start, size }) => (
            <div
              key={key}
              role="none"
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <Row
                row={rows[index]!}
                focusable={index === activeIndex}
                chosen={index === chosenIndex}
                unsaved={unsaved.has(pathOf(rows[index]!))}
                changed={changed.get(pathOf(rows[index]!)) ?? null}
                onFocus={() => setActive(pathOf(rows[index]!))}
                onAct={() => act(rows[index]!)}
                onRetry={tree.reload}
                onKeyDown={onKeyDown}
              />
            </div>
          ))}
        </div>
      </ContextMenu>
    </div>
  )
}

type RowProps = {
  row: TreeRow
  focusable: boolean
  chosen: boolean
  unsaved: boolean
  changed: ChangedFile['kind'] | null
  onFocus: () => void
  onAct: () => void
  onRetry: (path: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

function Row({ row, focusable, chosen, unsaved, changed, onFocus, onAct, onRetry, onKeyDown }: RowProps) {
  const indent = { paddingLeft: `${(row.depth * 14 + 6) / 16}rem` }
  const common = { 'data-path': pathOf(row), 'aria-level': row.depth + 1, onFocus, style: indent }
  const tabIndex = focusable ? 0 : -1
  const look = 'ring-inside flex h-full items-center gap-6 rounded-4 pr-6 text-12 select-none'
  if (row.kind !== 'node')
    return (
      <div
        role="treeitem"
        aria-selected={false}
        tabIndex={tabIndex}
        onKeyDown={onKeyDown}
        {...common}
        className={classNames(look, 'text-faint')}
        onClick={() => row.kind === 'failed' && onRetry(row.path)}
      >
        <span className="w-12" />
        {row.kind === 'loading' ? <Spinner size={12} /> : null}
        {row.kind === 'loading' ? 'Reading…' : row.kind === 'empty' ? 'Empty' : `${row.error.message} Try again`}
      </div>
    )
  const { node, open } = row
  const Icon = node.kind === 'folder' ? (open ? FolderOpen : Folder) : node.kind === 'link' ? FileSymlink : File
  return (
    <div
      role="treeitem"
      aria-selected={chosen}
      tabIndex={tabIndex}
      onKeyDown={onKeyDown}
      {...common}
      {...(node.kind === 'folder' ? { 'aria-expanded': open } : {})}
      aria-setsize={row.size}
      aria-posinset={row.position}
      onClick={onAct}
      className={classNames(
        look,
        chosen ? 'bg-selected text-ink' : 'hover:bg-hover',
        node.ignored ? 'text-faint' : 'text-ink',
      )}
      title={shownText(node.path)}
    >
      {node.kind === 'folder' ? (
        <ChevronRight
          size={12}
          strokeWidth={2}
          aria-hidden
          className={classNames('shrink-0 text-faint transition-transform', open && 'rotate-90')}
        />
      ) : (
        <span className="w-12 shrink-0" />
      )}
      <Icon
        size={13}
        strokeWidth={1.75}
        aria-hidden
        className={classNames('shrink-0', node.kind === 'folder' ? 'text-muted' : 'text-faint')}
      />
      <bdi className="truncate">{shownText(node.name)}</bdi>
      {unsaved && (
        <>
          <span aria-hidden className="size-6 shrink-0 rounded-full bg-needs" />
          <span className="sr-only">, unsaved</span>
        </>
      )}
      {changed && (
        <>
          <span
            aria-hidden
            className={classNames('ml-auto shrink-0 font-mono text-11 font-semibold', changeKinds[changed].colour)}
          >
            {changeKinds[changed].letter}
          </span>
          <span className="sr-only">, {changed} in this session</span>
        </>
      )}
      {node.ignored && <span className="sr-only">, ignored</span>}
    </div>
  )
}
