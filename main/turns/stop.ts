/** Stop (turns.md 11): one synchronous step that aborts, withdraws and holds; draining and the settle follow. */
import { drainMs, drainYieldingMs } from '../../preload/contract/limits.ts'
import type { StopReply } from '../../preload/contract/session-routes.ts'
import { withdrawApprovals } from './approvals.ts'
import { newHold } from './automatic.ts'
import type { Decision } from './decision.ts'
import { interrupt } from './interrupt.ts'
import { pauseQueue } from './queue.ts'
import { withdrawQuestions } from './questions.ts'
import { settle } from './settle.ts'
import { openSubagents, runsNow, stopSubagents } from './subagents.ts'
import type { StopReason } from './state.ts'
import { withdrawAll } from './steers.ts'

/** `keepSteers`: whoever stops has no composer at hand that would take them back; they wait in the queue instead. */
export function stop(
  decision: Decision,
  command: { turnId: string; reason: StopReason; keepSteers?: boolean },
): StopReply {
  const { turn } = decision.state
  const byPerson = command.reason === 'person'
  if (!turn || turn.id !== command.turnId) {
    const row = decision.state.view.turns.find((one) => one.id === command.turnId)
    // Stop on the newest turn, just settled, still means "nothing more by itself" (T-103); on an older one it means nothing (T-104).
    const newest = !turn && decision.header.lastTurnId === command.turnId
    if (newest && byPerson) hold(decision)
    return { stopped: false, why: newest ? 'settled' : row ? 'not_current' : 'unknown' }
  }
  if (byPerson) hold(decision)
  if (turn.phase === 'stopping') {
    // A turn that yields may take its time, but not from a person who does not want to wait for it.
    if (byPerson && turn.stop?.reason === 'yielded') decision.effect({ do: 'drain', turnId: turn.id, ms: drainMs })
    return { stopped: true, withdrawn: [] }
  }
  const neverRan = turn.phase === 'starting'
  decision.changeTurn({ phase: 'stopping', stop: { reason: command.reason, at: decision.now } })
  decision.effect({ do: 'abort', turnId: turn.id, reason: command.reason })
  decision.status()
  withdrawApprovals(decision, 'cancelled')
  withdrawQuestions(decision, 'cancelled')
  const mine = openSubagents(decision.state).filter((card) => byPerson || card.turnId === turn.id)
  stopSubagents(decision, mine, command.reason)
  const withdrawn = byPerson && !command.keepSteers ? withdrawAll(decision) : []
  // Before its admission was durable no worker was scheduled that could unwind (T-98).
  if (neverRan) endStopped(decision, 'unwound')
  else decision.effect({ do: 'drain', turnId: turn.id, ms: command.reason === 'yielded' ? drainYieldingMs : drainMs })
  return { stopped: true, withdrawn }
}

/**
 * The end of a turn that was stopped or had to fail: once its worker has unwound or was given up (T-110), and none of its
 * subagents can act any more (C-102). These have their own time to come to rest, so it is waited for them once more.
 */
export function endStopped(decision: Decision, why: 'unwound' | 'drained' | 'subagentEnded'): void {
  const { failure, stop, id } = decision.turn
  if (why === 'subagentEnded' && !decision.turn.unwound) return
  const drained = decision.turn.drained + (why === 'drained' ? 1 : 0)
  decision.changeTurn({ unwound: true, drained })
  if (drained < 2 && openSubagents(decision.state).some((card) => card.turnId === id && runsNow(card))) {
    if (why === 'drained') decision.effect({ do: 'drain', turnId: id, ms: drainMs })
    return
  }
  if (failure) settle(decision, { outcome: 'failed', error: failure })
  else if (stop?.reason === 'shutdown') interrupt(decision, 'confirm', { because: 'shutdown' })
  else settle(decision, { outcome: 'stopped', reason: stop?.reason ?? 'person' })
}

function hold(decision: Decision): void {
  if (!decision.header.automaticHeld) decision.changeHeader({ automaticHeld: newHold(decision, 'stop') })
  pauseQueue(decision, 'stop')
}
