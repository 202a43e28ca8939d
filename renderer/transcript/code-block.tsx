import { memo, useEffect, useState } from 'react'
import { useShownTheme } from '../app/theme.ts'
import { classNames } from '../ui/class-names.ts'
import { type CodeToken, highlight, highlighted } from './highlighter.ts'
import { CopyButton } from './copy-button.tsx'

/** Lines drawn in colour at once; the next ones follow a frame later, so that no frame pays for a whole file. */
const chunkLines = 120

type CodeBlockProps = {
  code: string
  language: string
  /** The fence is still open: no colours yet. */
  live: boolean
}

/** A fenced block: its language, a copy button, colours once it is complete. */
export const CodeBlock = memo(function CodeBlock({ code, language, live }: CodeBlockProps) {
  const theme = useShownTheme()
  const [lines, setLines] = useState<CodeToken[][] | null>(() => (live ? null : highlighted(code, language)))

  useEffect(() => {
    if (live) return
    let wanted = true
    void highlight(code, language).then((found) => wanted && setLines(found))
    return () => {
      wanted = false
    }
  }, [code, language, live, theme])

  return (
    <figure className="group/code my-12 overflow-hidden rounded-8 border border-line bg-sunken" aria-label={language ? `Code, ${language}` : 'Code'}>
      <figcaption className="flex h-28 items-center justify-between pr-2 pl-12 font-mono text-11 text-faint select-none">
        {language || 'text'}
        <CopyButton text={code.replace(/\n$/, '')} label="Copy code" className="opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100" />
      </figcaption>
      {/* A scroll area takes the keyboard only through its own focus. */}
      <pre tabIndex={0} className="ring-inside m-0! max-h-480 overflow-auto rounded-none! border-0! bg-transparent! px-12! pt-0! pb-10!">
        <code className="font-mono text-code-ink">{lines && !live ? <ColouredLines lines={lines} /> : code}</code>
      </pre>
    </figure>
  )
})

function ColouredLines({ lines }: { lines: CodeToken[][] }) {
  const [shown, setShown] = useState(chunkLines)
  useEffect(() => {
    if (shown >= lines.length) return
    const frame = requestAnimationFrame(() => setShown(shown + chunkLines))
    return () => cancelAnimationFrame(frame)
  }, [shown, lines.length])

  const chunks: CodeToken[][][] = []
  for (let from = 0; from < lines.length; from += chunkLines) chunks.push(lines.slice(from, from + chunkLines))
  return chunks.map((chunk, index) => <Chunk key={index} lines={chunk} plain={index * chunkLines >= shown} />)
}

const Chunk = memo(
  function Chunk({ lines, plain }: { lines: CodeToken[][]; plain: boolean }) {
    if (plain) return lines.map((line) => line.map(([text]) => text).join('') + '\n').join('')
    return lines.map((line, at) => (
      <span key={at}>
        {line.map(([text, colour, italic], index) =>
          colour === '' ? (
            text
          ) : (
            <span key={index} className={classNames(italic === 1 && 'italic')} style={{ color: colour }}>
              {text}
            </span>
          ),
        )}
        {'\n'}
      </span>
    ))
  },
  (a, b) => a.plain === b.plain && a.lines.length === b.lines.length && a.lines[0] === b.lines[0] && a.lines.at(-1) === b.lines.at(-1),
)
