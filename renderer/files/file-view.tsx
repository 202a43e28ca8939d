/** One file, to read: its text with line numbers and a find field; what is no text says what it is. */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { bytesText, counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { type ShownFile, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { type CodeLines, CodeLinesView, linesOf } from './code-lines.tsx'
import { languageOf } from './language.ts'

export function FileView({ file }: { file: ShownFile }) {
  const { workspace, path, line, opened } = file
  // Read again when it changes on disk; the shown text stays until the new one is there.
  const rev = useWorkbench(({ filesChanged }) => {
    const changed = filesChanged.get(workspace)
    return changed && (changed.paths === 'rescan' || changed.paths.includes(path)) ? changed.rev : 0
  })
  const { answer, error, again } = useAnswer(
    `${workspace}\n${path}\n${rev}`,
    (signal) => client().files.read({ workspace, path }, { signal }),
    { keepsLast: true },
  )
  const body = answer?.path === path ? answer : null
  const text = body?.text ?? null
  const code = useRef<CodeLines>(null)
  const [finding, setFinding] = useState(false)
  /** The line the find bar is at, for this opening of the file. */
  const [found, setFound] = useState<{ opened: number; line: number } | null>(null)
  const marked = found?.opened === opened ? found.line : (line ?? null)
  const there = text !== null

  useEffect(() => {
    if (!there || line === undefined) return
    // The lines are measured once they are on screen. `opened` asks again for the same line.
    const frame = requestAnimationFrame(() => opened > 0 && code.current?.showLine(line))
    return () => cancelAnimationFrame(frame)
  }, [line, opened, there])

  return (
    <section aria-label={shownText(path)} className="flex min-h-0 grow flex-col">
      <header className="flex h-32 shrink-0 items-center gap-4 border-b border-line pr-4 pl-10 text-12">
        <bdi className="min-w-0 truncate text-ink" title={shownText(path)}>
          {shownText(path)}
        </bdi>
        {body && <span className="shrink-0 text-11 text-faint">{bytesText(body.bytes)}</span>}
        <span className="grow" />
        <IconButton
          icon={Search}
          label="Find in file"
          size="small"
          disabled={!there}
          pressed={finding}
          onClick={() => setFinding(!finding)}
        />
        <IconButton icon={X} label="Close file" size="small" onClick={() => useWindow.setState({ file: null })} />
      </header>
      {finding && there && (
        <FindBar
          text={text}
          onFind={(at) => {
            setFound(at === null ? null : { opened, line: at })
            if (at !== null) code.current?.showLine(at)
          }}
          onClose={() => {
            setFinding(false)
            setFound(null)
          }}
        />
      )}
      {error ? (
        <ErrorState
          what="Could not read the file"
          message={error.message}
          hint={error.hint}
          code={error.code}
          onRetry={again}
        />
      ) : body === null ? (
        <Skeleton label="Reading the file" lines={[0.5, 0.8, 0.65, 0.9, 0.4]} />
      ) : text === null ? (
        <EmptyState
          title={body.binary ? `A binary file of ${bytesText(body.bytes)}` : 'This file cannot be shown as text'}
          detail={body.mediaType ?? undefined}
        />
      ) : text === '' ? (
        <EmptyState title="The file is empty" />
      ) : (
        <>
          <CodeLinesView
            ref={code}
            text={text}
            language={languageOf(path)}
            label={`Text of ${shownText(path)}`}
            marked={marked}
          />
          {body.truncated && (
            <p className="border-t border-line px-10 py-4 text-11 text-muted">
              Only the beginning is shown: the file has {bytesText(body.bytes)}.
            </p>
          )}
        </>
      )}
    </section>
  )
}

function linesWith(text: string, wanted: string): number[] {
  const lower = wanted.toLowerCase()
  return lower === ''
    ? []
    : linesOf(text).flatMap((line, index) => (line.toLowerCase().includes(lower) ? [index + 1] : []))
}

function FindBar({
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
