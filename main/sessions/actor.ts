/**
 * The one owner of a session (design, "One writer per session"). Commands and reports go through one mailbox; what a batch
 * of them decides is one storage transaction; only then is it published, acknowledged and acted on. While a transaction
 * is under way further inputs wait, so rolling back a failed one is returning to the state before it.
 */
import type { PassingEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import { LatheError, errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { deltaIntervalMs, heldDeltaBytesMax, settleRetryMs, sliceItems } from '../../preload/contract/limits.ts'
import type { Rule } from '../../preload/contract/items.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { Release, Report, ReportAnswer } from '../agent/reports.ts'
import type { Storage } from '../storage/storage.ts'
import { decide } from '../turns/decide.ts'
import { Decision } from '../turns/decision.ts'
import type { Command, Input } from '../turns/inputs.ts'
import type { Effect, SessionState } from '../turns/state.ts'
import { writeOf } from './write.ts'

/** The running turn's outside: its signal, what its worker waits for, and the timer of its drain. */
export type TurnHandle = {
  readonly turnId: string
  readonly controller: AbortController
  /** Ends only the model request under way ("send now", T-120); renewed by the worker for each request. */
  request: AbortController | null
  readonly tickets: Map<string, (answer: Release) => void>
  drain: NodeJS.Timeout | null
}

export type ActorPorts = {
  storage: Pick<Storage, 'commit'>
  now(): number
  settings(): Settings
  /** Workspace and everywhere rules. */
  rules(): readonly Rule[]
  /** Does what a durable decision asks of the outside; must not throw. */
  perform(actor: SessionActor, effect: Effect): void
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
}

type Entry = { input: Input; resolve: (reply: never) => void; reject: (error: unknown) => void }

/** Newest events kept for readers that are nearly up to date; older ones are read from the journal. */
const recentEventsMax = 1_024

export class SessionActor {
  readonly id: string
  /** As decided; what is shown is `published`. */
  private state: SessionState
  /** As durable: what `session.open` answers. */
  published: SessionView
  handle: TurnHandle | null = null
  private readonly ports: ActorPorts
  private mailbox: Entry[] = []
  private pumping = false
  private flushTimer: NodeJS.Timeout | null = null
  private failures = 0
  private failingSince: number | null = null
  private retryNow: (() => void) | null = null
  private recent: StoredEvent[] = []
  private readonly listeners = new Set<(passing: PassingEvent | null) => void>()

  constructor(state: SessionState, ports: ActorPorts) {
    this.id = state.view.header.id
    this.state = state
    this.published = state.view
    this.ports = ports
  }

  /** Anything under way that forbids dropping the actor from memory (S-14). */
  get busy(): boolean {
    return (
      this.state.turn !== null ||
      this.pumping ||
      this.mailbox.length > 0 ||
      this.listeners.size > 0 ||
      !this.state.stored
    )
  }

  get stored(): boolean {
    return this.state.stored
  }

  /** The state as decided, for looks that decide nothing themselves. */
  peek(): SessionState {
    return this.state
  }

  /** Applies a command; resolves with its reply once durable, rejects with the refusal. */
  command<R>(command: Command): Promise<R> {
    // The abort does not wait for a transaction that is under way (T-95); the decision follows in its turn.
    if (command.type === 'stop' && this.state.turn?.id === command.turnId) this.handle?.controller.abort(command.reason)
    else if (this.failingSince !== null && command.type !== 'stop') return Promise.reject(unsaved())
    return this.post({ kind: 'command', command }) as Promise<R>
  }

  /** A report whose answer, or durability, the worker waits for. */
  report(turnId: string, report: Report): Promise<ReportAnswer> {
    return this.post({ kind: 'report', turnId, at: this.ports.now(), report }) as Promise<ReportAnswer>
  }

  /** A delta: joined with its like and decided at most once in 16 ms (T-50). */
  stream(turnId: string, report: Extract<Report, { type: 'stream' | 'toolOutput' }>): void {
    const last = this.mailbox.at(-1)?.input
    if (last?.kind === 'report' && last.turnId === turnId && joins(last.report, report)) last.report.add += report.add
    else void this.enqueue({ kind: 'report', turnId, at: this.ports.now(), report }).catch(() => {})
    if (this.heldBytes() > heldDeltaBytesMax) this.handle?.controller.abort('storage')
    this.flushTimer ??= setTimeout(() => {
      this.flushTimer = null
      void this.pump()
    }, deltaIntervalMs)
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
    while (this.pumping || this.mailbox.length > 0) await new Promise<void>((resolve) => void this.enqueueIdle(resolve))
  }

  private readonly idleWaiters: (() => void)[] = []
  private enqueueIdle(resolve: () => void): void {
    this.idleWaiters.push(resolve)
    void this.pump()
  }

  private post(input: Input): Promise<unknown> {
    const promise = this.enqueue(input)
    void this.pump()
    return promise
  }

  private enqueue(input: Input): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.mailbox.push({ input, resolve: resolve as (reply: never) => void, reject })
    })
  }

  private heldBytes(): number {
    if (this.failingSince === null) return 0
    return this.mailbox.reduce(
      (sum, entry) =>
        sum + (entry.input.kind === 'report' && 'add' in entry.input.report ? entry.input.report.add.length : 0),
      0,
    )
  }

  private async pump(): Promise<void> {
    if (this.pumping) return
    this.pumping = true
    try {
      while (this.mailbox.length > 0) {
        const batch = this.mailbox
        this.mailbox = []
        await this.applyBatch(batch)
      }
    } finally {
      this.pumping = false
      for (const resolve of this.idleWaiters.splice(0)) resolve()
    }
  }

  private async applyBatch(batch: Entry[]): Promise<void> {
    const before = this.state
    const applied: { entry: Entry; decision: Decision; reply: unknown }[] = []
    for (const entry of batch) {
      const decided = this.apply(entry)
      if (decided) applied.push({ entry, ...decided })
    }
    const decisions = applied.map((one) => one.decision)
    const events = decisions.flatMap((decision) => decision.events)
    if (events.length > 0 || decisions.some((decision) => decision.rules.length > 0 || decision.requests.length > 0)) {
      try {
        await this.ports.storage.commit(writeOf(this.state, decisions))
      } catch (error) {
        return this.rollBack(
          before,
          applied.map((one) => one.entry),
          error,
        )
      }
      this.failures = 0
      this.failingSince = null
    }
    this.publish(events)
    for (const { entry, reply } of applied) entry.resolve(reply as never)
    for (const decision of decisions) for (const effect of decision.effects) this.perform(effect)
    this.trim()
  }

  private apply(entry: Entry): { decision: Decision; reply: unknown } | null {
    if (this.failingSince !== null && entry.input.kind === 'command' && entry.input.command.type !== 'stop') {
      entry.reject(unsaved())
      return null
    }
    try {
      const decided = decide(this.state, entry.input, {
        now: entry.input.kind === 'report' ? entry.input.at : this.ports.now(),
        newId,
        settings: this.ports.settings(),
        rules: this.ports.rules(),
      })
      this.state = decided.decision.state
      this.renewHandle()
      for (const effect of decided.decision.effects) this.performAtOnce(effect)
      return decided
    } catch (error) {
      if (!(error instanceof LatheError)) this.fault(entry.input, error)
      entry.reject(error)
      return null
    }
  }

  /** Handling a report threw: a fault of ours. The turn fails, the session stays usable (T-6, T-40). */
  private fault(input: Input, error: unknown): void {
    this.ports.log('error', 'A session input could not be applied', {
      sessionId: this.id,
      input: input.kind === 'command' ? input.command.type : input.report.type,
      error: String((error as Error)?.stack ?? error),
    })
    if (input.kind !== 'report' || input.report.type === 'failed' || this.state.turn?.id !== input.turnId) return
    void this.enqueue({
      kind: 'report',
      turnId: input.turnId,
      at: this.ports.now(),
      report: { type: 'failed', error: errorBody(error) },
    }).catch(() => {})
    this.handle?.controller.abort('failed')
  }

  /** The signal exists in the step that makes the turn visible, before any worker is scheduled (T-4). */
  private renewHandle(): void {
    const turnId = this.state.turn?.id
    if (turnId === undefined || this.handle?.turnId === turnId) return
    this.handle = { turnId, controller: new AbortController(), request: null, tickets: new Map(), drain: null }
  }

  private performAtOnce(effect: Effect): void {
    if (effect.do === 'abort' && this.handle?.turnId === effect.turnId) this.handle.controller.abort(effect.reason)
    if (effect.do === 'abortRequest' && this.handle?.turnId === effect.turnId) this.handle.request?.abort('steer')
  }

  private perform(effect: Effect): void {
    const { handle } = this
    if (effect.do === 'release') {
      const release = handle?.tickets.get(effect.ticket)
      handle?.tickets.delete(effect.ticket)
      release?.(effect.answer)
    } else if (effect.do === 'drain' && handle?.turnId === effect.turnId) {
      handle.drain ??= setTimeout(
        () => void this.report(effect.turnId, { type: 'drainExpired' }).catch(() => {}),
        effect.ms,
      )
    } else if (effect.do === 'settled' && handle?.turnId === effect.turnId) {
      if (handle.drain) clearTimeout(handle.drain)
      this.handle = null
    }
    this.ports.perform(this, effect)
  }

  private publish(events: StoredEvent[]): void {
    if (events.length === 0) return
    this.published =
      this.state.view.header.lastSeq === events.at(-1)!.seq ? this.state.view : events.reduce(foldEvent, this.published)
    this.recent.push(...events)
    if (this.recent.length > recentEventsMax) this.recent.splice(0, this.recent.length - recentEventsMax)
    for (const listener of this.listeners) listener(null)
  }

  /** Between turns memory keeps what a window opens with; the rest is in storage. */
  private trim(): void {
    if (this.state.turn || !this.state.stored) return
    const { view } = this.state
    if (view.items.length <= sliceItems * 2) return
    const trimmed = trimView(view)
    this.state = { ...this.state, view: trimmed }
    this.published = trimmed
  }

  /**
   * The transaction failed: the state is as before it, whole (S-16). Commands are told; what cannot be asked again
   * (reports and Stop) is decided anew after a wait (T-41, T-58).
   */
  private async rollBack(before: SessionState, entries: Entry[], error: unknown): Promise<void> {
    const settling = before.turn !== null && this.state.turn === null
    this.state = { ...before, closing: this.state.closing }
    const failure =
      error instanceof LatheError
        ? error
        : new LatheError('storage.failed', 'The change could not be saved.', { cause: error })
    const again = entries.filter(({ input }) => input.kind === 'report' || input.command.type === 'stop')
    for (const entry of entries) if (!again.includes(entry)) entry.reject(failure)
    if (this.handle && this.state.turn?.id !== this.handle.turnId) this.handle = null
    if (again.length === 0) return
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
    })
    await this.wait(settleRetryMs[Math.min(this.failures - 1, settleRetryMs.length - 1)]!)
    this.mailbox.unshift(...again)
    if (!settling && this.failures >= 3 && this.state.turn) {
      // After the third try the turn fails; its settle is what is retried from now on (T-58).
      const turnId = this.state.turn.id
      this.handle?.controller.abort('storage')
      void this.enqueue({
        kind: 'report',
        turnId,
        at: this.ports.now(),
        report: { type: 'failed', error: failure.toBody() },
      }).catch(() => {})
    }
  }

  private wait(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.retryNow = () => {
        clearTimeout(timer)
        resolve()
      }
    }).then(() => {
      this.retryNow = null
    })
  }
}

function unsaved(): LatheError {
  return new LatheError('session.read_only', 'This session cannot be saved at the moment.', {
    reason: 'storage',
    hint: 'Free disk space, then try again.',
  })
}

function joins(last: Report, next: Extract<Report, { type: 'stream' | 'toolOutput' }>): last is typeof next {
  if (last.type === 'stream' && next.type === 'stream')
    return last.channel === next.channel && last.add.length + next.add.length < 32_768
  if (last.type === 'toolOutput' && next.type === 'toolOutput')
    return last.itemId === next.itemId && last.add.length + next.add.length < 32_768
  return false
}

/** The newest slice of a view, with what belongs to it. */
export function trimView(view: SessionView): SessionView {
  let from = view.items.length
  for (let visible = 0; from > 0 && visible < sliceItems; from--) if (view.items[from - 1]!.visible) visible++
  const items = view.items.slice(from)
  const dropped = view.items.slice(0, from).filter((item) => item.visible).length
  const kept = new Set(items.map((item) => item.turnId))
  return {
    ...view,
    items,
    itemsBefore: view.itemsBefore + dropped,
    turns: view.turns.filter((turn) => kept.has(turn.id) || turn.id === view.header.lastTurnId),
    changes: view.changes.filter((change) => kept.has(change.turnId) || change.turnId === view.header.lastTurnId),
  }
}
