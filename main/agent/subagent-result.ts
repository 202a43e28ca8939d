/** What a subagent's turn came to, as its parent is told (C-98): pure, from its transcript and its turn's row. */
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import type { Turn } from '../../preload/contract/session.ts'

export type SubagentResult = {
  phase: 'done' | 'failed' | 'stopped'
  reason?: 'error' | 'step_limit' | 'no_text' | 'interrupted'
  text: string
}

const stepsNamed = 3

/** The final text; without one, what was done last and why it ended. `items` are those of `turn`, in order. */
export function subagentResult(items: readonly Item[], turn: Turn): SubagentResult {
  const { outcome, ending, error } = turn
  if (outcome === 'stopped')
    return { phase: 'stopped', text: progress(items, 'It was stopped before it had finished.') }
  if (outcome === 'interrupted')
    return { phase: 'failed', reason: 'interrupted', text: progress(items, 'Lathe ended while it ran.') }
  if (outcome === 'failed')
    return {
      phase: 'failed',
      reason: 'error',
      text: progress(items, error?.message ?? lastFailure(items) ?? 'It failed.'),
    }
  if (ending === 'max_steps')
    return {
      phase: 'failed',
      reason: 'step_limit',
      text: progress(items, `It reached its limit of ${turn.steps} steps.`),
    }
  const said = items.findLast((item) => item.kind === 'text' && item.final)
  const text = said?.kind === 'text' ? said.text.trim() : ''
  if (text !== '') return { phase: 'done', text }
  return { phase: 'failed', reason: 'no_text', text: progress(items, 'It ended without an answer.') }
}

/** Up to three of the last finished calls, then why it went no further. */
function progress(items: readonly Item[], why: string): string {
  const done = items.filter((item): item is ItemOf<'tool'> => item.kind === 'tool' && item.state === 'ok')
  return [...done.slice(-stepsNamed).map(({ name, title }) => `${name}: ${title || name}`), why].join('\n')
}

function lastFailure(items: readonly Item[]): string | null {
  const failed = items.findLast((item) => item.kind === 'tool' && item.state === 'error')
  return failed?.kind === 'tool' ? `${failed.name}: ${failed.summary}` : null
}
