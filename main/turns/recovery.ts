/** Recovery at start (turns.md 19): settles what a crash left open. It asks no model, runs no tool, starts nothing. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { Item } from '../../preload/contract/items.ts'
import type { Recovery } from '../../preload/contract/session.ts'
import { admit } from './admission.ts'
import type { Decision } from './decision.ts'
import type { Message } from './inputs.ts'
import { continued, interrupt } from './interrupt.ts'
import { checkMutable } from './requests.ts'
import { settle } from './settle.ts'
import { newTurn } from './state.ts'

/**
 * Settles the turn that `view` shows unsettled; `events` are that turn's, as found in the journal. `fault` says what was
 * wrong with them, where something was.
 */
export function recover(
  decision: Decision,
  events: readonly StoredEvent[],
  fault: Recovery['reason'] | null = null,
): void {
  const row = decision.state.view.turns.find((one) => one.outcome === null)
  if (!row) return
  const items = decision.state.view.items.filter((item) => item.turnId === row.id)
  const streaming = items.findLast(
    (item) => item.status === 'live' && (item.kind === 'text' || item.kind === 'reasoning'),
  )
  const attendance = {
    attendance: 'attended',
    background: row.origin === 'background',
    agent: null,
    usageBefore: decision.header.usage,
  } as const
  decision.change({ turn: { ...newTurn(row.id, row.startedAt, attendance), openItemId: streaming?.id ?? null } })
  const running = items.find((item) => item.kind === 'tool' && item.state === 'running')
  // Their Stop was accepted: nothing is left to ask them.
  if (wasStopped(decision, events)) return settle(decision, { outcome: 'stopped', reason: 'person' })
  if (fault) return interrupt(decision, fault)
  if (running?.kind === 'tool') return interrupt(decision, 'tool_state_unknown', { tool: running.title })
  if (hadAnswered(items, events)) return settle(decision, { outcome: 'completed', ending: 'answer' })
  interrupt(decision, continued(decision, row) ? 'loop_guard' : 'confirm')
}

/** The person stopped it and only the end was lost. */
function wasStopped(decision: Decision, events: readonly StoredEvent[]): boolean {
  const status = events.findLast((event) => event.type === 'turn.status')
  return (
    status?.type === 'turn.status' && status.status?.kind === 'stopping' && decision.header.automaticHeld?.by === 'stop'
  )
}

/** The last step ended by itself with text, and nothing was said to the agent after it: only the settle was lost (T-185). */
function hadAnswered(items: readonly Item[], events: readonly StoredEvent[]): boolean {
  const last = events.findLast((event) => event.type === 'step.ended' || event.type === 'step.started')
  if (last?.type !== 'step.ended' || last.finish !== 'stop') return false
  const steers = events.findLast((event) => event.type === 'steers.changed')
  if (steers?.type === 'steers.changed' && steers.steers.length > 0) return false
  const final = items.findLast(
    (item) => item.visible && (item.kind === 'text' || item.kind === 'tool' || item.kind === 'user'),
  )
  return final?.kind === 'text' && final.text.trim() !== ''
}

export function continueRecovery(decision: Decision, recoveryId: string, message: Message): SubmitReply {
  checkMutable(decision.state)
  const recovery = awaiting(decision, recoveryId)
  if (!recovery.canContinue)
    throw new LatheError('recovery.not_continuable', 'This turn cannot go on.', {
      hint: 'Dismiss it and send a new message.',
    })
  if (decision.state.turn)
    throw new LatheError('turn.busy', 'A turn is running in this session.', {
      data: { turnId: decision.state.turn.id },
    })
  return admit(decision, { ...message, source: 'recovery', continues: recovery.turnId }, null)
}

/** Resolves it and leaves the hold: only a person's message or "Resume" releases that (T-194). */
export function dismissRecovery(decision: Decision, recoveryId: string): { ok: true } {
  checkMutable(decision.state)
  decision.emit({ type: 'session.recovery', recovery: { ...awaiting(decision, recoveryId), status: 'resolved' } })
  decision.effect({ do: 'entry' })
  return { ok: true }
}

function awaiting(decision: Decision, recoveryId: string): Recovery {
  const { recovery } = decision.header
  if (!recovery || recovery.recoveryId !== recoveryId || recovery.status !== 'awaiting') {
    throw new LatheError('recovery.stale', 'This recovery was resolved already.')
  }
  return recovery
}
