/**
 * One step of a turn: asks the chosen model, corrects, repeats, waits, and moves on to fallback models, as the table of
 * failures says (M-75 to M-83). The only place where requests are repeated.
 */
import { errorBody } from '../../preload/contract/errors.ts'
import { attempt, type Ended } from './attempt.ts'
import { publicInfo, type KnownModel } from './catalog.ts'
import { chatWire } from './chat-wire.ts'
import type { Circuits } from './circuit.ts'
import { splitName, type Provider, type ProviderKind } from './config.ts'
import { demoAnswer } from './demo.ts'
import { handling, modelError, type Droppable, type Failure } from './failure.ts'
import type { Learned } from './learned.ts'
import { messagesWire } from './messages-wire.ts'
import type { ModelEvent, ModelRequest } from './model.ts'
import { ollamaWire } from './ollama-wire.ts'
import type { RefusedImages } from './refused-images.ts'
import { responsesWire } from './responses-wire.ts'
import { orStop, pause } from './stop.ts'
import { askOf, type Ask, type Wire } from './wire.ts'

/** What is shared by all requests of the process; nothing in it belongs to one provider's settings (M-11). */
export type Shared = {
  keyOf(provider: Provider): Promise<string | null>
  circuits: Circuits
  learned: Learned
  refusedImages: RefusedImages
  now(): number
  /** In [0, 1). */
  random(): number
  log(entry: Record<string, unknown>): void
}

/** What one turn knows and remembers. */
export type Turn = {
  resolve(name: string, signal: AbortSignal): Promise<KnownModel>
  fallback: string[]
  /** By the model asked for: the candidate that worked, first for the rest of the turn (M-82). */
  working: Map<string, string>
  /** A refused key was read again: once a turn (M-93). */
  healed: boolean
}

const wires: Record<Exclude<ProviderKind, 'demo'>, Wire> = {
  openai: chatWire,
  'openai-compatible': chatWire,
  'openai-responses': responsesWire,
  anthropic: messagesWire,
  ollama: ollamaWire,
}

const longestWait = 60_000
const longestWaitWithFallback = 10_000
const correctionsPerStep = 2
const loadingPoll = 2_000
const loadingPolls = 60

export async function* step(
  request: ModelRequest,
  signal: AbortSignal,
  turn: Turn,
  shared: Shared,
): AsyncGenerator<ModelEvent> {
  const chain = chainOf(request, turn)
  let partial = false
  let failed: { failure: Failure; model: KnownModel; error: ModelEvent } | undefined
  for (const name of chain) {
    let candidate: { model: KnownModel; request: ModelRequest } | undefined
    try {
      const model = await orStop(turn.resolve(name, signal), signal)
      candidate = await fitted(request, model, failed !== undefined)
    } catch (error) {
      if (signal.aborted) return yield stopped(name)
      // A fallback without a usable model is skipped (M-81).
      if (failed) continue
      return yield { type: 'error', error: { ...errorBody(error), ...splitName(name) } }
    }
    if (!candidate) continue
    if (failed) {
      if (partial) yield { type: 'reset' }
      yield {
        type: 'warning',
        kind: 'fallback',
        text: `${failed.model.name} failed (${failed.failure.code}); ${candidate.model.name} answers instead.`,
      }
    }
    const last = chain.at(-1) === name
    const tried = yield* tryCandidate(candidate.request, candidate.model, last, signal, turn, shared)
    if (!tried) return
    partial = tried.partial
    failed = { failure: tried.failure, model: candidate.model, error: tried.error }
    if (!handling(tried.failure).fallback) break
  }
  if (failed) yield failed.error
}

/** The candidates in order, beginning with the one that worked earlier in this turn. */
function chainOf(request: ModelRequest, turn: Turn): string[] {
  const all = [...new Set([request.model, ...(request.fallback ?? turn.fallback)])]
  return all.slice(Math.max(0, all.indexOf(turn.working.get(request.model) ?? request.model)))
}

async function fitted(
  request: ModelRequest,
  model: KnownModel,
  isFallback: boolean,
): Promise<{ model: KnownModel; request: ModelRequest } | undefined> {
  if (!isFallback || !request.rebuild) return { model, request }
  const rebuilt = await request.rebuild(publicInfo(model))
  return rebuilt ? { model, request: { ...request, ...rebuilt } } : undefined
}

function stopped(name: string): ModelEvent {
  return { type: 'error', error: { code: 'provider.stopped', message: 'Stopped.', ...splitName(name) } }
}

type Failed = { failure: Failure; error: ModelEvent; partial: boolean }

/** Undefined once the model has answered. */
async function* tryCandidate(
  request: ModelRequest,
  model: KnownModel,
  last: boolean,
  signal: AbortSignal,
  turn: Turn,
  shared: Shared,
): AsyncGenerator<ModelEvent, Failed | undefined> {
  const { provider } = model
  const { circuits, learned, refusedImages, now } = shared
  const without = learned.without(model.name)
  if (model.tools === false) without.add('tools')
  if (model.vision === false) without.add('images')
  const counts = { retries: 0, corrections: 0, polls: 0, brokenAnswers: 0 }
  for (let tries = 1; ; tries += 1) {
    const admission = circuits.admit(model.name, request.interactive, now())
    if (typeof admission === 'object') return failedAs(circuitOpen, model, { retryAt: admission.openUntil })
    const ask = askOf(refusedImages.without(request, model.name), model, without)
    const startedAt = now()
    const { ended, key } = yield* once(ask, signal, shared)
    if (ended.ok) {
      circuits.succeeded(model.name)
      if (!without.has('images')) refusedImages.taken(ask.request, model.name)
      if (ended.reason === 'unknown') shared.log({ event: 'unknown finish', word: ended.word, model: model.name })
      turn.working.set(request.model, model.name)
      yield { type: 'finish', reason: ended.reason, empty: ended.empty }
      return undefined
    }

    const { failure, partial, shown } = ended
    if (failure.code === 'provider.stopped' || failure.loading) circuits.unproven(model.name)
    if (failure.code === 'provider.stopped') return failedAs(failure, model, {})
    if (failure.loading && counts.polls < loadingPolls) {
      counts.polls += 1
      yield { type: 'phase', name: 'loading', percent: null }
      await pause(loadingPoll, signal)
      continue
    }
    // One that loads for too long might as well be off (M-68).
    if (failure.loading && provider.loopback) failure.code = 'provider.local_server_off'
    shared.log({
      event: 'request failed',
      code: failure.code,
      reason: failure.reason,
      status: failure.status,
      provider: provider.id,
      model: model.id,
      requestId: failure.requestId,
      attempt: tries,
      durationMs: now() - startedAt,
    })
    const { retries: most, circuit } = handling(failure)
    const opened = circuit && circuits.failed(model.name, now())
    if (!circuit) circuits.unproven(model.name)

    if (failure.badImage && counts.corrections < correctionsPerStep && sends(ask, 'images')) {
      counts.corrections += 1
      const count = refusedImages.refuse(ask.request, model.name)
      if (partial) yield { type: 'reset' }
      const what = count === 1 ? 'an image' : `${count} images`
      yield noticeOf('dropped_parameter', model, `refused ${what}; it was asked without, and keeps the others.`)
      continue
    }
    if (failure.drop && counts.corrections < correctionsPerStep && sends(ask, failure.drop)) {
      counts.corrections += 1
      without.add(failure.drop)
      learned.add(model.name, failure.drop)
      if (partial) yield { type: 'reset' }
      yield noticeOf('dropped_parameter', model, `does not take ${dropped[failure.drop]}; it was asked without.`)
      continue
    }
    if (!turn.healed && (await keyHasChanged(failure, provider, key, signal, shared))) {
      turn.healed = true
      if (partial) yield { type: 'reset' }
      continue
    }

    if (shown) counts.brokenAnswers += 1
    const named = failure.retryAfterMs
    const wait = Math.max(backOff(failure, counts.retries, shared.random()), named ?? 0)
    // With the circuit open nothing is repeated, but for the person whose request opened it (M-83).
    const closedOff = opened && (admission === 'probe' || !request.interactive)
    const tooLong = wait > (last ? longestWait : longestWaitWithFallback)
    if (failure.loading || counts.retries >= most || counts.brokenAnswers > 1 || tooLong || closedOff)
      return failedAs(failure, model, { key, partial, retryAt: named === undefined ? undefined : now() + named })
    counts.retries += 1
    if (partial) yield { type: 'reset' }
    if (shown) yield noticeOf('retry_after_output', model, 'broke off in its answer; it is asked again.')
    if (wait < 1_000) await pause(wait, signal)
    else {
      yield {
        type: 'wait',
        wait: {
          code: failure.code,
          provider: provider.id,
          label: provider.label,
          until: now() + wait,
          untilKind: wait === named ? 'reset' : 'retry',
          attempt: counts.retries,
          of: most,
        },
      }
      await pause(wait, signal)
      yield { type: 'wait', wait: null }
    }
  }
}

const circuitOpen: Failure = {
  code: 'provider.unavailable',
  reason: 'circuit',
  text: 'It failed several times in a row; background requests wait.',
}

function failedAs(
  failure: Failure,
  model: KnownModel,
  more: { key?: string | null; partial?: boolean; retryAt?: number | undefined },
): Failed {
  const error = modelError(failure, model.provider, model.id, more.key ?? null, more.retryAt)
  return { failure, partial: more.partial ?? false, error: { type: 'error', error } }
}

function noticeOf(kind: 'dropped_parameter' | 'retry_after_output', model: KnownModel, text: string): ModelEvent {
  return { type: 'warning', kind, text: `${model.name} ${text}` }
}

async function* once(
  ask: Ask,
  signal: AbortSignal,
  shared: Shared,
): AsyncGenerator<ModelEvent, { ended: Ended; key: string | null }> {
  const { provider } = ask.model
  if (provider.kind === 'demo') return { ended: yield* demoAnswer(ask, signal), key: null }
  const key = await orStop(shared.keyOf(provider), signal).catch((error: unknown) => {
    // The attempt reports the stop.
    if (signal.aborted) return null
    throw error
  })
  return { ended: yield* attempt(wires[provider.kind], ask, key, signal, shared.now), key }
}

/** After a refused key its source is read again; only another key is worth another request (M-93). */
async function keyHasChanged(
  failure: Failure,
  provider: Provider,
  key: string | null,
  signal: AbortSignal,
  shared: Shared,
): Promise<boolean> {
  if (failure.code !== 'provider.auth_invalid' && failure.code !== 'provider.auth_missing') return false
  return (await orStop(shared.keyOf(provider), signal).catch(() => key)) !== key
}

const dropped: Record<Droppable, string> = {
  tools: 'tools',
  images: 'images',
  effort: 'a reasoning effort',
  temperature: 'a temperature',
  usage: 'a request for usage in streams',
}

/** Whether the request has what was refused; if not, leaving it out changes nothing. */
function sends({ request, effort, stream, model, without }: Ask, drop: Droppable): boolean {
  if (without.has(drop)) return false
  switch (drop) {
    case 'tools':
      return request.tools.length > 0
    case 'effort':
      return effort !== undefined
    case 'temperature':
      return request.temperature !== undefined
    case 'usage':
      return stream && (model.provider.kind === 'openai' || model.provider.kind === 'openai-compatible')
    case 'images':
      return request.messages.some((message) =>
        message.role === 'tool'
          ? message.results.some(({ image }) => image)
          : message.role === 'user' && message.parts.some(({ type }) => type === 'image'),
      )
  }
}

/** 1, 2 and 4 s, each ± 20 %; a local server that is off gets 2 s to come up. */
function backOff(failure: Failure, retries: number, random: number): number {
  const base = failure.code === 'provider.local_server_off' ? 2_000 : 1_000 * 2 ** retries
  return Math.round(base * (0.8 + 0.4 * random))
}
