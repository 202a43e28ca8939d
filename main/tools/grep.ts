import { z } from 'zod'
import { typeOfContent } from '../files/content-type.ts'
import { placeOfHit, type DocumentLine } from '../files/document-lines.ts'
import type { DocumentText } from '../files/document-text.ts'
import { bytesOfFile, openChecked, type FilePath } from '../files/paths.ts'
import type { SearchProgram } from '../files/search-program.ts'
import { countText, searchText, type Counts, type Hit, type Hits, type TextQuery } from '../files/text-search.ts'
import { binarySampleBytes, isBinary } from '../files/text.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import { clamped } from './clamped.ts'
import { readDocument } from './documents.ts'
import { JudgedPaths, readEffect, titled, whereItLeads } from './file-effects.ts'
import { bytesOf, isReference, withFileOf, type ReadReference } from './references.ts'
import type { Tool, ToolResult } from './tool.ts'

export type GrepDeps = {
  program: SearchProgram
  workers: FileWorkers
  /** Absent: only files are searched. */
  reference?: ReadReference
}

const fields = z.object({
  pattern: z.string().min(1).describe('Regular expression, matched within a line'),
  path: z.string().default('.').describe('Folder or file to search'),
  glob: z.string().optional().describe('Only files whose path below the folder or name fits, as *.ts'),
  type: z.string().optional().describe('Only files of a type, as ts, py, md'),
  fixed_strings: z.boolean().default(false).describe('Take the pattern letter for letter'),
  case_insensitive: z.boolean().default(false),
  no_ignore: z.boolean().default(false).describe('Also what .gitignore leaves out, and folders like node_modules'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content'),
  context_before: clamped(0, 20, 2).describe('Lines shown before a hit'),
  context_after: clamped(0, 20, 2).describe('Lines shown after a hit'),
  head_limit: clamped(0, 1_000, 100).describe('How many hits or files; 0 is all'),
  offset: clamped(0, 100_000, 0).describe('How many to skip'),
  pages: z.string().max(20).optional().describe('PDF named as path: a page N or a range A-B; 100 pages a call'),
})

/** `max_matches` and `max_results` mean `head_limit`; the name wins over an alias. */
const input = z.preprocess((given) => {
  if (given === null || typeof given !== 'object') return given
  const { max_matches, max_results, ...named } = given as Record<string, unknown>
  return { head_limit: max_matches ?? max_results, ...named }
}, fields)
type Input = z.infer<typeof fields>

const replyCharsMax = 64_000
const footChars = 500
const searchTimeMs = 20_000
/** More hits or files than fit into any reply. */
const allMax = 8_000

/** Text in files (F-810 to F-816). */
export function createGrepTool({ program, workers, reference }: GrepDeps): Tool<Input> {
  const paths = new JudgedPaths(program.paths)
  return {
    name: 'grep',
    description:
      'Searches text in files, and in a PDF or Office document named as path. Hits come as "path:line" and the lines around, the hit marked ">". What .gitignore leaves out, binary and secret files are not searched. Use it instead of grep or rg in the shell.',
    input,
    concurrent: true,
    reproducible: true,
    timeLimitMs: null,
    resultCap: replyCharsMax,
    title: ({ pattern, path }) => titled('Search', path === '.' ? pattern : `${pattern} in ${path}`),

    async plan({ pattern, path }, context) {
      const title = titled('Search', pattern)
      if (reference && isReference(path)) {
        return { effects: [{ kind: 'none' }], preview: { title, detail: path, detailKind: 'text' } }
      }
      const root = await paths.judge(context, path)
      return { effects: [readEffect(root)], preview: { title, detail: whereItLeads(root), detailKind: 'path' } }
    },

    async run(input, context) {
      const { signal } = context
      if (!reference || !isReference(input.path)) {
        const root = await paths.use(context, input.path)
        const document = root.kind === 'file' ? await documentAt(root, input, signal) : null
        return document ? searchDocument(input, root.shown, document, signal) : search(input, root, signal)
      }
      const bytes = await bytesOf(reference, context, input.path)
      const document = await documentOf(input.path, bytes, bytes.length, async () => bytes, input, signal)
      if (document) return searchDocument(input, input.path, document, signal)
      return withFileOf(program.paths, input.path, bytes, (file) => search(input, file, signal))
    },
  }

  async function documentAt(root: FilePath, input: Input, signal: AbortSignal): Promise<DocumentText | null> {
    const handle = await openChecked(root)
    try {
      const { size } = await handle.stat()
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(binarySampleBytes), 0, binarySampleBytes, 0)
      const head = buffer.subarray(0, bytesRead)
      return await documentOf(root.shown, head, size, () => bytesOfFile(root), input, signal)
    } finally {
      await handle.close()
    }
  }

  function documentOf(
    shown: string,
    head: Uint8Array,
    bytes: number,
    load: () => Promise<Uint8Array>,
    { pages }: Input,
    signal: AbortSignal,
  ): Promise<DocumentText | null> {
    const type = typeOfContent(head, isBinary(head))
    return readDocument(workers, { shown, type, bytes, load, pages: pages ?? null, to: 'search', signal })
  }

  /** Its lines are searched by the same program, so that a pattern means the same everywhere (F-817). */
  async function searchDocument(
    input: Input,
    shown: string,
    { lines, note }: DocumentText,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const text = lines.map((line) => `${line.text}\n`).join('')
    const result = await withFileOf(program.paths, shown, Buffer.from(text), (file) =>
      search(input, file, signal, lines),
    )
    return note === null ? result : { ...result, text: `${result.text}\n[${note}]` }
  }

  async function search(
    input: Input,
    root: FilePath,
    signal: AbortSignal,
    document: readonly DocumentLine[] | null = null,
  ): Promise<ToolResult> {
    const deadline = performance.now() + searchTimeMs
    const query: TextQuery = {
      root,
      pattern: input.pattern,
      glob: input.glob,
      type: input.type,
      fixedStrings: input.fixed_strings,
      caseInsensitive: input.case_insensitive,
      noIgnore: input.no_ignore,
      before: input.context_before,
      after: input.context_after,
      limit: input.head_limit === 0 ? allMax : input.head_limit,
      offset: input.offset,
      charsMax: replyCharsMax,
      ...(document ? { isSearched: (line: number) => document[line - 1]?.locator !== null } : {}),
    }
    if (input.output_mode === 'content')
      return hitsResult(query, await searchText(program, query, signal, deadline), document)
    if (document) {
      const all = { ...query, offset: 0, limit: allMax, before: 0, after: 0, charsMax: Number.POSITIVE_INFINITY }
      const found = await searchText(program, all, signal, deadline)
      return countsResult(query, countsOf(root, found), input.output_mode === 'count')
    }
    const counts = await countText(program, query, signal, deadline)
    return countsResult(query, counts, input.output_mode === 'count')
  }
}

/** A document as one counted file. */
function countsOf(root: FilePath, { hits, ...found }: Hits): Counts {
  const files = hits.length === 0 ? [] : [{ path: root.shown, lines: hits.length }]
  return { ...found, files, total: files.length, lines: hits.length, searched: 1 }
}

function hitsResult(query: TextQuery, found: Hits, document: readonly DocumentLine[] | null): ToolResult {
  const blocks: string[] = []
  let chars = 0
  for (const hit of found.hits) {
    const block = blockOf(hit, document)
    // What would cross the limit is left out whole, with all after it (F-813).
    if ((chars += block.length + 1) > replyCharsMax - footChars) break
    blocks.push(block)
  }
  const next = found.more || blocks.length < found.hits.length ? query.offset + blocks.length : null
  return resultOf(query, blocks, next, found, `${blocks.length}${next === null ? '' : '+'} hits`)
}

function countsResult(query: TextQuery, found: Counts, withCounts: boolean): ToolResult {
  const lines: string[] = []
  let chars = 0
  for (const file of found.files) {
    const line = withCounts ? `${file.path}: ${file.lines}` : file.path
    if ((chars += line.length + 1) > replyCharsMax - footChars) break
    lines.push(line)
  }
  const shownTo = query.offset + lines.length
  if (withCounts && found.total > 0) lines.push(`total: ${found.lines} lines in ${found.total} files`)
  return resultOf(query, lines, shownTo < found.total ? shownTo : null, found, `${found.total} files`)
}

function blockOf(hit: Hit, document: readonly DocumentLine[] | null): string {
  const line = document?.[hit.line - 1]
  return [
    `${hit.path}:${hit.line}${line ? ` (${placeOfHit(line, hit.at)})` : ''}`,
    ...hit.lines.map(({ number, text, hit }) => `${hit ? '>' : ' '}${number}| ${text}`),
  ].join('\n')
}

function resultOf(
  query: TextQuery,
  shown: string[],
  next: number | null,
  found: Hits | Counts,
  summary: string,
): ToolResult {
  const notes = [
    next === null ? '' : `more; continue at offset ${next}`,
    found.incomplete ? 'incomplete: time ran out, narrow path, glob or type' : '',
    found.unreadable > 0 ? `${found.unreadable} unreadable skipped` : '',
    found.secretFiles === null
      ? 'secret files left out'
      : found.secretFiles > 0
        ? `${found.secretFiles} secret ${found.secretFiles === 1 ? 'file' : 'files'} left out`
        : '',
  ].filter((note) => note !== '')
  const foot = notes.length > 0 ? [`[${notes.join('; ')}]`] : []
  const text = shown.length > 0 ? [...shown, ...foot] : [nothing(query, query.root, found), ...foot]
  return { text: text.join('\n'), isError: false, summary, view: { path: query.root.shown } }
}

function nothing({ pattern, offset }: TextQuery, root: FilePath, found: Hits | Counts): string {
  if (found.skipped !== null) return `${root.shown} was not searched: ${found.skipped}.`
  if (offset > 0) return `No more hits of "${pattern}" in ${root.shown} from offset ${offset} on.`
  return `Nothing found: "${pattern}" in ${root.shown}, ${found.searched} ${found.searched === 1 ? 'file' : 'files'} searched.`
}
