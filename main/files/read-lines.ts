/**
 * Lines of a file by number, with memory that does not grow with the file (F-301 to F-305). Files up to 16 MiB are gone
 * through to their end, for their hash and their number of lines; of larger ones no more is read than was asked for.
 */
import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { LatheError } from '../../preload/contract/errors.ts'
import { typeOfContent } from './content-type.ts'
import { openChecked, type FilePath } from './paths.ts'
import { clip, encodingOf, isBinary, lineDecoder, type Encoding, type LineDecoder, type LineEnds } from './text.ts'
import { hashedBytesMax, hashOf, statVersion } from './version.ts'

export type LineQuery = {
  /** First line, from 1. */
  offset: number
  limit: number
  /** Characters of all lines together, each counted with its number. */
  charsMax: number
  lineCharsMax: number
  signal: AbortSignal
  /** For seeking to the offset. */
  timeoutMs?: number
}

export type NumberedLine = { number: number; text: string; /** Characters clipped from its end. */ leftOut: number }

export type FileLines = {
  kind: 'text'
  lines: NumberedLine[]
  /** Lines of the whole file, where its end was reached. */
  total: number | null
  /** There are lines after the last one given. */
  more: boolean
  ends: LineEnds
  /** The file's last line has no line end; known where the end was reached. */
  lastLineOpen: boolean
  encoding: Encoding
  version: string
  bytes: number
  /** The whole content of a small file, for comparing later. */
  content: Uint8Array | null
}

export type BinaryFile = { kind: 'binary'; type: string | null; bytes: number; head: Uint8Array }

const chunkBytes = 256 * 1024
const wholeBytesMax = 2 * 1024 * 1024
const seekTimeMs = 10_000

/** Throws `file.offset_past_end`, `search.budget` where seeking takes over 10 s, and as `openChecked` does. */
export async function readLines(path: FilePath, query: LineQuery): Promise<FileLines | BinaryFile> {
  const handle = await openChecked(path)
  try {
    const stats = await handle.stat({ bigint: true })
    const bytes = Number(stats.size)
    if (bytes <= wholeBytesMax) return await readLinesOf(await handle.readFile(), query)

    const head = await readHead(handle)
    const [type, encoding] = await kindOf(head, wholeCharacters(head))
    if (!encoding) return { kind: 'binary', type, bytes, head }
    const hash = bytes <= hashedBytesMax ? createHash('sha256') : null
    const scanner = new LineScanner(query, encoding, await lineDecoder(encoding), head)
    const ended = await scan(scanner, chunksOf(handle), query, hash)
    return {
      kind: 'text',
      ...scanner.result(ended),
      encoding,
      version: hash?.digest('hex') ?? statVersion(stats),
      bytes,
      content: null,
    }
  } finally {
    await handle.close()
  }
}

/** The same of bytes in memory. */
export async function readLinesOf(content: Uint8Array, query: LineQuery): Promise<FileLines | BinaryFile> {
  const [type, encoding] = await kindOf(content, content)
  if (!encoding) return { kind: 'binary', type, bytes: content.length, head: content }
  const scanner = new LineScanner(query, encoding, await lineDecoder(encoding), content)
  scanner.push(content)
  scanner.end()
  return {
    kind: 'text',
    ...scanner.result(true),
    encoding,
    version: await hashOf(content),
    bytes: content.length,
    content,
  }
}

/** Its type where it is no text, else its encoding. */
async function kindOf(head: Uint8Array, text: Uint8Array): Promise<[type: string | null, encoding: Encoding | null]> {
  const type = typeOfContent(head, isBinary(head))
  return [type, type === null ? await encodingOf(text) : null]
}

/** False where it ended before the end of the file: a file that is not hashed is left once the lines are there. */
async function scan(
  scanner: LineScanner,
  chunks: AsyncIterable<Buffer>,
  query: LineQuery,
  hash: Hash | null,
): Promise<boolean> {
  const until = performance.now() + (query.timeoutMs ?? seekTimeMs)
  for await (const chunk of chunks) {
    query.signal.throwIfAborted()
    hash?.update(chunk)
    scanner.push(chunk)
    if (scanner.done && !hash) return false
    if (!scanner.done && performance.now() > until) {
      throw new LatheError('search.budget', `Line ${query.offset} was not reached within ${seekTimeMs / 1_000} s.`, {
        hint: 'Search the file instead.',
      })
    }
  }
  scanner.end()
  return true
}

async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  for (let at = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function readHead(handle: FileHandle): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** The head without a UTF-8 character cut in two at its end. */
function wholeCharacters(head: Uint8Array): Uint8Array {
  let at = head.length - 1
  while (at > head.length - 4 && (head[at]! & 0xc0) === 0x80) at--
  return head[at]! >= 0xc0 ? head.subarray(0, at) : head
}

const lf = 0x0a
const cr = 0x0d

/** Finds lines in chunks of bytes and keeps those asked for. Works on encodings whose LF is the byte 10; UTF-16 is recoded first. */
class LineScanner {
  readonly #query: LineQuery
  readonly #decoder: LineDecoder
  readonly #recoder: TextDecoder | null
  readonly #separator: number
  readonly #lines: NumberedLine[] = []
  #skipMark: number
  #number = 1
  #chars = 0
  #full = false
  #crlf = 0
  #bare = 0
  #lastByte = 0
  #lastLineOpen = false
  /** Text of the current line if it is kept, its length so far, and whether anything of it was seen. */
  #text = ''
  #length = 0
  #open = false

  constructor(query: LineQuery, encoding: Encoding, decoder: LineDecoder, head: Uint8Array) {
    this.#query = query
    this.#decoder = decoder
    this.#recoder = encoding.name.startsWith('utf-16') ? new TextDecoder(encoding.name, { ignoreBOM: true }) : null
    this.#skipMark = encoding.mark.length
    const sample = this.#recoder ? Buffer.from(new TextDecoder(encoding.name).decode(head)) : head
    this.#separator = sample.includes(cr) && !sample.includes(lf) ? cr : lf
  }

  /** All lines asked for are there, and one more is known to follow. */
  get done(): boolean {
    return (
      this.#full ||
      this.#number > this.#query.offset + this.#query.limit ||
      (this.#open && this.#number === this.#query.offset + this.#query.limit)
    )
  }

  push(chunk: Uint8Array): void {
    const marked = chunk.subarray(this.#skipMark)
    this.#skipMark = Math.max(0, this.#skipMark - chunk.length)
    const bytes = this.#recoder ? Buffer.from(this.#recoder.decode(marked, { stream: true })) : marked
    let from = 0
    for (let at = bytes.indexOf(this.#separator); at !== -1; at = bytes.indexOf(this.#separator, from)) {
      const before = at > 0 ? bytes[at - 1] : this.#lastByte
      if (before === cr && this.#separator === lf) this.#crlf++
      else this.#bare++
      this.#take(bytes.subarray(from, at))
      this.#finishLine(before === cr && this.#separator === lf)
      from = at + 1
    }
    this.#take(bytes.subarray(from))
    if (bytes.length > 0) this.#lastByte = bytes[bytes.length - 1]!
  }

  end(): void {
    this.#lastLineOpen = this.#open
    if (this.#open) this.#finishLine(false)
  }

  result(ended: boolean): Pick<FileLines, 'lines' | 'total' | 'more' | 'ends' | 'lastLineOpen'> {
    const total = ended ? this.#number - 1 : null
    if (total !== null && this.#query.offset > Math.max(1, total)) {
      throw new LatheError(
        'file.offset_past_end',
        `The file has ${total} lines; line ${this.#query.offset} is past its end.`,
        { data: { lines: total } },
      )
    }
    const last = this.#query.offset + this.#lines.length - 1
    const ends: LineEnds =
      this.#separator === cr
        ? 'cr'
        : this.#crlf > 0
          ? this.#bare > 0
            ? 'mixed'
            : 'crlf'
          : this.#bare > 0
            ? 'lf'
            : 'none'
    return { lines: this.#lines, total, more: total === null || last < total, ends, lastLineOpen: this.#lastLineOpen }
  }

  get #wanted(): boolean {
    return !this.#full && this.#number >= this.#query.offset && this.#number < this.#query.offset + this.#query.limit
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#open = true
    if (this.#wanted) this.#keep(this.#decoder.write(bytes))
  }

  #keep(text: string): void {
    this.#length += text.length
    const room = this.#query.lineCharsMax + 2 - this.#text.length
    if (room > 0) this.#text += text.slice(0, room)
  }

  #finishLine(withCarriage: boolean): void {
    if (this.#wanted) {
      this.#keep(this.#decoder.end())
      const length = this.#length - (withCarriage ? 1 : 0)
      const text = clip(this.#text.slice(0, length), this.#query.lineCharsMax)
      this.#chars += `${this.#number}| `.length + text.length + 1
      this.#full = this.#chars > this.#query.charsMax && this.#lines.length > 0
      if (!this.#full) this.#lines.push({ number: this.#number, text, leftOut: length - text.length })
    }
    this.#text = ''
    this.#length = 0
    this.#open = false
    this.#number++
  }
}
