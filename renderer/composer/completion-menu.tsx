import { type ReactNode, useEffect, useRef } from 'react'
import { classNames } from '../ui/class-names.ts'

export type Completion = { id: string; label: ReactNode; detail?: ReactNode; icon?: ReactNode }

/** What may complete the word at the caret. The focus stays in the text; the list is told by `aria-activedescendant`. */
export function CompletionMenu({
  id,
  label,
  entries,
  at,
  onAt,
  onTake,
}: {
  id: string
  label: string
  entries: Completion[]
  at: number
  onAt: (at: number) => void
  onTake: (at: number) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label={label}
      className="absolute bottom-full left-0 z-30 mb-6 grid max-h-290 w-[min(34rem,100%)] animate-rise grid-cols-[auto_fit-content(16rem)_minmax(0,1fr)] overflow-auto rounded-8 bg-raised p-4 shadow-float"
    >
      {entries.map((entry, index) => (
        <div
          key={entry.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onPointerMove={() => onAt(index)}
          // The text keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onTake(index)}
          className={classNames(
            'col-span-full grid h-28 grid-cols-subgrid items-center gap-x-8 rounded-6 px-8 text-13 whitespace-nowrap',
            index === at && 'bg-selected',
          )}
        >
          <span className="grid w-14 place-items-center text-faint">{entry.icon}</span>
          <span className="min-w-0 truncate">{entry.label}</span>
          {entry.detail && <span className="min-w-0 truncate text-12 text-faint">{entry.detail}</span>}
        </div>
      ))}
    </div>
  )
}
