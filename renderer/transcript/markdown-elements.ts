/**
 * One block of Markdown as elements. Nothing in it is trusted: raw HTML stays text, what is left passes an allow-list
 * (Z-190 to Z-192). What a settled block came to is kept, so that a row scrolled back into view is not parsed again.
 */
import { toJsxRuntime } from 'hast-util-to-jsx-runtime'
import type { JSX, ReactElement, ReactNode } from 'react'
import { Fragment, jsx, jsxs } from 'react/jsx-runtime'
import rehypeSanitize, { type Options as Allowed } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import remend from 'remend'
import { unified } from 'unified'

export type MarkdownElements = {
  [K in keyof JSX.IntrinsicElements]?: (props: JSX.IntrinsicElements[K]) => ReactNode
}

const allowed: Allowed = {
  tagNames: [
    'p',
    'br',
    'strong',
    'em',
    'del',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'hr',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'a',
    'img',
    'input',
    'sup',
    'section',
  ],
  attributes: {
    a: ['href'],
    code: [['className', /^language-./]],
    img: ['src', 'alt'],
    input: [['type', 'checkbox'], ['disabled', true], 'checked'],
    ol: ['start'],
    td: ['align'],
    th: ['align'],
  },
  // A path has no scheme and passes; what a link may do is judged where it is drawn.
  protocols: { href: ['http', 'https', 'mailto', 'file'], src: ['http', 'https', 'data'] },
  required: { input: { type: 'checkbox', disabled: true } },
  strip: ['script', 'style'],
}

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { handlers: { html: (_state, node: { value: string }) => ({ type: 'text', value: node.value }) } })
  .use(rehypeSanitize, allowed)
  .freeze()

/** Characters of settled blocks whose elements are kept, newest used last. */
const keptCharsMax = 512 * 1024
const kept = new Map<string, ReactElement>()
let keptChars = 0

/**
 * `components` draw the elements and must be the same ones at each call; `live` text may stop within a mark, which is
 * then taken as closed.
 */
export function drawMarkdown(text: string, components: MarkdownElements, live: boolean): ReactElement {
  if (live) return draw(remend(text), components)
  const known = kept.get(text)
  if (known !== undefined) {
    kept.delete(text)
    kept.set(text, known)
    return known
  }
  const drawn = draw(text, components)
  kept.set(text, drawn)
  keptChars += text.length
  for (const oldest of kept.keys()) {
    if (keptChars <= keptCharsMax) break
    kept.delete(oldest)
    keptChars -= oldest.length
  }
  return drawn
}

function draw(text: string, components: MarkdownElements): ReactElement {
  const tree = processor.runSync(processor.parse(text))
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true, tableCellAlignToStyle: false })
}
