import { useState } from 'react'
import { classNames } from '../ui/class-names.ts'
import { Button } from '../ui/button.tsx'
import { type PatchLine, patchLines } from './patch.ts'
import { Shown } from './shown.tsx'

const linesFirst = 120

const tints = { same: '', added: 'bg-added-line', removed: 'bg-removed-line', hunk: 'text-faint' }
const signs = { same: ' ', added: '+', removed: '−', hunk: ' ' }
const spoken = { same: '', added: 'Added: ', removed: 'Removed: ', hunk: '' }

/** A diff small enough for a card, in one column. Large ones belong to the inspector. */
export function SmallDiff({
  patch,
  label,
  whole = false,
}: {
  patch: string
  label: string
  /** All of it at once, in whatever scrolls around it. */
  whole?: boolean
}) {
  const [all, setAll] = useState(whole)
  const lines = patchLines(patch)
  const shown = all ? lines : lines.slice(0, linesFirst)
  const width = `${String(Math.max(0, ...lines.map((line) => line.after ?? line.before ?? 0))).length}ch`
  return (
    <div>
      <div
        role="group"
        aria-label={label}
        tabIndex={whole ? undefined : 0}
        className={classNames(
          'ring-inside py-4 font-mono text-[0.75rem] leading-18',
          !whole && 'max-h-400 overflow-auto',
        )}
      >
        <div className="w-max min-w-full">
          {shown.map((line, index) => (
            <DiffLine key={index} line={line} width={width} first={index === 0} />
          ))}
        </div>
      </div>
      {shown.length < lines.length && (
        <Button variant="ghost" size="small" className="m-4" onClick={() => setAll(true)}>
          Show all {lines.length.toLocaleString('en')} lines
        </Button>
      )}
    </div>
  )
}

function DiffLine({
  line: { kind, text, before, after },
  width,
  first,
}: {
  line: PatchLine
  width: string
  first: boolean
}) {
  if (kind === 'hunk') return first ? null : <div aria-hidden className="my-2 h-1 bg-line" />
  return (
    <div className={classNames('flex pr-12 whitespace-pre', tints[kind])}>
      <span
        aria-hidden
        className="figures shrink-0 pr-8 pl-12 text-right text-faint select-none"
        style={{ width: `calc(${width} + 20px)` }}
      >
        {after ?? before}
      </span>
      <span
        aria-hidden
        className={classNames(
          'w-[2ch] shrink-0 select-none',
          kind === 'added' && 'text-added',
          kind === 'removed' && 'text-removed',
        )}
      >
        {signs[kind]}
      </span>
      {spoken[kind] && <span className="sr-only">{spoken[kind]}</span>}
      <Shown text={text} />
    </div>
  )
}
