/** All sessions of a data folder: which actors are in memory, how a message is checked before it enters a mailbox. */
import { createHash } from 'node:crypto'
import { stat, statfs } from 'node:fs/promises'
import { LatheError, errorBody } from '../../preload/contract/errors.ts'
import type { PassingEvent, SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import { freeDiskMin, idleActorsMax, messageBytesMax } from '../../preload/contract/limits.ts'
import type { SubmitReply } from '../../preload/contract/routes.ts'
import type { ApprovalMode, Entry, SessionView, TurnSource } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { Rule } from '../../preload/contract/items.ts'
import { clipItem } from '../storage/clip.ts'
import type { Storage, StoredSession } from '../storage/storage.ts'
import { Decision } from '../turns/decision.ts'
import type { Command, Message } from '../turns/inputs.ts'
import { endLostCommands } from '../turns/own-commands.ts'
import { nextFollowUp } from '../turns/queue.ts'
import { recover } from '../turns/recovery.ts'
import { newSession, type Attendance, type Effect, type SessionState } from '../turns/state.ts'
import { SessionActor } from './actor.ts'
import { entryOf } from './entry.ts'
import { trimView } from './window.ts'
import { writeOf } from './write.ts'

export type SessionsPorts = {
  storage: Storage
  settings(): Settings
  rules(): readonly Rule[]
  /** The canonical model for a turn. Throws `model.none`, `model.unknown`, `config.invalid`. */
  chooseModel(name: string | null): string
  startTurn(actor: SessionActor): void
  /** Background work of a settled turn: title, index. Cannot delay or fail it (T-45). */
  afterSettle(actor: SessionActor, turnId: string): void
  entryChanged(entry: Entry): void
  entryRemoved(id: string): void
  rulesChanged(): void
  notify(actor: SessionActor, effect: Extract<Effect, { do: 'notify' | 'withdrawNotification' }>): void
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
  now(): number
}

export type Submission = {
  requestId: string
  text: string
  attachments: Attachment[]
  whenBusy?: 'refuse' | 'queue' | 'steer' | undefined
  model?: string | undefined
  attendance: Attendance
}

const eventsPage = 500

export class Sessions {
  private readonly actors = new Map<string, SessionActor>()
  private readonly loading = new Map<string, Promise<SessionActor>>()
  private readonly ports: SessionsPorts
  private closing = false

  constructor(ports: SessionsPorts) {
    this.ports = ports
  }

  /** Settles what a crash left open; one failing session stops no other (T-192). */
  async recoverAll(): Promise<void> {
    for (const id of await this.ports.storage.unsettledSessions()) {
      await this.actor(id).catch((error) =>
        this.ports.log('error', 'A session could not be recovered', { sessionId: id, error: String(error) }),
      )
    }
  }

  /** An unsent session (S-3). */
  create(input: {
    workspace: string
    model?: string | undefined
    approvalMode?: ApprovalMode | undefined
  }): SessionActor {
    const settings = this.ports.settings()
    const model = input.model === undefined ? null : this.ports.chooseModel(input.model)
    const state = newSession({
      id: newId(),
      journalId: newId(),
      workspace: input.workspace,
      model,
      effort: null,
      approvalMode: input.approvalMode ?? settings.approvalMode,
      now: this.ports.now(),
    })
    const actor = new SessionActor(state, this.actorPorts())
    this.actors.set(actor.id, actor)
    return actor
  }

  /** The one actor of a session; concurrent first opens share one load (S-14). Throws `session.not_found`. */
  async actor(id: string): Promise<SessionActor> {
    const known = this.actors.get(id)
    if (known) {
      // Newest use last, so the first idle one is the least recently used.
      this.actors.delete(id)
      this.actors.set(id, known)
      return known
    }
    let load = this.loading.get(id)
    if (!load) {
      load = this.load(id).finally(() => this.loading.delete(id))
      this.loading.set(id, load)
    }
    return load
  }

  async command<R>(id: string, command: Command): Promise<R> {
    return (await this.actor(id)).command<R>(command)
  }

  /** What a window opens with, consistent at one seq (T-199). */
  async open(id: string): Promise<SessionView> {
    const actor = await this.actor(id)
    if (actor.published.header.deletedAt !== null)
      throw new LatheError('session.deleted', 'This session was deleted.', { hint: 'It can be restored for a while.' })
    // A live item stays whole: its deltas go on from its end.
    const items = actor.published.items.map((item) => (item.endedAt === null ? item : clipItem(item)))
    return { ...actor.published, items }
  }

  /** Stored events from `after + 1` on, without gap or repeat, then live ones, until `signal` aborts (T-200). */
  async *events(id: string, after: number, journalId: string, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const actor = await this.actor(id)
    const resync = (reason: Extract<PassingEvent, { type: 'stream.resync' }>['reason']): SessionEvent => ({
      type: 'stream.resync',
      seq: null,
      at: this.ports.now(),
      reason,
    })
    if (journalId !== actor.published.journalId) return yield resync('journal')
    if (after > actor.published.header.lastSeq) return yield resync('ahead')
    let cursor = after
    let wake: (() => void) | null = null
    const passing: PassingEvent[] = []
    const stopListening = actor.listen((event) => {
      if (event) passing.push(event)
      // A slow reader keeps no queue: what it missed is in the journal, and passing frames repeat their whole value.
      if (passing.length > 32) passing.shift()
      wake?.()
    })
    const onAbort = () => wake?.()
    signal.addEventListener('abort', onAbort)
    try {
      while (!signal.aborted) {
        let batch: StoredEvent[] | null = actor.recentAfter(cursor)
        if (batch === null) {
          const page = await this.ports.storage.events(id, cursor, eventsPage)
          if (page.pruned) return yield resync('pruned')
          batch = page.events
        }
        for (const event of batch) {
          if (signal.aborted) return
          yield event
          cursor = event.seq
        }
        while (passing.length > 0) yield passing.shift()!
        if (signal.aborted || actor.published.header.lastSeq > cursor || passing.length > 0) continue
        await new Promise<void>((resolve) => {
          wake = resolve
          if (signal.aborted || actor.published.header.lastSeq > cursor || passing.length > 0) resolve()
        })
        wake = null
      }
    } finally {
      stopListening()
      signal.removeEventListener('abort', onAbort)
      this.dropIdle()
    }
  }

  /** A person's message: checked, then decided in one mailbox step (T-12 to T-17). */
  async submit(id: string, submission: Submission, source: TurnSource = 'person'): Promise<SubmitReply> {
    const actor = await this.actor(id)
    const fingerprint = fingerprintOf({
      action: 'submit',
      text: submission.text,
      attachments: submission.attachments.map((one) => one.hash),
      model: submission.model ?? null,
    })
    const bound = await this.boundReply(actor, submission.requestId, fingerprint)
    if (bound) return bound
    checkText(submission.text, submission.attachments)
    await this.checkAttachments(submission.attachments)
    const { header } = actor.peek().view
    await this.checkPlace(header.workspace)
    const message: Message = {
      requestId: submission.requestId,
      fingerprint,
      text: submission.text,
      attachments: submission.attachments,
      model: this.ports.chooseModel(submission.model ?? header.model),
      source,
      attendance: submission.attendance,
    }
    return actor.command<SubmitReply>({ type: 'submit', message, whenBusy: submission.whenBusy ?? 'refuse' })
  }

  /** The same text again as a new turn (T-179). */
  async retry(
    id: string,
    requestId: string,
    turnId: string,
    model: string | undefined,
    attendance: Attendance,
  ): Promise<SubmitReply> {
    const { actor, item } = await this.userItem(id, turnId)
    const message: Message = {
      requestId,
      fingerprint: fingerprintOf({ action: 'retry', turnId, model: model ?? null }),
      text: item.text,
      ...(item.prompt === undefined ? {} : { prompt: item.prompt }),
      attachments: item.attachments,
      model: this.ports.chooseModel(model ?? actor.peek().view.header.model),
      source: 'person',
      attendance,
      retryOf: turnId,
    }
    await this.checkPlace(actor.peek().view.header.workspace)
    return actor.command<SubmitReply>({ type: 'submit', message, whenBusy: 'refuse' })
  }

  /** Goes on after an unfinished end, with a fixed instruction (T-181). */
  async continue(id: string, requestId: string, turnId: string, attendance: Attendance): Promise<SubmitReply> {
    const actor = await this.actor(id)
    await this.checkPlace(actor.peek().view.header.workspace)
    const message = this.continuation(actor, requestId, turnId, attendance)
    return actor.command<SubmitReply>({ type: 'submit', message, whenBusy: 'refuse' })
  }

  async continueRecovery(
    id: string,
    requestId: string,
    recoveryId: string,
    attendance: Attendance,
  ): Promise<SubmitReply> {
    const actor = await this.actor(id)
    await this.checkPlace(actor.peek().view.header.workspace)
    const turnId = actor.peek().view.header.recovery?.turnId ?? ''
    return actor.command<SubmitReply>({
      type: 'recovery.continue',
      recoveryId,
      message: this.continuation(actor, requestId, turnId, attendance),
    })
  }

  /** Starts one queued message now, by the person's wish or because its turn has come (T-46, T-128). */
  async startFollowUp(
    id: string,
    followUpId: string,
    byPerson: boolean,
    attendance: Attendance,
  ): Promise<SubmitReply | null> {
    const actor = await this.actor(id)
    const { header } = actor.peek().view
    const followUp = header.queue.followUps.find((one) => one.id === followUpId)
    if (!followUp) throw new LatheError('follow_up.gone', 'This message has started or was removed already.')
    await this.checkPlace(header.workspace)
    await this.checkAttachments(followUp.attachments)
    const message: Message = {
      requestId: `follow-up:${followUp.id}`,
      fingerprint: fingerprintOf({ action: 'followUp', id: followUp.id }),
      text: followUp.text,
      attachments: followUp.attachments,
      model: this.ports.chooseModel(followUp.model ?? header.model),
      source: 'follow_up',
      attendance,
    }
    return actor.command<SubmitReply | null>({ type: 'followUp.start', id: followUpId, message, byPerson })
  }

  /** The decision on a card; "Deny and stop" also stops its turn (Z-96). */
  async answerApproval(
    id: string,
    answer: Omit<Extract<Command, { type: 'approval.answer' }>, 'type'>,
  ): Promise<{ ok: true }> {
    const actor = await this.actor(id)
    const turnId = actor.peek().turn?.id
    const reply = await actor.command<{ ok: true }>({ type: 'approval.answer', ...answer })
    if (answer.decision === 'deny_stop' && turnId !== undefined)
      await actor.command({ type: 'stop', turnId, reason: 'person' })
    return reply
  }

  fingerprint(value: Record<string, unknown>): string {
    return fingerprintOf(value)
  }

  /** Stops and settles a running turn first, then hides the session everywhere (S-21, T-11). */
  async delete(id: string): Promise<void> {
    const actor = await this.actor(id)
    const running = actor.peek().turn?.id
    if (running !== undefined) {
      await actor.command({ type: 'stop', turnId: running, reason: 'session_deleted' })
      await this.settled(actor, running)
    }
    await actor.command({ type: 'delete' })
    this.ports.entryRemoved(id)
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

  /** Draining: nothing new starts; running turns are aborted and settled as interrupted within `ms` (T-196, S-142). */
  async close(ms: number): Promise<void> {
    this.closing = true
    for (const actor of this.actors.values()) actor.close()
    const limit = AbortSignal.timeout(ms)
    await Promise.all(
      this.running().map(async (actor) => {
        const turnId = actor.peek().turn!.id
        await actor.command({ type: 'stop', turnId, reason: 'shutdown' }).catch(() => {})
        await this.settled(actor, turnId, limit)
      }),
    )
    await Promise.race([
      Promise.all([...this.actors.values()].map((actor) => actor.idle())),
      new Promise<void>((resolve) => limit.addEventListener('abort', () => resolve(), { once: true })),
    ])
  }

  private continuation(actor: SessionActor, requestId: string, turnId: string, attendance: Attendance): Message {
    return {
      requestId,
      fingerprint: fingerprintOf({ action: 'continue', turnId }),
      text: 'Continue',
      prompt:
        'Your previous turn ended before it was finished. Continue the work from where it stopped. Results of calls that finished are above; do not repeat their effects. Check anything whose outcome is unknown.',
      attachments: [],
      model: this.ports.chooseModel(actor.peek().view.header.model),
      source: 'person',
      attendance,
      continues: turnId,
    }
  }

  private async userItem(id: string, turnId: string) {
    const actor = await this.actor(id)
    const row = actor.peek().view.turns.find((turn) => turn.id === turnId)
    const item = row ? await this.ports.storage.item(id, row.userItemId) : null
    if (item?.kind !== 'user') throw new LatheError('request.invalid', 'That turn is not one of this session.')
    return { actor, item }
  }

  private async boundReply(actor: SessionActor, requestId: string, fingerprint: string): Promise<SubmitReply | null> {
    if (actor.peek().bindings.has(requestId) || !actor.stored) return null
    const binding = await this.ports.storage.request(actor.id, requestId)
    if (!binding) return null
    if (binding.fingerprint !== fingerprint)
      throw new LatheError('request.conflict', 'This request id was used for another message.')
    return binding.reply as SubmitReply
  }

  private async checkAttachments(attachments: readonly Attachment[]): Promise<void> {
    const faults: { name: string; reason: string }[] = []
    for (const attachment of attachments) {
      await this.ports.storage.blobs
        .get(attachment.hash)
        .catch(() => faults.push({ name: attachment.name, reason: 'unreadable' }))
    }
    if (faults.length > 0)
      throw new LatheError(
        'attachment.rejected',
        `${faults.map((fault) => fault.name).join(', ')} cannot be read any more.`,
        { hint: 'Attach it again.', data: { files: faults } },
      )
  }

  /** The folder is there, and the disk has room for the work (T-14, Z-223). */
  private async checkPlace(workspace: string): Promise<void> {
    const folder = await stat(workspace).catch(() => null)
    if (!folder?.isDirectory())
      throw new LatheError('workspace.missing', `The folder ${workspace} is not there.`, {
        hint: 'Locate it, or open another one.',
      })
    const disk = await statfs(workspace).catch(() => null)
    if (disk && disk.bavail * disk.bsize < freeDiskMin)
      throw new LatheError('storage.low', 'Less than 100 MiB of disk are free.', {
        hint: 'Free some space, then send it again.',
      })
  }

  private async load(id: string): Promise<SessionActor> {
    const stored = await this.ports.storage.loadSession(id)
    if (!stored) throw new LatheError('session.not_found', 'There is no such session.')
    const state = await this.recovered(stateOf(stored, this.ports.storage), stored)
    const actor = new SessionActor(state, this.actorPorts())
    this.actors.set(id, actor)
    this.dropIdle()
    return actor
  }

  /** Settles what was unsettled before any command of the session is applied (T-182). */
  private async recovered(state: SessionState, stored: StoredSession): Promise<SessionState> {
    if (state.readOnly !== null) return state
    const open = stored.unsettled.length > 0 || state.view.turns.some((turn) => turn.outcome === null)
    const lost = state.view.items.some((item) => item.kind === 'tool' && item.turnId === null && item.endedAt === null)
    if (!open && !lost) return state
    const decision = new Decision(state, {
      now: this.ports.now(),
      newId,
      settings: this.ports.settings(),
      rules: this.ports.rules(),
    })
    if (open) recover(decision, stored.unsettled)
    endLostCommands(decision)
    if (decision.events.length > 0) await this.ports.storage.commit(writeOf(decision.state, [decision]))
    this.ports.entryChanged(entryOf(decision.state.view))
    return decision.state
  }

  private actorPorts() {
    return {
      storage: this.ports.storage,
      now: this.ports.now,
      settings: this.ports.settings,
      rules: this.ports.rules,
      log: this.ports.log,
      perform: (actor: SessionActor, effect: Effect) => this.perform(actor, effect),
    }
  }

  private perform(actor: SessionActor, effect: Effect): void {
    switch (effect.do) {
      case 'start':
        if (actor.peek().turn?.id === effect.turnId) this.ports.startTurn(actor)
        break
      case 'settled':
        this.ports.afterSettle(actor, effect.turnId)
        break
      case 'next':
        void this.startNext(actor)
        break
      case 'entry':
        if (actor.published.header.deletedAt === null) this.ports.entryChanged(entryOf(actor.published))
        break
      case 'rules':
        this.ports.rulesChanged()
        break
      case 'notify':
      case 'withdrawNotification':
        this.ports.notify(actor, effect)
        break
      default:
        break
    }
  }

  private async startNext(actor: SessionActor): Promise<void> {
    if (this.closing) return
    const followUp = nextFollowUp({ state: actor.peek() })
    if (!followUp) return
    try {
      await this.startFollowUp(actor.id, followUp.id, false, 'attended')
    } catch (error) {
      const body = errorBody(error)
      if (body.code !== 'follow_up.gone') await actor.command({ type: 'queue.refused', error: body }).catch(() => {})
    }
  }

  /** Above the limit the least recently used idle actors go; never one that runs, waits or is unsaved (S-14). */
  private dropIdle(): void {
    for (const [id, actor] of this.actors) {
      if (this.actors.size <= idleActorsMax) return
      if (!actor.busy) this.actors.delete(id)
    }
  }
}

/** The actor's state from what was stored; an unsettled turn is folded back from its events. */
function stateOf(stored: StoredSession, storage: Storage): SessionState {
  const empty: SessionView = {
    journalId: stored.journalId,
    header: stored.header,
    items: stored.items,
    itemsBefore: stored.itemsBefore,
    turns: stored.turns,
    turn: null,
    approvals: { head: null, depth: 0 },
    questions: { head: null, depth: 0 },
    changes: stored.changes,
    execSessions: [],
  }
  // Items as stored lack what only deltas hold; their events put it back. The header is already that of the end.
  const started = stored.unsettled[0]
  const base =
    started?.type === 'turn.started'
      ? {
          ...empty,
          items: empty.items.filter((item) => item.turnId !== started.turnId),
          turns: empty.turns.filter((turn) => turn.id !== started.turnId),
        }
      : empty
  const folded = stored.unsettled.reduce(foldEvent, base)
  const view = { ...folded, header: stored.header }
  const newer = storage.condition.kind === 'newer'
  return {
    view: stored.unsettled.length > 0 ? view : trimView(view),
    hidden: stored.hidden,
    turn: null,
    lastPos: stored.lastPos,
    stored: true,
    readOnly: newer
      ? 'This session was written by a newer version of Lathe. It can be read, searched and exported.'
      : null,
    closing: false,
    bindings: new Map(),
  }
}

/** SHA-256 of the canonical JSON of what was asked (T-13). */
export function fingerprintOf(value: Record<string, unknown>): string {
  const canonical = JSON.stringify(value, Object.keys(value).sort())
  return createHash('sha256').update(canonical).digest('hex')
}

export function checkText(text: string, attachments: readonly Attachment[]): void {
  if (text.trim() === '' && attachments.length === 0) throw new LatheError('message.empty', 'The message is empty.')
  if (Buffer.byteLength(text) > messageBytesMax)
    throw new LatheError('message.too_large', 'The message is larger than 1 MiB.', { hint: 'Attach it as a file.' })
}
