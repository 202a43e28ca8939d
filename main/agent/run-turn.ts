/**
 * The step loop: one model request and the calls it asked for, until the session lets the turn end (T-36). It holds no
 * state of the session, decides no permission, and stops wherever its signal says so.
 */
import type { Attachment } from '../../preload/contract/items.ts'
import { outputContinuationsMax } from '../../preload/contract/limits.ts'
import { userMessage, type AssistantPart, type ModelError, type ToolSpec } from '../models/model.ts'
import { orStop } from '../models/stop.ts'
import { nothingToReport } from '../tools/nothing-to-report.ts'
import { userParts, type Bodies } from './context.ts'
import { endTicket, type HandedSteer } from './reports.ts'
import { assistant, stepAnswer, type AnswerInput, type StepAnswer } from './step-answer.ts'
import { Tally } from './tally.ts'
import { runCalls, type CallsInput } from './tool-calls.ts'

export type TurnInput = CallsInput &
  AnswerInput & {
    maxSteps: number
    /** At the limit a last request asks what is done; a subagent just ends there (T-165, C-98). */
    closes: boolean
    tools: ToolSpec[]
    /** Bodies of a steer's attachments. */
    loadBodies(attachments: readonly Attachment[]): Promise<Bodies>
  }

const closing =
  'You have reached the limit of steps of this turn. Without calling tools, say what is done and what is still open.'
const malformedStepsMax = 3

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
    conversation.push(...(boundary?.notices ?? []).map(userMessage))
    tally.beginStep()
    const reply = await stepAnswer(input, {
      extra: last ? [userMessage(closing)] : [],
      tools: last ? [] : tools,
      tally,
      left,
    })
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
    input.conversation.push(...(answer.notices ?? []).map(userMessage))
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

/** Of a reply that was ended, only text goes on (T-121). */
function kept({ finish, parts }: StepAnswer): AssistantPart[] {
  return finish === 'aborted' ? parts.filter((part) => part.type === 'text') : parts
}
