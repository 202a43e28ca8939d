/** How a turn ends: once, with everything that belongs to its end in one decision (T-2, T-43). All outcomes pass here (T-44). */
import { sliceItems } from '../../preload/contract/limits.ts'
import type { Outcome, SessionHeader, Turn } from '../../preload/contract/session.ts'
import { clipItem } from '../storage/clip.ts'
import { noteProvider } from './automatic.ts'
import { failureCard } from './failures.ts'
import type { Decision } from './decision.ts'
import { notifyAgain } from './pending-notices.ts'
import { emitApprovals, emitQuestions } from './waiting.ts'
import { pauseQueue } from './queue.ts'
import type { End } from './state.ts'
import { leaveSteers } from './steers.ts'
import { closeOpenItem } from './streamed-items.ts'
import { endSubagentsOf } from './subagents.ts'

export function settle(decision: Decision, end: End): void {
  const turnId = decision.turn.id
  closeOpenItem(decision, end.outcome === 'completed' ? 'final' : 'partial')
  endSubagentsOf(decision, turnId, end.outcome)
  endOpenItems(decision, end.outcome)
  if (end.outcome === 'completed') markFinalText(decision)
  leaveSteers(decision)
  if (decision.turn.stop?.reason === 'person') pauseQueue(decision, 'stop')
  notifyAgain(decision)
  settlePlan(decision, end.outcome)
  if (end.error && end.outcome === 'failed')
    decision.put({
      kind: 'error',
      id: decision.newId(),
      stepId: null,
      ...failureCard(end.error),
      status: 'final',
      endedAt: decision.now,
      contextual: false,
    })
  if (end.outcome === 'failed' && decision.environment.settings['queue.pauseOnFailure']) pauseQueue(decision, 'failure')
  if (end.outcome === 'interrupted') pauseQueue(decision, 'recovery')
  resolveRecovery(decision, turnId)
  if (end.recovery) decision.emit({ type: 'session.recovery', recovery: end.recovery })
  decision.emit({ type: 'turn.status', turnId, status: null })
  noteProvider(decision, end)
  emitSettled(decision, end)
  decision.change({ turn: null })
  decision.effect({ do: 'settled', turnId })
  decision.effect({ do: 'entry' })
  if (end.outcome !== 'stopped' && end.ending !== 'quiet')
    decision.effect({ do: 'notify', kind: end.outcome === 'completed' ? 'settled' : end.outcome })
  decision.effect({ do: 'next' })
}

/** Calls without an end get one: what began and did not report is unknown, what never began was cancelled (T-110, X-708). */
function endOpenItems(decision: Decision, outcome: Outcome): void {
  const turnId = decision.turn.id
  for (const item of decision.state.view.items) {
    // A subagent in the background goes on.
    if (item.turnId !== turnId || item.endedAt !== null || item.kind === 'subagent') continue
    const ended = { status: 'final' as const, endedAt: decision.now }
    if (item.kind === 'tool') {
      if (item.state === 'running')
        decision.patch(item, {
          ...ended,
          state: 'unknown',
          progress: null,
          summary: outcome === 'interrupted' ? 'Lathe ended while it ran.' : 'It did not stop in time.',
        })
      else decision.patch(item, { ...ended, state: 'cancelled' })
    } else if (item.kind === 'approval')
      decision.patch(item, { ...ended, state: outcome === 'interrupted' ? 'interrupted' : 'cancelled' })
    else if (item.kind === 'question')
      decision.patch(item, { ...ended, state: outcome === 'interrupted' ? 'interrupted' : 'cancelled' })
    else decision.patch(item, { ...ended, status: 'partial' })
  }
  emitApprovals(decision)
  emitQuestions(decision)
}

function markFinalText(decision: Decision): void {
  const last = decision.state.view.items.findLast(
    (item) => item.turnId === decision.turn.id && item.visible && (item.kind === 'text' || item.kind === 'tool'),
  )
  if (last?.kind === 'text' && !last.final) decision.patch(last, { final: true })
}

/** A plan is finished only by a turn that completed (T-83). */
function settlePlan(decision: Decision, outcome: Outcome): void {
  const { plan } = decision.header
  if (!plan || plan.settled || outcome !== 'completed') return
  if (plan.entries.every((entry) => entry.state === 'done' || entry.state === 'dropped')) {
    decision.emit({ type: 'plan.changed', turnId: decision.turn.id, plan: { ...plan, settled: true } })
  }
}

/** The settle of a continuation resolves the recovery it came from (T-194). */
function resolveRecovery(decision: Decision, turnId: string): void {
  const { recovery } = decision.header
  const continues = decision.state.view.turns.find((row) => row.id === turnId)?.continues
  if (recovery?.status === 'resuming' && continues === recovery.turnId) {
    decision.emit({ type: 'session.recovery', recovery: { ...recovery, status: 'resolved' } })
  }
}

function emitSettled(decision: Decision, end: End): void {
  const { turn, now, header } = decision
  const { view } = decision.state
  const running = view.turn
  const before = view.turns.find((row) => row.id === turn.id)
  if (!before) throw new Error(`Turn ${turn.id} has no row.`)
  const usage = running?.usage ?? before.usage
  const row: Turn = {
    ...before,
    settledAt: now,
    outcome: end.outcome,
    ...(end.ending ? { ending: end.ending } : {}),
    ...(end.reason ? { reason: end.reason } : {}),
    ...(end.error
      ? {
          error: {
            code: end.error.code,
            message: end.error.message,
            ...(end.error.hint ? { hint: end.error.hint } : {}),
          },
        }
      : {}),
    durationMs: Math.max(0, now - turn.startedAt),
    waitedMs: turn.waitedMs + (turn.personSince === null ? 0 : Math.max(0, now - turn.personSince)),
    usage,
    rate: turn.rateMs > 0 ? Math.round((turn.rateTokens / turn.rateMs) * 10_000) / 10 : null,
    ...(turn.servedBy ? { servedBy: turn.servedBy } : {}),
  }
  const quiet = end.ending === 'quiet'
  const seq = header.lastSeq + 1
  const session: SessionHeader = {
    ...header,
    rev: header.rev + 1,
    lastSeq: seq,
    currentTurnId: null,
    lastTurnId: turn.id,
    lastOutcome: end.outcome,
    ...(quiet ? {} : { updatedAt: now, notableSeq: seq }),
    lastUsage: usage,
  }
  const items = view.items.filter((item) => item.turnId === turn.id && item.visible)
  decision.emit({
    type: 'turn.settled',
    turnId: turn.id,
    outcome: end.outcome,
    ...(end.ending ? { ending: end.ending } : {}),
    ...(end.reason ? { reason: end.reason } : {}),
    ...(row.error ? { error: row.error } : {}),
    usage,
    durationMs: row.durationMs ?? 0,
    ...(turn.servedBy ? { servedBy: turn.servedBy } : {}),
    items: items.slice(-sliceItems).map(clipItem),
    itemsOmitted: Math.max(0, items.length - sliceItems),
    turn: row,
    session,
  })
}
