/**
 * The step loop: one model request and the calls it asked for, until the session lets the turn end (T-36). It holds no
 * state of the session, decides no permission, and stops wherever its signal says so.
 */
import { noUsage } from '../../preload/contract/fold.ts'
import { outputContinuationsMax } from '../../preload/contract/limits.ts'
import type { ContextFigures, Usage } from '../../preload/contract/session.ts'
import type {
  AssistantPart,
  ModelError,
  ModelInfo,
  ModelMessage,
  Models,
  ModelUsage,
  ToolSpec,
} from '../models/model.ts'
import type { RedactionStream } from '../platform/redaction.ts'
import { schemaOf } from '../tools/arguments.ts'
import { nothingToReport } from '../tools/nothing-to-report.ts'
import { userParts, type Bodies } from './context.ts'
import { runCalls, type CallsInput, type ModelCall } from './tool-calls.ts'
import { addUsage } from './usage.ts'

export type TurnInput = CallsInput & {
  models: Models
  model: ModelInfo
  effort: string | null
  maxSteps: number
  system: string
  /** The projection of the session's items, this turn's message last. */
  history: ModelMessage[]
  /** Bodies of a steer's attachments. */
  loadBodies(attachments: readonly { hash: string }[]): Promise<Bodies>
}

type Step = {
  finish: 'stop' | 'tools' | 'length' | 'paused' | 'aborted' | 'error'
  parts: AssistantPart[]
  calls: ModelCall[]
  text: string
  usage: ModelUsage | null
  error: ModelError | null
}

const askAgain = 'Your last reply was empty. Give your answer to the person now.'
const goOn = 'Your reply was cut off by the output limit. Continue exactly where it ended, without repeating anything.'
const closing =
  'You have reached the limit of steps of this turn. Without calling tools, say what is done and what is still open.'
const malformedStepsMax = 3
const pausesMax = 5

/** Runs one turn until it has ended or was aborted. What throws out of it is for the caller to report (T-6). */
export async function runTurn(input: TurnInput): Promise<void> {
  const { port } = input
  const tools = input.registry.tools.map((tool): ToolSpec => ({
    name: tool.name,
    description: tool.description,
    parameters: schemaOf(tool),
  }))
  const messages: ModelMessage[] = [{ role: 'system', text: input.system }, ...input.history]
  const tally = new Tally(input.model)
  let finishedTool = false
  let anyText = false
  let malformed = 0
  const left = { continuations: outputContinuationsMax, pauses: 0 }
  for (let step = 1; ; step++) {
    const last = step > input.maxSteps
    const stepId = port.newId()
    // In one transaction with the ends of the calls before: each one more would be paid for at every step.
    const [boundary] = await Promise.all([
      port.report({ type: 'boundary' }),
      port.report({ type: 'stepStarted', stepId, step, model: input.model.name }),
    ])
    if (boundary?.ended || port.signal.aborted) return
    await appendSteers(messages, boundary?.steers ?? [], input)
    messages.push(...(boundary?.notices ?? []).map(user))
    tally.beginStep()
    const reply = await answer(input, {
      messages: last ? [...messages, user(closing)] : messages,
      tools: last ? [] : tools,
      tally,
      left,
    })
    const ended = port.report(
      {
        type: 'stepEnded',
        stepId,
        finish: reply.finish === 'paused' ? 'stop' : reply.finish,
        usage: tally.stepUsage,
        turn: tally.usage,
        context: tally.context,
        firstTokenMs: tally.firstTokenMs,
        streamedMs: tally.streamedMs,
        servedBy: tally.servedBy,
      },
      // Its calls follow. An answer that is complete is so even if the settle is lost (T-185).
      reply.calls.length > 0 ? 'soon' : 'now',
    )
    if (reply.text.trim() !== '') anyText = true

    if (reply.finish === 'aborted') {
      if (port.signal.aborted) return
      messages.push(...assistant(reply.parts.filter((part) => part.type === 'text')))
      continue
    }
    if (reply.error) {
      await port.report({ type: 'failed', error: failureOf(reply.error) })
      return
    }
    messages.push(...assistant(reply.parts))
    if (reply.calls.length > 0 && !last) {
      malformed = reply.calls.every((call) => call.invalid !== undefined) ? malformed + 1 : 0
      const results = await runCalls(reply.calls, input)
      if (port.signal.aborted) return
      finishedTool = true
      messages.push({ role: 'tool', results })
      const isQuiet = results.some((result) => result.name === nothingToReport.name && !result.isError)
      if (isQuiet && (await mayEnd(input, messages, 'quiet'))) return
      if (malformed >= malformedStepsMax) {
        await port.report({
          type: 'failed',
          error: {
            code: 'provider.no_response',
            message: 'The model made unusable tool calls three times in a row.',
            hint: 'Try again, or choose another model.',
          },
        })
        return
      }
      continue
    }
    await ended
    if (reply.finish === 'length') {
      if (await mayEnd(input, messages, 'output_limit')) return
    } else if (last) {
      // A steer that came meanwhile is still read and answered, without tools (T-36).
      if (await mayEnd(input, messages, 'max_steps')) return
    } else if (reply.text.trim() !== '') {
      if (await mayEnd(input, messages, 'answer')) return
    } else if (anyText || finishedTool) {
      await port.report({ type: 'notice', level: 'info', text: 'The model ended without a final answer.' })
      if (await mayEnd(input, messages, 'no_final_text')) return
    } else {
      await port.report({
        type: 'failed',
        error: { code: 'provider.no_response', message: `${input.model.label} gave no answer, twice.` },
      })
      return
    }
  }
}

/** Asks the session to end; hands pending steers to the model instead where there are some (T-36). */
async function mayEnd(
  input: TurnInput,
  messages: ModelMessage[],
  ending: 'answer' | 'max_steps' | 'no_final_text' | 'output_limit' | 'quiet',
): Promise<boolean> {
  const answer = await input.port.report({ type: 'mayEnd', ending })
  if (!answer || answer.ended) return true
  await appendSteers(messages, answer.steers, input)
  return false
}

async function appendSteers(
  messages: ModelMessage[],
  steers: readonly { text: string; attachments: { hash: string; name: string; mediaType: string; bytes: number }[] }[],
  input: TurnInput,
): Promise<void> {
  for (const steer of steers) {
    messages.push({
      role: 'user',
      parts: userParts(steer.text, steer.attachments, await input.loadBodies(steer.attachments)),
    })
  }
}

/**
 * A step's answer: paused output is sent back (M-51), output cut by the limit is continued (T-166), an empty answer is
 * asked for once more (T-163). Text that was continued stays one item.
 */
async function answer(
  input: TurnInput,
  what: { messages: ModelMessage[]; tools: ToolSpec[]; tally: Tally; left: { continuations: number; pauses: number } },
): Promise<Step> {
  const { left } = what
  left.pauses = pausesMax
  let reply = await request(input, what)
  const goesOn = () =>
    !input.port.signal.aborted &&
    reply.calls.length === 0 &&
    ((reply.finish === 'length' && left.continuations-- > 0) || (reply.finish === 'paused' && left.pauses-- > 0))
  while (goesOn()) {
    const instruction = reply.finish === 'length' ? [user(goOn)] : []
    const more = await request(input, {
      ...what,
      messages: [...what.messages, ...assistant(reply.parts), ...instruction],
    })
    reply = { ...more, parts: joinText([...reply.parts, ...more.parts]), text: reply.text + more.text }
  }
  if (reply.finish === 'stop' && reply.text.trim() === '' && reply.calls.length === 0 && !input.port.signal.aborted) {
    return request(input, { ...what, messages: [...what.messages, user(askAgain)] })
  }
  return reply
}

/** One model request, streamed into the transcript. */
async function request(
  input: TurnInput,
  what: { messages: ModelMessage[]; tools: ToolSpec[]; tally: Tally },
): Promise<Step> {
  const { port, model } = input
  const signal = port.requestSignal()
  const step: Step = { finish: 'error', parts: [], calls: [], text: '', usage: null, error: null }
  const { tally } = what
  const show = new Shown(input, tally)
  tally.begin(port.now())
  const stream = input.models.stream(
    {
      model: model.name,
      messages: what.messages,
      tools: what.tools,
      ...(input.effort === null ? {} : { effort: input.effort }),
      maxOutput: model.maxOutput,
      sessionId: port.sessionId,
      interactive: true,
    },
    signal,
  )
  for await (const event of stream) {
    switch (event.type) {
      case 'started':
        tally.servedBy = `${event.provider}/${event.model}`
        // A try before this one was paid for too (M-78).
        if (step.usage) tally.add(step.usage)
        step.usage = null
        break
      case 'phase':
        void port.report({ type: 'reading', percent: event.percent })
        break
      case 'text':
        append(step, 'text', event.delta)
        step.text += event.delta
        show.push('text', event.delta, event.deltas)
        break
      case 'reasoning':
        append(step, 'reasoning', event.delta)
        show.push('reasoning', event.delta, event.deltas)
        break
      case 'carrier': {
        const reasoning = step.parts.findLast((part) => part.type === 'reasoning')
        if (reasoning?.type === 'reasoning') reasoning.carrier = event.opaque
        else step.parts.push({ type: 'reasoning', text: '', carrier: event.opaque })
        break
      }
      case 'call':
        break
      case 'callDone': {
        show.end()
        const invalid = 'invalid' in event ? `${event.invalid} Given: ${event.raw}` : undefined
        const args = 'args' in event ? event.args : {}
        step.calls.push({ callId: event.id, name: event.name, args, ...(invalid === undefined ? {} : { invalid }) })
        step.parts.push({ type: 'call', callId: event.id, name: event.name, args })
        break
      }
      case 'usage':
        step.usage = event.usage
        break
      case 'reset':
        step.parts = []
        step.calls = []
        step.text = ''
        show.drop()
        await port.report({ type: 'discarded', keep: tally.shown })
        break
      case 'wait':
        void port.report({ type: 'wait', wait: event.wait })
        break
      case 'warning':
        void port.report({
          type: 'notice',
          level: 'warning',
          text: event.text,
          ...(event.kind === 'fallback' ? { key: event.kind } : {}),
        })
        break
      case 'finish':
        // Complete calls with reason `stop` count as `tools` (M-48); calls cut by the output limit came as invalid ones.
        step.finish =
          step.calls.length > 0
            ? 'tools'
            : event.reason === 'length' || event.reason === 'paused'
              ? event.reason
              : 'stop'
        break
      case 'error':
        step.error = event.error
        break
    }
  }
  show.end()
  tally.shown += show.chars
  tally.end(step.usage, port.now())
  if (step.error?.code === 'provider.stopped' || signal.aborted) {
    // An aborted request's calls are incomplete and never run (T-121).
    return {
      ...step,
      finish: 'aborted',
      error: null,
      calls: [],
      parts: step.parts.filter((part) => part.type !== 'call'),
    }
  }
  return step
}

/** Codes that stay inside the loop leave it under the one people know (M-68). */
function failureOf(error: ModelError) {
  const outside = {
    'provider.context_overflow': 'context.exhausted',
    'provider.carrier_rejected': 'provider.request_rejected',
    'provider.input_rejected': 'provider.request_rejected',
    'provider.protocol_error': 'provider.unavailable',
    'provider.malformed_calls': 'provider.no_response',
  } as const
  const code = outside[error.code as keyof typeof outside] ?? error.code
  return {
    code,
    message: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.detail === undefined ? {} : { detail: error.detail }),
    ...(error.retryAt === undefined ? {} : { retryAt: error.retryAt }),
  }
}

/** What is shown of a reply while it streams: without secrets, also where one comes in two pieces (Z-103). */
class Shown {
  private readonly input: TurnInput
  private readonly tally: Tally
  /** Characters shown of this request. */
  chars = 0
  private channel: 'text' | 'reasoning' | null = null
  private redaction: RedactionStream | null = null

  constructor(input: TurnInput, tally: Tally) {
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
      void port.report({ type: 'usage', turn: this.tally.usage, context: this.tally.context, rate: this.tally.rate })
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

function append(step: Step, type: 'text' | 'reasoning', delta: string): void {
  const last = step.parts.at(-1)
  if (last?.type === type) last.text += delta
  else step.parts.push({ type, text: delta })
}

function joinText(parts: AssistantPart[]): AssistantPart[] {
  return parts.reduce<AssistantPart[]>((joined, part) => {
    const last = joined.at(-1)
    if (part.type === 'text' && last?.type === 'text') last.text += part.text
    else joined.push({ ...part })
    return joined
  }, [])
}

function assistant(parts: AssistantPart[]): ModelMessage[] {
  const useful = parts.filter((part) => part.type !== 'text' || part.text !== '')
  return useful.some((part) => part.type !== 'reasoning') ? [{ role: 'assistant', parts: useful }] : []
}

function user(text: string): ModelMessage {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

function usageOf(usage: ModelUsage, model: ModelInfo): Usage {
  const { price } = model
  const cost =
    price && usage.input !== null && usage.output !== null
      ? ((usage.input - (usage.cacheRead ?? 0)) * price.input +
          (usage.cacheRead ?? 0) * (price.cacheRead ?? price.input) +
          usage.output * price.output) /
        1_000_000
      : null
  const { estimated: _, ...counts } = usage
  return { ...counts, cost }
}

/** Figures of a turn as its requests report them: sums of usage, context fill, first token, rate (T-87 to T-89). */
class Tally {
  usage: Usage = noUsage
  context: ContextFigures
  servedBy: string | null = null
  /** Of the step under way, over all its requests; null where none reported any. */
  stepUsage: Usage | null = null
  firstTokenMs: number | null = null
  streamedMs = 0
  /** Characters shown by the requests of this step that are over. */
  shown = 0
  private readonly model: ModelInfo
  private startedAt = 0
  private firstAt = 0
  private lastAt = 0
  private deltas = 0
  private reportedAt = 0

  constructor(model: ModelInfo) {
    this.model = model
    this.context = { used: null, window: model.contextLength, estimated: false }
  }

  beginStep(): void {
    this.stepUsage = null
    this.firstTokenMs = null
    this.streamedMs = 0
    this.shown = 0
  }

  begin(now: number): void {
    this.startedAt = now
    this.deltas = 0
    this.reportedAt = now
  }

  streamed(deltas: number, now: number): void {
    if (this.deltas === 0) {
      this.firstAt = now
      this.firstTokenMs ??= now - this.startedAt
    }
    this.lastAt = now
    this.deltas += deltas
  }

  /** Live deltas a second, one decimal; null without a positive interval. */
  get rate(): number | null {
    const seconds = (this.lastAt - this.firstAt) / 1_000
    return this.deltas < 2 || seconds <= 0 ? null : Math.round(((this.deltas - 1) / seconds) * 10) / 10
  }

  /** At most once a second while text streams (T-88). */
  dueForReport(now: number): boolean {
    if (now - this.reportedAt < 1_000) return false
    this.reportedAt = now
    return true
  }

  end(usage: ModelUsage | null, now: number): void {
    if (this.deltas > 1) this.streamedMs += now - this.firstAt
    if (usage) this.add(usage)
  }

  add(usage: ModelUsage): void {
    const reported = usageOf(usage, this.model)
    this.usage = addUsage(this.usage, reported)
    this.stepUsage = this.stepUsage ? addUsage(this.stepUsage, reported) : reported
    if (usage.input !== null) this.context = { ...this.context, used: usage.input + (usage.output ?? 0) }
  }
}
