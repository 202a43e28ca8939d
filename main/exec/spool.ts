/**
 * The whole output of a process on disk: the first 16 MiB and the last 48 MiB, whatever its length. Short output
 * never touches the disk. The spool is the only thing that may hold a process back.
 */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const memoryBytes = 64 * 1024
const pauseBytes = 4 * 1024 * 1024
const resumeBytes = 1024 * 1024
const writeBytes = 1024 * 1024

export type SpoolOptions = {
  /** Where the file goes once it is needed. */
  path: string
  /** True: more is waiting than should; false: go on. */
  pressure(high: boolean): void
  headBytes?: number
  tailBytes?: number
}

export class Spool {
  readonly #options: SpoolOptions
  readonly #headBytes: number
  readonly #tailBytes: number
  #queue: Buffer[] = []
  #queued = 0
  #written = 0
  #batch: Buffer | null = null
  #file: FileHandle | null = null
  #writing: Promise<void> | null = null
  #paused = false
  #failed = false

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#headBytes = options.headBytes ?? 16 * 1024 * 1024
    this.#tailBytes = options.tailBytes ?? 48 * 1024 * 1024
  }

  /** Set where the disk refused: what was captured in memory is all there is (`outputIncomplete`). */
  get failed(): boolean {
    return this.#failed
  }

  push(bytes: Buffer): void {
    if (this.#failed || bytes.length === 0) return
    this.#queue.push(bytes)
    this.#queued += bytes.length
    if (this.#file === null && this.#queued <= memoryBytes) return
    if (this.#queued > pauseBytes && !this.#paused) this.#press(true)
    this.#writing ??= this.#write().finally(() => (this.#writing = null))
  }

  #press(high: boolean): void {
    this.#paused = high
    this.#options.pressure(high)
  }

  async #write(): Promise<void> {
    try {
      this.#file ??= await this.#open()
      while (this.#queued > 0) {
        await this.#place(this.#take())
        if (this.#paused && this.#queued < resumeBytes) this.#press(false)
      }
    } catch {
      this.#failed = true
      this.#queue = []
      this.#queued = 0
      if (this.#paused) this.#press(false)
    }
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#options.path), { recursive: true, mode: 0o700 })
    return open(this.#options.path, 'wx+', 0o600)
  }

  /** Fills the one buffer that all writes go through, so that a flood of output makes no flood of garbage. */
  #take(): Buffer {
    this.#batch ??= Buffer.allocUnsafeSlow(writeBytes)
    let length = 0
    let count = 0
    for (const bytes of this.#queue) {
      const copied = bytes.copy(this.#batch, length)
      length += copied
      if (copied < bytes.length) {
        this.#queue[count] = bytes.subarray(copied)
        break
      }
      count += 1
    }
    this.#queue.splice(0, count)
    this.#queued -= length
    return this.#batch.subarray(0, length)
  }

  /** The head once; behind it a ring of the tail. */
  async #place(batch: Buffer): Promise<void> {
    let rest = batch
    while (rest.length > 0) {
      const inHead = this.#written < this.#headBytes
      const ringAt = (this.#written - this.#headBytes) % this.#tailBytes
      const room = inHead ? this.#headBytes - this.#written : this.#tailBytes - ringAt
      const part = rest.subarray(0, room)
      await this.#file!.write(part, 0, part.length, inHead ? this.#written : this.#headBytes + ringAt)
      this.#written += part.length
      rest = rest.subarray(part.length)
    }
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
        const waiting = Buffer.concat(this.#queue)
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

  /** Everything that is kept, in order, with a line where something was left out; of a process that still prints, up to now. */
  async read(): Promise<Buffer> {
    await this.#writing
    if (this.#file === null) return Buffer.concat(this.#queue)
    const capacity = this.#headBytes + this.#tailBytes
    const written = this.#written
    if (written <= capacity) return Buffer.concat([await this.#readAt(0, written), ...this.#queue])
    // Read into one buffer in order: of 64 MiB nothing is copied on the main loop.
    const mark = Buffer.from(`\n[... ${(written - capacity).toLocaleString('en-US')} bytes were not kept ...]\n`)
    const oldest = this.#headBytes + ((written - this.#headBytes) % this.#tailBytes)
    const whole = Buffer.allocUnsafeSlow(capacity + mark.length)
    const head = wholeEnd(await this.#readAt(0, this.#headBytes, whole)).length
    mark.copy(whole, head)
    const at = head + mark.length
    const older = await this.#readAt(oldest, capacity - oldest, whole.subarray(at))
    const newer = await this.#readAt(this.#headBytes, oldest - this.#headBytes, whole.subarray(at + older.length))
    const cut = wholeStart(whole.subarray(at, at + older.length + newer.length))
    // At most three bytes are too many in front of the tail.
    const extra = older.length + newer.length - cut.length
    if (extra > 0) whole.copyWithin(extra, 0, at)
    return whole.subarray(extra, at + older.length + newer.length)
  }

  async #readAt(position: number, length: number, into?: Buffer): Promise<Buffer> {
    const bytes = into?.subarray(0, length) ?? Buffer.allocUnsafe(length)
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
