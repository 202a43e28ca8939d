/** A document as text (section 4 of the files rules): PDF and Office files, read in a worker. */
import { LatheError } from '../../preload/contract/errors.ts'
import { separator, type DocumentLine } from './document-lines.ts'

export type DocumentInput = {
  bytes: Uint8Array
  type: string
  /** PDF: `N` or `A-B`. */
  pages: string | null
  /** PDF: so many pages at once; the next range is named. */
  pagesMax: number
}
export type DocumentText = {
  lines: DocumentLine[]
  /** What is to be said about it besides. */
  note: string | null
  /** PDF: the pages these lines are of, from 1, and how many there are. */
  pages?: { first: number; last: number; count: number }
}

/** Pages a read, and pages a search goes through (F-405). */
export const pagesRead = 20
export const pagesSearched = 100

/** Null where it is no document. Throws `document.failed`, `document.unsafe`, `tool.invalid_arguments` for pages. */
export async function documentText(input: DocumentInput): Promise<DocumentText | null> {
  const document = await read(input)
  return document && { ...document, lines: document.lines.map(asOneLine) }
}

/** So that each is a line wherever they are joined. */
function asOneLine(line: DocumentLine): DocumentLine {
  return /[\r\n\0]/.test(line.text) ? { ...line, text: line.text.replace(/[\r\n\0]+/g, ' ') } : line
}

async function read({ bytes, type, pages, pagesMax }: DocumentInput): Promise<DocumentText | null> {
  if (type === 'application/pdf') return pdfText(bytes, pages, pagesMax)
  // With the first document, not with every worker and the main process.
  const { officeLines } = await import('./office-text.ts')
  const lines = officeLines(bytes)
  return lines && { lines, note: lines.length === 0 ? 'The document holds no text.' : null }
}

async function pdfText(bytes: Uint8Array, pages: string | null, pagesMax: number): Promise<DocumentText> {
  const { getDocumentProxy } = await import('unpdf')
  const pdf = await getDocumentProxy(new Uint8Array(bytes)).catch((error: unknown) => {
    throw new LatheError(
      'document.failed',
      `The PDF cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  })
  try {
    const { first, last } = rangeOf(pages, pdf.numPages)
    const to = Math.min(last, first + pagesMax - 1)
    const lines: DocumentLine[] = []
    for (let number = first; number <= to; number++) {
      const { items } = await (await pdf.getPage(number)).getTextContent()
      const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
      const found = text.split('\n').filter((line) => line.trim() !== '')
      if (found.length > 0) lines.push(separator(`--- Page ${number} ---`))
      for (const [at, line] of found.entries()) lines.push({ text: line, locator: `page=${number},line=${at + 1}` })
    }
    const shown = { first, last: to, count: pdf.numPages }
    const count = pdf.numPages === 1 ? '1 page' : `${pdf.numPages} pages`
    if (lines.length === 0) return { lines, note: `${count}, no text on these: it is probably scanned.`, pages: shown }
    const next = to < last ? `; for the next ones use pages ${to + 1}-${Math.min(last, to + pagesMax)}` : ''
    return { lines, note: `${count}, ${first}-${to} shown${next}`, pages: shown }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

/** Blanks trimmed; B is clamped to the page count (F-405). */
function rangeOf(pages: string | null, count: number): { first: number; last: number } {
  if (pages === null || pages.trim() === '') return { first: 1, last: count }
  const [, a, b] = /^(\d{1,6})(?:\s*-\s*(\d{1,6}))?$/.exec(pages.trim()) ?? []
  const first = Number(a)
  const last = b === undefined ? first : Number(b)
  if (a === undefined || first < 1 || last < first || first > count) {
    throw new LatheError(
      'tool.invalid_arguments',
      `The PDF has ${count === 1 ? '1 page' : `${count} pages`}; use 1-${count}.`,
    )
  }
  return { first, last: Math.min(last, count) }
}
