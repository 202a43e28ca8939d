import { useMemo, useState } from 'react'
import { languageOf } from '../files/language.ts'
import { classNames } from '../ui/class-names.ts'
import { Button } from '../ui/button.tsx'
import { ColouredLine, useColours } from './coloured-text.tsx'
import type { CodeToken } from './code-tokens.ts'
import { type PatchLine, patchLines, patchPath, sideOf } from './patch.ts'
import { hasHidden } from './shown-text.ts'
import { Shown } from './shown.tsx'

const linesFirst = 120
/** More are shown plain: each coloured line is a handful of elements. */
const colouredLinesMax = 1_500

const tints = { same: '', added: 'bg-added-line', removed: 'bg-removed-line', hunk: 'text-faint' }
const signs = { same: ' ', added: '+', removed: '−', hunk: ' ' }
const spoken = { same: '', added: 'Added: ', removed: 'Removed: ', hunk: '' }

/** A diff small enough for a card, in one column. Large ones belong to the inspector. */
export function SmallDiff({
  patch,
  label,
  path,
  whole = false,
}: {
  patch: string
  label: string
  /** Where the patch itself does not say it. */
  path?: string | undefined
  /** All of it at once, in whatever scrolls around it. */
  whole?: boolean
}) {
  const [all, setAll] = useState(whole)
  const { lines, before, after, language } = useMemo(() => {
    const found = patchLines(patch)
    return {
      lines: found,
      before: sideOf(found, 'before'),
      after: sideOf(found, 'after'),
      language: languageOf(patchPath(patch) ?? path ?? ''),
    }
  }, [patch, path])
  const plain = lines.length > colouredLinesMax
  const coloursBefore = useColours(before.text, language, plain)
  const coloursAfter = useColours(after.text, language, plain)
  const coloursOf = (index: number) =>
    coloursAfter?.[after.at[index] ?? -1] ?? coloursBefore?.[before.at[index] ?? -1] ?? null
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
            <DiffLine key={index} line={line} tokens={coloursOf(index)} width={width} first={index === 0} />
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
  tokens,
  width,
  first,
}: {
  line: PatchLine
  tokens: CodeToken[] | null
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
      {tokens && !hasHidden(text) ? (
        <bdi className="text-code-ink">
          <ColouredLine tokens={tokens} />
        </bdi>
      ) : (
        <Shown text={text} className="text-code-ink" />
      )}
    </div>
  )
}
