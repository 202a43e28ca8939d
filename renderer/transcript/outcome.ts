/** How a turn ended, in words read from its row alone (S-63). */
import type { Turn } from '../../preload/contract/session.ts'

const endings: Record<NonNullable<Turn['ending']>, string> = {
  answer: 'Completed',
  max_steps: 'Reached the step limit',
  no_final_text: 'Completed without a final answer',
  output_limit: 'Cut at the output limit',
  budget: 'Reached its budget',
  quiet: 'Nothing to report',
}

const stopReasons: Record<string, string> = {
  yielded: 'Paused for your message',
  timeout: 'Stopped: out of time',
  time_limit: 'Stopped: out of time',
  session_deleted: 'Stopped with its session',
  withdrawn: 'Withdrawn',
}

export function outcomeWords({ outcome, ending, reason }: Pick<Turn, 'outcome' | 'ending' | 'reason'>): string {
  switch (outcome) {
    case 'completed':
      return endings[ending ?? 'answer']
    case 'stopped':
      return stopReasons[reason ?? ''] ?? 'Stopped'
    case 'failed':
      return 'Failed'
    case 'interrupted':
      return 'Interrupted'
    case null:
      return 'Running'
  }
}

/** Whether something was left open that another turn could go on with (T-181). */
export function isUnfinished({ outcome, ending }: Pick<Turn, 'outcome' | 'ending'>): boolean {
  if (outcome === 'completed') return ending === 'max_steps' || ending === 'output_limit' || ending === 'budget'
  return outcome === 'stopped' || outcome === 'failed' || outcome === 'interrupted'
}

const sources: Partial<Record<Turn['source'], string>> = {
  recovery: 'Continued',
  schedule: 'From a schedule',
  trigger: 'From a trigger',
  process: 'From a finished process',
  subagent: 'From a subagent',
  session: 'From another session',
  goal: 'From the goal',
}

export function sourceWords(source: Turn['source']): string | null {
  return sources[source] ?? null
}
