/**
 * A page of the web as Markdown: headings, links, lists, tables and code stay; scripts, styles and what is hidden
 * go. One pass over the parser's events, with a stack instead of a tree, so that no nesting and no size is too much.
 */
import { Parser } from 'htmlparser2'
import { LatheError } from '../../preload/contract/errors.ts'
import { decodePage } from './page-charset.ts'

export type PageInput = { bytes: Uint8Array; charset: string | null; url: string }
export type PageText = { title: string; markdown: string }

/** Elements nobody reads. */
const skipped = new Set(
  'head title script style noscript template iframe object embed svg math canvas audio video map select datalist button dialog'.split(
    ' ',
  ),
)
const blocks = new Set(
  'address article aside body center details div dd dl dt fieldset figcaption figure footer form header html main nav p section summary ul ol li table tr td th thead tbody tfoot caption blockquote pre hr h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
)
const marks: Record<string, string> = { b: '**', strong: '**', i: '*', em: '*', del: '~~', s: '~~' }
/** Elements in one another that are written as what they are; those in them are only their text. */
const openMax = 256
/** No page nests this deep; the parser's time grows with the square of it. */
const nestedMax = 2_000
/** Lists and quotes deeper than this are written as if they were not nested: each level goes over its text again. */
const depthMax = 24
const columnsMax = 100

type Cell = { text: string; header: boolean }
type Frame = {
  tag: string
  /** What was written, in pieces, so that a long page is not gone over again with each. */
  parts: string[]
  /** Blank lines wanted before the next text of this frame. */
  gap: 0 | 1 | 2
  depth: number
  href?: string | null
  /** Next number of an ordered list. */
  number?: number
  language?: string
  rows?: Cell[][]
}

/** Throws `document.unsafe` for a page that is none. */
export function pageText({ bytes, charset, url }: PageInput): PageText {
  const writer = new Writer(url)
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => writer.open(tag, attributes),
      ontext: (text) => writer.text(text),
      onclosetag: (tag) => writer.close(tag),
    },
    { decodeEntities: true },
  )
  parser.end(decodePage(bytes, charset))
  return writer.finish()
}

class Writer {
  #base: string
  #title = ''
  #inTitle = false
  /** Open elements within one that is left out, itself included. */
  #skipping = 0
  /** Open elements beyond those that count, by their name. */
  readonly #beyond = new Map<string, number>()
  #nested = 0
  readonly #stack: Frame[] = [{ tag: '', parts: [], gap: 0, depth: 0 }]

  constructor(base: string) {
    this.#base = base
  }

  get #top(): Frame {
    return this.#stack.at(-1)!
  }

  open(tag: string, attributes: Record<string, string>): void {
    this.#nested += 1
    if (this.#nested > nestedMax)
      throw new LatheError('document.unsafe', `The page has more than ${nestedMax} elements in one another.`)
    if (tag === 'title' && this.#title === '') this.#inTitle = true
    if (tag === 'base' && attributes['href'] && URL.canParse(attributes['href'], this.#base))
      this.#base = new URL(attributes['href'], this.#base).href
    if (this.#skipping > 0 || skipped.has(tag) || isHidden(attributes)) {
      if (!voidTags.has(tag)) this.#skipping += 1
      return
    }
    const within = this.#top
    if (within.tag === 'pre' && tag !== 'code' && tag !== 'br') return
    switch (tag) {
      case 'br':
        within.parts.push('\n')
        return
      case 'hr':
        this.#block('---')
        return
      case 'img':
        this.#image(attributes)
        return
      case 'code':
        if (within.tag === 'pre') {
          within.language ??= /(?:^|\s)(?:language|lang)-([\w+#-]{1,30})/.exec(attributes['class'] ?? '')?.[1] ?? ''
          return
        }
        this.#push(tag)
        return
      case 'a':
        this.#push(tag, { href: this.#address(attributes['href']) })
        return
      case 'ol':
        this.#push(tag, { number: Math.trunc(Number(attributes['start'] ?? 1)) || 1 })
        return
      case 'table':
        this.#push(tag, { rows: [] })
        return
      case 'tr':
        this.#table()?.rows!.push([])
        return
      default:
        if (blocks.has(tag) || tag in marks || tag === 'kbd' || tag === 'samp' || tag === 'q') this.#push(tag)
    }
  }

  text(text: string): void {
    if (this.#inTitle) this.#title += text
    if (this.#skipping > 0) return
    const top = this.#top
    if (top.tag === 'pre') {
      top.parts.push(text)
      return
    }
    const flat = text.replace(/[\t\n\f\r ]+/g, ' ')
    const last = top.parts.at(-1)
    const atStart = last === undefined ? this.#stack.length === 1 || blocks.has(top.tag) : /\s/.test(last.at(-1)!)
    const shown = atStart || top.gap > 0 ? flat.replace(/^ /, '') : flat
    if (shown === '') return
    this.#append(top, shown)
  }

  close(tag: string): void {
    this.#nested -= 1
    if (tag === 'title') this.#inTitle = false
    if (voidTags.has(tag)) return
    if (this.#skipping > 0) {
      this.#skipping -= 1
      return
    }
    const beyond = this.#beyond.get(tag) ?? 0
    if (beyond > 0) {
      this.#beyond.set(tag, beyond - 1)
      return
    }
    const at = this.#stack.findLastIndex((frame) => frame.tag === tag)
    if (at <= 0) return
    while (this.#stack.length > at) this.#pop()
  }

  finish(): PageText {
    while (this.#stack.length > 1) this.#pop()
    const markdown = this.#top.parts
      .join('')
      // Looked at from its beginning only: else a long run of blanks costs its length squared.
      .replace(/(?<![ \t])[ \t]+$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
    return { title: this.#title.replace(/\s+/g, ' ').trim().slice(0, 300), markdown: markdown.trim() }
  }

  #push(tag: string, more: Partial<Frame> = {}): void {
    if (this.#stack.length >= openMax) {
      this.#beyond.set(tag, (this.#beyond.get(tag) ?? 0) + 1)
      return
    }
    const nests = tag === 'ul' || tag === 'ol' || tag === 'blockquote'
    this.#stack.push({ tag, parts: [], gap: 0, depth: this.#top.depth + (nests ? 1 : 0), ...more })
  }

  #pop(): void {
    const frame = this.#stack.pop()!
    const { tag } = frame
    const text = frame.parts.join('')
    if (tag === 'pre') this.#pre(text, frame.language ?? '')
    else if (tag === 'table') this.#writeTable(text, frame.rows!)
    else if (tag === 'td' || tag === 'th') this.#cell(tag, text)
    else if (tag === 'li') this.#item(text, frame.depth)
    else if (/^h[1-6]$/.test(tag)) this.#block(oneLine(text), `${'#'.repeat(Number(tag[1]))} `)
    else if (tag === 'blockquote') this.#block(frame.depth > depthMax ? text.trim() : prefixed(text, '> '))
    else if (tag === 'dt') this.#block(oneLine(text), '**', '**')
    else if (blocks.has(tag)) this.#block(text.trim())
    else this.#inline(text, frame)
  }

  /** A paragraph of its own within what is open. */
  #block(text: string, before = '', after = ''): void {
    if (text === '') return
    const top = this.#top
    top.gap = top.parts.length === 0 ? 0 : 2
    this.#append(top, before + text + after)
    top.gap = 2
  }

  #append(frame: Frame, text: string): void {
    if (frame.gap > 0 && frame.parts.length > 0) frame.parts.push('\n'.repeat(frame.gap))
    frame.gap = 0
    frame.parts.push(text)
  }

  #inline(text: string, frame: Frame): void {
    const inner = text.trim()
    const [before, after] = [/^\s/.test(text) ? ' ' : '', /\s$/.test(text) ? ' ' : '']
    if (inner === '') {
      if (text !== '') this.text(' ')
      return
    }
    this.#append(this.#top, before + this.#marked(frame.tag, inner, frame) + after)
  }

  #marked(tag: string, inner: string, { href }: Frame): string {
    // What spans paragraphs is no link text and no emphasis.
    if (inner.includes('\n\n')) return inner
    if (tag === 'a') return href ? `[${oneLine(inner)}](${href})` : inner
    if (tag === 'q') return `"${inner}"`
    if (tag in marks) return marks[tag]! + inner + marks[tag]!
    const ticks = '`'.repeat(longestRun(inner, '`') + 1)
    const room = inner.includes('`') ? ' ' : ''
    return ticks + room + inner + room + ticks
  }

  #pre(text: string, language: string): void {
    const code = text.replace(/^\n/, '').trimEnd()
    if (code === '') return
    const fence = '`'.repeat(Math.max(3, longestRun(code, '`') + 1))
    this.#block(`${fence}${language}\n${code}\n${fence}`)
  }

  #item(given: string, depth: number): void {
    const list = this.#stack.findLast((one) => one.tag === 'ul' || one.tag === 'ol')
    const text = given.trim()
    if (text === '') return
    const mark = list?.number === undefined ? '- ' : `${list.number++}. `
    const lines = depth > depthMax ? text : text.replaceAll('\n', `\n${' '.repeat(mark.length)}`)
    const top = this.#top
    top.gap = top.parts.length === 0 ? 0 : text.includes('\n\n') ? 2 : 1
    this.#append(top, mark + lines)
    top.gap = 1
  }

  #table(): Frame | undefined {
    return this.#stack.findLast((frame) => frame.tag === 'table')
  }

  #cell(tag: string, text: string): void {
    const table = this.#table()
    if (!table) return this.#block(text.trim())
    if (table.rows!.length === 0) table.rows!.push([])
    const row = table.rows!.at(-1)!
    if (row.length < columnsMax) row.push({ text: text.trim(), header: tag === 'th' })
  }

  /** A table of data; one that only lays out the page is its cells one after another. */
  #writeTable(text: string, rows: Cell[][]): void {
    const filled = rows.filter((row) => row.some((cell) => cell.text !== ''))
    if (text.trim() !== '') this.#block(text.trim())
    const columns = Math.max(0, ...filled.map((row) => row.length))
    if (columns < 2 || filled.some((row) => row.some((cell) => cell.text.includes('\n\n')))) {
      for (const row of filled) for (const cell of row) this.#block(cell.text)
      return
    }
    const line = (cells: string[]) => `| ${cells.join(' | ')} |`
    const shown = filled.map((row) =>
      line(Array.from({ length: columns }, (_, at) => oneLine(row[at]?.text ?? '').replaceAll('|', '\\|'))),
    )
    this.#block([shown[0]!, line(Array(columns).fill('---')), ...shown.slice(1)].join('\n'))
  }

  #image(attributes: Record<string, string>): void {
    const alt = oneLine(attributes['alt'] ?? '')
    const source = this.#address(attributes['src'])
    if (alt !== '' && source) this.#append(this.#top, `![${alt}](${source})`)
  }

  /** Absolute, or null where it leads nowhere a reader could go. */
  #address(given: string | undefined): string | null {
    const text = given?.trim()
    if (!text || text.startsWith('#') || text.length > 2_000 || !URL.canParse(text, this.#base)) return null
    const url = new URL(text, this.#base)
    if (!/^(https?|mailto):$/.test(url.protocol)) return null
    return url.href.replace(/[()\s]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  }
}

const voidTags = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

function isHidden(attributes: Record<string, string>): boolean {
  if (attributes['hidden'] !== undefined || attributes['aria-hidden'] === 'true') return true
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes['style'] ?? '')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function prefixed(text: string, prefix: string): string {
  return text.trim() === '' ? '' : prefix + text.trim().replaceAll('\n', `\n${prefix}`)
}

function longestRun(text: string, letter: string): number {
  let longest = 0
  let run = 0
  for (const one of text) {
    run = one === letter ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}
