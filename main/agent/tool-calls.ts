/**
 * The calls of one step (exec.md 7): walked in order, neighbours that may run together in batches, each with exactly one
 * result, shown when it is ready and given to the model in call order.
 */
import { createHash } from 'node:crypto'
import { LatheError, errorBody, type ErrorBody } from '../../preload/contract/errors.ts'
import { toolArgsBytesMax, toolSummaryCharsMax, toolTitleCharsMax } from '../../preload/contract/limits.ts'
import type { ChangedFile, ExtraFolder, Parent } from '../../preload/contract/session.ts'
import type { ToolResultPart } from '../models/model.ts'
import { boundaryRefusal, boundaryTarget, isBoundaryCode } from '../approvals/boundary.ts'
import { cutOutput } from '../exec/output.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Blobs } from '../storage/blobs.ts'
import { readArguments } from '../tools/arguments.ts'
import type { Registry } from '../tools/registry.ts'
import {
  toolFailure,
  type Effect,
  type QuestionAnswer,
  type Tool,
  type ToolContext,
  type ToolProgress,
  type ToolResult,
} from '../tools/tool.ts'
import type { Report, ToolEnd } from './reports.ts'
import type { TurnPort } from './turn-port.ts'

/** A call as the model made it; `invalid` where its arguments were no object (M-63). */
export type ModelCall = { callId: string; name: string; args: Record<string, unknown>; invalid?: string }

export type CallsInput = {
  port: TurnPort
  registry: Registry
  blobs: Blobs
  /** Of a subagent: whose it is. */
  parent?: Parent | undefined
  workspace: string
  /** As they are when a call begins: what the person takes back counts at once (F-104). */
  extraFolders(): readonly ExtraFolder[]
  parallel: boolean
  /** Hides known secrets in what is stored, shown and sent (Z-100). */
  redaction: Redaction
}

const batchMax = 8
const planLimitMs = 6_000
const runLimitMs = 120_000
const resultCap = 16_000
const progressMs = 100
/** The same look-up this often in a turn is not run any more. */
const lookupsMax = 3
/** Live output of one call that is journaled; past it the card waits for the end. */
const liveOutputMax = 512 * 1024
const retryHint = 'Work out why before trying something different.'

type Prepared = {
  call: ModelCall
  itemId: string
  tool: Tool | null
  input: unknown
  fault: ErrorBody | null
  title: string
  ticket: Promise<Awaited<ReturnType<TurnPort['ticket']>>>
}

/**
 * Proposes every call, then runs them. Resolves with the results in call order. Each end is reported by then, but durable
 * only with what is reported next: the step's boundary, before the request that carries it (T-38).
 */
export async function runCalls(calls: readonly ModelCall[], input: CallsInput): Promise<ToolResultPart[]> {
  const prepared: Prepared[] = []
  for (const call of calls) prepared.push(await prepare(call, input))
  const results: ToolResultPart[] = []
  for (const batch of batchesOf(prepared, input.parallel)) {
    results.push(...(await Promise.all(batch.map((one) => runCall(one, input)))))
  }
  return results
}

async function prepare(call: ModelCall, { port, registry, redaction, blobs }: CallsInput): Promise<Prepared> {
  const itemId = port.newId()
  let tool: Tool | null = null
  let parsed: unknown = null
  let fault: ErrorBody | null = null
  try {
    tool = registry.get(call.name)
    if (call.invalid !== undefined) throw new LatheError('tool.invalid_arguments', call.invalid)
    parsed = readArguments(tool, call.args)
  } catch (error) {
    fault = errorBody(error)
  }
  const title = redaction.text(titleOf(tool, parsed, call)).slice(0, toolTitleCharsMax)
  // The ticket is asked for before anything is reported that could answer it.
  const ticket = port.ticket(itemId)
  const shown = await shownArguments(redaction.value(call.args), blobs)
  void port.report({ type: 'toolProposed', itemId, callId: call.callId, name: call.name, title, ...shown }, 'soon')
  return { call, itemId, tool, input: parsed, fault, title, ticket }
}

/** Long arguments stand as a blob; the card has the beginning of each of their texts (X-716, T-55). */
async function shownArguments(args: unknown, blobs: Blobs): Promise<{ args: unknown; argsRef?: string }> {
  const whole = JSON.stringify(args)
  if (whole.length * 3 <= toolArgsBytesMax || Buffer.byteLength(whole) <= toolArgsBytesMax) return { args }
  const argsRef = await blobs.put(whole)
  const fits = (cut: unknown) => Buffer.byteLength(JSON.stringify(cut)) <= toolArgsBytesMax
  const short = [1_000, 100].map((chars) => cutTexts(args, chars)).find(fits)
  return { args: short ?? {}, argsRef }
}

function cutTexts(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most)}…` : value
  if (Array.isArray(value)) return value.map((part) => cutTexts(part, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cutTexts(part, most)]))
}

function titleOf(tool: Tool | null, input: unknown, call: ModelCall): string {
  if (!tool || input === null) return call.name
  try {
    return tool.title(input)
  } catch {
    return call.name
  }
}

/** Neighbours that declare themselves concurrency-safe; any other call, also an unknown one, runs alone. */
function batchesOf(prepared: readonly Prepared[], parallel: boolean): Prepared[][] {
  const batches: Prepared[][] = []
  for (const one of prepared) {
    const last = batches.at(-1)
    const joins =
      parallel &&
      one.tool?.concurrent &&
      !one.fault &&
      last &&
      (last.length < batchMax || one.tool.queues) &&
      last.every((other) => other.tool?.concurrent && other.tool.queues === one.tool?.queues && !other.fault)
    if (joins) last.push(one)
    else batches.push([one])
  }
  return batches
}

async function runCall(one: Prepared, input: CallsInput): Promise<ToolResultPart> {
  const { port } = input
  if (one.fault || !one.tool)
    return failed(one, input, one.fault ?? { code: 'tool.unknown', message: `There is no tool "${one.call.name}".` })
  if (isRepeated(one, one.tool, port))
    return failed(one, input, {
      code: 'tool.repeated_lookup',
      message: 'This was looked up twice in this turn already, and the answers are above. Use them, or look elsewhere.',
    })
  const overdue = new AbortController()
  const context = contextOf(one, input, AbortSignal.any([port.signal, overdue.signal]))
  const plan = await planOf(one, one.tool, context)
  if ('code' in plan) return failed(one, input, plan)
  // Frozen here: what was judged and shown is byte for byte what runs (Z-92).
  const argsHash = createHash('sha256')
    .update(JSON.stringify([one.call.name, one.call.args]))
    .digest('hex')
  const redacted = { ...plan, preview: input.redaction.value(plan.preview) }
  void port.report({
    type: 'toolReady',
    ticket: one.itemId,
    itemId: one.itemId,
    tool: one.call.name,
    title: one.title,
    plan: redacted,
    argsHash,
    looksOnly: looksOnly(one.tool, plan.effects),
  })
  const release = await one.ticket
  if (!('run' in release) || !release.run) {
    const error = 'run' in release ? release.error : { code: 'approval.gone' as const, message: 'The turn ended.' }
    return { callId: one.call.callId, name: one.call.name, text: error.message, isError: true }
  }
  return run(one, one.tool, context, input, overdue)
}

/** Reads files and does nothing else: a command that only reads is a process all the same, and runs alone. */
function looksOnly({ concurrent, reproducible }: Tool, effects: readonly Effect[]): boolean {
  return concurrent && reproducible === true && effects.every(({ kind }) => kind === 'read')
}

async function planOf(one: Prepared, tool: Tool, context: ToolContext) {
  try {
    return await withLimit(
      planLimitMs,
      context.signal,
      () => tool.plan(one.input, context),
      'command.check_timeout',
      'Checking this call took too long; nothing ran.',
    )
  } catch (error) {
    const body = errorBody(error)
    return body.code === 'app.internal' ? { ...body, code: 'tool.failed' as const } : body
  }
}

async function run(
  one: Prepared,
  tool: Tool,
  context: ToolContext,
  input: CallsInput,
  overdue: AbortController,
): Promise<ToolResultPart> {
  const { port } = input
  const began = performance.now()
  let result: ToolResult
  let cancelled = false
  try {
    if (port.signal.aborted) throw port.signal.reason
    const limit = tool.timeLimitMs === undefined ? runLimitMs : tool.timeLimitMs
    const work = () => tool.run(one.input, context)
    result = await (limit === null
      ? work()
      : withLimit(limit, null, work, 'tool.timed_out', `${tool.name} took longer than ${limit / 1_000} s.`))
  } catch (error) {
    // An abort is never turned into an error for the model to mend; what had finished says so itself.
    cancelled = port.signal.aborted
    const body = errorBody(error)
    // What took too long is ended, not only waited for no longer.
    if (body.code === 'tool.timed_out') overdue.abort(error)
    result = toolFailure(
      new LatheError(body.code === 'app.internal' ? 'tool.failed' : body.code, body.message, { hint: body.hint }),
    )
  }
  const durationMs = Math.round(performance.now() - began)
  return end(
    one,
    input,
    result,
    cancelled && result.isError ? 'cancelled' : result.isError ? 'error' : 'ok',
    durationMs,
  )
}

/** An error before anything ran: it still is this call's one result. */
async function failed(one: Prepared, input: CallsInput, error: ErrorBody): Promise<ToolResultPart> {
  const state = input.port.signal.aborted ? 'cancelled' : 'error'
  return end(one, input, toolFailure(new LatheError(error.code, error.message, { hint: error.hint })), state, null)
}

async function end(
  one: Prepared,
  input: CallsInput,
  result: ToolResult,
  state: ToolEnd['state'],
  durationMs: number | null,
): Promise<ToolResultPart> {
  const { port, blobs, redaction } = input
  const { escalated, ...told } = atBoundary(one, input, result)
  const capped = await cap(told.text === '' ? '(no output)' : told.text, one.tool?.resultCap ?? resultCap, blobs)
  const text = redaction.text(hinted(told, capped.text))
  const short = text.length <= toolSummaryCharsMax
  const resultRef = short ? undefined : await blobs.put(text).catch(() => undefined)
  const view =
    result.view || capped.outputRef
      ? redaction.value({ ...(capped.outputRef === undefined ? {} : { outputRef: capped.outputRef }), ...result.view })
      : null
  const changes = (result.changes ?? []).map(({ callId: _, ...change }): ChangedFile => ({
    ...change,
    turnId: port.turnId,
  }))
  const report: Report = {
    type: 'toolEnded',
    itemId: one.itemId,
    end: {
      state,
      ...(result.code === undefined ? {} : { code: result.code }),
      summary: short ? text : text.slice(0, toolSummaryCharsMax),
      ...(resultRef === undefined ? {} : { resultRef }),
      view: view as ToolEnd['view'],
      durationMs,
      ...(escalated ? { escalated } : {}),
      ...(result.toldEndOf === undefined ? {} : { toldEndOf: result.toldEndOf }),
    },
    changes,
  }
  if (!result.recorded) void port.report(report, 'soon')
  // An answer would mean that the report came too late to be recorded.
  else if ((await port.report(report)) === null && state !== 'cancelled') result.recorded()
  const image = result.view?.image
  const data = image && (await blobs.get(image.hash).catch(() => null))
  return {
    callId: one.call.callId,
    name: one.call.name,
    text,
    isError: result.isError,
    origin: { itemId: one.itemId, kept: view?.outputRef ?? resultRef },
    ...(image && data ? { image: { mediaType: image.mediaType, data } } : {}),
  }
}

/** One retry hint, exactly once, not on what a person or the policy decided. */
function hinted(result: ToolResult, text: string): string {
  const decided =
    policyCodes.some((kind) => result.code?.startsWith(kind)) ||
    result.code === 'question.no_answer' ||
    result.code === 'network.blocked'
  return result.isError && !decided && !text.includes(retryHint) ? `${text}\n${retryHint}` : text
}

const policyCodes = ['approval.', 'policy.', 'path.', 'command.', 'exec.person_owned', 'exec.secret_prompt']

/** Look-ups of a turn by tool and target. */
const lookups = new WeakMap<TurnPort, Map<string, number>>()

function isRepeated(one: Prepared, tool: Tool, port: TurnPort): boolean {
  if (!tool.lookup) return false
  const counts = lookups.get(port) ?? new Map<string, number>()
  lookups.set(port, counts)
  const key = `${tool.name} ${tool.lookup(one.input)}`
  const times = (counts.get(key) ?? 0) + 1
  counts.set(key, times)
  return times >= lookupsMax
}

/** Refusals at the boundary by turn, tool and target. */
const refusals = new WeakMap<TurnPort, Map<string, number>>()

function atBoundary(one: Prepared, { port }: CallsInput, result: ToolResult): ToolResult & { escalated?: boolean } {
  if (!result.isError || !isBoundaryCode(result.code)) return result
  const counts = refusals.get(port) ?? new Map<string, number>()
  refusals.set(port, counts)
  const key = `${one.call.name} ${boundaryTarget(one.input ?? one.call.args)}`
  const times = (counts.get(key) ?? 0) + 1
  counts.set(key, times)
  const { message, escalated } = boundaryRefusal(result.text, times)
  return { ...result, text: message, escalated }
}

/** Beginning and end within the cap; the whole is kept, and where is said. */
async function cap(text: string, most: number, blobs: Blobs): Promise<{ text: string; outputRef?: string }> {
  if (text.length <= most) return { text }
  const outputRef = await blobs.put(text).catch(() => undefined)
  const kept = { head: text, tail: '', dropped: 0, droppedLines: 0 }
  return {
    text: cutOutput(kept, most, outputRef && `output:${outputRef}`),
    ...(outputRef === undefined ? {} : { outputRef }),
  }
}

function contextOf(
  one: Prepared,
  { port, parent, workspace, extraFolders, redaction }: CallsInput,
  signal: AbortSignal,
): ToolContext {
  let shown = 0
  const progress = new LatestProgress(
    (latest) => void port.report({ type: 'toolProgress', itemId: one.itemId, progress: latest }),
  )
  return {
    sessionId: port.sessionId,
    turnId: port.turnId,
    callId: one.itemId,
    parent,
    workspace,
    extraFolders: extraFolders(),
    signal,
    output: (text) => {
      if (shown >= liveOutputMax || text === '') return
      shown += text.length
      port.stream({ type: 'toolOutput', itemId: one.itemId, add: redaction.text(text) })
    },
    progress: (latest) => progress.push({ ...latest, message: redaction.text(latest.message).slice(0, 200) }),
    ask: async (question): Promise<QuestionAnswer> => {
      const ticket = port.newId()
      const answer = port.ticket(ticket)
      void port.report({ type: 'asked', ticket, itemId: one.itemId, question })
      const release = await answer
      // The turn has ended: so does the call, as cancelled (T-105).
      if ('run' in release || ('noAnswer' in release && release.noAnswer === 'cancelled'))
        throw new Error('The turn was stopped.')
      return release
    },
    setPlan: (plan) => void port.report({ type: 'planned', plan }),
  }
}

/** Progress as cards show it: the latest wins, at most one in 100 ms. */
class LatestProgress {
  readonly #send: (progress: ToolProgress) => void
  #waiting: ToolProgress | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(send: (progress: ToolProgress) => void) {
    this.#send = send
  }

  push(progress: ToolProgress): void {
    this.#waiting = progress
    if (this.#timer === null) this.#flush()
  }

  #flush(): void {
    this.#timer = null
    if (this.#waiting === null) return
    this.#send(this.#waiting)
    this.#waiting = null
    this.#timer = setTimeout(() => this.#flush(), progressMs).unref()
  }
}

/** Runs `work` for at most `ms`; an abort of `signal` ends the wait at once. */
async function withLimit<T>(
  ms: number,
  signal: AbortSignal | null,
  work: () => Promise<T>,
  code: 'command.check_timeout' | 'tool.timed_out',
  message: string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  try {
    return await Promise.race([
      work(),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new LatheError(code, message)), ms)
        onAbort = () => reject(signal?.reason)
        if (signal?.aborted) onAbort()
        else signal?.addEventListener('abort', onAbort, { once: true })
      }),
    ])
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
  }
}
