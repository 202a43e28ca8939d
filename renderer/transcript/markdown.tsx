/**
 * A model's Markdown, growing or done. Nothing in it is trusted: raw HTML is shown as text, the result passes an allow-list,
 * links go through the window's own opener, images from elsewhere wait for a click (Z-190 to Z-194, S-66).
 */
import { ExternalLink, ImageOff } from 'lucide-react'
import { createContext, isValidElement, memo, type ReactNode, useContext, useState } from 'react'
import { openFile, openLink } from '../state/window-store.ts'
import { CodeBlock } from './code-block.tsx'
import { filePlace, linkTarget, namesOtherHost } from './file-links.ts'
import { growingBlocks, hasOpenFence, isHeavy, readFence } from './markdown-blocks.ts'
import { drawMarkdown, type MarkdownElements } from './markdown-elements.ts'

const WorkspaceContext = createContext('')
/** The folder that file links of the Markdown below it mean. */
export const MarkdownWorkspace = WorkspaceContext.Provider

/** Whether the block below is being written and stops within a fence. */
const OpenFence = createContext(false)

export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }) {
  const [split] = useState(growingBlocks)
  const blocks = split(text)
  return (
    <div className="prose [&>:first-child>:first-child]:mt-0 [&>:last-child>:last-child]:mb-0">
      {blocks.map((block, index) => (
        <MarkdownBlock key={index} text={block} live={live && index === blocks.length - 1} />
      ))}
    </div>
  )
})

const MarkdownBlock = memo(function MarkdownBlock({ text, live }: { text: string; live: boolean }) {
  const fence = readFence(text)
  if (fence) return <CodeBlock code={fence.code} language={fence.language} live={live && !fence.closed} />
  if (isHeavy(text)) return <PlainBlock text={text} />
  return (
    <OpenFence value={live && hasOpenFence(text)}>
      <div>{drawMarkdown(text, components, live)}</div>
    </OpenFence>
  )
})

const plainChunk = 2_000

/** Markdown as it was written, in pieces, so that what is added lays out the last piece only. */
function PlainBlock({ text }: { text: string }) {
  const chunks: string[] = []
  for (let from = 0; from < text.length;) {
    const end = text.lastIndexOf('\n', from + plainChunk)
    const to = end > from ? end + 1 : Math.min(text.length, from + plainChunk)
    chunks.push(text.slice(from, to))
    from = to
  }
  return (
    <div className="my-12 font-mono text-12 whitespace-pre-wrap [overflow-wrap:anywhere]">
      {chunks.map((chunk, index) => (
        <PlainChunk key={index} text={chunk} />
      ))}
    </div>
  )
}

const PlainChunk = memo(function PlainChunk({ text }: { text: string }) {
  return <div className="[contain:content]">{text.replace(/\n$/, '')}</div>
})

/** An element as the style sheet for reading expects it, with nothing of the source's own attributes. */
const plain = (
  Tag:
    | 'p'
    | 'strong'
    | 'blockquote'
    | 'ul'
    | 'li'
    | 'h1'
    | 'h2'
    | 'h3'
    | 'h4'
    | 'h5'
    | 'h6'
    | 'thead'
    | 'tbody'
    | 'tr'
    | 'sup'
    | 'sub'
    | 'section',
) =>
  function Plain({ children }: { children?: ReactNode }) {
    return <Tag>{children}</Tag>
  }

const components = {
  p: plain('p'),
  strong: plain('strong'),
  blockquote: plain('blockquote'),
  ul: plain('ul'),
  li: plain('li'),
  h1: plain('h1'),
  h2: plain('h2'),
  h3: plain('h3'),
  h4: plain('h4'),
  h5: plain('h5'),
  h6: plain('h6'),
  thead: plain('thead'),
  tbody: plain('tbody'),
  tr: plain('tr'),
  sup: plain('sup'),
  sub: plain('sub'),
  section: plain('section'),
  hr: () => <hr />,
  ol: ({ children, start }) => <ol start={start}>{children}</ol>,
  table: ({ children }) => (
    <table tabIndex={0} className="ring-inside">
      {children}
    </table>
  ),
  th: ({ children, align }) => <th align={align}>{children}</th>,
  td: ({ children, align }) => <td align={align}>{children}</td>,
  input: ({ checked }) => (
    <input
      type="checkbox"
      aria-label={checked === true ? 'Done' : 'To do'}
      checked={checked === true}
      readOnly
      disabled
      className="mr-6 align-[-0.125em] accent-accent"
    />
  ),
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture src={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  code: ({ children }) => <InlineCode>{textOf(children)}</InlineCode>,
  pre: ({ children }) => {
    const { className, children: code } = isValidElement<{ className?: string; children?: ReactNode }>(children)
      ? children.props
      : { children }
    return <FencedCode language={/language-(\S+)/.exec(className ?? '')?.[1] ?? ''} code={textOf(code)} />
  },
} satisfies MarkdownElements

function FencedCode({ language, code }: { language: string; code: string }) {
  return <CodeBlock code={code} language={language} live={useContext(OpenFence)} />
}

function InlineCode({ children }: { children: string }) {
  const workspace = useContext(WorkspaceContext)
  const place = filePlace(children)
  if (!place) return <code>{children}</code>
  return (
    <button
      type="button"
      title={`Open ${children}`}
      onClick={() => openFile(workspace, place.path, place.at)}
      className="cursor-pointer! hover:underline"
    >
      <code>{children}</code>
    </button>
  )
}

function Link({ href, children }: { href: string | undefined; children: ReactNode }) {
  const workspace = useContext(WorkspaceContext)
  const target = linkTarget(href)
  if (target.kind === 'none') return <span>{children}</span>
  if (target.kind === 'file') {
    const { path, at } = target
    return (
      <a
        href={`#${path}`}
        title={at.line === undefined ? path : `${path}:${at.line}`}
        onClick={(event) => {
          event.preventDefault()
          openFile(workspace, path, at)
        }}
      >
        {children}
      </a>
    )
  }
  const { url, host } = target
  return (
    <>
      <a
        href={url}
        title={url}
        rel="noreferrer noopener"
        onClick={(event) => {
          event.preventDefault()
          void openLink(url)
        }}
      >
        {children}
      </a>
      {namesOtherHost(textOf(children), host) && <span className="text-needs"> (goes to {host})</span>}
    </>
  )
}

const inlineImageCharsMax = Math.ceil((5 * 1024 * 1024 * 4) / 3)
const raster = /^data:image\/(png|jpeg|gif|webp|avif|bmp);base64,/i

/** An image that came inside the text is drawn; one from elsewhere is a button that says where it would come from. */
function Picture({ src, alt }: { src: string; alt: string }) {
  if (raster.test(src) && src.length <= inlineImageCharsMax) return <img src={src} alt={alt} className="max-h-320" />
  const target = linkTarget(src)
  if (target.kind !== 'web')
    return (
      <span className="inline-flex items-center gap-4 text-muted">
        <ImageOff size={14} strokeWidth={1.75} aria-hidden />
        {alt || 'Image'}
      </span>
    )
  return (
    <button
      type="button"
      title={target.url}
      onClick={() => void openLink(target.url)}
      className="inline-flex cursor-pointer! items-center gap-6 rounded-6 border border-line-strong px-8 py-2 text-12 text-muted hover:bg-hover hover:text-ink"
    >
      <ExternalLink size={13} strokeWidth={1.75} aria-hidden />
      {alt ? `${alt}: open image from ${target.host}` : `Open image from ${target.host}`}
    </button>
  )
}

/** The text of rendered children: code and link texts are strings, or lists of them with emphasis between. */
function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  if (node !== null && typeof node === 'object' && 'props' in node)
    return textOf((node.props as { children?: ReactNode }).children)
  return ''
}
