/** A file's text as virtualised lines with numbers: coloured by the highlighter's worker when it is small enough. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { useZoom } from '../app/appearance.ts'
import { useShownTheme } from '../app/theme.ts'
import { type CodeToken, highlight, highlighted } from '../transcript/highlighter.ts'
import { Shown } from '../transcript/shown.tsx'
import { hasHidden } from '../transcript/shown-text.ts'
import { classNames } from '../ui/class-names.ts'

const linePx = 20
/** Longer lines are cut on screen: one of a megabyte would stop the page. */
const lineCharsMax = 2_000

export interface CodeLines {
  showLine(line: number): void
  /** Marks lines that hold the text, ignoring case, and answers their numbers. */
  find(text: string): number[]
}

export function CodeLinesView({ text, language, label, marked, ref }: { text: string; language: string; label: string; marked: number | null; ref?: Ref<CodeLines> }) {
  const zoom = useZoom()
  const shown = useShownTheme()
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => text.split(/\r\n|\n|\r/), [text])
  const [tokens, setTokens] = useState<CodeToken[][] | null>(() => highlighted(text, language))
  useEffect(() => {
    let over = false
    void highlight(text, language).then((found) => over || setTokens(found))
    return () => void (over = true)
  }, [text, language, shown])
  const virtual = useVirtualizer({ count: lines.length, getScrollElement: () => scroller.current, estimateSize: () => linePx * zoom, overscan: 30 })
  const widest = useMemo(() => lines.reduce((most, line) => Math.max(most, Math.min(line.length, lineCharsMax)), 0), [lines])
  useImperativeHandle(
    ref,
    () => ({
      showLine: (line) => virtual.scrollToIndex(Math.min(lines.length, Math.max(1, line)) - 1, { align: 'center' }),
      find: (wanted) => {
        const lower = wanted.toLowerCase()
        return lower === '' ? [] : lines.flatMap((line, index) => (line.toLowerCase().includes(lower) ? [index + 1] : []))
      },
    }),
    [lines, virtual],
  )
  const gutter = `${String(lines.length).length + 1}ch`
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={label} className="ring-inside min-h-0 grow overflow-auto overscroll-contain font-mono text-12 [scrollbar-width:thin]">
      <div className="relative" style={{ height: virtual.getTotalSize(), width: `max(100%, calc(${widest}ch + ${gutter} + 3rem))` }}>
        {virtual.getVirtualItems().map(({ index, start, size }) => (
          <div key={index} className={classNames('absolute inset-x-0 top-0 flex leading-20', marked === index + 1 && 'bg-match')} style={{ height: size, lineHeight: `${size}px`, transform: `translateY(${start}px)` }}>
            <span aria-hidden className="shrink-0 pr-12 text-right text-faint select-none" style={{ width: `calc(${gutter} + 1.5rem)` }}>
              {index + 1}
            </span>
            <Line text={lines[index] ?? ''} tokens={tokens?.[index]} />
          </div>
        ))}
      </div>
    </div>
  )
}

const Line = memo(function Line({ text, tokens }: { text: string; tokens: CodeToken[] | undefined }) {
  const cut = text.length > lineCharsMax
  const shown = cut ? text.slice(0, lineCharsMax) : text
  // Colours would split what hides in a line; a line with invisible characters shows them instead (Z-200).
  const hiding = hasHidden(shown)
  return (
    <span className="whitespace-pre text-code-ink">
      {hiding ? (
        <Shown text={shown} />
      ) : tokens && !cut ? (
        tokens.map(([part, colour, italic], index) =>
          colour === '' && !italic ? (
            part
          ) : (
            <span key={index} style={{ ...(colour === '' ? {} : { color: colour }), ...(italic ? { fontStyle: 'italic' } : {}) }}>
              {part}
            </span>
          ),
        )
      ) : (
        shown
      )}
      {cut && <span className="text-faint"> … {text.length - lineCharsMax} more characters</span>}
    </span>
  )
})
