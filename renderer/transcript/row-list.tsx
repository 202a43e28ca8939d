/**
 * The entries of a session as rows. Only what is near the viewport is drawn, only what is near the reader is held. The
 * view follows the end while it is there; anywhere else nothing moves under the reader (S-67, S-71).
 */
import { elementScroll, useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { provideTarget } from '../app/command-targets.ts'
import { focusRegion } from '../app/regions.ts'
import { shownView } from '../state/session-state.ts'
import { useSession, useSessionHandle } from '../state/session-store.ts'
import { useWindow } from '../state/window-store.ts'
import { useSetting } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { ContextMenu } from '../ui/menu.tsx'
import { counted } from './amounts.ts'
import { markWords, unmarkWords } from './found-words.ts'
import { transcriptKey } from './keyboard.ts'
import { MoreEntries } from './more-entries.tsx'
import { mountedRows, type Span } from './mounted-rows.ts'
import { NoEntries } from './no-entries.tsx'
import { anchorAt, keptPlace } from './place.ts'
import { definitionOf, estimatedHeight } from './row-registry.tsx'
import { RowMenu } from './row-menu.tsx'
import { movedUp, readersMove } from './readers-move.ts'
import { buildRows, groupPage, type Row } from './rows.ts'
import { useRows } from './use-rows.ts'
import { SessionFind } from './session-find.tsx'
import { type Anchor, setAnchor, setFold, setOpened, transcriptView } from './view-state.ts'

/** This near the end counts as being there. */
const endPx = 24
/** Rows from an edge of what is held at which the slice beyond it is asked for. */
const nearEdge = 8
const anchorEveryMs = 200
const columnPx = 736

export function RowList({ sessionId }: { sessionId: string }) {
  const { controller, store } = useSessionHandle(sessionId)
  const { rows, itemsBefore, itemsAfter, itemCount } = useRows(sessionId)
  const older = useSession(sessionId, (state) => state.older)
  const newer = useSession(sessionId, (state) => state.newer)
  const folds = useStore(transcriptView(sessionId), (state) => state.folds)
  const foldReasoning = useSetting('transcript.foldReasoning')
  const foldOver = useSetting('transcript.foldOver')
  const scroller = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(columnPx)
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const focusWanted = useRef(false)
  const [menuRow, setMenuRow] = useState<Row | null>(null)

  const kept = transcriptView(sessionId).getState().anchor
  const anchor = useRef<Anchor | null>(kept)
  const following = useRef(kept === null)
  /** Where the view stood when the reader's last move was told, and where we put it since. */
  const last = useRef({ top: 0, height: 0 })
  /** Rises with each place that is to be kept from now on, where rows and heights stay as they are. */
  const [placed, setPlaced] = useState(0)
  /** How many entries there were when the end was last in sight; null while it is. What comes after them is counted. */
  const [seen, setSeen] = useState(kept === null ? null : itemCount)

  const focusedIndex = useMemo(() => rows.findIndex((row) => row.id === focusedId), [rows, focusedId])
  const estimate = useCallback((index: number) => estimatedHeight(rows[index]!, width), [rows, width])
  const keyOf = useCallback((index: number) => rows[index]!.id, [rows])

  /** The first and the last row that are mounted, but for the focused one; the next portion comes a frame later. */
  const mounted = useRef<{ first: string; last: string } | null>(null)
  const mountMore = useReducer((count: number) => count + 1, 0)[1]
  let next: ReturnType<typeof mountedRows> | null = null

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: estimate,
    getItemKey: keyOf,
    paddingStart: 24,
    paddingEnd: 24,
    anchorTo: 'end',
    scrollEndThreshold: endPx,
    // The virtualizer knows of the reader's moves by their events alone, and would take back one that is not told yet.
    scrollToFn: (offset, options, instance) => {
      heed()
      elementScroll(offset, options, instance)
      settle()
    },
    initialOffset: () => rows.reduce((sum, _, index) => sum + estimate(index), 0),
    rangeExtractor: ({ startIndex, endIndex, count }) => {
      const top = virtualizer.scrollOffset ?? 0
      const layout = {
        seen: { from: startIndex, to: endIndex },
        count,
        top,
        bottom: top + (virtualizer.scrollRect?.height ?? 0),
        start: (index: number) => virtualizer.measurementsCache[index]!.start,
        end: (index: number) => virtualizer.measurementsCache[index]!.end,
      }
      next = mountedRows(layout, mounted.current && spanOf(rows, mounted.current))
      const shown = Array.from({ length: next.to - next.from + 1 }, (_, at) => next!.from + at)
      // The focused row stays mounted wherever the view is (S-147).
      return focusedIndex < 0 || shown.includes(focusedIndex) ? shown : [...shown, focusedIndex].sort((a, b) => a - b)
    },
  })

  const total = virtualizer.getTotalSize()
  /** A transcript that is all in sight has no other place than its end, and no scrolling that would say so. */
  const allInSight = itemsBefore + itemsAfter === 0 && total <= (virtualizer.scrollRect?.height ?? 0)
  const unscrolled = useRef(allInSight)
  useLayoutEffect(() => void (unscrolled.current = allInSight))

  // What the reader does is done to the rows as they are drawn, not to heights that are measured and not drawn yet. And
  // were it another function with each change of rows, all of them would be drawn again.
  const items = virtualizer.getVirtualItems()
  const drawn = useRef({ rows, items, itemCount })
  useLayoutEffect(() => void (drawn.current = { rows, items, itemCount }))

  const noteAnchor = useCallback(() => {
    const top = scroller.current?.scrollTop
    if (top === undefined) return
    const shown = drawn.current.items.findLast(({ start, end }) => start <= top && end > top)
    const item = shown ?? virtualizer.getVirtualItemForOffset(top)
    anchor.current = item ? anchorAt(drawn.current.rows, item.index, item.start - top) : null
  }, [virtualizer])

  /** Stops following, with the row in sight as the place to keep. */
  const stay = useCallback(() => {
    following.current = false
    noteAnchor()
    setSeen((count) => count ?? drawn.current.itemCount)
  }, [noteAnchor])

  /** The view is where we want it, whatever the reader did before. */
  const settle = useCallback(() => {
    const element = scroller.current
    if (element) last.current = { top: element.scrollTop, height: element.scrollHeight }
  }, [])

  /** A move of the reader whose event is still to come goes into the place that is kept. */
  const heed = useCallback(() => {
    const element = scroller.current
    if (!element) return
    const move = readersMove(last.current, { top: element.scrollTop, height: element.scrollHeight })
    if (move < 0 && following.current) stay()
    else if (anchor.current) anchor.current = { ...anchor.current, offset: anchor.current.offset - move }
    settle()
  }, [stay, settle])

  const follow = useCallback(() => {
    settle()
    following.current = true
    anchor.current = null
    setSeen(null)
    controller.showEnd()
    virtualizer.scrollToEnd()
  }, [virtualizer, controller, settle])

  function onScroll(): void {
    const element = scroller.current!
    const { scrollTop: top, scrollHeight: height, clientHeight } = element
    const atEnd = itemsAfter === 0 && height - clientHeight - top <= endPx
    // Only a move up is the reader's; everything else is ours or the browser's.
    if (atEnd) {
      following.current = true
      setSeen(null)
    } else if (movedUp(last.current, { top, height })) stay()
    if (!following.current) noteAnchor()
    last.current = { top, height }
  }

  // After every change of rows or heights: at the end stay there, else keep the row in sight where it was.
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    heed()
    if (following.current) {
      if (element.scrollHeight - element.clientHeight - element.scrollTop > 0.5) virtualizer.scrollToEnd()
      if (focusedId === null) controller.trimEnd()
      return
    }
    const place = anchor.current && keptPlace(rows, anchor.current)
    const start = place ? virtualizer.measurementsCache[place.index]?.start : undefined
    if (!place || start === undefined) return
    const top = Math.max(0, start - place.offset)
    if (Math.abs(element.scrollTop - top) > 0.5) virtualizer.scrollToOffset(top)
  }, [rows, total, placed, virtualizer, controller, focusedId, heed])

  useEffect(() => {
    const keep = () => setAnchor(sessionId, following.current || unscrolled.current ? null : anchor.current)
    const timer = setInterval(keep, anchorEveryMs)
    // A reload takes the page away without a last word to React.
    addEventListener('pagehide', keep)
    return () => {
      clearInterval(timer)
      removeEventListener('pagehide', keep)
      keep()
    }
  }, [sessionId])

  useLayoutEffect(() => {
    const element = scroller.current!
    const observer = new ResizeObserver(() => {
      setWidth(Math.min(columnPx, element.clientWidth - 48))
      element.style.setProperty('--gutter', `${(element.offsetWidth - element.clientWidth) / 2}px`)
      // What grows below takes room from the view, and must not cover its end.
      if (following.current) virtualizer.scrollToEnd()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [virtualizer])

  const firstIndex = virtualizer.range?.startIndex ?? Number.MAX_SAFE_INTEGER
  useEffect(() => {
    if (itemsBefore > 0 && older === 'idle' && firstIndex < nearEdge) void controller.loadOlder().catch(() => {})
  }, [controller, itemsBefore, older, firstIndex])
  const lastIndex = virtualizer.range?.endIndex ?? -1
  useEffect(() => {
    if (itemsAfter > 0 && newer === 'idle' && lastIndex >= rows.length - nearEdge)
      void controller.loadNewer().catch(() => {})
  }, [controller, itemsAfter, newer, lastIndex, rows.length])

  const focusRow = useCallback(
    (index: number) => {
      const row = rows[index]
      if (!row) return
      focusWanted.current = true
      setFocusedId(row.id)
      if (index === rows.length - 1 && itemsAfter === 0) follow()
      else {
        settle()
        following.current = false
        virtualizer.scrollToIndex(index, { align: 'auto' })
      }
    },
    [rows, itemsAfter, follow, virtualizer, settle],
  )
  /** The end is asked for by key while the reader is apart from it: its last row takes the focus once it is there. */
  const endWanted = useRef(false)
  useLayoutEffect(() => {
    if (!endWanted.current || itemsAfter > 0) return
    endWanted.current = false
    focusRow(rows.length - 1)
  }, [rows, itemsAfter, focusRow])
  useLayoutEffect(() => {
    if (!focusWanted.current || focusedId === null) return
    focusWanted.current = false
    scroller.current
      ?.querySelector<HTMLElement>(`[data-row="${CSS.escape(focusedId)}"]`)
      ?.focus({ preventScroll: true })
  })

  // A row that left (folded, rewound) gives its focus to the nearest one before it.
  const previousRows = useRef(rows)
  useLayoutEffect(() => {
    const before = previousRows.current
    previousRows.current = rows
    if (focusedId === null || focusedIndex >= 0) return
    const hadFocus = document.activeElement === document.body || scroller.current?.contains(document.activeElement)
    const index = keptPlace(rows, { rowId: focusedId, offset: 0 }, before)?.index
    setFocusedId(index === undefined ? null : rows[index]!.id)
    focusWanted.current = Boolean(hadFocus) && index !== undefined
  }, [rows, focusedId, focusedIndex])

  const toggle = useCallback(
    (row: Row, shown?: number) => {
      stay()
      if (row.kind === 'group') setOpened(sessionId, row.id, shown ?? (row.shown > 0 ? 0 : groupPage))
      else if (row.kind === 'foldedTurn') setOpened(sessionId, row.id, row.open ? 0 : 1)
      else {
        const open =
          transcriptView(sessionId).getState().folds.get(row.id) ??
          definitionOf(row).opens?.(row, foldReasoning) ??
          false
        setFold(sessionId, row.id, !open)
      }
    },
    [sessionId, stay, foldReasoning],
  )

  /** Opens every group of a turn, or folds them all if one is open. */
  function toggleTurn(turnId: string | null): void {
    const groups = rows.filter((row) => row.kind === 'group' && row.turnId === turnId)
    const open = groups.some((row) => row.kind === 'group' && row.shown > 0)
    stay()
    for (const { id } of groups) setOpened(sessionId, id, open ? 0 : groupPage)
  }

  function onKeyDown(event: React.KeyboardEvent): void {
    const onRow =
      event.target === scroller.current || (event.target instanceof Element && event.target.matches('[data-row]'))
    if (!onRow || event.nativeEvent.isComposing) return
    const at = event.target === scroller.current ? -1 : focusedIndex
    const choice = transcriptKey(
      { key: event.key, ctrl: event.ctrlKey || event.metaKey, alt: event.altKey, shift: event.shiftKey },
      at,
      rows,
    )
    if (choice === null) return
    event.preventDefault()
    if (event.key === 'End' && itemsAfter > 0) {
      endWanted.current = true
      follow()
    } else if (choice === 'composer') focusRegion('composer')
    else if (choice === 'toggle') {
      const row = event.target as HTMLElement
      row.querySelector<HTMLElement>('[data-toggle]')?.click()
    } else if (choice === 'toggleTurn') toggleTurn(rows[at]!.turnId)
    else if (choice === 'page up' || choice === 'page down') page(choice === 'page up' ? -1 : 1)
    else focusRow(choice.to)
  }

  function page(direction: 1 | -1): void {
    const element = scroller.current!
    const top = element.scrollTop + direction * element.clientHeight * 0.9
    const item = virtualizer.getVirtualItemForOffset(
      Math.max(0, direction === 1 ? top + element.clientHeight * 0.5 : top),
    )
    if (item) focusRow(item.index)
  }

  // What a search hit or a notification points at is brought into view.
  const target = useWindow((state) => (state.target?.sessionId === sessionId ? state.target : null))
  useEffect(() => {
    if (!target) return
    void controller.reveal(target.itemId).then(
      () => {
        useWindow.setState({ target: null })
        // It may stand inside a group: that one is opened as far as it goes.
        const shown = shownView(store.getState())!
        for (const row of buildRows(shown, [], transcriptView(sessionId).getState().opened, foldOver)) {
          if (row.kind === 'group' && row.items.some((item) => item.id === target.itemId))
            setOpened(sessionId, row.id, row.items.length)
        }
        if (!unscrolled.current) {
          following.current = false
          anchor.current = { rowId: target.itemId, itemId: target.itemId, offset: 96 }
          setSeen((count) => count ?? shown.header.itemCount)
          setPlaced((count) => count + 1)
        }
        // What is found in it is unfolded and marked (S-98).
        const kind = shown.items.find((item) => item.id === target.itemId)?.kind
        if (target.words && (kind === 'tool' || kind === 'reasoning')) setFold(sessionId, target.itemId, true)
        setMarked(target.words ?? [])
        if (target.keepFocus) return
        focusWanted.current = true
        setFocusedId(target.itemId)
      },
      () => useWindow.setState({ target: null }),
    )
  }, [target, controller, sessionId, store, foldOver])

  const [finding, setFinding] = useState(false)
  useEffect(() => provideTarget('transcript', { find: () => setFinding(true) }), [])
  /** Words marked in what is drawn. */
  const [marked, setMarked] = useState<readonly string[]>([])
  useEffect(() => {
    if (marked.length === 0) return
    markWords(scroller.current!, marked)
    return unmarkWords
  })

  const unseen = seen === null ? 0 : Math.max(0, itemCount - seen)
  useLayoutEffect(() => {
    if (!next) return
    mounted.current = { first: rows[next.from]!.id, last: rows[next.to]!.id }
    if (!next.more) return
    const frame = requestAnimationFrame(mountMore)
    return () => cancelAnimationFrame(frame)
  })
  return (
    <>
      <ContextMenu items={<RowMenu row={menuRow} onToggle={toggle} />}>
        <div
          ref={scroller}
          role="log"
          aria-label="Transcript"
          aria-live="off"
          tabIndex={0}
          data-region-focus
          onScroll={onScroll}
          onKeyDown={onKeyDown}
          onFocus={(event) => {
            const id =
              event.target instanceof Element
                ? event.target.closest<HTMLElement>('[data-row]')?.dataset['row']
                : undefined
            setFocusedId(id ?? null)
          }}
          onContextMenu={(event) => {
            const id =
              event.target instanceof Element
                ? event.target.closest<HTMLElement>('[data-row]')?.dataset['row']
                : undefined
            setMenuRow(rows.find((row) => row.id === (id ?? focusedId)) ?? null)
          }}
          className="ring-inside min-h-0 grow overflow-y-auto [overflow-anchor:none] [scrollbar-gutter:stable_both-edges]"
        >
          <div className="relative w-full" style={{ height: total }}>
            {itemsBefore > 0 && (
              <MoreEntries
                which="older"
                state={older}
                count={itemsBefore}
                onRetry={() => void controller.loadOlder().catch(() => {})}
              />
            )}
            {itemsAfter > 0 && (
              <MoreEntries
                which="newer"
                state={newer}
                count={itemsAfter}
                onRetry={() => void controller.loadNewer().catch(() => {})}
              />
            )}
            {items.map(({ key, index, start }) => {
              const row = rows[index]!
              return (
                <article
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  data-row={row.id}
                  data-kind={row.kind}
                  tabIndex={-1}
                  aria-posinset={itemsBefore + index + 1}
                  aria-setsize={itemsBefore + rows.length + itemsAfter}
                  aria-label={definitionOf(row).label(row)}
                  className="group/row absolute inset-x-0 top-0 outline-none"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  {/* The gutters of the scroll area count as part of the margin, so that the column stands exactly above the message. */}
                  <div className="px-[max(0.5rem,calc(1.5rem-var(--gutter,0px)))]">
                    <div className="mx-auto w-full max-w-736 group-focus-visible/row:[&>*]:rounded-6 group-focus-visible/row:[&>*]:outline-2 group-focus-visible/row:[&>*]:outline-offset-2 group-focus-visible/row:[&>*]:outline-focus">
                      <RowBody
                        row={row}
                        open={folds.get(row.id) ?? definitionOf(row).opens?.(row, foldReasoning) ?? false}
                        toggle={toggle}
                      />
                    </div>
                  </div>
                </article>
              )
            })}
          </div>
        </div>
      </ContextMenu>
      {finding && (
        <SessionFind
          sessionId={sessionId}
          onClose={() => {
            setFinding(false)
            setMarked([])
            scroller.current?.focus()
          }}
        />
      )}
      {rows.length === 0 && <NoEntries />}
      {seen !== null && !allInSight && (
        <div className="pointer-events-none absolute inset-x-0 bottom-8 flex justify-center">
          <Button className="pointer-events-auto animate-rise rounded-full! shadow-float" size="small" onClick={follow}>
            <ArrowDown size={13} strokeWidth={1.75} aria-hidden />
            Jump to latest
            {unseen > 0 && (
              <span className="figures text-muted" aria-label={counted(unseen, 'new entry', 'new entries')}>
                {unseen}
              </span>
            )}
          </Button>
        </div>
      )}
    </>
  )
}

function spanOf(rows: readonly Row[], { first, last }: { first: string; last: string }): Span | null {
  const from = rows.findIndex((row) => row.id === first)
  const to = rows.findIndex((row) => row.id === last)
  return from < 0 || to < from ? null : { from, to }
}

const RowBody = memo(function RowBody({
  row,
  open,
  toggle,
}: {
  row: Row
  open: boolean
  toggle: (row: Row, shown?: number) => void
}) {
  const { View } = definitionOf(row)
  return <View row={row} open={open} onToggle={(shown) => toggle(row, shown)} />
})
