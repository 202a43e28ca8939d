/** What the window is shown of a reply while it streams: its text, and which files its calls are going to write. */
import type { Redaction, RedactionStream } from '../platform/redaction.ts'
import { CallBeingWritten } from './call-being-written.ts'
import type { Conversation } from './conversation.ts'
import type { Tally } from './tally.ts'
import type { TurnPort } from './turn-port.ts'

type ShownInput = { port: TurnPort; redaction: Redaction; conversation: Conversation }

/** Between two reports of what a call is going to write. */
const writingToldMs = 250

/** What is shown of a reply while it streams: without secrets, also where one comes in two pieces (Z-103). */
export class ShownReply {
  private readonly input: ShownInput
  private readonly tally: Tally
  /** Characters shown of this request. */
  chars = 0
  private channel: 'text' | 'reasoning' | null = null
  private redaction: RedactionStream | null = null

  constructor(input: ShownInput, tally: Tally) {
    this.input = input
    this.tally = tally
  }

  push(channel: 'text' | 'reasoning', delta: string, deltas: number): void {
    const { port } = this.input
    if (channel !== this.channel) this.end()
    this.channel = channel
    this.redaction ??= this.input.redaction.stream()
    this.tally.streamed(deltas, port.now())
    this.send(this.redaction.push(delta))
    if (this.tally.dueForReport(port.now()))
      void port.report({
        type: 'usage',
        turn: this.tally.usage,
        context: this.input.conversation.figures(this.chars),
        rate: this.tally.rate,
      })
  }

  /** Sends what was held back as the possible beginning of a secret. */
  end(): void {
    this.send(this.redaction?.end() ?? '')
    this.redaction = null
  }

  /** Forgets what was held back: it belongs to what is discarded. */
  drop(): void {
    this.redaction = null
    this.chars = 0
  }

  private send(add: string): void {
    if (add === '' || !this.channel) return
    this.chars += add.length
    this.input.port.stream({ type: 'stream', channel: this.channel, add })
  }
}

/** Tells a few times a second which files the call that arrives is going to write (F-707). */
export class ShownCall {
  private readonly input: ShownInput
  private index = -1
  private call: CallBeingWritten | null = null
  private toldAt = -Infinity

  constructor(input: ShownInput) {
    this.input = input
  }

  push(index: number, name: string, json: string): void {
    if (index !== this.index) {
      this.end()
      this.index = index
      this.call = CallBeingWritten.of(name)
    }
    if (!this.call) return
    this.call.push(json)
    const { port, redaction } = this.input
    if (port.now() - this.toldAt < writingToldMs) return
    const { files, ...so } = this.call.so
    if (files.length === 0) return
    this.toldAt = port.now()
    const shown = files.map(({ path, added }) => ({ path: path === null ? null : redaction.text(path), added }))
    void port.report({ type: 'writing', call: { ...so, files: shown } })
  }

  /** It has arrived, or is gone. */
  end(): void {
    this.index = -1
    this.call = null
    if (this.toldAt === -Infinity) return
    this.toldAt = -Infinity
    void this.input.port.report({ type: 'writing', call: null })
  }
}
