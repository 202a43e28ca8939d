/**
 * What a response adds up to, whoever sends it: wires report pieces, this puts them together and queues the events
 * (M-45 to M-49, M-53, M-59). Calls come out only once the stream has finished with a reason that allows them (M-47).
 */
import { randomUUID } from 'node:crypto'
import { readArguments } from './arguments.ts'
import type { FinishReason, ModelEvent, ModelUsage } from './model.ts'
import { ThinkTags } from './think-tags.ts'

const callLimit = 128
const argumentsLimit = 4 * 1024 * 1024

/** What came is not the protocol (M-45). */
export class ProtocolFault extends Error {}

/** One fragment of a call; every field may be missing, late or repeated. */
export type CallFragment = { index?: unknown; id?: unknown; name?: unknown; args?: unknown }

export type ReplyFinish = FinishReason | 'refused' | 'overflow'

type Call = {
  index: number
  at: unknown
  id: string
  givenId: string
  name: string
  args: string[]
  size: number
  object: unknown
  announced: boolean
}

export type Carrier = { provider: string; kind: string; model: string; data: unknown }

export class Reply {
  /** Events not yet taken. */
  #queue: ModelEvent[] = []
  readonly #tags: ThinkTags | undefined
  readonly #nameOf: (wireName: string) => string
  readonly #calls: Call[] = []
  readonly #ids = new Set<string>()
  #reasoningSource = ''
  #visible = false
  #lastPercent = -1
  #usage: Partial<ModelUsage> | undefined
  /** Characters streamed, for an estimate where no usage is reported. */
  #streamed = 0
  finish: ReplyFinish | undefined
  /** The provider's own word for the finish, kept for the log where it is unknown. */
  finishWord = ''
  /** An error object inside a response that began well (M-55). */
  fault: unknown
  /** Text, reasoning or a call has come. */
  hasContent = false
  /** Text or reasoning was shown (M-78). */
  shown = false
  /** Rises with each sign that the prompt is still being read. */
  progress = 0

  constructor(options: { thinkTags: boolean; nameOf: (wireName: string) => string }) {
    this.#tags = options.thinkTags ? new ThinkTags() : undefined
    this.#nameOf = options.nameOf
  }

  take(): ModelEvent[] {
    const taken = this.#queue
    this.#queue = []
    return taken
  }

  text(delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#streamed += delta.length
    if (!this.#tags) return this.#say(delta)
    for (const piece of this.#tags.feed(delta)) this.#piece(piece)
  }

  /** `source` is the field it came in: a response that fills several is not shown twice (M-59). */
  reasoning(delta: unknown, source: string): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#reasoningSource ||= source
    if (source !== this.#reasoningSource) return
    this.hasContent = this.shown = true
    this.#streamed += delta.length
    this.#stream('reasoning', delta)
  }

  carrier(opaque: Carrier): void {
    this.#queue.push({ type: 'carrier', opaque })
  }

  /** M-49: clamped percent, or null where the number makes no sense. */
  promptRead(percent: unknown): void {
    if (this.hasContent) return
    const known = typeof percent === 'number' && Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : null
    if (known !== null && known > this.#lastPercent) {
      this.#lastPercent = known
      this.progress += 1
    }
    this.#queue.push({ type: 'phase', name: 'prompt_reading', percent: known })
  }

  /** Joined by index, else by id; a name may come late; an object as arguments is taken as it is (M-46). */
  call(fragment: CallFragment): void {
    const call = this.#callOf(fragment)
    const name = typeof fragment.name === 'string' ? fragment.name : ''
    if (call.name === '' && name !== '') call.name = this.#nameOf(name)
    let delta = ''
    if (typeof fragment.args === 'string') {
      delta = fragment.args
      call.size += delta.length
      if (call.size > argumentsLimit) throw new ProtocolFault('The arguments of one call are over 4 MiB.')
      call.args.push(delta)
    } else if (typeof fragment.args === 'object' && fragment.args !== null) call.object = fragment.args
    this.hasContent = true
    this.#streamed += delta.length
    if (call.name === '') return
    const late = call.announced ? delta : call.args.join('')
    call.announced = true
    this.#queue.push({ type: 'call', index: call.index, id: call.id, name: call.name, argsDelta: late })
  }

  #callOf({ index, id, name }: CallFragment): Call {
    const givenId = typeof id === 'string' ? id : ''
    const startsOther = (call: Call) =>
      givenId !== '' && call.givenId !== '' && givenId !== call.givenId && Boolean(name)
    let found: Call | undefined
    if (index !== undefined && index !== null) found = this.#calls.findLast((call) => call.at === index)
    else if (givenId !== '' && !name) found = this.#calls.findLast((call) => call.givenId === givenId)
    else if (givenId === '' && !name) found = this.#calls.at(-1)
    // Some servers number every parallel call 0: another id with a name is another call.
    if (found && !startsOther(found)) return found
    if (this.#calls.length === callLimit) throw new ProtocolFault(`More than ${callLimit} calls in one response.`)
    const free =
      givenId !== '' && !this.#ids.has(givenId) ? givenId : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`
    this.#ids.add(free)
    const call: Call = {
      index: this.#calls.length,
      at: index,
      id: free,
      givenId,
      name: '',
      args: [],
      size: 0,
      object: undefined,
      announced: false,
    }
    this.#calls.push(call)
    return call
  }

  /** Negative and fractional numbers are dropped; a missing one never clears a known one (M-108, T-87). */
  usage(counts: { [K in Exclude<keyof ModelUsage, 'estimated'>]?: unknown }): void {
    for (const [key, value] of Object.entries(counts)) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0)
        (this.#usage ??= {})[key as 'input'] = value
    }
  }

  get hasUsage(): boolean {
    return this.#usage !== undefined
  }

  /** Usage as reported, else estimated from characters (M-56, C-41). */
  usageEvent(promptCharacters: () => number): ModelEvent {
    const unknown = { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, total: null }
    if (this.#usage) return { type: 'usage', usage: { ...unknown, ...this.#usage, estimated: false } }
    const estimate = { input: Math.ceil(promptCharacters() / 3.5), output: Math.ceil(this.#streamed / 3.5) }
    return { type: 'usage', usage: { ...unknown, ...estimate, estimated: true } }
  }

  /** Whatever is held back, then the calls. The caller has seen to it that `finish` is set and no fault. */
  close(): void {
    for (const piece of this.#tags?.flush() ?? []) this.#piece(piece)
    const { finish } = this
    if (finish === 'refused' || finish === 'overflow' || finish === 'paused') return
    for (const call of this.#calls) {
      if (call.name === '')
        this.#queue.push({
          type: 'warning',
          kind: 'dropped_call',
          text: 'The model made a tool call without a name; it was dropped.',
        })
      else this.#queue.push(this.#done(call))
    }
  }

  #done(call: Call): ModelEvent {
    const { id, name } = call
    const raw = call.args.join('')
    const read =
      call.object === undefined
        ? readArguments(raw)
        : Array.isArray(call.object)
          ? readArguments(JSON.stringify(call.object))
          : { args: call.object as Record<string, unknown> }
    // A cut call may look complete and still lack its end (T-166).
    if (this.finish === 'length')
      return {
        type: 'callDone',
        id,
        name,
        raw: raw.slice(0, 200),
        invalid: 'The output limit cut this call before its end. Use smaller arguments.',
      }
    return 'args' in read ? { type: 'callDone', id, name, args: read.args } : { type: 'callDone', id, name, ...read }
  }

  get namedCalls(): number {
    return this.#calls.filter((call) => call.name !== '').length
  }

  /** M-53: neither visible text nor a call, whatever else came. */
  get empty(): boolean {
    return !this.#visible && this.namedCalls === 0
  }

  #piece(piece: { type: 'text' | 'reasoning'; delta: string }): void {
    if (piece.type === 'text') this.#say(piece.delta)
    else {
      this.#streamed -= piece.delta.length
      this.reasoning(piece.delta, 'tags')
    }
  }

  #say(delta: string): void {
    this.hasContent = this.shown = true
    if (!this.#visible && delta.trim() !== '') this.#visible = true
    this.#stream('text', delta)
  }

  /** What came in one piece from the network is one event, however many deltas it held. */
  #stream(type: 'text' | 'reasoning', delta: string): void {
    const last = this.#queue.at(-1)
    if (last?.type === type) {
      last.delta += delta
      last.deltas += 1
    } else this.#queue.push({ type, delta, deltas: 1 })
  }
}
