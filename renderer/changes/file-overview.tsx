import { useVirtualizer } from '@tanstack/react-virtual'
import { Check } from 'lucide-react'
import { useLayoutEffect, useRef } from 'react'
import { useZoom } from '../app/appearance.ts'
import { Counts } from '../transcript/counts.tsx'
import { ChangeLetter, PathText } from './change-header.tsx'
import type { ScopedFile } from './change-scope.ts'
import { isReviewed } from './review-actions.ts'

const rowPx = 26
const shownRowsMax = 7

/** The changed files at a glance; a click goes to one. Virtualised: two thousand are listed at once (F-905). */
export function FileOverview({ files, onOpen }: { files: ScopedFile[]; onOpen: (file: ScopedFile) => void }) {
  const scroller = useRef<HTMLDivElement>(null)
  const zoom = useZoom()
  const virtual = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx * zoom,
    overscan: 10,
  })
  useLayoutEffect(() => virtual.measure(), [zoom, virtual])
  return (
    <div
      ref={scroller}
      className="shrink-0 overflow-y-auto px-6 pb-6 [scrollbar-width:thin]"
      style={{ maxHeight: `${(rowPx * (shownRowsMax + 0.5)) / 16}rem` }}
    >
      <div role="list" aria-label="Changed files" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, size }) => {
          const file = files[index]!
          return (
            <div
              key={file.path}
              role="listitem"
              aria-posinset={index + 1}
              aria-setsize={files.length}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                onClick={() => onOpen(file)}
                className="ring-inside flex h-full w-full items-center gap-6 rounded-6 px-6 text-left hover:bg-hover"
              >
                <ChangeLetter kind={file.kind} />
                <PathText path={file.path} className="grow" />
                {file.changes.every((change) => isReviewed(change)) && (
                  <Check size={12} strokeWidth={2} role="img" aria-label="Kept" className="shrink-0 text-ok" />
                )}
                <Counts added={file.added} removed={file.removed} />
              </button>
            </div>
          )
        })}
      </div>
    </div>
  )
}
