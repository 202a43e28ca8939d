/**
 * The answer of one step: a model request streamed into the transcript, and what it takes to make its answer whole.
 */
import { splitName } from '../models/config.ts'
import {
  userMessage,
  type AssistantPart,
  type ModelError,
  type ModelInfo,
  type ModelMessage,
  type Models,
  type ModelUsage,
  type ToolSpec,
} from '../models/model.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Budget } from './budget.ts'
import type { Conversation } from './conversation.ts'
import { ShownCall, ShownReply } from './shown-reply.ts'
import type { Tally } from './tally.ts'
import type { ModelCall } from './tool-calls.ts'
import type { TurnPort } from './turn-port.ts'

export type AnswerInput = {
  port: TurnPort
  models: Models
  model: ModelInfo
  effort: string | null
  conversation: Conversation
  /** As it is now: a refusal may have taught that the model takes less than was said of it. */
  budget(): Budget
  /** Hides known secrets in what is stored, shown and sent (Z-100). */
  redaction: Redaction
}

/** `extra` ends the request and is no part of the conversation. */
type Ask = { extra: ModelMessage[]; tools: ToolSpec[]; tally: Tally }

export type StepAnswer = {
  finish: 'stop' | 'tools' | 'length' | 'paused' | 'aborted' | 'error'
  parts: AssistantPart[]
  calls: ModelCall[]
  text: string
  usage: ModelUsage | null
  error: ModelError | null
}

const askAgain = 'Your last reply was empty. Give your answer to the person now.'
const goOn = 'Your reply was cut off by the output limit. Continue exactly where it ended, without repeating anything.'
const pausesMax = 5

/**
 * A step's answer: paused output is sent back (M-51), output cut by the limit is continued (T-166), an empty answer is
 * asked for once more (T-163). Text that was continued stays one item.
 */
export async function stepAnswer(
  input: AnswerInput,
  what: Ask & { left: { continuations: number; pauses: number } },
): Promise<StepAnswer> {
  const { left } = what
  left.pauses = pausesMax
  let reply = await request(input, what)
  const goesOn = () =>
    !input.port.signal.aborted &&
    reply.calls.length === 0 &&
    ((reply.finish === 'length' && left.continuations-- > 0) || (reply.finish === 'paused' && left.pauses-- > 0))
  while (goesOn()) {
    const instruction = reply.finish === 'length' ? [userMessage(goOn)] : []
    const more = await request(input, {
      ...what,
      extra: [...what.extra, ...assistant(reply.parts), ...instruction],
    })
    reply = { ...more, parts: joinText([...reply.parts, ...more.parts]), text: reply.text + more.text }
  }
  if (reply.finish === 'stop' && reply.text.trim() === '' && reply.calls.length === 0 && !input.port.signal.aborted) {
    return request(input, { ...what, extra: [...what.extra, userMessage(askAgain)] })
  }
  return reply
}

/** One model request within the budget; one that was too long after all is fitted and sent once more (C-55). */
async function request(input: AnswerInput, what: Ask): Promise<StepAnswer> {
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

function nothing(): StepAnswer {
  return { finish: 'error', parts: [], calls: [], text: '', usage: null, error: null }
}

function exhausted({ model, conversation }: AnswerInput, refusal?: ModelError): StepAnswer {
  const { provider, model: name } = splitName(model.name)
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
  input: AnswerInput,
  what: Ask & { messages: ModelMessage[]; signal: AbortSignal },
): Promise<StepAnswer> {
  const { port, model } = input
  const step = nothing()
  const { tally, signal } = what
  const show = new ShownReply(input, tally)
  const writing = new ShownCall(input)
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

function append(step: StepAnswer, type: 'text' | 'reasoning', delta: string): void {
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

/** An answer that says or asks for something; reasoning alone is none. */
export function assistant(parts: AssistantPart[]): ModelMessage[] {
  const useful = parts.filter((part) => part.type !== 'text' || part.text !== '')
  return useful.some((part) => part.type !== 'reasoning') ? [{ role: 'assistant', parts: useful }] : []
}
