/**
 * All that is kept of a process's output: decoded, redacted, then written to the spool, shown live, and reduced to what
 * the model reads (section 5). Whatever the process prints, memory stays the same.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { TextDecoder } from 'node:util'
import type { OutputStream } from './carrier.ts'
import { LiveOutput } from './live-output.ts'
import { cutOutput, HeadTail, type Kept, looksBinary, TerminalText } from './output.ts'
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
  /** Each stream by itself with its escape sequences, for the card; the first 8 and the last 24 Ki characters. */
  stdout: string
  stderr: string
  bytes: number
  binary: boolean
  /** The disk refused; the full output is not kept. */
  incomplete: boolean
  /** The full output up to 64 MiB, escape sequences included. */
  full(): Promise<Buffer>
  release(): Promise<void>
}

type Channel = { decoder: TextDecoder; redactor: Redactor | undefined; kept: HeadTail }

const binarySample = 4_096

export class OutputCapture {
  readonly #channels: Record<OutputStream, Channel>
  readonly #reduced = new HeadTail()
  readonly #text = new TerminalText((text) => this.#reduced.push(text))
  readonly #live: LiveOutput | undefined
  readonly #spool: Spool
  #pressure: (high: boolean) => void = () => {}
  #bytes = 0
  #start = ''
  #finished = false

  constructor(options: CaptureOptions) {
    const channel = (): Channel => ({
      decoder: new TextDecoder('utf-8', { ignoreBOM: true }),
      redactor: options.redactor?.(),
      kept: new HeadTail(8_192, 24_576),
    })
    this.#channels = { stdout: channel(), stderr: channel() }
    this.#live = options.live && new LiveOutput(options.live)
    this.#spool = new Spool({
      path: join(options.folder, `${randomUUID()}.out`),
      pressure: (high) => this.#pressure(high),
    })
  }

  /** Where to say that the process must be held back, or may go on. */
  onPressure(pressure: (high: boolean) => void): void {
    this.#pressure = pressure
  }

  /** After `finish` output is taken and forgotten: a background process that still prints must not be blocked. */
  push(stream: OutputStream, bytes: Buffer): void {
    if (this.#finished) return
    this.#bytes += bytes.length
    const channel = this.#channels[stream]
    const text = channel.decoder.decode(bytes, { stream: true })
    this.#take(stream, channel.redactor ? channel.redactor.push(text) : text)
  }

  #take(stream: OutputStream, text: string): void {
    if (text === '') return
    if (this.#start.length < binarySample) this.#start += text.slice(0, binarySample)
    this.#spool.push(Buffer.from(text))
    this.#channels[stream].kept.push(text)
    this.#live?.push(stream, text)
    this.#text.write(text)
  }

  finish(): CapturedOutput {
    for (const stream of ['stdout', 'stderr'] as const) {
      const { decoder, redactor } = this.#channels[stream]
      const rest = decoder.decode()
      this.#take(stream, redactor ? redactor.push(rest) + redactor.end() : rest)
    }
    this.#finished = true
    this.#text.end()
    this.#live?.end()
    const spool = this.#spool
    const part = (stream: OutputStream): string => cutOutput(this.#channels[stream].kept.kept(), 32_768)
    return {
      reduced: this.#reduced.kept(),
      stdout: part('stdout'),
      stderr: part('stderr'),
      bytes: this.#bytes,
      binary: looksBinary(this.#start),
      get incomplete() {
        return spool.failed
      },
      full: () => spool.read(),
      release: () => spool.discard(),
    }
  }
}
