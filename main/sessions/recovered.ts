/**
 * A session as it comes from storage: its state folded back from rows and journal, and what a crash left open settled
 * (turns.md 19). It never fails on what it finds there: what cannot be used is left out, and the turn says why.
 */
import type { StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { Recovery, SessionView } from '../../preload/contract/session.ts'
import { trimView } from '../../preload/contract/stretch.ts'
import type { StoredSession } from '../storage/storage.ts'
import { discardCompaction } from '../turns/compaction.ts'
import { Decision } from '../turns/decision.ts'
import { endLostExecSessions } from '../turns/exec-sessions.ts'
import { endLostCommands } from '../turns/own-commands.ts'
import { recover } from '../turns/recovery.ts'
import type { Environment, SessionState } from '../turns/state.ts'
import { endLostSubagents } from '../turns/subagents.ts'

/** The decision that settles what a crash left open; null where nothing was. `readOnly` is the reason people read (S-24). */
export async function recovered(
  stored: StoredSession,
  readOnly: string | null,
  environment: Environment,
  onFault: (error: unknown) => void,
): Promise<{ state: SessionState; decision: Decision | null }> {
  const { events, fault } = stored.unsettled.length > 0 ? await readable(stored.unsettled) : { events: [], fault: null }
  try {
    return settleOpen(stored, events, fault)
  } catch (error) {
    onFault(error)
    // Of the journal only the words of the person are taken; everything else is as the rows have it (T-191).
    return settleOpen(stored, [], 'recovery_failed', events)
  }

  function settleOpen(
    from: StoredSession,
    journal: StoredEvent[],
    why: Recovery['reason'] | null,
    words: StoredEvent[] = [],
  ) {
    const state = stateOf(from, journal, readOnly)
    const isOpen = state.view.turns.some((turn) => turn.outcome === null)
    const isLost = state.view.items.some(
      (item) => item.kind === 'tool' && item.turnId === null && item.endedAt === null,
    )
    const isLeft = state.hidden.exec.sessions.some((session) => session.state !== 'ended')
    const hasSubagents = state.view.items.some((item) => item.kind === 'subagent' && item.endedAt === null)
    const wasCompacting = state.view.header.compaction !== null
    if (readOnly !== null || (!isOpen && !isLost && !isLeft && !hasSubagents && !wasCompacting))
      return { state, decision: null }
    const decision = new Decision(withSteers(state, words), environment)
    discardCompaction(decision)
    if (isOpen) recover(decision, journal, why)
    endLostCommands(decision)
    endLostExecSessions(decision)
    endLostSubagents(decision)
    return { state: decision.state, decision }
  }
}

/** The events this version understands, and why others were left out (T-189, T-190). */
async function readable(
  events: readonly StoredEvent[],
): Promise<{ events: StoredEvent[]; fault: Recovery['reason'] | null }> {
  // Schemas are needed by a session with an open turn, not by the start.
  const { StoredEvent: schema } = await import('../../preload/contract/events.ts')
  const types = new Set(schema.options.map((option) => option.shape.type.value as string))
  const kept: StoredEvent[] = []
  let fault: Recovery['reason'] | null = null
  for (const event of events) {
    if (schema.safeParse(event).success) kept.push(event)
    else if (!types.has(event.type)) fault = 'unknown_format'
    else fault ??= 'invalid_format'
  }
  return { events: kept, fault }
}

/** The state as it was last durable, but for the running turn's control state, which no crash survives. */
function stateOf(stored: StoredSession, journal: readonly StoredEvent[], readOnly: string | null): SessionState {
  const rows: SessionView = {
    journalId: stored.journalId,
    header: stored.header,
    items: stored.items,
    itemsBefore: stored.itemsBefore,
    itemsAfter: 0,
    turns: stored.turns,
    turn: null,
    approvals: { head: null, depth: 0 },
    questions: { head: null, depth: 0 },
    changes: stored.changes,
    execSessions: stored.hidden.exec.sessions,
  }
  return {
    view: journal.length > 0 ? folded(rows, journal) : trimView(rows),
    hidden: stored.hidden,
    turn: null,
    lastPos: stored.lastPos,
    stored: true,
    readOnly,
    closing: false,
    subagentAsks: new Map(),
    bindings: new Map(),
  }
}

/** Rows lack what only deltas hold; the turn's events put it back. The header's row is of the end already. */
function folded(rows: SessionView, journal: readonly StoredEvent[]): SessionView {
  const started = journal[0]
  const isOfTurn = (turnId: string | null) => started?.type === 'turn.started' && turnId === started.turnId
  const before = {
    ...rows,
    items: rows.items.filter((item) => !isOfTurn(item.turnId)),
    turns: rows.turns.filter((turn) => !isOfTurn(turn.id)),
  }
  const view = { ...journal.reduce(foldEvent, before), header: rows.header }
  // The journal has the beginning and end of what is long, the row has all of it (T-55).
  const whole = new Map(rows.items.map((item) => [item.id, item]))
  view.items = view.items.map((item) => (item.omitted === undefined ? item : (whole.get(item.id) ?? item)))
  // The turn may reach back further than the slice that was read.
  const visible = view.items.filter((item) => item.visible).length
  return { ...view, itemsBefore: Math.max(0, rows.header.itemCount - visible) }
}

/** Messages that waited for the agent are a person's and survive whatever else is lost (T-3). */
function withSteers(state: SessionState, words: readonly StoredEvent[]): SessionState {
  const last = words.findLast((event) => event.type === 'steers.changed')
  const row = state.view.turns.find((turn) => turn.outcome === null)
  if (!row || last?.type !== 'steers.changed') return state
  const { steps, usage, rate } = row
  return {
    ...state,
    view: { ...state.view, turn: { id: row.id, step: steps, status: null, steers: last.steers, usage, rate } },
  }
}
