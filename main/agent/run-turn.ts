/**
 * The step loop: one model request and the calls it asked for, until the session lets the turn end (T-36). It holds no
 * state of the session, decides no permission, and stops wherever its signal says so.
 */
import type { Attachment } from '../../preload/contract/items.ts'
import { outputContinuationsMax } from '../../preload/contract/limits.ts'
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
import { nothingToReport } from '../tools/nothing-to-report.ts'
import type { Budget } from './budget.ts'
import { CallBeingWritten } from './call-being-written.ts'
import { userParts, type Bodies } from './context.ts'
import type { Conversation } from './conversation.ts'
import { orStop } from '../models/stop.ts'
import { endTicket, type HandedSteer } from './reports.ts'
import { Tally } from './tally.ts'
import { runCalls, type CallsInput, type ModelCall } from './tool-calls.ts'

export type TurnInput = CallsInput & {
  models: Models
  model: ModelInfo
  effort: string | null
  maxSteps: number
  /** At the limit a last request asks what is done; a subagent just ends there (T-165, C-98). */
  closes: boolean
  tools: ToolSpec[]
  conversation: Conversation
  /** As it is now: a refusal may have taught that the model takes less than was said of it. */
  budget(): Budget
  /** Bodies of a steer's attachments. */
  loadBodies(attachments: readonly Attachment[]): Promise<Bodies>
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
/** Between two reports of what a call is going to write. */
const writingToldMs = 250
const malformedStepsMax = 3
const pausesMax = 5

/** Runs one turn until it has ended or was aborted. What throws out of it is for the caller to report (T-6). */
export async function runTurn(input: TurnInput): Promise<void> {
  const { port } = input
  const { tools, conversation } = input
  const tally = new Tally(input.model)
  let finishedTool = false
  let anyText = false
  let malformed = 0
  const left = { continuations: outputContinuationsMax, pauses: 0 }
  for (let step = 1; ; step++) {
    const last = step > input.maxSteps
    if (last && !input.closes && (await mayEnd(input, 'max_steps'))) return
    const stepId = port.newId()
    conversation.beginStep()
    // In one transaction with the ends of the calls before: each one more would be paid for at every step.
    const [boundary] = await Promise.all([
      port.report({ type: 'boundary' }),
      port.report({ type: 'stepStarted', stepId, step, model: input.model.name }),
    ])
    if (boundary?.ended || port.signal.aborted) return
    await appendSteers(boundary?.steers ?? [], input)
    conversation.push(...(boundary?.notices ?? []).map(user))
    tally.beginStep()
    const reply = await answer(input, { extra: last ? [user(closing)] : [], tools: last ? [] : tools, tally, left })
    if (!reply.error) conversation.push(...assistant(kept(reply)))
    if (reply.usage) conversation.measured(reply.usage)
    const ended = port.report(
      {
        type: 'stepEnded',
        stepId,
        finish: reply.finish === 'paused' ? 'stop' : reply.finish,
        usage: tally.stepUsage,
        turn: tally.usage,
        context: conversation.figures(),
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
      continue
    }
    if (reply.error) {
      await port.report({ type: 'failed', error: failureOf(reply.error) })
      return
    }
    if (reply.calls.length > 0 && !last) {
      malformed = reply.calls.every((call) => call.invalid !== undefined) ? malformed + 1 : 0
      const results = await runCalls(reply.calls, input)
      if (port.signal.aborted) return
      finishedTool = true
      conversation.push({ role: 'tool', results })
      void port.report({ type: 'usage', turn: tally.usage, context: conversation.figures(), rate: null }, 'soon')
      const isQuiet = results.some((result) => result.name === nothingToReport.name && !result.isError)
      if (isQuiet && (await mayEnd(input, 'quiet'))) return
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
      if (await mayEnd(input, 'output_limit')) return
    } else if (last) {
      // A steer that came meanwhile is still read and answered, without tools (T-36).
      if (await mayEnd(input, 'max_steps')) return
    } else if (reply.text.trim() !== '') {
      if (await mayEnd(input, 'answer')) return
    } else if (anyText || finishedTool) {
      await port.report({ type: 'notice', level: 'info', text: 'The model ended without a final answer.' })
      if (await mayEnd(input, 'no_final_text')) return
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
  ending: 'answer' | 'max_steps' | 'no_final_text' | 'output_limit' | 'quiet',
): Promise<boolean> {
  const { port } = input
  for (;;) {
    const resumed = port.ticket(endTicket)
    const answer = await port.report({ type: 'mayEnd', ending })
    if (!answer || answer.ended) return true
    if (answer.waits) {
      // Its subagents in the background are still at work (T-42).
      await orStop(resumed, port.signal).catch(() => {})
      continue
    }
    await appendSteers(answer.steers, input)
    input.conversation.push(...(answer.notices ?? []).map(user))
    return false
  }
}

async function appendSteers(steers: readonly HandedSteer[], input: TurnInput): Promise<void> {
  for (const steer of steers) {
    input.conversation.push({
      role: 'user',
      parts: userParts(steer.text, steer, await input.loadBodies(steer.attachments)),
    })
  }
}

/**
 * A step's answer: paused output is sent back (M-51), output cut by the limit is continued (T-166), an empty answer is
 * asked for once more (T-163). Text that was continued stays one item.
 */
async function answer(
  input: TurnInput,
  what: Ask & { left: { continuations: number; pauses: number } },
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
      extra: [...what.extra, ...assistant(reply.parts), ...instruction],
    })
    reply = { ...more, parts: joinText([...reply.parts, ...more.parts]), text: reply.text + more.text }
  }
  if (reply.finish === 'stop' && reply.text.trim() === '' && reply.calls.length === 0 && !input.port.signal.aborted) {
    return request(input, { ...what, extra: [...what.extra, user(askAgain)] })
  }
  return reply
}

/** `extra` ends the request and is no part of the conversation. */
type Ask = { extra: ModelMessage[]; tools: ToolSpec[]; tally: Tally }

/** One model request within the budget; one that was too long after all is fitted and sent once more (C-55). */
async function request(input: TurnInput, what: Ask): Promise<Step> {
  const { port, conversation } = input
  for (let refused = false; ; refused = true) {
    const signal = port.requestSignal()
    const { shown } = what.tally
    const messages = await conversation.fitted(what.extra)
    if (port.signal.aborted) return { ...nothing(), finish: 'aborted' }
    if (!messages) return exhausted(input)
    const step = await requestOnce(input, { ...what, messages, signal })
    if (step.error?.code !== 'provider.context_overflow') return step
    if (refused) return exhausted(input, step.error)
    const { provider, model, contextLimit } = step.error
    input.models.learnLimit(`${provider}/${model}`, contextLimit ?? Math.floor(conversation.estimate(what.extra) * 0.8))
    conversation.overflowed(what.extra, input.budget())
    what.tally.shown = shown
    await port.report({ type: 'discarded', keep: shown })
  }
}

function nothing(): Step {
  return { finish: 'error', parts: [], calls: [], text: '', usage: null, error: null }
}

function exhausted({ model, conversation }: TurnInput, refusal?: ModelError): Step {
  const [provider = '', name = ''] = model.name.split(/\/(.*)/s)
  const error: ModelError = {
    code: 'context.exhausted',
    message: conversation.exhausted(),
    provider,
    model: name,
    ...(refusal?.detail === undefined ? {} : { detail: refusal.detail }),
  }
  return { ...nothing(), error }
}

/** One model request, streamed into the transcript. */
async function requestOnce(
  input: TurnInput,
  what: Ask & { messages: ModelMessage[]; signal: AbortSignal },
): Promise<Step> {
  const { port, model } = input
  const step = nothing()
  const { tally, signal } = what
  const show = new Shown(input, tally)
  const writing = new Writing(input)
  tally.begin(port.now())
  const stream = input.models.stream(
    {
      model: model.name,
      messages: what.messages,
      tools: what.tools,
      ...(input.effort === null ? {} : { effort: input.effort }),
      maxOutput: input.budget().output,
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
        writing.push(event.index, event.name, event.argsDelta)
        break
      case 'callDone': {
        show.end()
        writing.end()
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
        writing.end()
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
  writing.end()
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
    provider: error.provider,
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
class Writing {
  private readonly input: TurnInput
  private index = -1
  private call: CallBeingWritten | null = null
  private toldAt = -Infinity

  constructor(input: TurnInput) {
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

/** Of a reply that was ended, only text goes on (T-121). */
function kept({ finish, parts }: Step): AssistantPart[] {
  return finish === 'aborted' ? parts.filter((part) => part.type === 'text') : parts
}

function assistant(parts: AssistantPart[]): ModelMessage[] {
  const useful = parts.filter((part) => part.type !== 'text' || part.text !== '')
  return useful.some((part) => part.type !== 'reasoning') ? [{ role: 'assistant', parts: useful }] : []
}

function user(text: string): ModelMessage {
  return { role: 'user', parts: [{ type: 'text', text }] }
}
