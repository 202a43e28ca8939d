/**
 * Runs subagents: each is a session of its own that no list shows (C-95), driven through its own actor. What its parent
 * shows of it, what it asks and what it changed is passed on from its journal; every decision about it is the parent's.
 */
import { errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import { subagentResultCharsMax } from '../../preload/contract/limits.ts'
import type { ChangedFile, Parent, SessionView } from '../../preload/contract/session.ts'
import type { ChosenAgent } from '../agent/agent-files.ts'
import { subagentResult } from '../agent/subagent-result.ts'
import { cutOutput } from '../exec/output.ts'
import { untrustedBlock, withoutInvisible } from '../platform/untrusted-text.ts'
import type { Storage } from '../storage/storage.ts'
import type { SubagentRequest } from '../tools/subagent.ts'
import type { ToolContext, ToolResult } from '../tools/tool.ts'
import type { Command, Message } from '../turns/inputs.ts'
import type { Rights } from '../turns/requests.ts'
import { newSession, type SessionState, type StopReason } from '../turns/state.ts'
import { openSubagents, runsNow, type SubagentEnd, type SubagentProgress } from '../turns/subagents.ts'
import type { SessionActor } from './actor.ts'
import type { LateChanges } from './late-changes.ts'

export type SubagentsPorts = {
  actor(sessionId: string): Promise<SessionActor>
  inMemory(): Iterable<SessionActor>
  /** An unsent session with that state. */
  begin(state: SessionState): SessionActor
  chooseModel(name: string): string
  blobs: Pick<Storage['blobs'], 'put'>
  late: LateChanges
  /** Processes of the top session that this subagent started and that still run. */
  running(topSessionId: string, subagent: string): readonly { id: string; preview: string }[]
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
  now(): number
}

type Card = ItemOf<'subagent'>
type Run = {
  card: Card
  child: SessionActor
  /** Wished before its turn had begun. */
  stop: StopReason | null
  turnId: string | null
  /** Resolves once its turn has settled. */
  settled: PromiseWithResolvers<void>
}
type Task = { text: string; agent: ChosenAgent | null }
type Ended = { told: string; isError: boolean }

const progressMs = 250

export class Subagents {
  readonly #ports: SubagentsPorts
  /** By the id of the card. */
  readonly #runs = new Map<string, Run>()
  readonly #waiting = new Map<string, (end: Ended) => void>()
  /** What each was asked, whole, and the agent whose limits are its own. */
  readonly #tasks = new Map<string, Task>()

  constructor(ports: SubagentsPorts) {
    this.#ports = ports
  }

  /** What the tool does (C-99, C-100). Throws `subagent.queue_full`, `model.unknown`. */
  async ask({ task, label, background, model }: SubagentRequest, context: ToolContext): Promise<ToolResult> {
    const parent = await this.#ports.actor(context.sessionId)
    const own = parent.peek().view.turns.find(({ id }) => id === context.turnId)?.model ?? ''
    const itemId = newId()
    const ended = new Promise<Ended>((resolve) => this.#waiting.set(itemId, resolve))
    this.#tasks.set(itemId, { text: task, agent: parent.peek().turn?.agent ?? null })
    try {
      context.signal.throwIfAborted()
      const chosen = model === undefined ? own : this.#ports.chooseModel(model)
      const card = {
        itemId,
        turnId: context.turnId,
        toolItemId: context.callId,
        task,
        label,
        background,
        model: chosen,
      }
      await parent.command({ type: 'subagent.spawn', ...card })
    } catch (error) {
      this.ended(itemId, { told: '', isError: true })
      throw error
    }
    if (background)
      return {
        text: `Subagent ${itemId} works in the background. Its result is given to you when it is there: go on with something else, or end your turn.`,
        isError: false,
      }
    const { told, isError } = await ended
    return { text: told, isError, ...(isError ? { code: 'tool.failed' as const } : {}) }
  }

  /** The parent has decided that it runs from now on. */
  start(parent: SessionActor, itemId: string): void {
    const card = cardOf(parent, itemId)
    if (!card || this.#runs.has(itemId)) return
    const task = this.#tasks.get(itemId)
    void parent
      .using(() => (task ? this.#run(parent, card, task) : this.#refuse(parent, card)))
      .catch((error: unknown) =>
        this.#ports.log('error', 'The end of a subagent could not be recorded', {
          sessionId: parent.id,
          error: String(error),
        }),
      )
  }

  /** Ends its turn as a person's Stop would; its card says so once it has come to rest. */
  stop(itemId: string, reason: StopReason): void {
    const run = this.#runs.get(itemId)
    if (!run) return
    run.stop ??= reason
    if (run.turnId !== null) void run.child.command({ type: 'stop', turnId: run.turnId, reason }).catch(() => {})
  }

  ended(itemId: string, end: Ended): void {
    this.#waiting.get(itemId)?.(end)
    this.#waiting.delete(itemId)
    this.#tasks.delete(itemId)
  }

  /** The turn of a subagent's session has settled. */
  settled(child: SessionActor): void {
    const run = [...this.#runs.values()].find((one) => one.child === child)
    run?.settled.resolve()
  }

  /** What a subagent changed is the turn's that asked for it too, to be looked at and taken back there. */
  passChanges({ sessionId, turnId }: Parent, changes: ChangedFile[]): Promise<void> {
    return this.#ports.late.record(sessionId, {
      turnId,
      changes: changes.map((change) => ({ ...change, turnId })),
      notice: null,
    })
  }

  /**
   * The host ended while it ran: what it had changed may not have come to its parent. Of a file that the parent's turn knows
   * already, that is newer.
   */
  async recovered({ published: { header, changes } }: SessionActor): Promise<void> {
    const { parent } = header
    if (!parent || changes.length === 0) return
    const known = (await this.#ports.actor(parent.sessionId)).published.changes
    const isKnown = ({ path }: ChangedFile) => known.some((one) => one.turnId === parent.turnId && one.path === path)
    const missing = changes.filter((change) => !isKnown(change))
    if (missing.length > 0) await this.passChanges(parent, missing)
  }

  /** The decision on a card; "Deny and stop" also stops its turn (Z-96). What a subagent asks is decided in its session (Z-97). */
  async answerApproval(
    sessionId: string,
    answer: Omit<Extract<Command, { type: 'approval.answer' }>, 'type'>,
    rights?: Rights,
  ): Promise<{ ok: true }> {
    const actor = await this.#ports.actor(sessionId)
    const asked = askedIn(actor, answer.approvalId)
    if (!asked) return actor.command({ type: 'approval.answer', ...answer }, rights)
    const stops = answer.decision === 'deny_stop'
    await this.answerApproval(asked.sessionId, { ...answer, ...(stops ? { decision: 'deny' as const } : {}) }, rights)
    const { turn } = actor.peek()
    if (stops && turn) await actor.command({ type: 'stop', turnId: turn.id, reason: 'person' }, rights)
    else if (stops) await actor.command({ type: 'subagent.stop', itemId: asked.itemId, reason: 'person' }, rights)
    return { ok: true }
  }

  /** An answer to a question, or a sign that the person is at it, goes to who asks. */
  async toQuestion(
    sessionId: string,
    command: Extract<Command, { type: 'question.answer' | 'question.touched' }>,
    rights?: Rights,
  ): Promise<{ ok: true }> {
    const actor = await this.#ports.actor(sessionId)
    const asked = askedIn(actor, command.questionId)
    return asked ? this.toQuestion(asked.sessionId, command, rights) : actor.command(command, rights)
  }

  /** Sessions in which one waits look again, those that ended first first (C-96). */
  placesFree(): void {
    for (const actor of this.#ports.inMemory())
      if (openSubagents(actor.peek()).some(({ phase }) => phase === 'queued'))
        void actor.command({ type: 'subagent.next' }).catch(() => {})
  }

  /** Mode or rules have changed: what subagents at any depth ask is judged again (Z-94). */
  rejudge(parent: SessionActor): void {
    for (const { child } of this.#runs.values())
      if (child.peek().view.header.parent?.sessionId === parent.id)
        void child.command({ type: 'rules.changed' }).catch(() => {})
  }

  /**
   * Places taken by subagents of other sessions. One that waits for subagents of its own takes none: else as many as there
   * are places could wait for others that never get one.
   */
  elsewhere(than: SessionActor): number {
    let taken = 0
    for (const actor of this.#ports.inMemory()) {
      const open = openSubagents(actor.peek())
      if (open.length === 0) continue
      if (actor !== than) taken += open.filter(runsNow).length
      if (actor.peek().view.header.parent && open.some(({ background }) => !background)) taken--
    }
    return taken
  }

  /** Its call was told that it could not be saved, and yet it was: nobody waits for it, so it does not begin (S-18). */
  async #refuse(parent: SessionActor, { id: itemId, steps, usage, actions }: Card): Promise<void> {
    const end = {
      phase: 'failed',
      reason: 'error',
      steps,
      usage,
      actions,
      told: 'It could not be saved in time.',
    } as const
    await parent.command({ type: 'subagent.ended', itemId, end })
  }

  async #run(parent: SessionActor, card: Card, task: Task): Promise<void> {
    const run: Run = {
      card,
      child: this.#ports.begin(childState(parent, card, this.#ports.now())),
      stop: null,
      turnId: null,
      settled: Promise.withResolvers(),
    }
    this.#runs.set(card.id, run)
    let end: SubagentEnd
    try {
      end = await run.child.using(() => this.#work(parent, run, task))
    } catch (error) {
      const { message } = errorBody(error)
      const { steps, usage, actions } = progressOf(run.child.published)
      end = { phase: 'failed', reason: 'error', steps, usage, actions, told: message }
    }
    this.#runs.delete(card.id)
    await parent.command({ type: 'subagent.ended', itemId: card.id, end })
  }

  async #work(parent: SessionActor, run: Run, task: Task): Promise<SubagentEnd> {
    const { card, child } = run
    const passedOn = new PassedOn(parent, card.id, child)
    const stopListening = child.listen((passing) => void (passing === null && passedOn.look()))
    try {
      run.turnId = await begun(child, messageTo(parent, card, task))
      if (run.stop) this.stop(card.id, run.stop)
      await run.settled.promise
      await passedOn.finish()
      return await this.#endOf(run)
    } finally {
      stopListening()
      passedOn.stop()
    }
  }

  async #endOf({ card, child, turnId }: Run): Promise<SubagentEnd> {
    const { published } = child
    const turn = published.turns.find(({ id }) => id === turnId)
    if (!turn) throw new Error(`Subagent ${card.id} has no turn.`)
    const { phase, reason, text } = subagentResult(
      published.items.filter((item) => item.turnId === turnId),
      turn,
    )
    const { top } = published.header.parent!
    const left = this.#ports.running(top.sessionId, child.id).map(({ id, preview }) => `${id} (${preview})`)
    const whole = left.length === 0 ? text : `${text}\n\n[Still running: ${left.join(', ')}.]`
    const { steps, usage, actions } = progressOf(published)
    const told = await this.#bounded(whole)
    return {
      phase,
      ...(reason ? { reason } : {}),
      steps,
      usage,
      actions,
      ...told,
      // It is told between messages, where nothing else says whose words it is.
      ...(card.background ? { block: untrustedBlock('subagent', withoutInvisible(told.told)) } : {}),
      ...(turn.error?.code === 'person.needed' ? { needed: turn.error } : {}),
    }
  }

  /** At most 16,000 characters, all of it in a blob where that is less (C-98). */
  async #bounded(text: string): Promise<{ told: string; outputRef?: string }> {
    if (text.length <= subagentResultCharsMax) return { told: text }
    const outputRef = await this.#ports.blobs.put(text).catch(() => undefined)
    const kept = { head: text, tail: '', dropped: 0, droppedLines: 0 }
    const told = cutOutput(kept, subagentResultCharsMax - 400, outputRef && `output:${outputRef}`)
    return { told, ...(outputRef === undefined ? {} : { outputRef }) }
  }
}

/** What a parent is told of its subagent, from the events of that one's journal and in their order. */
class PassedOn {
  readonly #parent: SessionActor
  readonly #itemId: string
  readonly #child: SessionActor
  #told = ''
  /** Open approvals and questions, as they were told. */
  readonly #asked = new Map<string, unknown>()
  #timer: NodeJS.Timeout | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(parent: SessionActor, itemId: string, child: SessionActor) {
    this.#parent = parent
    this.#itemId = itemId
    this.#child = child
  }

  /** What is asked goes at once, how far it is a few times a second. */
  look(): void {
    this.#passAsks()
    this.#timer ??= setTimeout(() => this.#passProgress(), progressMs)
  }

  /** All of it is told and durable once this resolves. */
  async finish(): Promise<void> {
    this.#passAsks()
    this.#passProgress()
    await this.#last
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #passProgress(): void {
    this.stop()
    const progress = progressOf(this.#child.published)
    const told = JSON.stringify(progress)
    if (told === this.#told) return
    this.#told = told
    this.#send({ type: 'subagent.changed', itemId: this.#itemId, progress })
  }

  #passAsks(): void {
    for (const item of this.#child.published.items) {
      if (item.kind !== 'approval' && item.kind !== 'question') continue
      const before = this.#asked.get(item.id)
      if (before === item || (before === undefined && item.state !== 'open')) continue
      if (item.state === 'open') this.#asked.set(item.id, item)
      else this.#asked.delete(item.id)
      this.#send({ type: 'subagent.asks', itemId: this.#itemId, ask: item })
    }
  }

  /** What cannot be recorded now is told by the end, which is kept until it can. */
  #send(command: Command): void {
    this.#last = this.#parent.command(command).catch(() => {})
  }
}

function progressOf({ items, turns, header }: SessionView): SubagentProgress {
  const calls = items.filter((item) => item.kind === 'tool')
  const steps = turns.at(-1)?.steps ?? 0
  const runs = calls.some(({ endedAt }) => endedAt === null)
  return {
    phase: runs ? 'tools' : steps > 0 ? 'model' : 'starting',
    steps,
    usage: header.usage,
    actions: calls.slice(-3).map(({ title, name }) => title || name),
  }
}

function cardOf(actor: SessionActor, itemId: string): Card | null {
  const item = actor.peek().view.items.findLast(({ id }) => id === itemId)
  return item?.kind === 'subagent' && item.endedAt === null ? item : null
}

/** The subagent's session in which an approval or question that is open here is decided, and the card of the subagent. */
function askedIn(actor: SessionActor, id: string): { sessionId: string; itemId: string } | null {
  const item = actor.peek().view.items.findLast((one) => one.id === id)
  if ((item?.kind !== 'approval' && item?.kind !== 'question') || item.state !== 'open') return null
  return item.askedIn === undefined ? null : { sessionId: item.askedIn, itemId: item.toolItemId }
}

/** In the same workspace and mode; nothing of what its parent knows. */
function childState(parent: SessionActor, card: Card, now: number): SessionState {
  const { header } = parent.peek().view
  const { workspace, extraFolders, effort, approvalMode } = header
  const of: Parent = {
    sessionId: parent.id,
    itemId: card.id,
    turnId: card.turnId!,
    label: header.parent ? `${header.parent.label} › ${card.label}` : card.label,
    depth: (header.parent?.depth ?? 0) + 1,
    top: header.parent?.top ?? { sessionId: parent.id, itemId: card.id },
  }
  const state = newSession({
    id: card.sessionId!,
    journalId: newId(),
    workspace,
    model: card.model,
    effort,
    approvalMode,
    now,
    parent: of,
  })
  const titled = { ...state.view.header, extraFolders, title: card.label, titleSource: 'manual' as const }
  return { ...state, view: { ...state.view, header: titled } }
}

/** The turn its message began. One that could not be saved in time may have been saved after all (S-18). */
async function begun(child: SessionActor, message: Message): Promise<string> {
  try {
    return (await child.command<{ turnId: string }>({ type: 'submit', message, whenBusy: 'refuse' })).turnId
  } catch (error) {
    await child.idle()
    const turn = child.published.turns.at(-1)
    if (!turn) throw error
    return turn.id
  }
}

function messageTo(parent: SessionActor, card: Card, { text, agent }: Task): Message {
  const { turn } = parent.peek()
  const waitsForIt = turn?.id === card.turnId ? turn : null
  return {
    requestId: newId(),
    fingerprint: '',
    text,
    attachments: [],
    model: card.model,
    ...(agent ? { agent } : {}),
    source: 'session',
    background: waitsForIt?.background ?? true,
    attendance: waitsForIt?.attendance ?? 'attended',
  }
}
