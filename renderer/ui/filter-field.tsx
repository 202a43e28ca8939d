import { Search, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { IconButton } from './icon-button.tsx'

/** Narrows a list below it. Escape empties it first; ArrowDown leaves for the list, where there is a way. */
export function FilterField({
  label,
  placeholder = label,
  value,
  onChange,
  onDown,
}: {
  label: string
  placeholder?: string | undefined
  value: string
  onChange: (value: string) => void
  onDown?: (() => void) | undefined
}) {
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && value !== '') {
      event.stopPropagation()
      onChange('')
    } else if (event.key === 'ArrowDown' && onDown) {
      event.preventDefault()
      onDown()
    }
  }
  return (
    <div className="flex h-26 min-w-0 grow items-center gap-6 rounded-6 bg-hover px-8 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-focus">
      <Search size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
      <input
        type="text"
        role="searchbox"
        aria-label={label}
        placeholder={placeholder}
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-full min-w-0 grow bg-transparent text-12 outline-none"
      />
      {value !== '' && (
        <IconButton icon={X} label="Clear" size="small" className="-mr-6" onClick={() => onChange('')} />
      )}
    </div>
  )
}
