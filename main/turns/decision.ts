/**
 * One decision in the making: events are folded into the state as they are emitted, so what follows sees what came
 * before, and what is stored, shown and held in memory cannot differ.
 */
import { foldEvent } from '../../preload/contract/fold.ts'
import type { EventDraft, StoredEvent } from '../../preload/contract/events.ts'
import type { Item, ItemOf, ItemPatch, Rule } from '../../preload/contract/items.ts'
import type { SessionHeader, SessionView, Steer, TurnStatus } from '../../preload/contract/session.ts'
import type { HiddenRecord, RequestBinding } from '../storage/storage.ts'
import { bounded } from './event-size.ts'
import type { Effect, Environment, LiveTurn, SessionState } from './state.ts'

export class Decision {
  state: SessionState
  readonly environment: Environment
  readonly events: StoredEvent[] = []
  readonly effects: Effect[] = []
  readonly requests: RequestBinding[] = []
  readonly rules: Rule[] = []
  /** Items as they are to be stored: whole, also where the end of the turn shows them clipped. */
  readonly items = new Map<string, Item>()
  clearDraft = false
  /** Messages that come back to the person: they stand before the draft in the same transaction (T-3). */
  givenBack: Steer[] = []

  constructor(state: SessionState, environment: Environment) {
    this.state = state
    this.environment = environment
  }

  get now(): number {
    return this.environment.now
  }

  get header(): SessionHeader {
    return this.state.view.header
  }

  /** The running turn; a decision about a turn is only taken where there is one. */
  get turn(): LiveTurn {
    if (!this.state.turn) throw new Error('No turn is running.')
    return this.state.turn
  }

  newId(): string {
    return this.environment.newId()
  }

  /** False where it would only say again what is known: then no event is made (T-52). */
  emit(draft: EventDraft): boolean {
    if (saysAgain(this.state.view, draft)) return false
    const event = { ...draft, seq: this.header.lastSeq + 1, at: this.now }
    this.events.push(bounded(event))
    this.state = { ...this.state, stored: true, view: foldEvent(this.state.view, event) }
    const item =
      event.type === 'item.put'
        ? event.item
        : event.type === 'item.patch' && this.state.view.items.findLast((one) => one.id === event.itemId)
    if (item) this.items.set(item.id, item)
    return true
  }

  effect(effect: Effect): void {
    this.effects.push(effect)
  }

  change(patch: Partial<SessionState>): void {
    this.state = { ...this.state, ...patch }
  }

  changeTurn(patch: Partial<LiveTurn>): void {
    this.state = { ...this.state, turn: { ...this.turn, ...patch } }
  }

  changeHidden(patch: Partial<HiddenRecord>): void {
    this.state = { ...this.state, hidden: { ...this.state.hidden, ...patch } }
  }

  /** Emits `session.changed` where the patch differs from what is held (T-52); an unsent session only remembers it. */
  changeHeader(patch: Partial<SessionHeader>): void {
    const changed = Object.fromEntries(
      Object.entries(patch).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(this.header[name as keyof SessionHeader]),
      ),
    ) as Partial<SessionHeader>
    if (Object.keys(changed).length === 0) return
    if (this.state.stored) this.emit({ type: 'session.changed', patch: changed })
    else this.state = { ...this.state, view: { ...this.state.view, header: { ...this.header, ...changed } } }
  }

  item<K extends Item['kind']>(id: string, kind: K): ItemOf<K> | undefined {
    const item = this.state.view.items.findLast((one) => one.id === id)
    return item?.kind === kind ? (item as ItemOf<K>) : undefined
  }

  /** Adds an item at the end of the transcript. */
  put(
    item: DistributiveOmit<
      Item,
      'pos' | 'createdAt' | 'endedAt' | 'status' | 'source' | 'contextual' | 'visible' | 'stepId' | 'turnId'
    > &
      Partial<Pick<Item, 'endedAt' | 'status' | 'source' | 'contextual' | 'visible' | 'stepId' | 'turnId'>>,
  ): void {
    const turnId = item.turnId === undefined ? (this.state.turn?.id ?? null) : item.turnId
    const pos = this.state.lastPos + 1
    const whole: Item = {
      pos,
      createdAt: this.now,
      endedAt: null,
      status: 'live' as const,
      source: 'agent' as const,
      contextual: true,
      visible: true,
      stepId: this.state.turn?.stepId ?? null,
      ...item,
      turnId,
    }
    const after = this.state.view.items.at(-1)?.id ?? null
    this.change({ lastPos: pos })
    this.emit({ type: 'item.put', ...this.ofTurn(whole), item: whole, after })
  }

  patch(item: Item, set: ItemPatch): void {
    this.emit({ type: 'item.patch', ...this.ofTurn(item), itemId: item.id, set })
  }

  /** What changes in an item is told as the running turn's, or as no turn's: one that has ended says nothing more (T-54). */
  ofTurn({ turnId }: Pick<Item, 'turnId'>): { turnId?: string } {
    return turnId !== null && turnId === this.state.turn?.id ? { turnId } : {}
  }

  /** Emits the status line where it differs; called before the event that caused the difference (T-61). */
  status(): void {
    this.emit({ type: 'turn.status', turnId: this.turn.id, status: statusOf(this.turn, this.state.subagentAsks) })
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.put({ kind: 'notice', id: this.newId(), level, text, status: 'final', endedAt: this.now, contextual: false })
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Events that carry the whole value of what they name (T-52, T-61, T-88). */
function saysAgain(view: SessionView, event: EventDraft): boolean {
  const { header, turn } = view
  const same = (held: unknown, told: unknown) => JSON.stringify(held) === JSON.stringify(told)
  switch (event.type) {
    case 'turn.status':
      return same(turn?.status ?? null, event.status)
    case 'steers.changed':
      return same(turn?.steers, event.steers)
    case 'usage.changed':
      return same(
        [turn?.usage, header.usage, header.context, turn?.rate],
        [event.turn, event.session, event.context, event.rate],
      )
    case 'plan.changed':
      return same(header.plan, event.plan)
    case 'approval.queue':
      return same(view.approvals, { head: event.head, depth: event.depth })
    case 'question.queue':
      return same(view.questions, { head: event.head, depth: event.depth })
    case 'queue.changed':
      return same(header.queue, { followUps: event.followUps, paused: event.paused, pausedBy: event.pausedBy })
    case 'changes.changed':
      return same(
        view.changes.filter((file) => file.turnId === event.about),
        event.files,
      )
    case 'exec.changed':
      return same(view.execSessions, event.execSessions)
    case 'notices.changed':
      return same(header.notices, event.notices)
    case 'session.recovery':
      return same(header.recovery, event.recovery)
    default:
      return false
  }
}

/** The one status line of a turn, highest priority first (T-60). */
function statusOf(turn: LiveTurn, subagentAsks: SessionState['subagentAsks']): TurnStatus | null {
  if (turn.phase === 'stopping') return { kind: 'stopping' }
  const asked = [...subagentAsks.values()]
  const approvals = turn.approvals.size + asked.filter((kind) => kind === 'approval').length
  const questions = turn.questions.size + asked.length - asked.filter((kind) => kind === 'approval').length
  if (approvals > 0) return { kind: 'approval', depth: approvals }
  if (questions > 0) return { kind: 'question', depth: questions }
  if (turn.waitingSlot) return { kind: 'waiting_slot' }
  if (turn.compactingSince !== null) return { kind: 'compacting', since: turn.compactingSince }
  if (turn.wait) return turn.wait
  if (turn.reading) return { kind: 'prompt_reading', percent: turn.reading.percent }
  if (turn.writing) return { kind: 'writing', call: turn.writing }
  const longest = turn.running[0]
  if (longest)
    return {
      kind: 'tool',
      itemId: longest.itemId,
      title: longest.title,
      since: longest.since,
      others: turn.running.length - 1,
    }
  if (turn.endWait && turn.endWait.waitsFor > 0) return { kind: 'subagents', count: turn.endWait.waitsFor }
  return { kind: 'working' }
}
