/** Text in files (F-810 to F-816). Hits come in path order, page by page; secret files are left out and counted (F-111). */
import { basename } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { belowRoot } from './below-root.ts'
import { comparePaths, newestFirst } from './file-search.ts'
import { parseGlob, type Glob } from './glob.ts'
import { notFound, openChecked, type FilePath } from './paths.ts'
import { shownBelow, type ProgramEnd, type SearchProgram } from './search-program.ts'
import { isSecretName, secretGlobs } from './sensitive-paths.ts'
import { binarySampleBytes, isBinary } from './text.ts'

export type TextQuery = {
  root: FilePath
  pattern: string
  glob?: string | undefined
  type?: string | undefined
  fixedStrings: boolean
  caseInsensitive: boolean
  noIgnore: boolean
  before: number
  after: number
  limit: number
  offset: number
  /** Text of all hits together that is worth fetching. */
  charsMax: number
  /** Lines, from 1, that can be a hit; all where absent. */
  isSearched?: ((line: number) => boolean) | undefined
}

export type HitLine = { number: number; text: string; hit: boolean }

/** A line that matches, with the lines around it that were not shown for the hit before. */
export type Hit = { path: string; line: number; /** Where in the line, in characters. */ at: number; lines: HitLine[] }

export type Hits = {
  hits: Hit[]
  /** There are hits after these. */
  more: boolean
  searched: number
} & Left

/** What a search could not or must not look at. */
type Left = {
  incomplete: boolean
  unreadable: number
  secretFiles: number | null
  /** Why the file named as path was not searched. */
  skipped: string | null
}

export type Counts = { files: { path: string; lines: number }[]; total: number; lines: number; searched: number } & Left

const searchTimeMs = 20_000
const fileBytesMax = 2_000_000
const namedFileBytesMax = 100_000_000
const lineCharsMax = 2_000
const printedLineBytesMax = 8 * 1024 * 1024
const countedFilesMax = 100_000
/** What is parsed at once when few hits are put in order. */
const fewHitsCharsMax = 1024 * 1024

/** Throws `file.not_found`, `search.invalid_pattern`, `tool.invalid_arguments` for type and glob, or the signal's reason. */
export async function searchText(
  program: SearchProgram,
  query: TextQuery,
  signal: AbortSignal,
  deadline = performance.now() + searchTimeMs,
): Promise<Hits> {
  const glob = await prepare(program, query, signal)
  const skipped = await whyNotSearched(query.root)
  if (skipped) return { hits: [], more: false, searched: 0, incomplete: false, unreadable: 0, secretFiles: 0, skipped }
  const page = new HitPage(query, glob)
  const [end, secretFiles] = await Promise.all([
    fillPage(page, program, query, glob, deadline, signal),
    countSecretFiles(program, query, glob, deadline, signal),
  ])
  return { ...page.result(), ...leftOf(end, secretFiles) }
}

/**
 * In path order the program searches one file after another, and stops once the page is there. So few hits are looked for
 * in any order first, on all processors, and put in order here; where there are more of them, the page comes early.
 */
async function fillPage(
  page: HitPage,
  program: SearchProgram,
  query: TextQuery,
  glob: Glob | null,
  deadline: number,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const search = (order: string[], onLine: (line: string) => boolean) =>
    program.run({
      root: query.root,
      args: [
        '--json',
        ...order,
        '--before-context',
        `${query.before}`,
        '--after-context',
        `${query.after}`,
        // Where not every line counts, how many are needed is not known before.
        ...(query.isSearched ? [] : ['--max-count', `${query.offset + query.limit + 1}`]),
        ...matching(query, glob),
      ],
      noIgnore: query.noIgnore,
      deadline,
      separator: '\n',
      maxLineBytes: printedLineBytesMax,
      signal,
      onLine,
    })
  if (query.root.kind === 'folder') {
    const few = new FewHits(2 * (query.offset + query.limit + 1))
    const end = await search([], (line) => few.take(line))
    if (end.cut !== 'enough') {
      few.inOrder((line) => page.take(line))
      return end
    }
  }
  return search(['--sort', 'path'], (line) => page.take(line))
}

/** The program's messages about a bounded number of hits, each file's together, to be handed on in path order. */
class FewHits {
  readonly #hitsMax: number
  readonly #files: { below: string; lines: string[] }[] = []
  #summary: string | null = null
  #hits = 0
  #chars = 0

  constructor(hitsMax: number) {
    this.#hitsMax = hitsMax
  }

  /** False where it is more than a few. */
  take(line: string): boolean {
    const message = line.startsWith('{"type":"begin"') ? parse(line) : null
    if (message?.type === 'begin') this.#files.push({ below: belowRoot(textOf(message.data.path)), lines: [] })
    if (line.startsWith('{"type":"')) this.#files.at(-1)?.lines.push(line)
    else this.#summary = line
    if (line.startsWith('{"type":"match"')) this.#hits++
    this.#chars += line.length
    return this.#hits <= this.#hitsMax && this.#chars <= fewHitsCharsMax
  }

  inOrder(take: (line: string) => void): void {
    for (const { lines } of this.#files.toSorted((a, b) => comparePaths(a.below, b.below))) lines.forEach(take)
    if (this.#summary !== null) take(this.#summary)
  }
}

/** Matching lines per file, newest file first (F-814). */
export async function countText(
  program: SearchProgram,
  query: TextQuery,
  signal: AbortSignal,
  deadline = performance.now() + searchTimeMs,
): Promise<Counts> {
  const glob = await prepare(program, query, signal)
  const skipped = await whyNotSearched(query.root)
  if (skipped)
    return { files: [], total: 0, lines: 0, searched: 0, incomplete: false, unreadable: 0, secretFiles: 0, skipped }
  const counts = new Map<string, number>()
  let path: string | undefined
  const [end, secretFiles] = await Promise.all([
    program.run({
      root: query.root,
      args: ['--count', '--null', '--with-filename', ...matching(query, glob)],
      noIgnore: query.noIgnore,
      deadline,
      separator: '\0',
      maxLineBytes: 16 * 1024,
      signal,
      // Between two NULs stand a count, a line end and the next path.
      onLine(token) {
        const lineEnd = path === undefined ? -1 : token.indexOf('\n')
        if (path !== undefined && wanted(query, glob, path)) counts.set(path, Number(token.slice(0, lineEnd)))
        path = belowRoot(token.slice(lineEnd + 1))
        return counts.size < countedFilesMax
      },
    }),
    countSecretFiles(program, query, glob, deadline, signal),
  ])
  const newest = await newestFirst(query.root, [...counts.keys()], {
    keep: query.offset + query.limit,
    deadline,
    signal,
  })
  const searched = counts.size === 0 ? await countFiles(program, query, glob, deadline, signal) : 0
  return {
    files: newest
      .slice(query.offset)
      .map((below) => ({ path: shownBelow(query.root, below), lines: counts.get(below)! })),
    total: counts.size,
    lines: [...counts.values()].reduce((sum, lines) => sum + lines, 0),
    searched,
    ...leftOf({ ...end, cut: counts.size >= countedFilesMax ? 'time' : end.cut }, secretFiles),
  }
}

async function prepare(program: SearchProgram, query: TextQuery, signal: AbortSignal): Promise<Glob | null> {
  if (query.root.kind === 'missing') throw await notFound(query.root)
  if (query.pattern.includes('\0')) throw new LatheError('search.invalid_pattern', 'The pattern holds a NUL character.')
  if (query.type !== undefined) await program.checkType(query.type, signal)
  return query.glob === undefined || query.glob.trim() === '' ? null : parseGlob(query.glob)
}

function matching(query: TextQuery, glob: Glob | null): string[] {
  const folder = query.root.kind === 'folder'
  return [
    '--crlf',
    '--max-filesize',
    `${folder ? fileBytesMax : namedFileBytesMax}`,
    ...(query.fixedStrings ? ['--fixed-strings'] : []),
    ...(query.caseInsensitive ? ['--ignore-case'] : []),
    ...kindOfFiles(query, glob),
    '--regexp',
    query.pattern,
  ]
}

/** A glob of ours goes to the program as a type: its own globs would lift the ignore rules (F-802). */
function kindOfFiles(query: TextQuery, glob: Glob | null): string[] {
  if (query.type !== undefined) return ['--type', query.type]
  return glob?.name && query.root.kind === 'folder' ? ['--type-add', `wanted:${glob.name}`, '--type', 'wanted'] : []
}

/** Whether what was found below the root counts: it fits the glob, and is no secret unless it was named itself. */
function wanted({ root }: TextQuery, glob: Glob | null, below: string): boolean {
  return (glob?.matches(below) ?? true) && (root.kind !== 'folder' || !isSecretName(basename(below)))
}

function leftOf(end: ProgramEnd, secretFiles: number | null): Left {
  return { incomplete: end.cut === 'time', unreadable: end.unreadable, secretFiles, skipped: null }
}

/** A file named as path that is not searched says why (F-811). */
async function whyNotSearched(root: FilePath): Promise<string | null> {
  if (root.kind === 'folder') return null
  const handle = await openChecked(root)
  try {
    const { size } = await handle.stat()
    if (size > namedFileBytesMax)
      return `it has ${size.toLocaleString('en')} bytes, over ${namedFileBytesMax.toLocaleString('en')}`
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(binarySampleBytes), 0, binarySampleBytes, 0)
    return isBinary(buffer.subarray(0, bytesRead)) ? 'it is binary' : null
  } finally {
    await handle.close()
  }
}

/** How many secret files the search left out: counted by name alone, so that it tells nothing of their content. */
async function countSecretFiles(
  program: SearchProgram,
  query: TextQuery,
  glob: Glob | null,
  deadline: number,
  signal: AbortSignal,
): Promise<number | null> {
  if (query.root.kind !== 'folder') return 0
  const names =
    query.type === undefined
      ? [...secretGlobs.flatMap((name) => ['--type-add', `secret:${name}`]), '--type', 'secret']
      : ['--type', query.type]
  return countListed(
    program,
    query,
    names,
    (below) => isSecretName(basename(below)) && (glob?.matches(below) ?? true),
    deadline,
    signal,
  )
}

async function countFiles(
  program: SearchProgram,
  query: TextQuery,
  glob: Glob | null,
  deadline: number,
  signal: AbortSignal,
): Promise<number> {
  return (
    (await countListed(
      program,
      query,
      ['--max-filesize', `${fileBytesMax}`, ...kindOfFiles(query, glob)],
      (below) => wanted(query, glob, below),
      deadline,
      signal,
    )) ?? 0
  )
}

/** Null where time ran out. */
async function countListed(
  program: SearchProgram,
  { root, noIgnore }: TextQuery,
  args: string[],
  counts: (below: string) => boolean,
  deadline: number,
  signal: AbortSignal,
): Promise<number | null> {
  let count = 0
  const onName = (name: string) => void (counts(belowRoot(name)) && count++)
  const end = await program.names({ root, args, noIgnore, deadline, signal, onName })
  return end.cut === 'no' ? count : null
}

type Printed = { text?: string; bytes?: string }
type Message =
  | { type: 'begin'; data: { path: Printed } }
  | {
      type: 'match' | 'context'
      data: { lines: Printed; line_number: number; submatches: { start: number; end: number }[] }
    }
  | { type: 'end'; data: { binary_offset: number | null } }
  | { type: 'summary'; data: { stats: { searches: number } } }

/** Collects one page of hits from the program's messages, file by file. */
class HitPage {
  readonly #query: TextQuery
  readonly #glob: Glob | null
  #hits: Hit[] = []
  #seen = 0
  #chars = 0
  #searched = 0
  /** The file being printed: null where its hits do not count. */
  #file: { path: string; hits: Hit[]; pending: HitLine[]; chars: number } | null = null

  constructor(query: TextQuery, glob: Glob | null) {
    this.#query = query
    this.#glob = glob
  }

  /** False once the page and one hit more are there. */
  take(line: string): boolean {
    const message = parse(line)
    switch (message?.type) {
      case 'begin': {
        const below = belowRoot(textOf(message.data.path))
        this.#file = wanted(this.#query, this.#glob, below)
          ? { path: shownBelow(this.#query.root, below), hits: [], pending: [], chars: 0 }
          : null
        return true
      }
      case 'match':
      case 'context':
        this.#takeLine(message.type === 'match', message.data)
        return true
      case 'end': {
        const file = this.#file
        this.#file = null
        // Hits before the first NUL of a binary file do not count either.
        if (file && message.data.binary_offset === null) this.#add(file.hits)
        return this.#seen <= this.#query.offset + this.#query.limit && this.#chars <= this.#query.charsMax
      }
      case 'summary':
        this.#searched = message.data.stats.searches
        return true
      default:
        // The line was too long to be handed on whole.
        if (line.startsWith('{"type":"match"'))
          this.#takeLine(true, { lines: { text: '(a line of over 8 MiB)' }, line_number: 0, submatches: [] })
        return true
    }
  }

  result(): Pick<Hits, 'hits' | 'more' | 'searched'> {
    // Time ran out within a file: what it had until then is as good.
    if (this.#file) this.#add(this.#file.hits)
    const { offset, limit } = this.#query
    return {
      hits: this.#hits.slice(0, limit),
      more: this.#seen > offset + limit || this.#hits.length > limit,
      searched: this.#searched,
    }
  }

  #takeLine(
    hit: boolean,
    {
      lines,
      line_number: number,
      submatches,
    }: { lines: Printed; line_number: number; submatches: { start: number; end: number }[] },
  ): void {
    const file = this.#file
    if (!file) return
    if (hit && this.#query.isSearched?.(number) === false) hit = false
    // Hits before the page, and after as much text as fits a reply, are only counted.
    const index = this.#seen + file.hits.length
    const shown =
      index + (hit ? 0 : 1) >= this.#query.offset &&
      index <= this.#query.offset + this.#query.limit &&
      this.#chars + file.chars <= this.#query.charsMax
    const text = shown ? clipAround(textOf(lines).replace(/\r?\n$/, ''), textOf(lines), submatches[0]?.start ?? 0) : ''
    file.chars += text.length
    const last = file.hits.at(-1)
    if (hit) {
      const at = shown ? charsBefore(textOf(lines), submatches[0]?.start ?? 0) : 0
      // A line that matched without being a hit is context only as far as it was asked for.
      const before = file.pending.filter((line) => line.number >= number - this.#query.before)
      file.hits.push({ path: file.path, line: number, at, lines: [...before, { number, text, hit: true }] })
      file.pending = []
    } else if (last && number <= last.line + this.#query.after) last.lines.push({ number, text, hit: false })
    else file.pending.push({ number, text, hit: false })
  }

  #add(hits: readonly Hit[]): void {
    for (const hit of hits) {
      const index = this.#seen++
      if (index < this.#query.offset || index > this.#query.offset + this.#query.limit) continue
      this.#hits.push(hit)
      this.#chars += hit.lines.reduce((sum, line) => sum + line.text.length, 0)
    }
  }
}

function parse(line: string): Message | null {
  try {
    return JSON.parse(line) as Message
  } catch {
    return null
  }
}

/** What is not valid UTF-8 comes as bytes; it is shown letter by letter. */
function textOf({ text, bytes = '' }: Printed): string {
  return text ?? Buffer.from(bytes, 'base64').toString('latin1')
}

/** A long line is clipped around its hit, a third of the window before it (F-813). */
function clipAround(text: string, printed: string, startByte: number): string {
  if (text.length <= lineCharsMax) return text
  const start = charsBefore(printed, startByte)
  const from = boundary(text, Math.max(0, Math.min(start - Math.floor(lineCharsMax / 3), text.length - lineCharsMax)))
  const to = boundary(text, from + lineCharsMax)
  return `${from > 0 ? '...' : ''}${text.slice(from, to)}${to < text.length ? `... (${text.length - (to - from)} characters left out)` : ''}`
}

function charsBefore(printed: string, startByte: number): number {
  return startByte === 0 ? 0 : Buffer.from(printed).subarray(0, startByte).toString('utf8').length
}

/** Not in the middle of a surrogate pair. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
