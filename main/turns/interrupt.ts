/** A turn that a crash or a quit cut short: it ends unfinished and waits for the person (turns.md 19). */
import { recoveriesContinuedMax } from '../../preload/contract/limits.ts'
import type { Recovery, Turn } from '../../preload/contract/session.ts'
import { newHold } from './automatic.ts'
import type { Decision } from './decision.ts'
import { settle } from './settle.ts'

/** Held, its queue paused, with a record of what may be done (T-192, T-193). */
export function interrupt(
  decision: Decision,
  reason: Recovery['reason'],
  more: { tool?: string; because?: string } = {},
): void {
  const turnId = decision.turn.id
  const row = decision.state.view.turns.find((one) => one.id === turnId)
  const attempts = row ? (continued(decision, row)?.attempts ?? 0) : 0
  const isRestored = reason !== 'unknown_format' && reason !== 'invalid_format' && reason !== 'recovery_failed'
  const recovery: Recovery = {
    recoveryId: decision.newId(),
    turnId,
    status: 'awaiting',
    reason,
    canContinue: isRestored && attempts < recoveriesContinuedMax,
    attempts,
    ...(more.tool === undefined ? {} : { tool: more.tool }),
  }
  decision.changeHeader({ automaticHeld: decision.header.automaticHeld ?? newHold(decision, 'recovery') })
  settle(decision, { outcome: 'interrupted', reason: more.because ?? reason, recovery })
}

/** The record of the recovery that this turn continues, if it continues one. */
export function continued(decision: Decision, row: Turn): Recovery | null {
  const { recovery } = decision.header
  return recovery && row.continues === recovery.turnId ? recovery : null
}
