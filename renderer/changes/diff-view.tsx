/** Every file's diff in one virtualised view. Loaded lazily: it brings the highlighter with it. */
import type { SelectedLineRange } from '@pierre/diffs'
import { CodeView, type CodeViewHandle, WorkerPoolContextProvider, useWorkerPool } from '@pierre/diffs/react'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { useZoom } from '../app/appearance.ts'
import { useShownTheme } from '../app/theme.ts'
import { type ChangeBlock, changeBlocks } from './change-blocks.ts'
import type { CommentPlace, DiffItem, Mark } from './diff-items.ts'
import { diffTheme, diffTokens, highlighterOptions, poolOptions } from './diff-theme.ts'

export interface DiffView {
  /** Moves to the next change that is unfolded, round the end; answers where it is. */
  step(direction: 1 | -1): { path: string; block: ChangeBlock; index: number; count: number } | null
  stepFile(direction: 1 | -1): string | null
  showFile(id: string): void
  /** The hunk the last step went to; null before one. */
  current(): { changeId: string; hunkId: string } | null
  /** The selected lines, which a step selects too; null where none are. */
  selected(): CommentPlace | null
  showLines(place: CommentPlace): void
}

type DiffViewProps = {
  items: readonly DiffItem[]
  style: 'unified' | 'split'
  wrap: boolean
  renderHeader: (id: string) => ReactNode
  renderMark: (mark: Mark) => ReactNode
  /** The button that the pointer finds beside a line. */
  onComment: (place: CommentPlace) => void
  ref?: Ref<DiffView>
}

export default function DiffViewPane(props: DiffViewProps) {
  const [options] = useState(highlighterOptions)
  return (
    <WorkerPoolContextProvider poolOptions={poolOptions} highlighterOptions={options}>
      <Diffs {...props} />
    </WorkerPoolContextProvider>
  )
}

/** Long lines scroll sideways: the part that does must be reachable by keyboard, and the view gives no option for it. */
function keyboardScrolls(node: HTMLElement): void {
  for (const code of node.shadowRoot?.querySelectorAll<HTMLElement>('[data-code]') ?? []) code.tabIndex = 0
}

/** Lines of one side: a selection over both counts as what it covers of the side it ends on. */
function placeOf(changeId: string, { start, side, end, endSide }: SelectedLineRange): CommentPlace {
  const last = endSide ?? side
  const from = last === side ? Math.min(start, end) : end
  return {
    changeId,
    side: last === 'deletions' ? 'before' : 'after',
    from,
    to: last === side ? Math.max(start, end) : end,
  }
}

function Diffs({ items, style, wrap, renderHeader, renderMark, onComment, ref }: DiffViewProps) {
  const shown = useShownTheme()
  const zoom = useZoom()
  const pool = useWorkerPool()
  const view = useRef<CodeViewHandle<Mark, undefined>>(null)
  const place = useRef<{ id: string; index: number } | null>(null)
  const theme = useMemo(() => diffTheme(shown), [shown])

  useEffect(() => {
    void pool?.setRenderOptions({
      theme,
      lineDiffType: 'word',
      tokenizeMaxLineLength: 1_000,
      maxLineDiffLength: 1_000,
      useTokenTransformer: false,
    })
  }, [pool, theme])

  useImperativeHandle(ref, () => {
    const visible = () => items.filter(({ collapsed }) => !collapsed)
    const fileAt = (direction: 1 | -1): DiffItem | undefined => {
      const at = items.findIndex(({ id }) => id === place.current?.id)
      return items[at < 0 ? (direction === 1 ? 0 : items.length - 1) : (at + direction + items.length) % items.length]
    }
    return {
      step(direction) {
        const stops = visible().flatMap((item) =>
          changeBlocks(item.fileDiff).map((block, index) => ({ id: item.id, path: item.fileDiff.name, block, index })),
        )
        if (stops.length === 0) return null
        const now = stops.findIndex(({ id, index }) => id === place.current?.id && index === place.current.index)
        const next =
          stops[now < 0 ? (direction === 1 ? 0 : stops.length - 1) : (now + direction + stops.length) % stops.length]
        if (!next) return null
        place.current = { id: next.id, index: next.index }
        const { side, from, to } = next.block
        view.current?.scrollTo({ type: 'line', id: next.id, lineNumber: from, side, align: 'center' })
        view.current?.setSelectedLines({ id: next.id, range: { start: from, side, end: to, endSide: side } })
        return { path: next.path, block: next.block, index: stops.indexOf(next), count: stops.length }
      },
      stepFile(direction) {
        const next = fileAt(direction)
        if (!next) return null
        place.current = { id: next.id, index: -1 }
        view.current?.scrollTo({ type: 'item', id: next.id, align: 'start' })
        return next.fileDiff.name
      },
      current() {
        const item = items.find(({ id }) => id === place.current?.id)
        const block = item && place.current ? changeBlocks(item.fileDiff)[place.current.index] : undefined
        if (!item || !block) return null
        // The bar of a hunk stands at or below each of its blocks.
        const mark = item.annotations?.find(
          ({ side, lineNumber, metadata }) => metadata.kind === 'hunk' && side === block.side && lineNumber >= block.to,
        )
        return mark?.metadata.kind === 'hunk' ? mark.metadata : null
      },
      selected() {
        const lines = view.current?.getSelectedLines()
        return lines ? placeOf(lines.id, lines.range) : null
      },
      showLines({ changeId, side, from, to }) {
        const at = side === 'before' ? 'deletions' : 'additions'
        view.current?.scrollTo({ type: 'line', id: changeId, lineNumber: from, side: at, align: 'center' })
        view.current?.setSelectedLines({ id: changeId, range: { start: from, side: at, end: to, endSide: at } })
      },
      showFile(id) {
        place.current = { id, index: -1 }
        view.current?.scrollTo({ type: 'item', id, align: 'start' })
      },
    }
  }, [items])

  return (
    <CodeView
      ref={view}
      items={items}
      className="min-h-0 grow overflow-auto overscroll-contain outline-none [scrollbar-width:thin]"
      style={diffTokens}
      options={{
        theme,
        themeType: shown === 'light' ? 'light' : 'dark',
        diffStyle: style,
        overflow: wrap ? 'wrap' : 'scroll',
        // A bar is drawn in colours alone, a sign is not.
        diffIndicators: matchMedia('(forced-colors: active)').matches ? 'classic' : 'bars',
        hunkSeparators: 'line-info-basic',
        lineDiffType: 'word',
        maxLineDiffLength: 1_000,
        tokenizeMaxLineLength: 1_000,
        stickyHeaders: true,
        onPostRender: keyboardScrolls,
        enableLineSelection: true,
        enableGutterUtility: true,
        onGutterUtilityClick: (...[range, context]) => range && context && onComment(placeOf(context.item.id, range)),
        layout: { paddingTop: 0, paddingBottom: 24 * zoom, gap: 0 },
        itemMetrics: { lineHeight: 20 * zoom, diffHeaderHeight: 32 * zoom },
      }}
      renderCustomHeader={(item) => renderHeader(item.id)}
      renderAnnotation={(...[annotation]) => renderMark(annotation.metadata)}
    />
  )
}
