import { ArrowDown, ArrowUp, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { IconButton } from './icon-button.tsx'

type FindBarProps = {
  /** Accessible name: "Find in file". */
  label: string
  text: string
  onText: (text: string) => void
  /** How many were found and which is shown; empty where nothing is sought. */
  said: string
  /** One up (-1) or down (1) from the one shown. */
  onStep: (by: 1 | -1) => void
  /** Enter goes up: what is read there is mostly at its end. */
  upwards?: boolean | undefined
  onClose: () => void
  /** Ways of seeking, as buttons that stay down. */
  children?: ReactNode
}

/** Finds text in what it floats over, whose frame must be `relative`. Enter and Shift+Enter step, Escape closes. */
export function FindBar({ label, text, onText, said, onStep, upwards = false, onClose, children }: FindBarProps) {
  return (
    <div
      role="search"
      aria-label={label}
      className="absolute top-6 right-16 z-10 flex h-32 w-320 max-w-[calc(100%-2rem)] items-center gap-2 rounded-8 bg-raised pr-4 pl-10 shadow-float"
    >
      <input
        ref={focusOnMount}
        aria-label={label}
        placeholder="Find"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') onStep(event.shiftKey === upwards ? 1 : -1)
          if (event.key === 'Escape') {
            event.stopPropagation()
            onClose()
          }
        }}
        className="h-full min-w-0 grow bg-transparent text-12 outline-none"
      />
      <span role="status" className="figures shrink-0 px-4 text-11 text-muted">
        {said}
      </span>
      {children}
      <IconButton icon={ArrowUp} label="Previous" size="small" onClick={() => onStep(-1)} />
      <IconButton icon={ArrowDown} label="Next" size="small" onClick={() => onStep(1)} />
      <IconButton icon={X} label="Close find" size="small" onClick={onClose} />
    </div>
  )
}
