/** Text of Office files: an archive checked while it is inflated (F-403), and the words in its XML (F-406, F-407). Runs in a worker. */
import { Unzip, UnzipInflate, UnzipPassThrough } from 'fflate'
import { LatheError } from '../../preload/contract/errors.ts'
import { quoted, separator, type DocumentLine } from './document-lines.ts'

const entriesMax = 10_000
const totalBytesMax = 512 * 1024 * 1024
const entryBytesMax = 100 * 1024 * 1024
const ratioMax = 200
const pieceBytes = 64 * 1024
/** So little is never a bomb, however well it packs. */
const ratioFrom = 1024 * 1024
const levelsMax = 32
const cellsMax = 100_000
const columnsMax = 1_000
const wanted =
  /^(word\/document\.xml|xl\/(workbook\.xml|sharedStrings\.xml|_rels\/workbook\.xml\.rels|worksheets\/.+\.xml)|ppt\/(presentation\.xml|_rels\/presentation\.xml\.rels|slides\/[^/]+\.xml))$/

/** Null where the archive is no Office file. Throws `document.unsafe`, `document.failed`. */
export function officeLines(bytes: Uint8Array): DocumentLine[] | null {
  const parts = unpack(bytes)
  if (parts.has('word/document.xml')) return wordLines(parts.get('word/document.xml')!)
  if (parts.has('xl/workbook.xml')) return sheetLines(parts)
  if (parts.has('ppt/presentation.xml')) return slideLines(parts)
  return null
}

function unpack(bytes: Uint8Array): Map<string, string> {
  const parts = new Map<string, string>()
  let entries = 0
  let total = 0
  /** The first thing wrong: what is thrown inside the archive's reader comes out of it as something else. */
  let fault: LatheError | null = null
  const refuse = (error: LatheError): never => {
    fault ??= error
    throw fault
  }
  const unzip = new Unzip((file) => {
    if (++entries > entriesMax) refuse(unsafe(`it has over ${entriesMax.toLocaleString('en')} entries`))
    const chunks: Uint8Array[] = []
    let size = 0
    file.ondata = (error, chunk, last) => {
      if (error) refuse(new LatheError('document.failed', `The document is damaged: ${error.message}`))
      size += chunk.length
      total += chunk.length
      if (size > entryBytesMax || total > totalBytesMax) refuse(unsafe('it unpacks to too much'))
      const packed = file.size ?? bytes.length
      if (size > ratioFrom && size > packed * ratioMax) refuse(unsafe('it is packed more than 200 to 1'))
      if (!wanted.test(file.name)) return
      chunks.push(chunk.slice())
      if (last) parts.set(file.name, Buffer.concat(chunks).toString('utf8'))
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  unzip.register(UnzipPassThrough)
  try {
    // In pieces, so that a bomb is met after its first megabytes.
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      unzip.push(bytes.subarray(at, at + pieceBytes), at + pieceBytes >= bytes.length)
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw fault ?? new LatheError('document.failed', `The document is damaged: ${reason}`)
  }
  return parts
}

type Tag = { name: string; end: boolean; empty: boolean; attribute(name: string): string | undefined }

/** Walks tags and texts in order; comments, instructions and declarations are passed over. */
function walk(xml: string, onTag: (tag: Tag) => void, onText: (text: string) => void): void {
  for (const [token] of xml.matchAll(/<!--[\s\S]*?-->|<[^>]*>|[^<]+/g)) {
    if (token[0] !== '<') onText(unescape(token))
    else if (token[1] !== '?' && token[1] !== '!') {
      const name = /^<\/?([^\s/>]+)/.exec(token)?.[1] ?? ''
      const attribute = (wantedName: string) => {
        const found = new RegExp(`\\s${wantedName}="([^"]*)"`).exec(token)?.[1]
        return found === undefined ? undefined : unescape(found)
      }
      onTag({ name, end: token[1] === '/', empty: token.at(-2) === '/', attribute })
    }
  }
}

function wordLines(xml: string): DocumentLine[] {
  const lines: DocumentLine[] = []
  let blocks = 0
  const addBlock = (rows: readonly string[], isTable: boolean): void => {
    if (blocks++ > 0) lines.push(separator(''))
    for (const [at, text] of rows.entries())
      lines.push({ text, locator: `paragraph=${blocks}${isTable ? `,row=${at + 1}` : ''}` })
  }
  /** Open tables, innermost last: their rows so far, the row's cells, the cell's texts. */
  const tables: { rows: string[]; cells: string[]; cell: string[] }[] = []
  let paragraph = ''
  let inText = false
  let cells = 0
  walk(
    xml,
    ({ name, end, empty }) => {
      if (name === 'w:t') inText = !end && !empty
      else if (name === 'w:tab' || name === 'w:br') paragraph += name === 'w:tab' ? '\t' : ' '
      else if (name === 'w:p' && (end || empty)) {
        const table = tables.at(-1)
        if (paragraph.trim() !== '' && table) table.cell.push(paragraph.trimEnd())
        else if (paragraph.trim() !== '') addBlock([paragraph.trimEnd()], false)
        paragraph = ''
      } else if (name === 'w:tbl' && !end) {
        if (tables.push({ rows: [], cells: [], cell: [] }) > levelsMax) throw unsafe('its tables are nested too deep')
      } else if (name === 'w:tbl' && end) {
        const { rows } = tables.pop()!
        const outer = tables.at(-1)
        if (outer) outer.cell.push(rows.join(' | '))
        else if (rows.length > 0) addBlock(rows, true)
      } else if (name === 'w:tc' && end) {
        const table = tables.at(-1)!
        if (++cells > cellsMax) throw unsafe(`it has over ${cellsMax.toLocaleString('en')} cells`)
        table.cells.push(table.cell.join(' ').replace(/\s+/g, ' ').trim())
        table.cell = []
      } else if (name === 'w:tr' && end) {
        const table = tables.at(-1)!
        const row = table.cells.join(tables.length > 1 ? ' | ' : '\t')
        if (row.trim() !== '') table.rows.push(row)
        table.cells = []
      }
    },
    (text) => void (inText && (paragraph += text)),
  )
  return lines
}

function sheetLines(parts: ReadonlyMap<string, string>): DocumentLine[] {
  const strings = sharedStrings(parts.get('xl/sharedStrings.xml') ?? '')
  const targets = relations(parts.get('xl/_rels/workbook.xml.rels') ?? '')
  const lines: DocumentLine[] = []
  walk(
    parts.get('xl/workbook.xml')!,
    (tag) => {
      if (tag.name !== 'sheet' || tag.end) return
      const target = targets.get(tag.attribute('r:id') ?? '') ?? ''
      const rows = sheetRows(parts.get(target.startsWith('/') ? target.slice(1) : `xl/${target}`) ?? '', strings)
      const name = tag.attribute('name') ?? ''
      if (rows.length > 0) lines.push(separator(`--- Sheet: ${name} ---`))
      for (const { number, text } of rows) lines.push({ text, locator: `sheet=${quoted(name)},row=${number}` })
    },
    () => {},
  )
  return lines
}

function sheetRows(xml: string, strings: readonly string[]): { number: number; text: string }[] {
  const rows: { number: number; text: string }[] = []
  let number = 0
  let row: string[] = []
  let column = 0
  let type = ''
  let value = ''
  let inValue = false
  walk(
    xml,
    (tag) => {
      if (tag.name === 'row' && !tag.end) {
        row = []
        number = Number(tag.attribute('r') ?? number + 1)
      } else if (tag.name === 'row') {
        const text = Array.from(row, (cell) => cell ?? '').join('\t')
        if (text.trim() !== '') rows.push({ number, text: text.trimEnd() })
      } else if (tag.name === 'c' && !tag.end) {
        column = Math.min(columnsMax, columnOf(tag.attribute('r')) ?? row.length)
        type = tag.attribute('t') ?? ''
        value = ''
      } else if (tag.name === 'c')
        row[column] = (type === 's' ? (strings[Number(value)] ?? '') : value).replace(/\s+/g, ' ')
      else if (tag.name === 'v' || tag.name === 't') inValue = !tag.end && !tag.empty
    },
    (text) => void (inValue && (value += text)),
  )
  return rows
}

/** `C7` is column 2. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]+/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = []
  let text = ''
  let inText = false
  walk(
    xml,
    ({ name, end, empty }) => {
      if (name === 'si' && !end) text = ''
      if (name === 'si' && (end || empty)) strings.push(text)
      if (name === 't') inText = !end && !empty
    },
    (part) => void (inText && (text += part)),
  )
  return strings
}

function slideLines(parts: ReadonlyMap<string, string>): DocumentLine[] {
  const targets = relations(parts.get('ppt/_rels/presentation.xml.rels') ?? '')
  const lines: DocumentLine[] = []
  let slide = 0
  walk(
    parts.get('ppt/presentation.xml')!,
    (tag) => {
      if (tag.name !== 'p:sldId' || tag.end) return
      slide++
      const texts = paragraphs(parts.get(`ppt/${targets.get(tag.attribute('r:id') ?? '') ?? ''}`) ?? '')
      if (texts.length > 0) lines.push(separator(`--- Slide ${slide} ---`))
      for (const [at, text] of texts.entries()) lines.push({ text, locator: `slide=${slide},line=${at + 1}` })
    },
    () => {},
  )
  return lines
}

function paragraphs(xml: string): string[] {
  const found: string[] = []
  let text = ''
  let inText = false
  walk(
    xml,
    ({ name, end, empty }) => {
      if (name === 'a:t') inText = !end && !empty
      else if (name === 'a:p' && end) {
        if (text.trim() !== '') found.push(text.trim())
        text = ''
      }
    },
    (part) => void (inText && (text += part)),
  )
  return found
}

function relations(xml: string): Map<string, string> {
  const targets = new Map<string, string>()
  walk(
    xml,
    (tag) => {
      const [id, target] = [tag.attribute('Id'), tag.attribute('Target')]
      if (tag.name === 'Relationship' && id !== undefined && target !== undefined) targets.set(id, target)
    },
    () => {},
  )
  return targets
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescape(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name) return entities[name] ?? whole
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

function unsafe(why: string): LatheError {
  return new LatheError('document.unsafe', `The document was not opened: ${why}.`)
}
