/**
 * Bringing one request under its budget (C-48 to C-54): results of this turn that can be had again go first, then whole
 * older steps. Pure: what is left out of a request is still in the transcript.
 */
import type { ModelMessage, ToolResultPart } from '../models/model.ts'
import { countMessages } from './token-count.ts'

/** Shorter results are not worth a repeated call. */
const prunedCharsMin = 500
const pruneTo = 0.85

/** Stands for a result that went for its size; the same in this request and in every later one (C-51). */
export function prunedText(name: string, kept: string | undefined): string {
  const whole = kept === undefined ? '' : ` The whole is kept as output:${kept}.`
  return `[The result of this earlier ${name} call was removed to make room. Do not repeat the identical call: use a narrower path, query, range or limit, or tell the person that it does not fit.${whole}]`
}

/**
 * Results of this turn replaced, oldest first, until the request holds at most 0.85 of `budget`; the newest is spared once
 * it fits at all (C-50). `around` is what else the request holds.
 */
export function prune(
  own: readonly ModelMessage[],
  input: { around: number; budget: number; reproducible(tool: string): boolean },
): { own: ModelMessage[]; pruned: string[] } {
  const { around, budget } = input
  const isCandidate = (result: ToolResultPart) =>
    result.origin !== undefined &&
    !result.origin.pruned &&
    result.text.length >= prunedCharsMin &&
    input.reproducible(result.name)
  const candidates = own.flatMap((message) => (message.role === 'tool' ? message.results.filter(isCandidate) : []))
  const newest = candidates.at(-1)
  const gone = new Set<ToolResultPart>()
  let now = [...own]
  let total = around + countMessages(now)
  for (const candidate of candidates) {
    if (total <= budget * pruneTo || (candidate === newest && total <= budget)) break
    gone.add(candidate)
    now = own.map((message) => withoutResults(message, gone))
    total = around + countMessages(now)
  }
  return { own: now, pruned: [...gone].flatMap(({ origin }) => origin?.itemId ?? []) }
}

const replaced = new WeakMap<ToolResultPart, ToolResultPart>()

function withoutResults(message: ModelMessage, gone: ReadonlySet<ToolResultPart>): ModelMessage {
  if (message.role !== 'tool' || !message.results.some((result) => gone.has(result))) return message
  return {
    role: 'tool',
    results: message.results.map((result) => {
      if (!gone.has(result) || !result.origin) return result
      const { callId, name, isError, origin } = result
      const text = prunedText(name, origin.kept)
      const known = replaced.get(result) ?? { callId, name, text, isError, origin: { ...origin, pruned: true } }
      replaced.set(result, known)
      return known
    }),
  }
}

/**
 * What fits `room`: the summary, the message of this turn, and from the end whole steps, then, where all of the turn fits,
 * whole stretches before it, each beginning with a message of the person's (C-54). Null where not even the first two do.
 */
export function snip(
  parts: { summary: ModelMessage[]; earlier: readonly ModelMessage[]; own: readonly ModelMessage[] },
  room: number,
): { messages: ModelMessage[]; leftOut: number } | null {
  const [opening, ...rest] = parts.own
  const head = [...parts.summary, ...(opening ? [opening] : [])]
  let left = room - countMessages(head)
  if (left < 0) return null
  const take = (groups: ModelMessage[][]): ModelMessage[] => {
    let first = groups.length
    for (; first > 0; first--) {
      const tokens = countMessages(groups[first - 1]!)
      if (tokens > left) break
      left -= tokens
    }
    return groups.slice(first).flat()
  }
  const steps = take(stepsOf(rest))
  const before = steps.length === rest.length ? take(stretchesOf(parts.earlier)) : []
  return {
    messages: [...parts.summary, ...before, ...(opening ? [opening] : []), ...steps],
    leftOut: parts.earlier.length + rest.length - before.length - steps.length,
  }
}

/** A step is an answer with its results; what the person or Lathe said in between goes with the step before it. */
export function stepsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  return grouped(messages, (message) => message.role === 'assistant')
}

function stretchesOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  return grouped(messages, (message, before) => message.role === 'user' && before?.role !== 'user')
}

function grouped(
  messages: readonly ModelMessage[],
  begins: (message: ModelMessage, before: ModelMessage | undefined) => boolean,
): ModelMessage[][] {
  const groups: ModelMessage[][] = []
  messages.forEach((message, at) => {
    const last = groups.at(-1)
    if (last && !begins(message, messages[at - 1])) last.push(message)
    else groups.push([message])
  })
  return groups
}
