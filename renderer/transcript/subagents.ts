/** A subagent's card in words. Pure. */
import type { ItemOf } from '../../preload/contract/items.ts'

type Card = ItemOf<'subagent'>

export function subagentEnded({ endedAt }: Pick<Card, 'endedAt'>): boolean {
  return endedAt !== null
}

const phases: Record<Card['phase'], string> = {
  queued: 'Waiting for its turn',
  starting: 'Starting',
  model: 'Thinking',
  tools: 'Working',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
}

const reasons: Record<NonNullable<Card['reason']>, string> = {
  error: 'Failed',
  step_limit: 'Reached its step limit',
  no_text: 'Gave no answer',
  interrupted: 'Interrupted',
}

export function subagentWords({ phase, reason }: Pick<Card, 'phase' | 'reason'>): string {
  return phase === 'failed' && reason ? reasons[reason] : phases[phase]
}
