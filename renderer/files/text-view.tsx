import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ShownFile } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { type CodeLines, CodeLinesView } from './code-lines.tsx'
import { FileHeader } from './file-header.tsx'
import { FileFind } from './file-find.tsx'
import { languageOf } from './language.ts'

/** Text to read: at once, before the editor is there, where it would be too much for it, and of documents. */
export function TextView({
  file,
  bytes,
  text,
  language = languageOf(file.path),
  foot,
}: {
  file: ShownFile
  bytes: number
  text: string
  language?: string
  /** Said below it. */
  foot?: ReactNode
}) {
  const { path, line, opened } = file
  const code = useRef<CodeLines>(null)
  const [finding, setFinding] = useState(false)
  /** The line the find bar is at, for this opening of the file. */
  const [found, setFound] = useState<{ opened: number; line: number } | null>(null)
  const marked = found?.opened === opened ? found.line : (line ?? null)

  useEffect(() => {
    if (line === undefined) return
    // The lines are measured once they are on screen. `opened` asks again for the same line.
    const frame = requestAnimationFrame(() => opened > 0 && code.current?.showLine(line))
    return () => cancelAnimationFrame(frame)
  }, [line, opened])

  return (
    <section aria-label={shownText(path)} className="flex min-h-0 grow flex-col">
      <FileHeader path={path} bytes={bytes} finding={finding} onFind={() => setFinding(!finding)} />
      <div className="relative flex min-h-0 grow flex-col">
        {finding && (
          <FileFind
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
        <CodeLinesView
          ref={code}
          text={text}
          language={language}
          label={`Text of ${shownText(path)}`}
          marked={marked}
        />
      </div>
      {foot !== undefined && (
        <div className="flex min-h-26 items-center gap-8 border-t border-line px-10 py-2 text-11 text-muted">
          {foot}
        </div>
      )}
    </section>
  )
}
