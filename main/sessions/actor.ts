/**
 * The one owner of a session (design, "One writer per session"). Commands and reports go through one mailbox; what a batch
 * of them decides is one storage transaction; only then is it published, acknowledged and acted on. While a transaction
 * is under way further inputs wait, so rolling back a failed one is returning to the state before it.
 */
import type { PassingEvent, StoredEvent } from '../../preload/contract/events.ts'
import { LatheError, errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { settleRetryMs, sliceItems } from '../../preload/contract/limits.ts'
import type { Rule } from '../../preload/contract/items.ts'
import type { Parent, SessionView } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import { trimView } from '../../preload/contract/stretch.ts'
import type { Report, ReportAnswer } from '../agent/reports.ts'
import type { ReportWhen } from '../agent/turn-port.ts'
import type { SessionWrite, Storage } from '../storage/storage.ts'
import { decide } from '../turns/decide.ts'
import type { Decision } from '../turns/decision.ts'
import { type Command, type Input, isKept } from '../turns/inputs.ts'
import { checkMutable, checkRights, type Rights } from '../turns/requests.ts'
import type { Effect, Environment, SessionState } from '../turns/state.ts'
import { type Letter, Mailbox, type StreamReport } from './mailbox.ts'
import { TurnHandle } from './turn-handle.ts'
import { writeOf } from './write.ts'

export type ActorPorts = {
  storage: Pick<Storage, 'commit' | 'events'>
  now(): number
  settings(): Settings
  /** Workspace and everywhere rules. */
  rules(): readonly Rule[]
  /** Of a subagent: the policy of the session that all of it is done for. */
  policy(parent: Parent): ReturnType<NonNullable<Environment['policy']>>
  /** Places that subagents of other sessions than this take. */
  subagentsElsewhere(actor: SessionActor): number
  isTrusted?: ((workspace: string) => boolean) | undefined
  /** Does what a durable decision asks of the outside. */
  perform(actor: SessionActor, effect: Effect): void
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
}

/** What became of a letter: a decision with its reply, or a refusal. Neither is told before the batch is durable (S-15). */
type Applied = { letter: Letter; decision: Decision; reply: unknown } | { letter: Letter; refusal: unknown }

/** Newest events kept for readers that are nearly up to date; older ones are read from the journal. */
const recentEventsMax = 1_024
/** Failed tries to save after which the turn ends (T-58). */
const savesTried = 3

export class SessionActor {
  readonly id: string
  /** As durable: what `session.open` answers. */
  published: SessionView
  /** As decided. */
  private state: SessionState
  private readonly ports: ActorPorts
  private readonly mailbox: Mailbox
  private pumping = false
  private idleWaiters: (() => void)[] = []
  private readonly handles = new Map<string, TurnHandle>()
  private failures = 0
  private failingSince: number | null = null
  private retryNow: (() => void) | null = null
  /** The turn that was told to fail because it cannot be saved. */
  private givenUp: string | null = null
  /** The record as last stored. */
  private record: Pick<SessionWrite, 'header' | 'hidden' | 'entry'> | null = null
  private recent: StoredEvent[] = []
  private users = 0
  private readonly listeners = new Set<(passing: PassingEvent | null) => void>()

  constructor(state: SessionState, ports: ActorPorts) {
    this.id = state.view.header.id
    this.state = state
    this.published = state.view
    this.ports = ports
    this.mailbox = new Mailbox(ports.now, () => void this.pump())
  }

  /** The outside of the current turn. */
  get handle(): TurnHandle | null {
    return (this.state.turn && this.handles.get(this.state.turn.id)) ?? null
  }

  /** Anything that forbids dropping the actor from memory (S-14): also that nothing else has the session. */
  get busy(): boolean {
    return this.inUse || !this.state.stored
  }

  /** Somebody looks at it, or something is under way. */
  get inUse(): boolean {
    const works = this.state.turn !== null || this.state.view.header.compaction !== null
    const runs = works || this.pumping || !this.mailbox.isEmpty
    const used = this.users > 0 || this.listeners.size > 0
    // Where processes run, a session loaded anew would take them for lost.
    const hasProcesses = this.state.hidden.exec.sessions.some((one) => one.state !== 'ended')
    return runs || used || hasProcesses || this.state.view.items.some(isOpenOutsideTurns)
  }

  get stored(): boolean {
    return this.state.stored
  }

  /** The state as decided, for looks that decide nothing themselves. */
  peek(): SessionState {
    return this.state
  }

  /** Keeps the actor in memory while `work` runs (S-14). */
  async using<R>(work: () => Promise<R>): Promise<R> {
    this.users++
    try {
      return await work()
    } finally {
      this.users--
    }
  }

  /** Throws what every change of the session would be refused with now (T-14). */
  checkMutable(): void {
    checkMutable(this.state)
    if (this.failingSince !== null) throw unsaved()
  }

  /**
   * Applies a command; resolves with its reply once durable, rejects with the refusal. `rights` are read as it is applied,
   * after every wait (S-31).
   */
  command<R>(command: Command, rights?: Rights): Promise<R> {
    const input: Input = { kind: 'command', command }
    if (command.type === 'stop' && rights?.mayAct() !== false) {
      // The abort does not wait for a transaction that is under way (T-95); the decision follows in its turn, and what
      // becomes of the rights meanwhile is too late for both.
      this.handles.get(command.turnId)?.controller.abort(command.reason)
      return this.mailbox.post(input) as Promise<R>
    }
    if (!isKept(input) && this.failingSince !== null) return Promise.reject(unsaved())
    if (!isKept(input) && this.mailbox.isFull) {
      return Promise.reject(
        new LatheError('storage.busy', 'Too much waits to be saved.', { hint: 'Try again in a moment.' }),
      )
    }
    return this.mailbox.post(input, 'now', rights) as Promise<R>
  }

  /** A report whose answer, or durability, the worker waits for. */
  report(turnId: string, report: Report, when?: ReportWhen): Promise<ReportAnswer> {
    return this.mailbox.post({ kind: 'report', turnId, report }, when) as Promise<ReportAnswer>
  }

  /** A delta: joined with its like and decided at most once in 16 ms, unless something else comes after it (T-50). */
  stream(turnId: string, report: StreamReport): void {
    this.mailbox.stream(turnId, report)
    if (this.mailbox.isOverrun)
      this.giveUp(new LatheError('storage.failed', 'The answer could not be saved as fast as it came.'))
  }

  /** Hears of every durable change (null) and every passing frame. */
  listen(listener: (passing: PassingEvent | null) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Durable events after `seq` if memory still has all of them, else null: read the journal. */
  recentAfter(seq: number): StoredEvent[] | null {
    if (seq >= this.published.header.lastSeq) return []
    const first = this.recent[0]
    if (!first || first.seq > seq + 1) return null
    return this.recent.slice(seq + 1 - first.seq)
  }

  pass(event: PassingEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  /** "Try again" beside a failed save: retries at once (T-41). */
  retrySaving(): void {
    this.retryNow?.()
  }

  /** No further turn or command is taken (S-142). */
  close(): void {
    this.state = { ...this.state, closing: true }
  }

  /** Resolves when nothing is queued or under way. */
  async idle(): Promise<void> {
    while (this.pumping || !this.mailbox.isEmpty) {
      const done = new Promise<void>((resolve) => this.idleWaiters.push(resolve))
      this.mailbox.flush()
      await done
    }
  }

  private async pump(): Promise<void> {
    if (this.pumping) return
    this.pumping = true
    while (this.mailbox.isDue) await this.applyBatch(this.mailbox.take())
    this.pumping = false
    for (const resolve of this.idleWaiters.splice(0)) resolve()
  }

  private async applyBatch(batch: Letter[]): Promise<void> {
    const before = this.state
    const applied = batch.map((letter) => this.apply(letter))
    const decisions = applied.flatMap((one) => ('decision' in one ? [one.decision] : []))
    const events = decisions.flatMap((decision) => decision.events)
    if (events.length > 0) {
      const failure = await this.save(decisions, events, batch)
      if (failure) return this.rollBack(before, batch, failure)
      this.failures = 0
      this.failingSince = null
    }
    this.publish(events)
    // Of an unsent session no event tells what changed (S-3): its windows open it anew.
    if (events.length === 0 && this.state.view !== before.view)
      this.pass({ type: 'stream.resync', seq: null, at: this.ports.now(), reason: 'unsent' })
    for (const one of applied) {
      if ('decision' in one) one.letter.resolve(one.reply)
      else one.letter.reject(one.refusal)
    }
    for (const effect of onceEach(decisions.flatMap((decision) => decision.effects))) this.perform(effect)
    this.trim()
  }

  private apply(letter: Letter): Applied {
    const { input } = letter
    const { parent } = this.state.view.header
    try {
      checkRights(letter.rights)
      if (this.failingSince !== null && !isKept(input)) throw unsaved()
      const { decision, reply } = decide(this.state, input, {
        now: letter.at,
        newId,
        settings: this.ports.settings(),
        rules: this.ports.rules(),
        ...(parent ? { policy: () => this.ports.policy(parent) } : {}),
        subagentsElsewhere: () => this.ports.subagentsElsewhere(this),
        isTrusted: this.ports.isTrusted,
      })
      this.state = decision.state
      this.renewHandle()
      // What is decided again if it cannot be saved need not wait for the disk to abort (T-95); all else might be undone.
      if (isKept(input)) for (const effect of decision.effects) this.abort(effect)
      // Nothing may start while the disk fails (T-58).
      if (this.failingSince === null) for (const effect of decision.effects) this.releaseAtOnce(effect)
      return { letter, decision, reply }
    } catch (error) {
      if (!(error instanceof LatheError)) this.fault(input, error)
      return { letter, refusal: error }
    }
  }

  /** Handling a report threw: a fault of ours. The turn fails, the session stays usable (T-6, T-40). */
  private fault(input: Input, error: unknown): void {
    const what = input.kind === 'command' ? input.command.type : input.report.type
    this.ports.log('error', 'A session input could not be applied', {
      sessionId: this.id,
      input: what,
      error: String((error as Error)?.stack ?? error),
    })
    if (input.kind === 'report' && input.report.type !== 'failed' && this.state.turn?.id === input.turnId)
      this.failTurn(input.turnId, error)
  }

  private failTurn(turnId: string, error: unknown): void {
    this.mailbox.add({ kind: 'report', turnId, report: { type: 'failed', error: errorBody(error) } })
    this.handles.get(turnId)?.controller.abort('failed')
  }

  /** The turn cannot be saved any further: what came so far is kept, and its settle is what is tried from now on (T-58). */
  private giveUp(error: LatheError): void {
    const turnId = this.state.turn?.id
    if (turnId === undefined || this.givenUp === turnId) return
    this.givenUp = turnId
    this.failTurn(turnId, error)
  }

  /** The signal exists in the step that makes the turn visible, before any worker is scheduled (T-4). */
  private renewHandle(): void {
    const turnId = this.state.turn?.id
    if (turnId !== undefined && !this.handles.has(turnId)) this.handles.set(turnId, new TurnHandle(turnId))
  }

  private abort(effect: Effect): void {
    if (effect.do === 'abort') this.handles.get(effect.turnId)?.controller.abort(effect.reason)
    else if (effect.do === 'abortRequest') this.handles.get(effect.turnId)?.abortRequest()
  }

  private release({ ticket, answer }: Extract<Effect, { do: 'release' }>): void {
    for (const handle of this.handles.values()) handle.release(ticket, answer)
  }

  private releaseAtOnce(effect: Effect): void {
    if (effect.do === 'release' && effect.atOnce) this.release(effect)
  }

  private perform(effect: Effect): void {
    this.abort(effect)
    if (effect.do === 'release') this.release(effect)
    else if (effect.do === 'drain') {
      const handle = this.handles.get(effect.turnId)
      handle?.clear('drain')
      handle?.after('drain', effect.ms, () => void this.report(effect.turnId, { type: 'drainExpired' }))
    } else if (effect.do === 'expire') {
      const { questionId } = effect
      this.handle?.clear(questionId)
      this.handle?.after(
        questionId,
        effect.ms,
        () => void this.command({ type: 'question.expired', questionId }).catch(() => {}),
      )
    } else if (effect.do === 'expireApproval') {
      const { approvalId } = effect
      this.handle?.after(
        approvalId,
        effect.ms,
        () => void this.command({ type: 'approval.expired', approvalId }).catch(() => {}),
      )
    } else if (effect.do === 'limit') {
      const { turnId } = effect
      this.handles
        .get(turnId)
        ?.after(
          'limit',
          effect.ms,
          () => void this.command({ type: 'stop', turnId, reason: 'time_limit' }).catch(() => {}),
        )
    } else if (effect.do === 'endWait') {
      const { turnId } = effect
      this.handles
        .get(turnId)
        ?.after('endWait', effect.ms, () => void this.command({ type: 'subagent.waited', turnId }).catch(() => {}))
    } else if (effect.do === 'settled') {
      this.handles.get(effect.turnId)?.end()
      this.handles.delete(effect.turnId)
    }
    try {
      this.ports.perform(this, effect)
    } catch (error) {
      // What is done on the side can neither delay nor undo what was decided (T-45).
      this.ports.log('error', 'A decision could not be acted on', {
        sessionId: this.id,
        effect: effect.do,
        error: String(error),
      })
    }
  }

  private publish(events: StoredEvent[]): void {
    this.published = this.state.view
    if (events.length === 0) return
    this.recent.push(...events)
    if (this.recent.length > recentEventsMax) this.recent.splice(0, this.recent.length - recentEventsMax)
    for (const listener of this.listeners) listener(null)
  }

  /** Between turns memory keeps what a window opens with, and what is not over; the rest is in storage. */
  private trim(): void {
    if (this.state.turn || !this.state.stored) return
    if (this.listeners.size === 0) this.recent = []
    const { view } = this.state
    if (view.items.length <= sliceItems * 2) return
    this.state = { ...this.state, view: trimView(view, view.items.findIndex(isOpenOutsideTurns)) }
    this.published = this.state.view
  }

  /**
   * Null once durable, else why it is not. A commit that took too long may still succeed: its askers are told, and nothing
   * is decided until it is known (S-18).
   */
  private async save(decisions: Decision[], events: StoredEvent[], batch: Letter[]): Promise<LatheError | null> {
    try {
      const write = writeOf(this.state, decisions, this.record)
      await this.ports.storage.commit(write)
      this.record = { header: write.header, hidden: write.hidden, entry: write.entry }
      return null
    } catch (error) {
      const failure =
        error instanceof LatheError
          ? error
          : new LatheError('storage.failed', 'The change could not be saved.', { cause: error })
      if (failure.code !== 'storage.timeout') return failure
      this.record = null
      this.failingSince ??= this.ports.now()
      for (const { input, reject } of batch) if (!isKept(input)) reject(failure)
      return (await this.isStored(events[0]!.seq)) ? null : failure
    }
  }

  /** Storage answers in order, so what it says of the journal after a commit is what that commit came to. */
  private async isStored(seq: number): Promise<boolean> {
    for (;;) {
      try {
        return (await this.ports.storage.events(this.id, seq - 1, 1)).events.length > 0
      } catch (error) {
        this.ports.log('warn', 'Whether a session was saved is not known yet', {
          sessionId: this.id,
          error: String(error),
        })
        await this.wait(settleRetryMs.at(-1)!)
      }
    }
  }

  /**
   * The transaction failed: the state is as before it, whole (S-16). Commands are told; what cannot be asked again
   * (reports, Stop, the end of a process) is decided anew after a wait (T-41, T-58).
   */
  private async rollBack(before: SessionState, batch: Letter[], failure: LatheError): Promise<void> {
    this.state = { ...before, closing: this.state.closing }
    for (const [turnId, handle] of this.handles) {
      if (turnId === before.turn?.id) continue
      handle.end()
      this.handles.delete(turnId)
    }
    if (failure.reason === 'not_owner') return this.yieldToOwner(batch, failure)
    const kept = batch.filter(({ input }) => isKept(input))
    for (const { input, reject } of batch) if (!isKept(input)) reject(failure)
    if (kept.length === 0) {
      this.failingSince = null
      return
    }
    this.failures++
    this.failingSince ??= this.ports.now()
    this.ports.log('warn', 'A session could not be saved; it is tried again', {
      sessionId: this.id,
      attempt: this.failures,
      error: failure.message,
    })
    this.pass({
      type: 'session.storageFailed',
      seq: null,
      at: this.ports.now(),
      since: this.failingSince,
      attempt: this.failures,
      error: failure.toBody(),
    })
    await this.wait(settleRetryMs[Math.min(this.failures, settleRetryMs.length) - 1]!)
    this.mailbox.putBack(kept)
    if (this.failures >= savesTried) this.giveUp(failure)
  }

  /**
   * Another process owns the data folder: nothing of this session is decided here any more, and no request is sent for it
   * (T-17). What ran is that process's to settle, as found (T-182).
   */
  private yieldToOwner(batch: Letter[], failure: LatheError): void {
    this.state = { ...this.state, turn: null, readOnly: failure.message }
    for (const handle of this.handles.values()) handle.end()
    this.handles.clear()
    for (const { reject } of [...batch, ...this.mailbox.take()]) reject(failure)
    this.failingSince = null
  }

  private async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.retryNow = resolve
    await promise
    clearTimeout(timer)
    this.retryNow = null
  }
}

function unsaved(): LatheError {
  return new LatheError('session.read_only', 'This session cannot be saved at the moment.', {
    reason: 'storage',
    hint: 'Free disk space, then try again.',
  })
}

const looking = new Set<Effect['do']>(['entry', 'next', 'rules', 'subagentPlaces', 'rejudgeSubagents'])

/** What only says "look again" is done once, after all else that came with it. */
function onceEach(effects: readonly Effect[]): Effect[] {
  return effects.filter((effect, at) => {
    const looks = looking.has(effect.do)
    return !looks || effects.findLastIndex((other) => other.do === effect.do) === at
  })
}

/**
 * A command of the person's that still runs, a process that asks for a secret, a subagent that outlives its turn and what it
 * asks: no turn owns them, so the item alone says so.
 */
function isOpenOutsideTurns({ kind, turnId, endedAt }: SessionView['items'][number]): boolean {
  if (endedAt !== null) return false
  return kind === 'subagent' || (turnId === null && (kind === 'tool' || kind === 'question' || kind === 'approval'))
}
