/** What enters a session's mailbox: commands of clients and services, reports of the turn's worker. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type {
  ApprovalDecision,
  Attachment,
  Automation,
  ItemOf,
  Mention,
  ResolvedMention,
  Rule,
  ToolView,
} from '../../preload/contract/items.ts'
import type {
  ApprovalMode,
  ChangedFile,
  ExecEnd,
  ExecSession,
  ItemSlice,
  TurnSource,
} from '../../preload/contract/session.ts'
import type { ChosenAgent } from '../agent/agent-files.ts'
import type { Report } from '../agent/reports.ts'
import type { Point, Restoring } from '../storage/storage.ts'
import type { CompactionCommand } from './compaction.ts'
import type { SideCommand } from './side-commands.ts'
import type { Attendance, StopReason } from './state.ts'
import type { AskCommand } from './subagent-asks.ts'
import type { SubagentCommand } from './subagents.ts'

/** A checked message: attachments are stored, model and workspace resolved (T-15). */
export type Message = {
  requestId: string
  /** SHA-256 of the canonical JSON of what was asked (T-13). */
  fingerprint: string
  text: string
  prompt?: string
  attachments: Attachment[]
  mentions?: ResolvedMention[] | undefined
  model: string
  /** Absent: the built-in one. */
  agent?: ChosenAgent
  /** What the person named for this message, or for the one it repeats; where it waits, all else is the session's then (T-18). */
  asked?: { model?: string; agent?: string | null }
  /** The session's choice that is no longer configured, in whose place `model` answers (M-25). */
  replaced?: string
  source: TurnSource
  attendance: Attendance
  /** Nobody waits for it, whatever its source says: a subagent's turn is as its parent's (C-95). */
  background?: boolean
  /** What starts it, where no person does. */
  automation?: Automation
  /** What makes its delivery idempotent: once each has a turn, that is the answer (T-27). */
  completionKeys?: readonly string[]
  retryOf?: string
  continues?: string
}

/** A change with the call that made it, where one did. */
export type RecordedChange = ChangedFile & { callId?: string | undefined }

/** `point` was true at `seq`; `ending` is the stretch before it, for readers that hold nothing older. */
export type RewindCommand = {
  type: 'rewind'
  seq: number
  point: Point
  ending: ItemSlice
  message: Message | null
  /** The files of the turns set aside were set back before: the mark says so (S-80). */
  withFiles: boolean
}

export type RestoreCommand = { type: 'rewind.restore'; seq: number; markItemId: string; back: Restoring }

/** `mark` as stored; it may be older than what is in memory. */
export type DeleteCommand = { type: 'rewind.delete'; mark: ItemOf<'rewind'> }

export type Command =
  /** The reply this request had already, else null (T-13). Changes nothing. */
  | { type: 'earlier'; requestId: string; fingerprint: string }
  /** The turn that answers all of these keys already, else null (T-27). Changes nothing. */
  | { type: 'delivered'; completionKeys: readonly string[] }
  | { type: 'submit'; message: Message; whenBusy: 'refuse' | 'queue' | 'steer' }
  | { type: 'stop'; turnId: string; reason: StopReason }
  | {
      type: 'steer.add'
      turnId: string
      requestId: string
      fingerprint: string
      text: string
      attachments: Attachment[]
      mentions?: ResolvedMention[] | undefined
    }
  | {
      type: 'steer.edit'
      steerId: string
      text: string
      attachments: Attachment[]
      mentions?: ResolvedMention[] | undefined
    }
  | { type: 'steer.withdraw'; steerId: string }
  | { type: 'steer.sendNow'; steerId: string }
  | { type: 'followUp.add'; text: string; attachments: Attachment[]; mentions?: Mention[] | undefined }
  | {
      type: 'followUp.edit'
      id: string
      revision: number
      text: string
      attachments: Attachment[]
      mentions?: Mention[] | undefined
    }
  | { type: 'followUp.move'; id: string; before: string | null }
  | { type: 'followUp.remove'; id: string }
  | { type: 'followUp.clear' }
  | { type: 'followUp.steerNow'; id: string; mentions?: ResolvedMention[] | undefined }
  | { type: 'followUp.start'; id: string; message: Message; byPerson: boolean }
  | { type: 'queue.pause' }
  | { type: 'queue.resume' }
  | { type: 'queue.refused'; id: string; error: ErrorBody }
  | {
      type: 'approval.answer'
      approvalId: string
      argsHash: string
      decision: ApprovalDecision
      scope: 'workspace' | 'always'
      feedback?: string
    }
  | { type: 'approval.expired'; approvalId: string }
  | { type: 'rules.changed' }
  | { type: 'grants.add'; rules: Rule[] }
  | SubagentCommand
  | AskCommand
  | {
      type: 'question.answer'
      questionId: string
      choices: string[]
      text: string | null
      secret: string | null
      declined: boolean
    }
  | { type: 'question.expired'; questionId: string }
  | { type: 'recovery.continue'; recoveryId: string; message: Message }
  | { type: 'recovery.dismiss'; recoveryId: string }
  | { type: 'hold.release' }
  | SideCommand
  | CompactionCommand
  | { type: 'notices.expire' }
  /** The person types or chooses: the count begins anew (T-149). */
  | { type: 'question.touched'; questionId: string }
  | RewindCommand
  | RestoreCommand
  | DeleteCommand
  /** Changes no call reports: put back by the person, or found after a crash. `told` goes to the agent (F-909). */
  | { type: 'changes.record'; turnId: string; changes: RecordedChange[]; told?: string; notice?: string }
  /** Changes found when nobody waits for them any more: made by a process, or by a subagent of the turn. */
  | { type: 'changes.late'; turnId: string; changes: ChangedFile[]; notice: string | null }
  /** What the person decided on a hunk, or with `hunkId` null on the whole file (F-907). */
  | { type: 'changes.review'; changeId: string; hunkId: string | null; state: 'accepted' | 'rejected' | 'open' }
  /** Files were set back from `from`, or brought forward again (F-1008, F-1010); `written` are the gate's own records. */
  | {
      type: 'changes.undone'
      files: { changeId: string; from: string | null }[]
      undone: boolean
      told: string
      written: string[]
    }
  | { type: 'rename'; title: string; ifRev?: number }
  | { type: 'title'; title: string; source: 'generated' | 'fallback'; rev: number }
  | { type: 'pin'; pinned: boolean }
  | { type: 'archive'; archived: boolean }
  | { type: 'delete' }
  | { type: 'restore' }
  | { type: 'markRead'; seq: number; unread: boolean }
  | {
      type: 'settings'
      model?: string | null
      effort?: string | null
      agent?: string | null
      approvalMode?: ApprovalMode
      forApproval?: string
    }
  | { type: 'folder.put'; path: string; writable: boolean }
  | { type: 'folder.remove'; path: string }
  | { type: 'workspace.moved'; to: string }
  | { type: 'command.started'; itemId: string; line: string; title: string; folder: string }
  | {
      type: 'command.ended'
      itemId: string
      exitCode: number | null
      signal: string | null
      view: ToolView
      summary: string
      output: string
      stopped: boolean
    }
  | { type: 'command.output'; itemId: string; add: string }
  /** Its output so far goes with the person's next message. */
  | { type: 'command.noted'; itemId: string; state: string; output: string }
  /** Answers `{ id }`, the number it has from now on. */
  | { type: 'exec.started'; session: Omit<ExecSession, 'id' | 'state' | 'turnId' | 'end' | 'held' | 'questionId'> }
  | { type: 'exec.changed'; id: string; set: { state?: 'running' | 'stopping'; held?: boolean } }
  | { type: 'exec.asks'; id: string; prompt: string }
  | { type: 'exec.answered'; id: string }
  /** `notice` where the agent is to be told of the end. */
  | { type: 'exec.ended'; id: string; end: ExecEnd; notice: { text: string; prompt: string } | null }
  /** A subagent was told of the end. */
  | { type: 'exec.told'; id: string }
  /** What was started for the session could not be ended. */
  | { type: 'exec.unreaped'; preview: string; pids: number[] }

export type Input = { kind: 'command'; command: Command } | { kind: 'report'; turnId: string; report: Report }

const keptCommands = new Set<Command['type']>([
  'stop',
  'command.ended',
  'exec.ended',
  'compaction.end',
  'exec.told',
  'changes.late',
  'grants.add',
  'subagent.asks',
  'subagent.ended',
  'subagent.stop',
])

/** Inputs that nobody would send again: reports of a worker or a subagent, Stop, the end of a process, late changes. */
export function isKept(input: Input): boolean {
  return input.kind === 'report' || keptCommands.has(input.command.type)
}
