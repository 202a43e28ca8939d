/**
 * Summaries of older turns, so that a long session never dies of its length (context.md 8). One job a session: whoever
 * needs it while it runs joins it, and a turn that is stopped while it waits leaves it running (C-58, T-100).
 */
import { errorBody, LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { CompactionReason, Item } from '../../preload/contract/items.ts'
import type { ContextFigures } from '../../preload/contract/session.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import { thresholdsOf } from '../agent/budget.ts'
import { isDue, planCoverage, type Coverage } from '../agent/coverage.ts'
import {
  listedSummary,
  readSummary,
  summaryBlock,
  summaryInstruction,
  summaryStretches,
  summaryTokensMax,
  withFacts,
  type Facts,
} from '../agent/summary.ts'
import { countMessage, countMessages, countText } from '../agent/token-count.ts'
import { addUsage, usageOf } from '../agent/usage.ts'
import { userMessage, type Models } from '../models/model.ts'
import { orStop } from '../models/stop.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Storage } from '../storage/storage.ts'
import { checkRights, type Rights } from '../turns/requests.ts'
import type { SessionActor } from './actor.ts'
import { loadModelContext, type ModelContext, type ModelContextPorts } from './model-context.ts'
import { choiceOfTurn, type ChoicePorts } from './turn-choice.ts'

export type CompactionsPorts = ModelContextPorts &
  ChoicePorts & {
    storage: Pick<Storage, 'sentItems' | 'blobs' | 'changedPaths'>
    models: Models
    redaction(): Redaction
    now(): number
    log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
  }

export type Outcome =
  | { came: 'compacted' | 'nothing' }
  /** Its end was decided elsewhere: by the person, or because what it covered is no more. */
  | { came: 'cancelled' }
  | { came: 'failed'; error: ErrorBody }

type Wish = {
  reason: CompactionReason
  /** What the person wants kept (C-73). */
  focus?: string | undefined
  /** Tokens that whole turns may keep, and that one request may have, where the turn that waits knows better. */
  room?: number
  inputMax?: number
  /** Without a model: what is known is listed (C-69). */
  listed?: boolean
}

export type Job = {
  readonly id: string
  readonly startedAt: number
  /** True once it is announced, false where there is nothing to do. */
  readonly announced: Promise<boolean>
  readonly done: Promise<Outcome>
}
type RunningJob = Job & { controller: AbortController; announce(begun: boolean): void }

const jobLimitMs = 15 * 60_000
const keptItemsManual = 8
const summaryOutputMax = 8_192
/** After so many failures in a row nothing starts by itself after a turn (C-69). */
const failuresMax = 3

export class Compactions {
  readonly #ports: CompactionsPorts
  readonly #jobs = new Map<string, RunningJob>()
  readonly #failures = new Map<string, number>()
  #closing = false

  constructor(ports: CompactionsPorts) {
    this.#ports = ports
  }

  running(sessionId: string): Job | null {
    return this.#jobs.get(sessionId) ?? null
  }

  /** The person's wish. Throws `turn.busy`, and why no summary came. */
  async compact(actor: SessionActor, focus?: string, rights?: Rights): Promise<'compacted' | 'nothing' | 'cancelled'> {
    checkRights(rights)
    actor.checkMutable()
    const { turn } = actor.peek()
    if (turn && !this.running(actor.id))
      throw new LatheError('turn.busy', 'A turn is running in this session.', {
        hint: 'Stop it first, or wait for its end.',
        data: { turnId: turn.id },
      })
    const outcome = await this.#join(actor, { reason: 'manual', focus }).done
    if (outcome.came !== 'failed') return outcome.came
    const { code, message, hint } = outcome.error
    throw new LatheError(code, message, { hint })
  }

  /**
   * For a turn that waits, until `signal` says it is stopped: the job goes on then. With `needed` a list of what is known
   * stands in where no model can write a summary. `wait` is told since when it waits.
   */
  async forTurn(
    actor: SessionActor,
    wish: Wish & { needed: boolean },
    signal: AbortSignal,
    wait: (since: number) => Promise<unknown>,
  ): Promise<Outcome> {
    const job = this.#join(actor, wish)
    if (await orStop(job.announced, signal)) await wait(job.startedAt)
    const outcome = await orStop(job.done, signal)
    if (outcome.came !== 'failed' || !wish.needed) return outcome
    return orStop(this.#join(actor, { ...wish, listed: true }).done, signal)
  }

  /** After a settle that is durable: never a part of the turn, never its failure (T-45, C-65). */
  afterSettle(actor: SessionActor): void {
    const { context, lastOutcome } = actor.published.header
    const { used, window } = context
    // What a finished turn measured holds; after any other end the whole is counted (C-47).
    if (lastOutcome === 'completed' && used !== null && window !== null)
      if (used < thresholdsOf(window, this.#ports.settings()).compactAfter) return
    if ((this.#failures.get(actor.id) ?? 0) >= failuresMax) return
    this.#join(actor, { reason: 'after_settle' })
  }

  /** The decision has ended it already; this ends the request. */
  abort(sessionId: string, jobId: string): void {
    const job = this.#jobs.get(sessionId)
    if (job?.id === jobId) job.controller.abort('cancelled')
  }

  /** The host quits: running jobs are aborted and write nothing. */
  async close(): Promise<void> {
    this.#closing = true
    const jobs = [...this.#jobs.values()]
    for (const job of jobs) job.controller.abort('shutdown')
    await Promise.all(jobs.map((job) => job.done))
  }

  #join(actor: SessionActor, wish: Wish): RunningJob {
    const running = this.#jobs.get(actor.id)
    if (running) return running
    const { promise: announced, resolve: announce } = Promise.withResolvers<boolean>()
    const controller = new AbortController()
    const id = newId()
    const startedAt = this.#ports.now()
    // Registered before anything is awaited: two that ask at once have one job.
    const done = Promise.resolve().then(() => actor.using(() => this.#run(actor, job, wish)))
    const job: RunningJob = { id, startedAt, announced, done, controller, announce }
    this.#jobs.set(actor.id, job)
    return job
  }

  async #run(actor: SessionActor, job: RunningJob, wish: Wish): Promise<Outcome> {
    let outcome: Outcome
    try {
      outcome = this.#closing ? { came: 'cancelled' } : await this.#work(actor, job, wish)
    } catch (error) {
      outcome = { came: 'failed', error: errorBody(error) }
    }
    this.#jobs.delete(actor.id)
    job.announce(false)
    if (outcome.came === 'compacted') this.#failures.delete(actor.id)
    else if (outcome.came === 'failed') {
      this.#failures.set(actor.id, (this.#failures.get(actor.id) ?? 0) + 1)
      const { code, message } = outcome.error
      this.#ports.log('warn', 'Older turns could not be summarised', { sessionId: actor.id, code, message })
    }
    return outcome
  }

  async #work(actor: SessionActor, job: RunningJob, wish: Wish): Promise<Outcome> {
    const signal = AbortSignal.any([job.controller.signal, AbortSignal.timeout(jobLimitMs)])
    const models = this.#ports.models.forTurn()
    const { header, turns } = actor.peek().view
    const row = turns.find((turn) => turn.id === header.currentTurnId)
    const choice = row
      ? { model: row.model, agent: actor.peek().turn?.agent }
      : await choiceOfTurn(this.#ports, {}, header)
    const { model: name, agent = null } = choice
    const session = { ...header, background: row?.origin === 'background', agent }
    const context = await orStop(loadModelContext(this.#ports, session, name, models, signal), signal)
    const opening = row && context.items.find((item) => item.id === row.userItemId)
    const scale = scaleOf(context, header.context)
    const plan = this.#plan(context, wish, opening?.pos, scale)
    if (!plan) return { came: 'nothing' }
    const begun = await actor.command<boolean>({
      type: 'compaction.start',
      jobId: job.id,
      startedAt: job.startedAt,
      reason: wish.reason,
      through: plan.through.pos,
      place: plan.place,
    })
    if (!begun) return { came: 'nothing' }
    job.announce(true)

    const facts = await this.#facts(actor, plan)
    let written: Written | null = null
    let error: ErrorBody | null = null
    try {
      written = wish.listed
        ? { text: listedSummary(plan.covered, facts), model: null, usage: null }
        : await this.#summarise(context, plan, { ...wish, job, models, signal, facts })
    } catch (thrown) {
      error = errorBody(thrown)
    }
    const mark = written && this.#markOf(context, plan, written, { jobId: job.id, scale })
    const stored = await actor.command<boolean>({
      type: 'compaction.end',
      jobId: job.id,
      mark,
      error: job.controller.signal.aborted ? null : error,
      context: mark && figuresOf(context, mark.tokensAfter),
      usage: written?.usage ?? null,
    })
    if (!stored || job.controller.signal.aborted) return { came: 'cancelled' }
    return error ? { came: 'failed', error } : { came: 'compacted' }
  }

  #plan(context: ModelContext, { reason, room }: Wish, before: number | undefined, scale: number): Coverage | null {
    const { budget, items, turns, fixed } = context
    const { thresholds, window } = budget
    const tokens = (stretch: readonly Item[]) => Math.ceil(tokensOf(context, stretch) * scale)
    if (reason === 'after_settle') {
      const mark = items.find((item) => item.kind === 'compaction')
      const total = Math.ceil(fixed * scale) + tokens(items)
      if (!thresholds || !isDue(total, thresholds.compactAfter, mark, window)) return null
    }
    return planCoverage({
      items,
      turns,
      tokens,
      room: room ?? Math.max(0, (thresholds?.retain ?? Math.floor(window / 2)) - Math.ceil(fixed * scale)),
      ...(before === undefined ? {} : { before }),
      ...(reason === 'manual' ? { keepItems: keptItemsManual } : {}),
    })
  }

  async #facts(actor: SessionActor, { covered }: Coverage): Promise<Facts> {
    const turnIds = [...new Set(covered.flatMap((item) => item.turnId ?? []))]
    const { header, execSessions } = actor.peek().view
    const changedFiles = await this.#ports.storage.changedPaths(actor.id, turnIds)
    return { plan: header.plan, execSessions, changedFiles }
  }

  #markOf(
    context: ModelContext,
    plan: Coverage,
    { text, model }: Written,
    { jobId, scale }: { jobId: string; scale: number },
  ) {
    const summary = this.#ports.redaction().text(text)
    // What stays and, where a turn waits, what it brings.
    const rest = context.items.filter((item) => item.pos > plan.through.pos)
    const block = countMessage(userMessage(summaryBlock({ summary, id: jobId })))
    const { fixed, items } = context
    return {
      coversThrough: plan.through.id,
      summary,
      tokensBefore: Math.ceil((fixed + tokensOf(context, items)) * scale),
      tokensAfter: Math.ceil((fixed + block + tokensOf(context, rest)) * scale),
      model,
    }
  }

  /** By the session's model, in one request that begins like a turn's own, or in several, oldest first (C-60, C-63). */
  async #summarise(context: ModelContext, { covered }: Coverage, asked: Asked): Promise<Written> {
    const { budget, system, fixed } = context
    const room = Math.min(budget.input, asked.inputMax ?? Number.POSITIVE_INFINITY)
    const most = Math.min(summaryTokensMax, Math.floor(budget.window / 4))
    const instruction = summaryInstruction(asked.focus ?? null)
    const { messages } = context.messages(covered)
    const around = countText(system) + countMessage(instruction) + most
    const isWhole = fixed + countMessages(messages) + countMessage(instruction) <= room
    const stretches = isWhole ? [messages] : summaryStretches(messages, room - around)
    if (!stretches || room - around < 0)
      throw new LatheError('context.exhausted', 'The conversation is too long for this model to summarise.')
    const written: Written = { text: '', model: null, usage: null }
    for (const stretch of stretches) {
      const soFar = written.text === '' ? [] : [userMessage(summaryBlock({ summary: written.text, id: asked.job.id }))]
      const reply = await this.#ask(context, asked, {
        messages: [{ role: 'system', text: system }, ...soFar, ...stretch, instruction],
        tools: isWhole ? context.tools : [],
      })
      written.usage =
        written.usage && reply.usage ? addUsage(written.usage, reply.usage) : (reply.usage ?? written.usage)
      written.model = reply.model ?? context.model.name
      const text = readSummary(reply.text, most)
      if (text === null) throw new LatheError('provider.no_response', 'The model wrote no summary.')
      written.text = text
    }
    return { ...written, text: withFacts(written.text, asked.facts) }
  }

  async #ask(
    { model, budget }: ModelContext,
    { models, signal, job }: Asked,
    request: Pick<Parameters<Models['stream']>[0], 'messages' | 'tools'>,
  ): Promise<Reply> {
    const reply: Reply = { text: '', model: null, usage: null }
    const stream = models.stream(
      {
        ...request,
        model: model.name,
        // The least there is: a summary is no place to think for long. Where no list is known none is named.
        ...(model.efforts && model.efforts.length > 0 ? { effort: 'none' } : {}),
        callsForbidden: true,
        maxOutput: Math.min(budget.output, summaryOutputMax),
        sessionId: `compaction-${job.id}`,
        interactive: false,
      },
      signal,
    )
    for await (const event of stream) {
      if (event.type === 'started') reply.model = `${event.provider}/${event.model}`
      else if (event.type === 'text') reply.text += event.delta
      else if (event.type === 'reset') reply.text = ''
      else if (event.type === 'usage') reply.usage = usageOf(event.usage, model)
      else if (event.type === 'callDone')
        throw new LatheError('provider.no_response', 'The model called a tool instead of writing a summary.')
      else if (event.type === 'error') throw new LatheError(event.error.code, event.error.message, event.error)
      else if (event.type === 'finish' && event.reason !== 'stop' && event.reason !== 'unknown')
        throw new LatheError('provider.no_response', 'The summary was cut off.')
    }
    return reply
  }
}

type Written = { text: string; model: string | null; usage: Usage | null }
type Reply = Written
type Asked = Wish & { job: Job; models: Models; signal: AbortSignal; facts: Facts }

function tokensOf(context: ModelContext, items: readonly Item[]): number {
  return countMessages(context.messages(items).messages)
}

/** By how much the model's own count was above ours the last time: what is planned must free that many tokens. */
function scaleOf(context: ModelContext, { model, used }: ContextFigures): number {
  const counted = context.fixed + tokensOf(context, context.items)
  // Figures of another model say nothing of this one (C-43).
  if (model !== context.model.name || used === null || used <= counted) return 1
  return Math.min(scaleMax, used / counted)
}

const scaleMax = 4

function figuresOf({ model, budget }: ModelContext, used: number): ContextFigures {
  const compactAt = budget.thresholds?.compactAt ?? null
  return { used, window: budget.window, compactAt, estimated: true, model: model.name }
}
