/**
 * All that is kept of a process's output: decoded, redacted, then written to the spool, shown live, and reduced to what
 * the model reads (section 5). Whatever the process prints, memory stays the same.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { TextDecoder } from 'node:util'
import type { OutputStream } from './carrier.ts'
import { HeadTail, type Kept } from './head-tail.ts'
import { LiveOutput } from './live-output.ts'
import { cutOutput, looksBinary, TerminalText } from './output.ts'
import { Spool } from './spool.ts'

/** Takes secrets out of a stream; holds back what may be the beginning of one (Z-103). */
export type Redactor = { push(text: string): string; end(): string }

export type CaptureOptions = {
  /** Folder for spool files, `LATHE_HOME/tmp/exec`. */
  folder: string
  /** One redactor for each stream. */
  redactor?: (() => Redactor) | undefined
  /** Live output, escape sequences included; bounded by X-510. */
  live?: ((text: string, stream: OutputStream) => void) | undefined
}

/** What a process printed. `release` must be called once nothing more is read of it. */
export type CapturedOutput = {
  /** As the model reads it, both streams by arrival. */
  reduced: Kept
  /** Each stream by itself with its escape sequences, for the card; 32 Ki characters of its beginning and end. */
  stdout: string
  stderr: string
  bytes: number
  binary: boolean
  /** The disk refused; the full output is not kept. */
  incomplete: boolean
  /** The full output in pieces, up to 64 MiB, escape sequences included. */
  full(): AsyncIterable<Buffer>
  release(): Promise<void>
}

type Channel = { decoder: TextDecoder; redactor: Redactor | undefined; kept: HeadTail }

const binarySample = 4_096
/** Of each stream on a card. */
const shownChars = 32_768

export class OutputCapture {
  readonly #channels: Record<OutputStream, Channel>
  /** Reduced text that was not handed over for good, the part that was offered aside. */
  #unread = new HeadTail()
  #offered = new HeadTail()
  readonly #text = new TerminalText((text) => this.#unread.push(text))
  #live: LiveOutput | undefined
  readonly #spool: Spool
  readonly #listeners = new Set<(text: string) => void>()
  readonly #rawListeners = new Set<(text: string) => void>()
  readonly #secrets = new Set<string>()
  #pressure: (high: boolean) => void = () => {}
  #bytes = 0
  #start = ''
  #finished = false
  #offeredTo = 0
  #unreadFrom = 0

  constructor(options: CaptureOptions) {
    const channel = (): Channel => ({
      decoder: new TextDecoder('utf-8', { ignoreBOM: true }),
      redactor: options.redactor?.(),
      // More at both ends than is shown, as a cut wants it.
      kept: new HeadTail(16_384, 24_576),
    })
    this.#channels = { stdout: channel(), stderr: channel() }
    this.#live = options.live && new LiveOutput(options.live, { isJournaled: true })
    this.#spool = new Spool({
      path: join(options.folder, `${randomUUID()}.out`),
      pressure: (high) => this.#pressure(high),
    })
  }

  /** Where to say that the process must be held back, or may go on. */
  onPressure(pressure: (high: boolean) => void): void {
    this.#pressure = pressure
  }

  /** Hears all text, decoded and redacted, escape sequences included, until the returned function is called. */
  onText(listener: (text: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** As `onText`, before redaction, which may hold back an end: for the person's own screen and for requests of secrets. */
  onRaw(listener: (text: string) => void): () => void {
    this.#rawListeners.add(listener)
    return () => this.#rawListeners.delete(listener)
  }

  /** A secret the person gave the process: should the process print it, nobody is shown it. */
  hide(secret: string): void {
    if (secret !== '') this.#secrets.add(secret)
  }

  /** `bytes` are read before it returns. After `finish` output is taken and forgotten: a background process that still prints must not be blocked. */
  push(stream: OutputStream, bytes: Buffer): void {
    if (this.#finished) return
    this.#bytes += bytes.length
    const channel = this.#channels[stream]
    const text = channel.decoder.decode(bytes, { stream: true })
    if (text !== '') for (const listener of this.#rawListeners) listener(text)
    this.#take(stream, channel.redactor ? channel.redactor.push(text) : text)
  }

  #take(stream: OutputStream, given: string): void {
    let text = given
    // A terminal echoes what is typed in one piece.
    for (const secret of this.#secrets) text = text.replaceAll(secret, '[hidden]')
    if (text === '') return
    if (this.#start.length < binarySample) this.#start += text.slice(0, binarySample)
    this.#spool.push(text)
    this.#channels[stream].kept.push(text)
    this.#live?.push(stream, text)
    this.#text.write(text)
    for (const listener of this.#listeners) listener(text)
  }

  /** Output is no longer shown on the card that started it: the call has ended. */
  endLive(): void {
    this.#live?.end()
    this.#live = undefined
  }

  /**
   * All that was not handed over yet, reduced; what was offered before and not taken comes again.
   * `binary` is of the whole output.
   */
  offer(): { kept: Kept; binary: boolean } {
    this.#text.flush()
    this.#offered.add(this.#unread.kept())
    this.#unread = new HeadTail()
    this.#offeredTo = this.#spool.length
    return { kept: this.#offered.kept(), binary: looksBinary(this.#start) }
  }

  /** What was offered last was recorded: it is not given again. */
  taken(): void {
    this.#offered = new HeadTail()
    this.#unreadFrom = this.#offeredTo
  }

  /** Whether there is output nobody was given. */
  get hasUnread(): boolean {
    return this.#spool.length > this.#unreadFrom
  }

  get bytes(): number {
    return this.#bytes
  }

  get incomplete(): boolean {
    return this.#spool.failed
  }

  /** Unread text up to now in pieces, escape sequences included, from the spool where memory has dropped it. */
  async *unreadText(): AsyncGenerator<string, void, void> {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const end = this.#spool.length
    if (this.#spool.failed) {
      for (const part of [this.#offered, this.#unread]) yield part.kept().head + part.kept().tail
      return
    }
    for await (const bytes of this.#spool.pieces(this.#unreadFrom, end)) yield decoder.decode(bytes, { stream: true })
  }

  /** The end of the output so far, escape sequences included. */
  async recent(bytes: number): Promise<string> {
    const end = this.#spool.length
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let text = ''
    for await (const piece of this.#spool.pieces(Math.max(0, end - bytes), end))
      text += decoder.decode(piece, { stream: true })
    return text.replace(/^\ufffd+/, '')
  }

  /** The full output so far in pieces, up to 64 MiB, escape sequences included. */
  full(): AsyncIterable<Buffer> {
    return this.#spool.whole()
  }

  release(): Promise<void> {
    return this.#spool.discard()
  }

  /** No more output is taken; what the decoders still hold is. */
  close(): void {
    if (this.#finished) return
    for (const stream of ['stdout', 'stderr'] as const) {
      const { decoder, redactor } = this.#channels[stream]
      const rest = decoder.decode()
      this.#take(stream, redactor ? redactor.push(rest) + redactor.end() : rest)
    }
    this.#finished = true
    this.#spool.close()
    this.#text.end()
    this.#live?.end()
  }

  /** A stream's beginning and end with its escape sequences, for the card. */
  shown(stream: OutputStream): string {
    return cutOutput(this.#channels[stream].kept.kept(), shownChars)
  }

  finish(): CapturedOutput {
    this.close()
    const spool = this.#spool
    return {
      reduced: this.#unread.kept(),
      stdout: this.shown('stdout'),
      stderr: this.shown('stderr'),
      bytes: this.#bytes,
      binary: looksBinary(this.#start),
      get incomplete() {
        return spool.failed
      },
      full: () => spool.whole(),
      release: () => spool.discard(),
    }
  }
}
