/** A turn that must fail while its worker still runs: it is aborted first and settles once that has unwound. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { drainMs } from '../../preload/contract/limits.ts'
import type { Decision } from './decision.ts'
import { openSubagents, stopSubagents } from './subagents.ts'

/** Only where nobody is asked (Z-98), so no card or question can be open. */
export function failTurn(decision: Decision, error: ErrorBody): void {
  const { turn } = decision
  if (turn.phase === 'stopping') return
  decision.changeTurn({ phase: 'stopping', failure: error })
  decision.effect({ do: 'abort', turnId: turn.id, reason: 'failed' })
  decision.status()
  stopSubagents(
    decision,
    openSubagents(decision.state).filter(({ turnId }) => turnId === turn.id),
    'withdrawn',
  )
  decision.effect({ do: 'drain', turnId: turn.id, ms: drainMs })
}
