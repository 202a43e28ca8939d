/** What enters a session's mailbox: commands of clients and services, reports of the turn's worker. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { Attachment, ApprovalDecision, Choice, Plan, ToolView } from '../../preload/contract/items.ts'
import type { ApprovalMode, ChangedFile, ContextFigures, Ending, TurnSource, Usage } from '../../preload/contract/session.ts'
import type { CallPlan, ToolProgress } from '../tools/tool.ts'
import type { Attendance, StopReason } from './state.ts'

/** A checked message: attachments are stored, model and workspace resolved (T-15). */
export type Message = {
  requestId: string
  /** SHA-256 of the canonical JSON of what was asked (T-13). */
  fingerprint: string
  text: string
  prompt?: string
  attachments: Attachment[]
  model: string
  source: TurnSource
  attendance: Attendance
  retryOf?: string
  continues?: string
}

export type Command =
  | { type: 'submit'; message: Message; whenBusy: 'refuse' | 'queue' | 'steer' }
  | { type: 'stop'; turnId: string; reason: StopReason }
  | { type: 'steer.add'; turnId: string; requestId: string; fingerprint: string; text: string; attachments: Attachment[] }
  | { type: 'steer.edit'; steerId: string; text: string; attachments: Attachment[] }
  | { type: 'steer.withdraw'; steerId: string }
  | { type: 'steer.sendNow'; steerId: string }
  | { type: 'followUp.add'; text: string; attachments: Attachment[] }
  | { type: 'followUp.edit'; id: string; revision: number; text: string; attachments: Attachment[] }
  | { type: 'followUp.move'; id: string; before: string | null }
  | { type: 'followUp.remove'; id: string }
  | { type: 'followUp.clear' }
  | { type: 'followUp.steerNow'; id: string }
  | { type: 'followUp.start'; id: string; message: Message; byPerson: boolean }
  | { type: 'queue.pause' }
  | { type: 'queue.resume' }
  | { type: 'queue.refused'; error: ErrorBody }
  | { type: 'approval.answer'; approvalId: string; argsHash: string; decision: ApprovalDecision; scope: 'workspace' | 'always'; feedback?: string }
  | { type: 'rules.changed' }
  | { type: 'question.answer'; questionId: string; choices: string[]; text: string | null; secret: string | null; declined: boolean }
  | { type: 'question.expired'; questionId: string }
  | { type: 'recovery.continue'; recoveryId: string; message: Message }
  | { type: 'recovery.dismiss'; recoveryId: string }
  | { type: 'hold.release' }
  | { type: 'rename'; title: string; ifRev?: number }
  | { type: 'title'; title: string; source: 'generated' | 'fallback'; rev: number }
  | { type: 'pin'; pinned: boolean }
  | { type: 'archive'; archived: boolean }
  | { type: 'delete' }
  | { type: 'restore' }
  | { type: 'markRead'; seq: number; unread: boolean }
  | { type: 'settings'; model?: string | null; effort?: string | null; approvalMode?: ApprovalMode; forApproval?: string }
  | { type: 'workspace.moved'; to: string }
  | { type: 'command.started'; itemId: string; line: string; title: string; folder: string }
  | { type: 'command.ended'; itemId: string; exitCode: number | null; signal: string | null; view: ToolView; summary: string; output: string; stopped: boolean }

export type Question = { ask: 'choice' | 'text' | 'secret'; text: string; choices: Choice[]; multiple: boolean; allowText: boolean }

/** What ended a tool call, as the card shows it. */
export type ToolEnd = { state: 'ok' | 'error' | 'denied' | 'cancelled' | 'unknown'; code?: string | undefined; summary: string; view: ToolView | null; durationMs: number | null }

export type Report =
  | { type: 'preparing' }
  | { type: 'slot'; waiting: boolean }
  | { type: 'running' }
  | { type: 'stepStarted'; stepId: string; step: number; model: string }
  | { type: 'stream'; channel: 'text' | 'reasoning'; add: string }
  | { type: 'streamClosed' }
  | { type: 'discarded' }
  | { type: 'reading'; percent: number | null }
  | { type: 'wait'; wait: { code: string; provider: string; label: string; until: number | null; untilKind: 'reset' | 'retry'; attempt: number; of: number } | null }
  | { type: 'notice'; level: 'info' | 'warning'; text: string }
  | { type: 'toolProposed'; itemId: string; callId: string; name: string; title: string; args: unknown }
  | { type: 'toolReady'; ticket: string; itemId: string; tool: string; title: string; plan: CallPlan; argsHash: string }
  | { type: 'toolOutput'; itemId: string; add: string }
  | { type: 'toolProgress'; itemId: string; progress: ToolProgress }
  | { type: 'toolEnded'; itemId: string; end: ToolEnd; changes: ChangedFile[] }
  | { type: 'asked'; ticket: string; itemId: string; question: Question }
  | { type: 'planned'; plan: Plan }
  | { type: 'usage'; turn: Usage; context: ContextFigures; rate: number | null }
  | { type: 'stepEnded'; stepId: string; finish: 'stop' | 'tools' | 'length' | 'aborted' | 'error'; usage: Usage | null; turn: Usage; context: ContextFigures; firstTokenMs: number | null; streamedMs: number; servedBy: string | null }
  | { type: 'boundary' }
  | { type: 'mayEnd'; ending: Ending }
  | { type: 'failed'; error: ErrorBody & { detail?: string | undefined; retryAt?: number | undefined } }
  /** The worker has unwound: nothing of it will report any more. */
  | { type: 'unwound' }
  | { type: 'drainExpired' }

export type Input = { kind: 'command'; command: Command } | { kind: 'report'; turnId: string; at: number; report: Report }

/** What a steer becomes when it is handed over: a user message already in the transcript. */
export type HandedSteer = { itemId: string; text: string; attachments: Attachment[] }
