/** The status line in words (T-60): the workbench chose what is said, this only says it. */
import type { TurnStatus } from '../../preload/contract/session.ts'
import { durationText } from '../ui/time-text.ts'
import { doingParts } from './tools.ts'

export type StatusText = {
  words: string
  /** Shown in monospace after the words: a command, a file. */
  subject?: string
  /** Start of a clock that runs beside it. */
  since?: number
  tone: 'running' | 'needs' | 'waiting'
}

export function statusText(status: TurnStatus, now: number): StatusText {
  switch (status.kind) {
    case 'stopping':
      return { words: 'Stopping', tone: 'waiting' }
    case 'approval':
      return {
        words: status.depth === 1 ? 'Waiting for your approval' : `Waiting for your approval, ${status.depth} in all`,
        tone: 'needs',
      }
    case 'question':
      return {
        words: status.depth === 1 ? 'Waiting for your answer' : `Waiting for your answer, ${status.depth} in all`,
        tone: 'needs',
      }
    case 'waiting_slot':
      return { words: 'Waiting for another turn to end', tone: 'waiting' }
    case 'compacting':
      return { words: 'Compacting context', since: status.since, tone: 'running' }
    case 'rate_limited':
      return {
        words: `${status.providerLabel} is limiting requests, ${untilWords(status.until, now, status.untilKind === 'reset' ? 'resets' : 'retrying')}`,
        tone: 'waiting',
      }
    case 'retrying':
      return {
        words: `The request failed, ${untilWords(status.until, now, 'retrying')} (${status.attempt} of ${status.of})`,
        tone: 'waiting',
      }
    case 'prompt_reading':
      return {
        words:
          status.percent === null
            ? 'Reading the conversation'
            : `Reading the conversation, ${Math.round(status.percent)} %`,
        tone: 'running',
      }
    case 'writing': {
      const { tool, files, more } = status.call
      const count = files.length + more
      const what = tool === 'apply_patch' ? 'Writing a patch' : 'Writing a file'
      return {
        words: count > 1 ? `${what} of ${count} files` : what,
        ...(count === 1 && files[0]?.path ? { subject: files[0].path } : {}),
        tone: 'running',
      }
    }
    case 'tool': {
      const { verb, subject } = doingParts(status.title)
      return {
        words: verb,
        subject: status.others > 0 ? `${subject} and ${status.others} more` : subject,
        since: status.since,
        tone: 'running',
      }
    }
    case 'subagents':
      return {
        words: status.count === 1 ? 'Waiting for a subagent' : `Waiting for ${status.count} subagents`,
        tone: 'running',
      }
    case 'working':
      return { words: 'Working', tone: 'running' }
  }
}

/** `retrying in 12s`; unknown is just `waiting`; past it, it is happening. */
function untilWords(until: number | null, now: number, verb: string): string {
  if (until === null) return 'waiting'
  if (until <= now) return 'retrying now'
  return `${verb} in ${durationText(Math.ceil((until - now) / 1_000) * 1_000)}`
}
