/** A file's text as virtualised lines with numbers: coloured by the highlighter's worker when it is small enough. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type Ref, useImperativeHandle, useLayoutEffect, useMemo, useRef } from 'react'
import { useZoom } from '../app/appearance.ts'
import { ColouredLine, useColours } from '../transcript/coloured-text.tsx'
import type { CodeToken } from '../transcript/code-tokens.ts'
import { Shown } from '../transcript/shown.tsx'
import { hasHidden } from '../transcript/shown-text.ts'
import { classNames } from '../ui/class-names.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'

const linePx = 20
/** Longer lines are cut on screen: one of a megabyte would stop the page. */
const lineCharsMax = 2_000

export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/)
}

export interface CodeLines {
  showLine(line: number): void
}

export function CodeLinesView({
  text,
  language,
  label,
  marked,
  ref,
}: {
  text: string
  language: string
  label: string
  marked: number | null
  ref?: Ref<CodeLines>
}) {
  const zoom = useZoom()
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => linesOf(text), [text])
  const tokens = useColours(text, language)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx * zoom,
    overscan: 30,
  })
  useLayoutEffect(() => virtual.measure(), [zoom, virtual])
  const widest = useMemo(
    () => lines.reduce((most, line) => Math.max(most, Math.min(line.length, lineCharsMax)), 0),
    [lines],
  )
  useImperativeHandle(
    ref,
    () => ({
      showLine: (line) => virtual.scrollToIndex(Math.min(lines.length, Math.max(1, line)) - 1, { align: 'center' }),
    }),
    [lines, virtual],
  )
  const gutter = `${String(lines.length).length + 1}ch`
  return (
    <ScrollArea ref={scroller} label={label} className="grow font-mono text-12">
      <div
        className="relative"
        style={{ height: virtual.getTotalSize(), width: `max(100%, calc(${widest}ch + ${gutter} + 3rem))` }}
      >
        {virtual.getVirtualItems().map(({ index, start, size }) => (
          <div
            key={index}
            className={classNames(
              'absolute inset-x-0 top-0 flex leading-20',
              marked === index + 1 && 'bg-selected shadow-[inset_2px_0_0_var(--accent)]',
            )}
            style={{ height: size, lineHeight: `${size}px`, transform: `translateY(${start}px)` }}
          >
            <span
              aria-hidden
              className="shrink-0 pr-12 text-right text-faint select-none"
              style={{ width: `calc(${gutter} + 1.5rem)` }}
            >
              {index + 1}
            </span>
            <Line text={lines[index] ?? ''} tokens={tokens?.[index]} />
          </div>
        ))}
      </div>
    </ScrollArea>
  )
}

const Line = memo(function Line({ text, tokens }: { text: string; tokens: CodeToken[] | undefined }) {
  const cut = text.length > lineCharsMax
  const shown = cut ? text.slice(0, lineCharsMax) : text
  // Colours would split what hides in a line; a line with invisible characters shows them instead (Z-200).
  const hiding = hasHidden(shown)
  return (
    <span className="whitespace-pre text-code-ink">
      {hiding ? <Shown text={shown} /> : tokens && !cut ? <ColouredLine tokens={tokens} /> : shown}
      {cut && <span className="text-faint"> … {text.length - lineCharsMax} more characters</span>}
    </span>
  )
})
