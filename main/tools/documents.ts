/** Documents as the file tools see them: their lines, read in a worker within its limits (F-401 to F-405). */
import { LatheError } from '../../preload/contract/errors.ts'
import { pagesRead, pagesSearched, type DocumentText } from '../files/document-text.ts'
import type { FileWorkers } from '../files/worker-pool.ts'

export type DocumentQuery = {
  /** As it is told. */
  shown: string
  /** Found by content. */
  type: string | null
  bytes: number
  load(): Promise<Uint8Array>
  /** PDF: `N` or `A-B`. */
  pages: string | null
  to: 'read' | 'search'
  signal: AbortSignal
}

const documentBytesMax = 50 * 1024 * 1024
const documentTimeMs = 30_000

/** Null where it is no document. Throws `document.failed`, `document.timeout`, `document.unsafe`, and for wrong pages. */
export async function readDocument(workers: FileWorkers, query: DocumentQuery): Promise<DocumentText | null> {
  const { shown, type, bytes, load, pages, to, signal } = query
  if (type !== 'application/pdf' && type !== 'application/zip') return null
  if (bytes > documentBytesMax) {
    if (type === 'application/zip') return null
    throw new LatheError('document.unsafe', `${shown} has over 50 MiB and is not opened.`)
  }
  const job = { size: Number.POSITIVE_INFINITY, timeoutMs: documentTimeMs, signal }
  const pagesMax = to === 'read' ? pagesRead : pagesSearched
  return workers.run('document', { bytes: await load(), type, pages, pagesMax }, job).catch((error: unknown) => {
    throw documentFault(shown, error)
  })
}

/** A worker that hung or died is a fault of this document only (F-404). */
function documentFault(shown: string, error: unknown): unknown {
  if (!(error instanceof LatheError)) return error
  if (error.code === 'tool.timed_out')
    return new LatheError('document.timeout', `${shown} took over 30 s to read and was left.`)
  if (error.code === 'tool.failed')
    return new LatheError('document.failed', `${shown} could not be read: ${error.message}`)
  return error
}
