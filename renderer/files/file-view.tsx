/** One file, to read: its text with line numbers and a find field; what is no text says what it is. */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { FileBody } from '../../preload/contract/routes.ts'
import { client, failure } from '../state/link.ts'
import { bytesText, counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { type ShownFile, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { type CodeLines, CodeLinesView } from './code-lines.tsx'
import { languageOf } from './language.ts'

type Body = FileBody | ErrorBody

/** Reads the file, and again when it changes on disk; the shown text stays until the new one is there. */
function useBody({ workspace, path }: ShownFile): { body: Body | null; again: () => void } {
  const [body, setBody] = useState<{ of: string; body: Body } | null>(null)
  const [asked, setAsked] = useState(0)
  const key = `${workspace}\n${path}`
  const rev = useWorkbench(({ filesChanged }) => {
    const changed = filesChanged.get(workspace)
    return changed && (changed.paths === 'rescan' || changed.paths.includes(path)) ? changed.rev : 0
  })
  useEffect(() => {
    const ended = new AbortController()
    client()
      .files.read({ workspace, path }, { signal: ended.signal })
      .then(
        (read) => setBody({ of: key, body: read }),
        (thrown: unknown) => ended.signal.aborted || setBody({ of: key, body: failure(thrown) }),
      )
    return () => ended.abort()
  }, [key, workspace, path, rev, asked])
  return { body: body?.of === key ? body.body : null, again: () => setAsked((count) => count + 1) }
}

export function FileView({ file }: { file: ShownFile }) {
  const { body, again } = useBody(file)
  const code = useRef<CodeLines>(null)
  const [finding, setFinding] = useState(false)
  const [marked, setMarked] = useState<number | null>(null)
  const close = () => useWindow.setState({ file: null })
  const text = body && 'text' in body ? body.text : null

  useEffect(() => {
    if (text === null || file.line === undefined) return setMarked(null)
    setMarked(file.line)
    // The lines are measured once they are on screen.
    const frame = requestAnimationFrame(() => code.current?.showLine(file.line ?? 1))
    return () => cancelAnimationFrame(frame)
  }, [file.line, file.opened, text === null])

  return (
    <section
      aria-label={shownText(file.path)}
      className="flex min-h-0 grow flex-col"
      onKeyDown={(event) => {
        if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'f') return
        event.preventDefault()
        setFinding(true)
      }}
    >
      <header className="flex h-32 shrink-0 items-center gap-4 border-b border-line pr-4 pl-10 text-12">
        <bdi className="min-w-0 truncate text-ink" title={shownText(file.path)}>
          {shownText(file.path)}
        </bdi>
        {body && 'bytes' in body && <span className="shrink-0 text-11 text-faint">{bytesText(body.bytes)}</span>}
        <span className="grow" />
        <IconButton icon={Search} label="Find in file" size="small" disabled={text === null} onClick={() => setFinding(true)} />
        <IconButton icon={X} label="Close file" size="small" onClick={close} />
      </header>
      {finding && text !== null && <FindBar code={code.current} onMark={setMarked} onClose={() => (setFinding(false), setMarked(null))} />}
      {body === null ? (
        <Skeleton label="Reading the file" lines={[0.5, 0.8, 0.65, 0.9, 0.4]} />
      ) : 'code' in body ? (
        <ErrorState what="Could not read the file" message={body.message} hint={body.hint} code={body.code} onRetry={again} />
      ) : text === null ? (
        <EmptyState title={body.binary ? `A binary file of ${bytesText(body.bytes)}` : 'This file cannot be shown as text'} detail={body.mediaType ?? undefined} />
      ) : text === '' ? (
        <EmptyState title="The file is empty" />
      ) : (
        <>
          <CodeLinesView ref={code} text={text} language={languageOf(file.path)} label={`Text of ${shownText(file.path)}`} marked={marked} />
          {body.truncated && <p className="border-t border-line px-10 py-4 text-11 text-muted">Only the beginning is shown: the file has {bytesText(body.bytes)}.</p>}
        </>
      )}
    </section>
  )
}

function FindBar({ code, onMark, onClose }: { code: CodeLines | null; onMark: (line: number | null) => void; onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const found = code?.find(text) ?? []
  const go = (index: number) => {
    if (found.length === 0) return onMark(null)
    const next = (index + found.length) % found.length
    setAt(next)
    onMark(found[next]!)
    code?.showLine(found[next]!)
  }
  return (
    <div role="search" className="flex h-32 shrink-0 items-center gap-4 border-b border-line bg-side pr-4 pl-10">
      <input
        autoFocus
        aria-label="Find in file"
        placeholder="Find"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          const first = code?.find(event.target.value)[0]
          setAt(0)
          onMark(first ?? null)
          if (first !== undefined) code?.showLine(first)
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
        {text === '' ? '' : found.length === 0 ? 'Nothing found' : `${at + 1} of ${counted(found.length, 'line')}`}
      </span>
      <IconButton icon={ChevronUp} label="Previous" size="small" disabled={found.length === 0} onClick={() => go(at - 1)} />
      <IconButton icon={ChevronDown} label="Next" size="small" disabled={found.length === 0} onClick={() => go(at + 1)} />
      <IconButton icon={X} label="Close find" size="small" onClick={onClose} />
    </div>
  )
}
