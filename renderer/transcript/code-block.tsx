import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { CodeToken } from './code-tokens.ts'
import { useColours } from './coloured-text.tsx'
import { CopyButton } from './copy-button.tsx'

/** Lines laid out together: the unit in which a block grows and gets its colours. */
const chunkLines = 50

type CodeBlockProps = {
  code: string
  language: string
  /** The fence is still open: no colours yet. */
  live: boolean
}

/** A fenced block: its language, a copy button, colours once it is complete. */
export const CodeBlock = memo(function CodeBlock({ code, language, live }: CodeBlockProps) {
  const lines = useColours(code, language, live)
  return (
    <figure
      className="group/code my-12 overflow-hidden rounded-8 border border-line bg-sunken"
      aria-label={language ? `Code, ${language}` : 'Code'}
    >
      <figcaption className="flex h-28 items-center justify-between pr-2 pl-12 font-mono text-11 text-faint select-none">
        {language || 'text'}
        <CopyButton
          text={code.replace(/\n$/, '')}
          label="Copy code"
          className="opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100"
        />
      </figcaption>
      {/* A scroll area takes the keyboard only through its own focus. */}
      <pre
        tabIndex={0}
        className="ring-inside m-0! max-h-480 overflow-auto rounded-none! border-0! bg-transparent! px-12! pt-0! pb-10!"
      >
        <code className="block w-max min-w-full font-mono text-code-ink">
          {lines ? <ColouredLines lines={lines} /> : <PlainLines code={code} />}
        </code>
      </pre>
    </figure>
  )
})

/** In chunks of lines, so that a growing block lays out its last chunk only. */
function PlainLines({ code }: { code: string }) {
  const chunks: string[] = []
  let from = 0
  let lines = 0
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) {
    if (++lines % chunkLines !== 0) continue
    chunks.push(code.slice(from, at))
    from = at + 1
  }
  chunks.push(code.slice(from))
  return chunks.map((chunk, index) => <PlainChunk key={index} text={chunk} />)
}

const PlainChunk = memo(function PlainChunk({ text }: { text: string }) {
  return <span className="block">{text}</span>
})

/** Only chunks that came near the eye get their colours: a whole file would be tens of thousands of elements. */
function ColouredLines({ lines }: { lines: CodeToken[][] }) {
  const chunks: CodeToken[][][] = []
  for (let from = 0; from < lines.length; from += chunkLines) chunks.push(lines.slice(from, from + chunkLines))
  return chunks.map((chunk, index) => <ColouredChunk key={index} lines={chunk} alone={chunks.length === 1} />)
}

/**
 * `alone`: a short block, whose colours cost less than watching for when it is seen. Its lines are put there by hand: they
 * never change, and a component for each token was most of what an answer with code cost to draw.
 */
function ColouredChunk({ lines, alone }: { lines: CodeToken[][]; alone: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  const [seen, setSeen] = useState(alone)
  useEffect(() => {
    if (seen) return
    // `scrollMargin` reaches into the block's own scroll area.
    const near: IntersectionObserverInit & { scrollMargin: string } = { rootMargin: '300px', scrollMargin: '300px' }
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      near,
    )
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [seen])
  useLayoutEffect(() => {
    const separated = lines.flatMap((line, at) => (at === 0 ? line : [lineEnd, ...line]))
    place.current!.replaceChildren(...(seen ? separated.map(tokenNode) : [separated.map(([text]) => text).join('')]))
  }, [lines, seen])

  return <span ref={place} className="block" />
}

const lineEnd: CodeToken = ['\n', '', 0]

function tokenNode([text, colour, italic]: CodeToken): Node | string {
  if (colour === '') return text
  const span = document.createElement('span')
  span.textContent = text
  span.style.color = colour
  if (italic === 1) span.className = 'italic'
  return span
}
