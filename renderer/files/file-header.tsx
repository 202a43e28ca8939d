import { Search, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useWindow } from '../state/window-store.ts'
import { bytesText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { IconButton } from '../ui/icon-button.tsx'

/** The line above an open file: what it is, whether it is saved, what can be done with it. */
export function FileHeader({
  path,
  bytes,
  unsaved = false,
  finding,
  onFind,
  children,
}: {
  path: string
  bytes: number | null
  unsaved?: boolean
  /** The find field is open. */
  finding?: boolean
  /** Absent where there is nothing to search. */
  onFind?: (() => void) | undefined
  children?: ReactNode
}) {
  const cut = path.lastIndexOf('/') + 1
  return (
    <header className="flex h-32 shrink-0 items-center gap-4 border-b border-line pr-4 pl-10 text-12">
      <bdi className="flex min-w-0 items-baseline gap-6" title={shownText(path)}>
        <span className="min-w-0 truncate text-ink">{shownText(path.slice(cut))}</span>
        {cut > 0 && (
          <span className="min-w-0 shrink-[100] truncate text-11 text-faint">{shownText(path.slice(0, cut - 1))}</span>
        )}
      </bdi>
      {unsaved ? (
        <span className="flex shrink-0 items-center gap-4 text-11 text-needs">
          <span aria-hidden className="size-6 rounded-full bg-needs" />
          Unsaved
        </span>
      ) : (
        bytes !== null && <span className="figures shrink-0 text-11 text-faint">{bytesText(bytes)}</span>
      )}
      <span className="grow" />
      {children}
      <IconButton
        icon={Search}
        label="Find in file"
        size="small"
        disabled={!onFind}
        pressed={finding}
        onClick={() => onFind?.()}
      />
      <IconButton icon={X} label="Close file" size="small" onClick={() => useWindow.setState({ file: null })} />
    </header>
  )
}
