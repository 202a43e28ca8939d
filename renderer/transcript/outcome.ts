/** How a turn ended, in words read from its row alone (S-63). */
import type { SessionView, Turn } from '../../preload/contract/session.ts'

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
  session: 'From another agent',
  goal: 'From the goal',
}

/** What a turn was started by, where no person sent or queued it. */
export function sourceWords({ source, automation }: Pick<Turn, 'source' | 'automation'>): string | null {
  return automation ? `Started by ${automation.name}` : (sources[source] ?? null)
}

/** A turn in one line: an earlier attempt, or one that nobody waited for and that had nothing to tell (T-179, A-117). */
export function foldedWords(turn: Turn): string {
  return turn.ending === 'quiet'
    ? [sourceWords(turn), outcomeWords(turn).toLowerCase()].filter(Boolean).join(': ')
    : `Earlier attempt, ${outcomeWords(turn).toLowerCase()}`
}

/** Whether the session is free for another turn; what was interrupted is decided on first. */
export function canGoOn({ header }: Pick<SessionView, 'header'>): boolean {
  return header.currentTurnId === null && header.recovery?.status !== 'awaiting'
}
