/** All sessions of a data folder: which actors are in memory, what a window opens with, what decisions set off. */
import { LatheError, errorBody } from '../../preload/contract/errors.ts'
import type { SessionEvent } from '../../preload/contract/events.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Rule } from '../../preload/contract/items.ts'
import { idleActorsMax, sliceItems, unsentLeaseMs } from '../../preload/contract/limits.ts'
import type { ApprovalMode, Entry, FollowUp, Parent, SessionView } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import { cutView, trimView, viewAt } from '../../preload/contract/stretch.ts'
import { clipItem } from '../storage/clip.ts'
import { type FoundItem, shows } from '../storage/session-find.ts'
import type { Storage } from '../storage/storage.ts'
import { nextStart } from '../turns/automatic.ts'
import type { Command } from '../turns/inputs.ts'
import { nextExpiry } from '../turns/notices.ts'
import { checkRights, type Rights } from '../turns/requests.ts'
import { newSession, type Effect } from '../turns/state.ts'
import { openSubagents } from '../turns/subagents.ts'
import { SessionActor } from './actor.ts'
import { AutomaticStarts } from './automatic-starts.ts'
import { entryOf } from './entry.ts'
import { followEvents } from './events.ts'
import { LateChanges } from './late-changes.ts'
import type { ProviderPauses } from './provider-pauses.ts'
import { recovered } from './recovered.ts'
import { SessionClock } from './session-clock.ts'
import { Subagents } from './subagents.ts'
import { TurnRequests, type TurnRequestsPorts } from './turn-requests.ts'
import { writeOf } from './write.ts'

export type SessionsPorts = Pick<TurnRequestsPorts, 'chooseModel' | 'agents' | 'mentions' | 'connected'> & {
  /** Providers that turns which start by themselves do not use now. */
  pauses: Pick<ProviderPauses, 'of' | 'refused' | 'end'>
  storage: Storage
  settings(): Settings
  rules(): readonly Rule[]
  /** Whether a folder is trusted; absent: all are (Z-4). */
  isTrusted?: ((workspace: string) => boolean) | undefined
  startTurn(actor: SessionActor): void
  /** Background work of a settled turn: title, index. Cannot delay or fail it (T-45). */
  afterSettle(actor: SessionActor, turnId: string): void
  /** A summary that is being written is wanted no more. */
  abortCompaction(sessionId: string, jobId: string): void
  entryChanged(entry: Entry): void
  entryRemoved(id: string): void
  rulesChanged(): void
  /** These changes of files are durable in a session's journal. */
  changesRecorded?(changeIds: readonly string[]): void
  notify(actor: SessionActor, effect: Extract<Effect, { do: 'notify' | 'withdrawNotification' }>): void
  /** The person's answer to a process that asked for a secret; null declines (T-152). */
  execSecret(sessionId: string, execId: string, secret: string | null): void
  /** Processes of a session that a subagent started and that still run. */
  running(sessionId: string, subagent: string): readonly { id: string; preview: string }[]
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
  now(): number
}

/** Places a find answers at once. */
const foundMax = 2_000

export class Sessions {
  /** What asks for turns. */
  readonly turns: TurnRequests
  private readonly actors = new Map<string, SessionActor>()
  private readonly loading = new Map<string, Promise<SessionActor>>()
  private readonly ports: SessionsPorts
  private closing = false

  private readonly noticeClock: SessionClock
  private readonly automatic: AutomaticStarts
  /** Sessions without a message, by when they are dropped unless a client has them. */
  private readonly leases: SessionClock
  readonly subagents: Subagents
  /** Changes of files that nobody waits for. */
  readonly late: LateChanges

  constructor(ports: SessionsPorts) {
    this.ports = ports
    const expire = (id: string) => void this.command(id, { type: 'notices.expire' }).catch(() => {})
    this.noticeClock = new SessionClock(expire, ports.now)
    this.turns = new TurnRequests({ ...ports, actor: (id) => this.actor(id), open: (id) => this.open(id) })
    this.leases = new SessionClock((id) => this.dropUnsent(id), ports.now)
    this.automatic = new AutomaticStarts({
      submit: (id, request) => this.turns.submitAutomatic(id, request),
      look: (id) =>
        void this.actor(id).then(
          (actor) => this.startNext(actor),
          () => {},
        ),
      running: () => this.running().filter((actor) => actor.peek().turn?.background && !isSubagent(actor)).length,
      most: () => ports.settings()['automations.maxConcurrent'],
      log: (message, fields) => ports.log('warn', message, fields),
      now: ports.now,
    })
    this.late = new LateChanges({ command: (id, command) => this.command(id, command), log: ports.log })
    this.subagents = new Subagents({
      actor: (id) => this.actor(id),
      inMemory: () => this.actors.values(),
      begin: (state) => this.keep(new SessionActor(state, this.actorPorts())),
      chooseModel: (name) => ports.chooseModel(name),
      blobs: ports.storage.blobs,
      late: this.late,
      running: (id, subagent) => ports.running(id, subagent),
      log: ports.log,
      now: ports.now,
    })
  }

  /** Settles what a crash left open; one failing session stops no other (T-192). */
  async recoverAll(): Promise<void> {
    for (const id of await this.ports.storage.unsettledSessions()) {
      await this.actor(id)
        .then((actor) => this.subagents.recovered(actor))
        .catch((error) =>
          this.ports.log('error', 'A session could not be recovered', { sessionId: id, error: String(error) }),
        )
    }
  }

  /** An unsent session (S-3). Throws `app.closing`, and what choosing the model throws. */
  create(input: {
    workspace: string
    model?: string | undefined
    agent?: string | null | undefined
    approvalMode?: ApprovalMode | undefined
    rights?: Rights | undefined
  }): SessionActor {
    checkRights(input.rights)
    if (this.closing) throw new LatheError('app.closing', 'Lathe is shutting down.')
    const model = input.model === undefined ? null : this.ports.chooseModel(input.model)
    const approvalMode = input.approvalMode ?? this.ports.settings().approvalMode
    const unsent = {
      id: newId(),
      journalId: newId(),
      workspace: input.workspace,
      model,
      effort: null,
      agent: input.agent ?? null,
      approvalMode,
      now: this.ports.now(),
    }
    return this.keep(new SessionActor(newSession(unsent), this.actorPorts()))
  }

  /**
   * The one actor of a session; concurrent first opens share one load (S-14). It stays in memory for what is asked of it
   * at once; who waits in between holds it by `using`. Throws `session.not_found`.
   */
  async actor(id: string): Promise<SessionActor> {
    const known = this.actors.get(id)
    // Newest use last, so the first idle one is the least recently used.
    if (known) return this.keep(known)
    let load = this.loading.get(id)
    if (!load) {
      load = this.load(id).finally(() => this.loading.delete(id))
      this.loading.set(id, load)
    }
    return load
  }

  async command<R>(id: string, command: Command, rights?: Rights): Promise<R> {
    return (await this.actor(id)).command<R>(command, rights)
  }

  /**
   * What a window opens with, consistent at one seq (T-199): the newest stretch, or the one around an item (S-35). Where
   * that item was set aside, around its place. Throws `session.deleted`, and `request.invalid` where it never was here.
   */
  async open(id: string, around?: string): Promise<SessionView> {
    const actor = await this.actor(id)
    const held = around === undefined || actor.published.items.some((item) => item.id === around)
    const slice = held ? null : await this.ports.storage.items(id, { around, limit: sliceItems })
    const { published } = actor
    if (published.header.deletedAt !== null) {
      throw new LatheError('session.deleted', 'This session was deleted.', { hint: 'It can be restored for a while.' })
    }
    const place = published.items.findIndex((item) => item.id === around)
    const newest = trimView(published)
    const view =
      slice && slice.after > 0
        ? viewAt(published, slice)
        : place < 0 || place >= published.items.length - newest.items.length
          ? newest
          : cutView(published, Math.max(0, place - sliceItems / 2), place + sliceItems / 2)
    // A live item stays whole: its deltas go on from its end.
    return { ...view, items: view.items.map((item) => (item.endedAt === null ? item : clipItem(item))) }
  }

  /** Stored events from `after + 1` on, without gap or repeat, then live ones, until `signal` aborts (T-200). */
  async *events(id: string, after: number, journalId: string, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const actor = await this.actor(id)
    try {
      yield* followEvents(actor, { after, journalId }, { storage: this.ports.storage, now: this.ports.now }, signal)
    } finally {
      this.lease(actor)
    }
  }

  /** Entries that show `text`, oldest first: stored ones, and what the running turn has written so far (S-69). */
  async find(id: string, text: string): Promise<{ matches: FoundItem[]; more: boolean }> {
    const actor = await this.actor(id)
    const stored = actor.stored ? await this.ports.storage.find(id, text, foundMax) : { matches: [], more: false }
    const known = new Set(stored.matches.map(({ itemId }) => itemId))
    const live = actor.published.items.filter(
      (item) => item.endedAt === null && item.visible && !known.has(item.id) && shows(item, text.toLowerCase()),
    )
    return { ...stored, matches: [...stored.matches, ...live.map(({ id: itemId, pos }) => ({ itemId, pos }))] }
  }

  /** Stops and settles a running turn first, then hides the session everywhere (S-21, T-11). */
  async delete(id: string, rights?: Rights): Promise<void> {
    const actor = await this.actor(id)
    if (isSubagent(actor))
      throw new LatheError('session.read_only', 'What a subagent did goes with the session that asked for it.')
    await actor.using(async () => {
      for (let turn = actor.peek().turn; turn; turn = actor.peek().turn) {
        await actor.command({ type: 'stop', turnId: turn.id, reason: 'session_deleted' }, rights)
        await this.settled(actor, turn.id)
      }
      await actor.command({ type: 'subagent.stop', itemId: null, reason: 'session_deleted' }, rights)
      await when(actor, () => openSubagents(actor.peek()).length === 0)
      await actor.command({ type: 'delete' }, rights)
    })
    // An unsent session leaves nothing (S-3).
    if (!actor.stored) this.actors.delete(id)
    this.ports.entryRemoved(id)
  }

  /** Gone for good, at once: items, journal, settings (S-21). */
  async purge(id: string, rights?: Rights): Promise<void> {
    await this.delete(id, rights)
    for (const actor of this.actors.values())
      if (actor.id === id || actor.peek().view.header.parent?.top.sessionId === id) this.actors.delete(actor.id)
    await this.ports.storage.erase(id, this.ports.now())
  }

  /** Resolves once the turn is no longer the session's current one. */
  settled(actor: SessionActor, turnId: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        if (actor.published.header.currentTurnId === turnId && !signal?.aborted) return
        stop()
        resolve()
      }
      const stop = actor.listen(done)
      signal?.addEventListener('abort', done, { once: true })
      done()
    })
  }

  running(): SessionActor[] {
    return [...this.actors.values()].filter((actor) => actor.peek().turn !== null)
  }

  /** More may run than before: what waited for a place begins (C-96, A-94). */
  limitsChanged(): void {
    this.subagents.placesFree()
    this.automatic.freed()
  }

  /** A provider may be used again by what starts by itself: what waited for that begins. */
  pauseEnded(): void {
    this.automatic.resumed()
  }

  /** Draining: nothing new starts; running turns are aborted and settled as interrupted within `ms` (T-196, S-142). */
  async close(ms: number): Promise<void> {
    this.closing = true
    this.noticeClock.stop()
    this.leases.stop()
    this.automatic.stop()
    for (const actor of this.actors.values()) actor.close()
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), ms)
    const settling = this.running().map(async (actor) => {
      const turnId = actor.peek().turn!.id
      await actor.command({ type: 'stop', turnId, reason: 'shutdown' })
      await this.settled(actor, turnId, limit.signal)
    })
    const written = Promise.allSettled(settling).then(() =>
      Promise.all([...this.actors.values()].map((actor) => actor.idle())),
    )
    const late = new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([written, late])
    clearTimeout(timer)
  }

  private async load(id: string): Promise<SessionActor> {
    const { storage, log } = this.ports
    const stored = await storage.loadSession(id)
    if (!stored) throw new LatheError('session.not_found', 'There is no such session.')
    const readOnly =
      storage.condition.kind === 'newer'
        ? 'This session was written by a newer version of Lathe. It can be read, searched and exported.'
        : null
    const environment = { now: this.ports.now(), newId, settings: this.ports.settings(), rules: this.ports.rules() }
    // What was unsettled is settled before any command of the session is applied (T-182).
    const { state, decision } = await recovered(stored, readOnly, environment, (error) =>
      log('error', 'The journal of a session could not be read back', {
        sessionId: id,
        error: String((error as Error)?.stack ?? error),
      }),
    )
    if (decision && decision.events.length > 0) {
      await storage.commit(writeOf(state, [decision]))
      const { deletedAt, parent } = state.view.header
      if (deletedAt === null && !parent) this.ports.entryChanged(entryOf(state.view))
    }
    const over = nextExpiry(state.view.header.notices)
    if (over !== null) this.noticeClock.arm(id, over)
    return this.keep(new SessionActor(state, this.actorPorts()))
  }

  private keep(actor: SessionActor): SessionActor {
    if (this.closing) actor.close()
    this.actors.delete(actor.id)
    this.actors.set(actor.id, actor)
    this.lease(actor)
    // Later, so that whoever asked for an actor has said what for.
    if (this.actors.size > idleActorsMax) setImmediate(() => this.dropIdle())
    return actor
  }

  private actorPorts() {
    return {
      storage: this.ports.storage,
      now: this.ports.now,
      settings: this.ports.settings,
      rules: this.ports.rules,
      policy: ({ top }: Parent) => policyOf(this.actors.get(top.sessionId)),
      subagentsElsewhere: (actor: SessionActor) => this.subagents.elsewhere(actor),
      isTrusted: this.ports.isTrusted,
      log: this.ports.log,
      perform: (actor: SessionActor, effect: Effect) => this.perform(actor, effect),
    }
  }

  private perform(actor: SessionActor, effect: Effect): void {
    const { parent } = actor.peek().view.header
    if (parent && this.performOfSubagent(actor, parent, effect)) return
    switch (effect.do) {
      case 'start':
        if (actor.peek().turn?.id === effect.turnId) this.ports.startTurn(actor)
        break
      case 'settled':
        this.ports.afterSettle(actor, effect.turnId)
        this.automatic.freed()
        break
      case 'providerRefused':
        this.ports.pauses.refused(effect.refused)
        break
      case 'providerAnswered':
        this.ports.pauses.end(effect.provider)
        break
      case 'next':
        void this.startNext(actor)
        break
      case 'startSubagent':
        this.subagents.start(actor, effect.itemId)
        break
      case 'stopSubagent':
        this.subagents.stop(effect.itemId, effect.reason)
        break
      case 'subagentEnded':
        this.subagents.ended(effect.itemId, effect)
        break
      case 'subagentPlaces':
        this.subagents.placesFree()
        break
      case 'rejudgeSubagents':
        this.subagents.rejudge(actor)
        break
      case 'entry':
        if (actor.published.header.deletedAt === null) this.ports.entryChanged(entryOf(actor.published))
        break
      case 'abortCompaction':
        this.ports.abortCompaction(actor.id, effect.jobId)
        break
      case 'recorded':
        this.ports.changesRecorded?.(effect.changeIds)
        break
      case 'escalated':
        this.ports.log('warn', 'A turn runs into the same boundary again and again', {
          sessionId: actor.id,
          tool: effect.tool,
          code: effect.code,
        })
        break
      case 'noticesExpire':
        this.noticeClock.arm(actor.id, effect.at)
        break
      case 'rules':
        this.ports.rulesChanged()
        break
      case 'execSecret':
        this.ports.execSecret(actor.id, effect.execId, effect.secret)
        break
      case 'notify':
      case 'withdrawNotification':
        this.ports.notify(actor, effect)
        break
      default:
        break
    }
  }

  /** What only a subagent's session does, and what it does not: no list, title or notification is about it. */
  private performOfSubagent(actor: SessionActor, parent: Parent, effect: Effect): boolean {
    const toTop = (command: Command) => void this.command(parent.top.sessionId, command).catch(() => {})
    switch (effect.do) {
      case 'settled':
        this.ports.afterSettle(actor, effect.turnId)
        this.subagents.settled(actor)
        return true
      case 'passChanges':
        void this.subagents.passChanges(parent, effect.changes)
        return true
      case 'grant':
        toTop({ type: 'grants.add', rules: effect.rules })
        return true
      case 'toldEnd':
        toTop({ type: 'exec.told', id: effect.execId })
        return true
      case 'entry':
      case 'next':
      case 'notify':
      case 'withdrawNotification':
        return true
      default:
        return false
    }
  }

  private async startNext(actor: SessionActor): Promise<void> {
    if (this.closing) return
    const next = nextStart(actor.peek(), this.ports.now())
    if (next?.start === 'later') this.automatic.lookAt(actor.id, next.at)
    else if (next?.start === 'automatic') await this.automatic.start(actor, next.request)
    else if (next) await this.startQueued(actor, next.followUp)
  }

  private async startQueued(actor: SessionActor, followUp: FollowUp): Promise<void> {
    try {
      await this.turns.startFollowUp(actor.id, followUp.id, false, 'attended')
    } catch (error) {
      // Refused where the session is closing, gone or not to be changed: then the queue stays as it is.
      await actor.command({ type: 'queue.refused', id: followUp.id, error: errorBody(error) }).catch(() => {})
    }
  }

  private lease(actor: SessionActor): void {
    if (!actor.stored && !this.closing) this.leases.arm(actor.id, this.ports.now() + unsentLeaseMs)
  }

  /** A session without a message goes with its last client, and leaves nothing but its draft (S-3). */
  private dropUnsent(id: string): void {
    const actor = this.actors.get(id)
    if (!actor || actor.stored) return
    if (actor.inUse) this.lease(actor)
    else this.actors.delete(id)
  }

  /** Above the limit the least recently used idle actors go; never one that runs, waits or is unsaved (S-14). */
  private dropIdle(): void {
    for (const [id, actor] of this.actors) {
      if (this.actors.size <= idleActorsMax) return
      if (!actor.busy) this.actors.delete(id)
    }
  }
}

function isSubagent(actor: SessionActor): boolean {
  return actor.peek().view.header.parent !== undefined
}

/** Mode and session grants as they are now; where that session is gone, nothing is allowed. */
function policyOf(actor: SessionActor | undefined): { approvalMode: ApprovalMode; grants: readonly Rule[] } {
  if (!actor) return { approvalMode: 'read-only', grants: [] }
  const { view, hidden } = actor.peek()
  return { approvalMode: view.header.approvalMode, grants: hidden.grants }
}

/** Resolves once `test` holds of what the session has decided and stored. */
function when(actor: SessionActor, test: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!test()) return
      stop()
      resolve()
    }
    const stop = actor.listen(look)
    look()
  })
}
