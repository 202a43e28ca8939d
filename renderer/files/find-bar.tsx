import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { counted } from '../transcript/amounts.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { linesOf } from './code-lines.tsx'

function linesWith(text: string, wanted: string): number[] {
  const lower = wanted.toLowerCase()
  return lower === ''
    ? []
    : linesOf(text).flatMap((line, index) => (line.toLowerCase().includes(lower) ? [index + 1] : []))
}

/** Finds text by lines in what is shown to read. */
export function FindBar({
  text,
  onFind,
  onClose,
}: {
  text: string
  onFind: (line: number | null) => void
  onClose: () => void
}) {
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const found = useMemo(() => linesWith(text, wanted), [text, wanted])
  const go = (index: number) => {
    if (found.length === 0) return
    const next = (index + found.length) % found.length
    setAt(next)
    onFind(found[next] ?? null)
  }
  return (
    <div role="search" className="flex h-32 shrink-0 items-center gap-4 border-b border-line bg-side pr-4 pl-10">
      <input
        ref={focusOnMount}
        aria-label="Find in file"
        placeholder="Find"
        value={wanted}
        onChange={(event) => {
          setWanted(event.target.value)
          setAt(0)
          onFind(linesWith(text, event.target.value)[0] ?? null)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(at + (event.shiftKey ? -1 : 1))
          else if (event.key === 'Escape') {
            event.stopPropagation()
            onClose()
          }
        }}
        className="h-full min-w-0 grow bg-transparent text-12 outline-none"
      />
      <span role="status" className="figures shrink-0 text-11 text-faint">
        {wanted === '' ? '' : found.length === 0 ? 'Nothing found' : `${at + 1} of ${counted(found.length, 'line')}`}
      </span>
      <IconButton
        icon={ChevronUp}
        label="Previous"
        size="small"
        disabled={found.length === 0}
        onClick={() => go(at - 1)}
      />
      <IconButton
        icon={ChevronDown}
        label="Next"
        size="small"
        disabled={found.length === 0}
        onClick={() => go(at + 1)}
      />
      <IconButton icon={X} label="Close find" size="small" onClick={onClose} />
    </div>
  )
}
