import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { pixelSize } from '../files/content-type.ts'
import { isImageType, sizeNote, type Images } from '../files/images.ts'
import { bytesOfFile, type FilePath, type Paths } from '../files/paths.ts'
import { readLines, readLinesOf, type BinaryFile, type FileLines, type LineQuery } from '../files/read-lines.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import type { FileStates } from '../files/read-state.ts'
import { clamped } from './clamped.ts'
import { readDocument, type DocumentQuery } from './documents.ts'
import { JudgedPaths, readEffect, titled, whereItLeads } from './file-effects.ts'
import { bytesOf, isReference, type ReadReference } from './references.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

export type ReadFileDeps = {
  paths: Paths
  states: FileStates
  images: Images
  workers: FileWorkers
  reference: ReadReference
  /** Whether the result of that call is still in what the model sees (F-306). */
  inContext(sessionId: string, callId: string): Promise<boolean>
}

const input = z.object({
  path: z.string().describe('Path of the file, or a reference: exec:ID, output:HASH, attachment:ID'),
  offset: clamped(1, Number.MAX_SAFE_INTEGER, 1).describe('First line, from 1'),
  limit: clamped(1, 20_000, 2_000).describe('How many lines'),
  pages: z.string().max(20).optional().describe('PDF: a page N or a range A-B; 20 pages a call'),
  force: z.boolean().default(false).describe('Send the content again although it has not changed'),
})
type Input = z.infer<typeof input>

const replyCharsMax = 128_000
const imageBytesMax = 20 * 1024 * 1024
const lineCharsMax = 2_000
/** Left for the lines before and after the content. */
const frameChars = 500

/** Reads text with line numbers, in pages (section 3 of the files rules). */
export function createReadFileTool(deps: ReadFileDeps): Tool<Input> {
  const paths = new JudgedPaths(deps.paths)
  return {
    name: 'read_file',
    description:
      'Reads a text file, the text of a PDF or Office document, or a picture. Each line comes as "number| text"; the number is not part of the file. Long files come in pages: go on at the offset the last line names. A file must be read before it is replaced.',
    input,
    concurrent: true,
    reproducible: true,
    resultCap: replyCharsMax,
    title: ({ path, offset }) => titled('Read', offset > 1 ? `${path}:${offset}` : path),

    async plan({ path }, context) {
      if (isReference(path))
        return { effects: [{ kind: 'none' }], preview: { title: `Read ${path}`, detail: path, detailKind: 'text' } }
      const file = await paths.judge(context, path)
      return {
        effects: [readEffect(file)],
        preview: { title: titled('Read', file.shown), detail: whereItLeads(file), detailKind: 'path' },
      }
    },

    async run(query, context) {
      const lines: LineQuery = {
        offset: query.offset,
        limit: query.limit,
        charsMax: replyCharsMax - frameChars,
        lineCharsMax,
        signal: context.signal,
      }
      if (isReference(query.path)) {
        const bytes = await bytesOf(deps.reference, context, query.path)
        const read = await readLinesOf(bytes, lines)
        return read.kind === 'binary'
          ? binaryResult(query.path, read, lines, query.pages ?? null, async () => bytes)
          : textResult(query.path, read, query)
      }
      const file = await paths.use(context, query.path)
      const read = await readLines(file, lines)
      return read.kind === 'binary'
        ? binaryResult(file.shown, read, lines, query.pages ?? null, () => bytesOfFile(file))
        : seen(file, read, query, context)
    },
  }

  /** The text of a PDF or Office file, in pages like any text; null where it is none (F-402). */
  async function documentResult(query: Omit<DocumentQuery, 'to'>, lines: LineQuery): Promise<ToolResult | null> {
    const { shown } = query
    const document = await readDocument(deps.workers, { ...query, to: 'read' })
    if (!document) return null
    const { note } = document
    if (document.lines.length === 0) {
      const text = `${shown}: ${note}`
      return { text, isError: false, summary: text, view: { path: shown } }
    }
    const content = await readLinesOf(Buffer.from(document.lines.map(({ text }) => text).join('\n')), lines)
    if (content.kind === 'binary') throw new LatheError('document.failed', `${shown} holds no readable text.`)
    const result = textResult(shown, content, { offset: lines.offset })
    return note === null ? result : { ...result, text: `${result.text}\n[${note}]` }
  }

  /** A picture is shown to a model that sees, and described to every one; other binaries are an error (F-307, F-308). */
  async function binaryResult(
    shown: string,
    { type, bytes, head }: BinaryFile,
    lines: LineQuery,
    pages: string | null,
    load: () => Promise<Uint8Array>,
  ): Promise<ToolResult> {
    const size = `${bytes.toLocaleString('en')} bytes`
    const document = await documentResult({ shown, type, bytes, load, pages, signal: lines.signal }, lines)
    if (document) return document
    if (!type?.startsWith('image/'))
      throw new LatheError('file.binary', `${shown} is not text: ${type ?? 'unknown type'}, ${size}.`)
    const image =
      isImageType(type) && bytes <= imageBytesMax ? await deps.images.prepare(await load()).catch(() => null) : null
    const pixels = image?.original ?? pixelSize(head, type)
    const facts = [type, pixels ? `${pixels.width}x${pixels.height} pixels` : '', size, image ? sizeNote(image) : '']
    const text = `${shown}: ${facts.filter((fact) => fact !== '').join(', ')}.${image ? '' : ' The picture itself cannot be shown here.'}`
    if (!image) return { text, isError: false, summary: text, view: { path: shown } }
    const { hash, mediaType, width, height } = image
    return { text, isError: false, summary: text, view: { path: shown, image: { hash, mediaType, width, height } } }
  }

  /** The content, or that it is what the model already has before it (F-306). */
  async function seen(
    file: FilePath,
    read: FileLines,
    { offset, limit, force }: Input,
    { sessionId, callId }: ToolContext,
  ): Promise<ToolResult> {
    const known = await deps.states.get(sessionId, file.key)
    const earlier =
      known?.version === read.version
        ? known.shown.findLast((shown) => shown.offset === offset && shown.limit === limit)
        : undefined
    if (earlier && !force && (await deps.inContext(sessionId, earlier.callId))) {
      const text = `${file.shown} is unchanged since it was read above (item ${earlier.callId}), same lines. Use that, or force to have it sent again.`
      return { text, isError: false, summary: `${file.shown}: unchanged`, view: { path: file.shown, line: offset } }
    }
    await deps.states.note(sessionId, file.key, read.version, {
      shown: { offset, limit, callId },
      content: read.content,
    })
    return textResult(file.shown, read, { offset })
  }
}

function textResult(shown: string, read: FileLines, { offset }: { offset: number }): ToolResult {
  const { lines, total } = read
  const last = offset + lines.length - 1
  const facts = [
    read.encoding.name === 'utf-8' ? '' : `encoding ${read.encoding.name}`,
    read.ends === 'crlf'
      ? 'CRLF line ends'
      : read.ends === 'mixed'
        ? 'mixed line ends'
        : read.ends === 'cr'
          ? 'CR line ends'
          : '',
  ].filter((fact) => fact !== '')
  const body = lines.map(
    ({ number, text, leftOut }) => `${number}| ${text}${leftOut === 0 ? '' : `... (${leftOut} characters left out)`}`,
  )
  const foot = read.more
    ? `lines ${offset}-${last}; continue at offset ${last + 1}`
    : `end of file, ${total} ${total === 1 ? 'line' : 'lines'}${read.lastLineOpen ? ', no line end after the last' : ''}`
  const text =
    lines.length === 0
      ? '(empty file)'
      : [...(facts.length > 0 ? [`[${facts.join('; ')}]`] : []), ...body, `[${foot}]`].join('\n')
  return {
    text,
    isError: false,
    summary:
      lines.length === 0
        ? `${shown}: empty`
        : `${shown}, lines ${offset}-${last}${total === null ? '' : ` of ${total}`}`,
    view: { path: shown, line: offset },
  }
}
