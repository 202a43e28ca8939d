/** What waits for a person, and the time a turn does, apart from the time it works (T-75, T-92). */
import type { Decision } from './decision.ts'

/** How long an approval or question of the turn may wait: null for ever, 0 not at all (T-139, A-95). */
export function answerLimitMs(decision: Decision): number | null {
  return decision.turn.background ? decision.environment.settings['automations.answerMinutes'] * 60_000 : null
}

export function personWaits(decision: Decision): void {
  if (decision.turn.personSince === null) decision.changeTurn({ personSince: decision.now })
}

export function personAnswered(decision: Decision): void {
  const { personSince, approvals, questions, waitedMs } = decision.turn
  const asked = approvals.size + questions.size + decision.state.subagentAsks.size
  if (personSince === null || asked > 0) return
  decision.changeTurn({ personSince: null, waitedMs: waitedMs + Math.max(0, decision.now - personSince) })
}

/** The oldest open question of the session and how many there are, those of exec sessions counted. */
export function emitQuestions(decision: Decision): void {
  const open = decision.state.view.items.filter((item) => item.kind === 'question' && item.state === 'open')
  const head = open[0]
  decision.emit({ type: 'question.queue', head: head?.kind === 'question' ? head : null, depth: open.length })
}

/** The oldest open approval of the session and how many there are, those of its subagents counted (T-135). */
export function emitApprovals(decision: Decision): void {
  const open = decision.state.view.items.filter((item) => item.kind === 'approval' && item.state === 'open')
  const head = open[0]
  decision.emit({ type: 'approval.queue', head: head?.kind === 'approval' ? head : null, depth: open.length })
}
