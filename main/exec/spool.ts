/**
 * The whole output of a process on disk: the first 16 MiB and the last 48 MiB, whatever its length. Short output
 * never touches the disk. The spool is the only thing that may hold a process back.
 */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const memoryBytes = 64 * 1024
const pauseBytes = 4 * 1024 * 1024
const resumeBytes = 1024 * 1024
const writeBytes = 256 * 1024
const sparesMax = pauseBytes / writeBytes

export type SpoolOptions = {
  /** Where the file goes once it is needed. */
  path: string
  /** True: more is waiting than should; false: go on. */
  pressure(high: boolean): void
  headBytes?: number
  tailBytes?: number
}

/** What waits in a buffer: from the first byte that is not written to the last that was pushed. */
type Filled = { buffer: Buffer; from: number; to: number }

const encoder = new TextEncoder()

export class Spool {
  readonly #options: SpoolOptions
  readonly #headBytes: number
  readonly #tailBytes: number
  /** Waiting to be written, the last one being filled. */
  #queue: Filled[] = []
  /** Written, to be filled again: a flood of output makes no flood of garbage. */
  #spare: Buffer[] = []
  #queued = 0
  #written = 0
  #file: FileHandle | null = null
  #writing: Promise<void> | null = null
  #paused = false
  #failed = false
  #closed = false

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#headBytes = options.headBytes ?? 16 * 1024 * 1024
    this.#tailBytes = options.tailBytes ?? 48 * 1024 * 1024
  }

  /** Set where the disk refused: what was captured in memory is all there is (`outputIncomplete`). */
  get failed(): boolean {
    return this.#failed
  }

  push(text: string): void {
    if (this.#failed || text === '') return
    for (let rest = text; rest !== '';) {
      const filling = this.#filling()
      const { read, written } = encoder.encodeInto(rest, filling.buffer.subarray(filling.to))
      filling.to += written
      this.#queued += written
      rest = rest.slice(read)
      // What is left of it may be too little for the next character.
      if (rest !== '') this.#queue.push(this.#empty())
    }
    if (this.#file === null && this.#queued <= memoryBytes) return
    if (this.#queued > pauseBytes && !this.#paused) this.#press(true)
    this.#writing ??= this.#write().finally(() => (this.#writing = null))
  }

  #filling(): Filled {
    if (this.#queue.length === 0) this.#queue.push(this.#empty())
    return this.#queue.at(-1)!
  }

  /** The first one is small, since most output is. */
  #empty(): Filled {
    const size = this.#file === null && this.#queue.length === 0 ? memoryBytes : writeBytes
    return { buffer: this.#spare.pop() ?? Buffer.allocUnsafeSlow(size), from: 0, to: 0 }
  }

  /** Nothing more is pushed: buffers that were written are let go. */
  close(): void {
    this.#closed = true
    this.#spare = []
  }

  #press(high: boolean): void {
    this.#paused = high
    this.#options.pressure(high)
  }

  async #write(): Promise<void> {
    try {
      this.#file ??= await this.#open()
      for (let first = this.#queue[0]; first && first.from < first.to; first = this.#queue[0]) {
        // More may be pushed into it meanwhile.
        while (first.from < first.to) await this.#place(first)
        this.#queue.shift()
        const again = !this.#closed && first.buffer.length === writeBytes && this.#spare.length < sparesMax
        if (again) this.#spare.push(first.buffer)
        if (this.#paused && this.#queued < resumeBytes) this.#press(false)
      }
    } catch {
      this.#failed = true
      this.#queue = []
      this.#spare = []
      this.#queued = 0
      if (this.#paused) this.#press(false)
    }
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#options.path), { recursive: true, mode: 0o700 })
    return open(this.#options.path, 'wx+', 0o600)
  }

  /** Writes on: the head once; behind it a ring of the tail. */
  async #place(waiting: Filled): Promise<void> {
    const inHead = this.#written < this.#headBytes
    const ringAt = (this.#written - this.#headBytes) % this.#tailBytes
    const room = inHead ? this.#headBytes - this.#written : this.#tailBytes - ringAt
    const length = Math.min(room, waiting.to - waiting.from)
    const position = inHead ? this.#written : this.#headBytes + ringAt
    await this.#file!.write(waiting.buffer, waiting.from, length, position)
    waiting.from += length
    this.#written += length
    this.#queued -= length
  }

  /** Bytes pushed so far, kept or not. */
  get length(): number {
    return this.#written + this.#queued
  }

  /**
   * What is kept of the bytes from `from` to `to`, by their place in all that was pushed, in pieces; `stop` ends it early.
   * Works while more is pushed.
   */
  async *pieces(from: number, to: number, pieceBytes = 256 * 1024): AsyncGenerator<Buffer, void, void> {
    for (let at = from; at < to;) {
      if (at >= this.#written) {
        // Not on disk yet: the queue holds it, unless the disk refused.
        const waiting = this.#waiting()
        const start = this.#written
        if (at < start + waiting.length) yield waiting.subarray(at - start, to - start)
        return
      }
      const kept = this.#keptFrom(at)
      const end = Math.min(to, this.#written, kept.at + Math.min(pieceBytes, kept.room))
      if (end <= kept.at) return
      yield await this.#readAt(kept.position, end - kept.at)
      at = end
    }
  }

  /** The first byte from `at` on that is kept, its place in the file, and how many follow it there without a break. */
  #keptFrom(at: number): { at: number; position: number; room: number } {
    if (at < this.#headBytes) return { at, position: at, room: this.#headBytes - at }
    const oldest = Math.max(this.#headBytes, this.#written - this.#tailBytes)
    const from = Math.max(at, oldest)
    const ringAt = (from - this.#headBytes) % this.#tailBytes
    return { at: from, position: this.#headBytes + ringAt, room: this.#tailBytes - ringAt }
  }

  /** A copy of what is not written yet. */
  #waiting(): Buffer {
    return Buffer.concat(this.#queue.map(({ buffer, from, to }) => buffer.subarray(from, to)))
  }

  /**
   * Everything that is kept, in order and in pieces, with a line where something was left out; of a process that still
   * prints, up to now. A piece is good until the next is asked for.
   */
  async *whole(): AsyncGenerator<Buffer, void, void> {
    await this.#writing
    const [written, waiting] = [this.#written, this.#waiting()]
    const capacity = this.#headBytes + this.#tailBytes
    if (written <= capacity) {
      yield* this.#read(0, written)
      if (waiting.length > 0) yield waiting
      return
    }
    let left = this.#headBytes
    for await (const piece of this.#read(0, this.#headBytes)) {
      left -= piece.length
      yield left === 0 ? wholeEnd(piece) : piece
    }
    yield Buffer.from(`\n[... ${(written - capacity).toLocaleString('en-US')} bytes were not kept ...]\n`)
    const oldest = this.#headBytes + ((written - this.#headBytes) % this.#tailBytes)
    let isFirst = true
    for (const [from, to] of [
      [oldest, capacity],
      [this.#headBytes, oldest],
    ] as const) {
      for await (const piece of this.#read(from, to)) {
        yield isFirst ? wholeStart(piece) : piece
        isFirst = false
      }
    }
    if (waiting.length > 0) yield waiting
  }

  /** The file from one place to another, each piece in the same buffer. */
  async *#read(from: number, to: number): AsyncGenerator<Buffer, void, void> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(writeBytes, to - from))
    for (let at = from; at < to; at += buffer.length) {
      const piece = await this.#readAt(at, Math.min(buffer.length, to - at), buffer)
      if (piece.length > 0) yield piece
    }
  }

  async #readAt(position: number, length: number, into = Buffer.allocUnsafeSlow(length)): Promise<Buffer> {
    const bytes = into.subarray(0, length)
    let read = 0
    while (read < length) {
      const { bytesRead } = await this.#file!.read(bytes, read, length - read, position + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  }

  /** Lets go of the file and removes it. */
  async discard(): Promise<void> {
    await this.#writing
    this.#queue = []
    this.#spare = []
    this.#queued = 0
    await this.#file?.close()
    if (this.#file) await rm(this.#options.path, { force: true })
    this.#file = null
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Without the rest of a character that was cut off at the beginning. */
function wholeStart(bytes: Buffer): Buffer {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at += 1
  return bytes.subarray(at)
}

/** Without the beginning of a character whose rest was cut off. */
function wholeEnd(bytes: Buffer): Buffer {
  let at = bytes.length
  while (at > 0 && bytes.length - at < 3 && isContinuation(bytes[at - 1])) at -= 1
  const lead = bytes[at - 1] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return at - 1 + length > bytes.length ? bytes.subarray(0, at - 1) : bytes
}
