/** What a turn's worker tells its session, and what it is told: data only, so that the actor can decide on it purely. */
import type { ErrorBody, ErrorCode } from '../../preload/contract/errors.ts'
import type { Attachment, ResolvedMention, Plan, ToolView } from '../../preload/contract/items.ts'
import type { CallInWriting, ChangedFile, ContextFigures, Ending } from '../../preload/contract/session.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import type { ModelWait } from '../models/model.ts'
import type { CallPlan, Question, QuestionAnswer, ToolProgress } from '../tools/tool.ts'

/** What ended a tool call, as the card shows it. */
export type ToolEnd = {
  state: 'ok' | 'error' | 'denied' | 'cancelled' | 'unknown'
  code?: ErrorCode | undefined
  /** The third call of its turn that ran into the boundary. */
  escalated?: boolean | undefined
  summary: string
  /** The whole text the model reads, where `summary` is only its beginning. */
  resultRef?: string | undefined
  view: ToolView | null
  durationMs: number | null
  /** The exec session whose end this result tells. */
  toldEndOf?: string | undefined
}

export type Report =
  | { type: 'preparing' }
  | { type: 'slot'; waiting: boolean }
  | { type: 'running' }
  | { type: 'stepStarted'; stepId: string; step: number; model: string }
  | { type: 'stream'; channel: 'text' | 'reasoning'; add: string }
  | { type: 'streamClosed' }
  /** What the request under way showed goes; `keep` characters of the step were shown by requests before it. */
  | { type: 'discarded'; keep: number }
  | { type: 'reading'; percent: number | null }
  /** A call that writes files, while its arguments arrive; null once they are there or gone. */
  | { type: 'writing'; call: CallInWriting | null }
  | { type: 'wait'; wait: ModelWait | null }
  /** `key` also keeps it above the message for a while, where the same key replaces (T-84). */
  | { type: 'notice'; level: 'info' | 'warning'; text: string; key?: string }
  | {
      type: 'toolProposed'
      itemId: string
      callId: string
      name: string
      title: string
      args: unknown
      argsRef?: string
    }
  | {
      type: 'toolReady'
      ticket: string
      itemId: string
      tool: string
      title: string
      plan: CallPlan
      argsHash: string
      /** It reads and can be done again: nothing outside changes by it. */
      looksOnly?: boolean
    }
  | { type: 'toolOutput'; itemId: string; add: string }
  | { type: 'toolProgress'; itemId: string; progress: ToolProgress }
  | { type: 'toolEnded'; itemId: string; end: ToolEnd; changes: ChangedFile[] }
  | { type: 'asked'; ticket: string; itemId: string; question: Question }
  | { type: 'planned'; plan: Plan }
  | { type: 'usage'; turn: Usage; context: ContextFigures; rate: number | null }
  | {
      type: 'stepEnded'
      stepId: string
      finish: 'stop' | 'tools' | 'length' | 'aborted' | 'error'
      usage: Usage | null
      turn: Usage
      context: ContextFigures
      firstTokenMs: number | null
      streamedMs: number
      servedBy: string | null
    }
  /** The turn waits for a summary of older turns, since then; null once it goes on (T-63). */
  | { type: 'compacting'; since: number | null }
  /** Results that no later request holds (C-52). */
  | { type: 'pruned'; itemIds: string[] }
  | { type: 'boundary' }
  | { type: 'mayEnd'; ending: Ending }
  | {
      type: 'failed'
      error: ErrorBody & {
        detail?: string | undefined
        retryAt?: number | undefined
        provider?: string | undefined
      }
    }
  /** The worker has unwound: nothing of it will report any more. */
  | { type: 'unwound' }
  | { type: 'drainExpired' }

/** What a steer becomes when it is handed over: a user message already in the transcript. */
export type HandedSteer = {
  itemId: string
  text: string
  attachments: Attachment[]
  mentions?: ResolvedMention[] | undefined
}

/** What a worker that may not end its turn yet waits for. */
export const endTicket = 'end'

/**
 * What the worker is told at once; approvals and answers come later, by ticket. `notices`: ends of processes and subagents,
 * as the model reads them (X-604, C-100). `waits`: the turn cannot end yet, and is to be asked again once ticket `end` is
 * answered (T-42).
 */
export type ReportAnswer = { steers: HandedSteer[]; ended: boolean; notices?: string[]; waits?: boolean } | null

/** What a ticket is answered with: a call may run or may not, a question was answered or was not. */
export type Release = { run: true } | { run: false; error: ErrorBody; state: 'denied' | 'cancelled' } | QuestionAnswer
