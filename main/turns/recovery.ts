/** Recovery at start (turns.md 19): settles what a crash left open. It asks no model, runs no tool, starts nothing. */
import { LatheError } from '../../preload/contract/errors.ts'
import { recoveriesContinuedMax } from '../../preload/contract/limits.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { SubmitReply } from '../../preload/contract/routes.ts'
import type { Recovery } from '../../preload/contract/session.ts'
import { admit } from './admission.ts'
import type { Decision } from './decision.ts'
import type { Message } from './inputs.ts'
import { checkMutable } from './requests.ts'
import { settle } from './settle.ts'
import { newTurn } from './state.ts'

/** Settles the turn that `view` shows unsettled; `events` are that turn's, as found in the journal. */
export function recover(decision: Decision, events: readonly StoredEvent[]): void {
  const row = decision.state.view.turns.find((one) => one.outcome === null)
  if (!row) return
  const running = decision.state.view.items.filter(
    (item) => item.turnId === row.id && item.kind === 'tool' && item.state === 'running',
  )
  decision.change({
    turn: {
      ...newTurn(row.id, row.startedAt, {
        attendance: 'attended',
        background: row.origin === 'background',
        usageBefore: decision.header.usage,
      }),
      openItemId:
        decision.state.view.items.findLast(
          (item) =>
            item.turnId === row.id && item.status === 'live' && (item.kind === 'text' || item.kind === 'reasoning'),
        )?.id ?? null,
    },
  })
  if (running.length === 0 && hadAnswered(decision, events)) {
    return settle(decision, { outcome: 'completed', ending: 'answer' })
  }
  const before = decision.header.recovery
  const again = row.continues !== undefined
  const attempts = again && before && before.turnId === row.continues ? before.attempts : 0
  const tool = running[0]?.kind === 'tool' ? running[0].title : undefined
  const recovery: Recovery = {
    recoveryId: decision.newId(),
    turnId: row.id,
    status: 'awaiting',
    reason: tool !== undefined ? 'tool_state_unknown' : again ? 'loop_guard' : 'confirm',
    canContinue: attempts < recoveriesContinuedMax,
    attempts,
    ...(tool === undefined ? {} : { tool }),
  }
  decision.changeHeader({ automaticHeld: decision.header.automaticHeld ?? { since: decision.now, by: 'recovery' } })
  settle(decision, { outcome: 'interrupted', reason: recovery.reason })
  decision.emit({ type: 'session.recovery', recovery })
}

/** The last step ended by itself with text, and no steer waited: only the settle was lost (T-185). */
function hadAnswered(decision: Decision, events: readonly StoredEvent[]): boolean {
  const last = events.findLast((event) => event.type === 'step.ended' || event.type === 'step.started')
  if (last?.type !== 'step.ended' || last.finish !== 'stop') return false
  if ((decision.state.view.turn?.steers.length ?? 0) > 0) return false
  const final = decision.state.view.items.findLast(
    (item) => item.turnId === last.turnId && item.visible && (item.kind === 'text' || item.kind === 'tool'),
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
