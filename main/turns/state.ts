/**
 * What a session's actor holds: the view clients see (a fold of its events) and the control state of the running turn.
 * Immutable: every decision makes a new one, so rolling back a failed transaction is keeping the old.
 */
import type { ErrorBody, ErrorCode } from '../../preload/contract/errors.ts'
import type { Rule } from '../../preload/contract/items.ts'
import type { NotificationKind } from '../../preload/contract/notifications.ts'
import { blankHeader, noUsage } from '../../preload/contract/fold.ts'
import {
  narrowerMode,
  type ApprovalMode,
  type CallInWriting,
  type ChangedFile,
  type Ending,
  type Outcome,
  type Parent,
  type Recovery,
  type SessionView,
  type TurnStatus,
} from '../../preload/contract/session.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { ChosenAgent } from '../agent/agent-files.ts'
import type { Release } from '../agent/reports.ts'
import type { HiddenRecord, RequestBinding } from '../storage/storage.ts'
import type { CallPlan } from '../tools/tool.ts'

export type Phase = 'starting' | 'preparing' | 'running' | 'stopping'
export type StopReason = 'person' | 'yielded' | 'timeout' | 'time_limit' | 'session_deleted' | 'withdrawn' | 'shutdown'

/** What happens where a person is needed: a card; a failing turn (`lathe run --approve ask`, no terminal); a denial (Z-98). */
export type Attendance = 'attended' | 'fail' | 'deny'

/** A call that was looked at and waits for its verdict or its approval. */
export type PendingCall = { itemId: string; tool: string; plan: CallPlan; argsHash: string; since: number }

export type RunningTool = { itemId: string; title: string; since: number }

export type LiveTurn = {
  id: string
  phase: Phase
  startedAt: number
  attendance: Attendance
  background: boolean
  /** As it was read when the turn was admitted; null: the built-in one. */
  agent: ChosenAgent | null
  stop: { reason: StopReason; at: number } | null
  /** Why the turn fails once its worker has unwound. */
  failure: ErrorBody | null
  stepId: string | null
  /** A model request runs: "send now" may end it (T-120). */
  requestRunning: boolean
  /** The text or reasoning item that streams. */
  openItemId: string | null
  running: RunningTool[]
  /** Open approvals by their item's id, oldest first. */
  approvals: Map<string, PendingCall>
  /** Open questions: question item id to tool item id. */
  questions: Map<string, { itemId: string; since: number }>
  /** Hashes of calls a person denied in this turn (Z-96). */
  denied: Set<string>
  waitingSlot: boolean
  wait: Extract<TurnStatus, { kind: 'rate_limited' | 'retrying' }> | null
  reading: { percent: number | null } | null
  writing: CallInWriting | null
  compactingSince: number | null
  waitedMs: number
  /** First instant since which a person is waited for; null while nobody is. */
  personSince: number | null
  /** Output tokens reported, and the milliseconds they streamed, summed over steps (T-89). */
  rateTokens: number
  rateMs: number
  /** Session usage before this turn, so that session sums are this plus the turn's. */
  usageBefore: Usage
  /** Of its own requests, as its worker last said. */
  ownUsage: Usage
  servedBy: string | null
  /** Notices of finished processes given in this turn. */
  noticesGiven: number
  /** Set once it waited for subagents in the background before its end; `waitsFor` is how many it waits for now (T-42). */
  endWait: { over: boolean; waitsFor: number } | null
  /** Stopped, and its worker does nothing any more: only its subagents are waited for. */
  unwound: boolean
  /** How often it was given up. */
  drained: number
}

export type SessionState = {
  view: SessionView
  hidden: HiddenRecord
  turn: LiveTurn | null
  lastPos: number
  /** False until the first message is admitted (S-3). */
  stored: boolean
  /** Set where nothing may be changed, with the reason people read (S-24). */
  readOnly: string | null
  closing: boolean
  /** Open approvals and questions of subagents, which this session shows (C-104). */
  subagentAsks: ReadonlyMap<string, 'approval' | 'question'>
  /** The newest submits of this session by request id; older ones are looked up in storage before the mailbox. */
  bindings: ReadonlyMap<string, RequestBinding>
}

/** What a decision may look at besides the state. */
export type Environment = {
  now: number
  newId(): string
  settings: Settings
  /** Workspace and everywhere rules. */
  rules: readonly Rule[]
  /** Of a subagent: mode and grants of the session that all of it is done for, as they are now (Z-97). */
  policy?(): { approvalMode: ApprovalMode; grants: readonly Rule[] }
  /** Places that subagents of other sessions take. */
  subagentsElsewhere?(): number
  /** Whether a folder is trusted; absent: all are (Z-4). */
  isTrusted?: ((workspace: string) => boolean) | undefined
}

/** Why an automatic turn failed at its provider; `retryAt` where that said when it answers again. */
export type Refused = { provider: string; code: ErrorCode; retryAt: number | null }

/** What the outside does once a decision is durable; only the abort of a Stop or a report does not wait for it. */
export type Effect =
  | { do: 'abort'; turnId: string; reason: StopReason | 'failed' }
  | { do: 'abortRequest'; turnId: string }
  | { do: 'start'; turnId: string }
  /** Answers what the worker waits for under `ticket`; `atOnce` where nothing comes of it that had to be durable before. */
  | { do: 'release'; ticket: string; answer: Release; atOnce?: boolean }
  | { do: 'drain'; turnId: string; ms: number }
  /** The question closes by itself after `ms` (T-149). */
  | { do: 'expire'; questionId: string; ms: number }
  /** Nobody answered the approval of a background turn after `ms`. */
  | { do: 'expireApproval'; approvalId: string; ms: number }
  /** The turn ends after `ms`, whatever it does. */
  | { do: 'limit'; turnId: string; ms: number }
  | { do: 'settled'; turnId: string }
  /** These changes are in the journal: what kept them for a crash may let go of them (F-601 step 6). */
  | { do: 'recorded'; changeIds: string[] }
  | { do: 'startSubagent'; itemId: string }
  | { do: 'stopSubagent'; itemId: string; reason: StopReason }
  /** Whoever waits for the subagent of that card is told how it ended. */
  | { do: 'subagentEnded'; itemId: string; told: string; isError: boolean }
  /** A place may be free for a subagent that waits. */
  | { do: 'subagentPlaces' }
  /** Mode or rules are others now: what subagents ask is judged again (Z-94). */
  | { do: 'rejudgeSubagents' }
  /** Granted for the session while a subagent asked: the session that all of it is done for keeps it. */
  | { do: 'grant'; rules: Rule[] }
  /** A subagent changed these files: they are the turn's that asked for it too (F-901). */
  | { do: 'passChanges'; changes: ChangedFile[] }
  /** A recorded result of a subagent told the end of a process of that session. */
  | { do: 'toldEnd'; execId: string }
  /** The turn has waited for its subagents `ms` (T-42). */
  | { do: 'endWait'; turnId: string; ms: number }
  /** What the person answered an exec session that asked for a secret: to the process alone (T-152). */
  | { do: 'execSecret'; execId: string; secret: string | null }
  /** The provider refused a turn that started by itself: the next of its kind would fail as well. */
  | { do: 'providerRefused'; refused: Refused }
  /** A turn completed with it. */
  | { do: 'providerAnswered'; provider: string }
  /** Look for the first thing that may start now (T-46). */
  | { do: 'next' }
  | { do: 'entry' }
  /** A call ran into the boundary for the third time in its turn. */
  | { do: 'escalated'; tool: string; code: string }
  /** Some notice is over at `at` (T-85). */
  | { do: 'noticesExpire'; at: number }
  /** The summary that is being written is wanted no more. */
  | { do: 'abortCompaction'; jobId: string }
  | { do: 'rules' }
  | { do: 'notify'; kind: NotificationKind; itemId?: string }
  | { do: 'withdrawNotification'; itemId: string }

/** The session's mode, or what the agent of its turn narrows it to. */
export function modeOf({ view, turn }: SessionState, approvalMode = view.header.approvalMode): ApprovalMode {
  const widest = turn?.agent && 'mode' in turn.agent ? turn.agent.mode : null
  return widest === null ? approvalMode : narrowerMode(approvalMode, widest)
}

export function newTurn(
  id: string,
  now: number,
  more: Pick<LiveTurn, 'attendance' | 'background' | 'agent' | 'usageBefore'>,
): LiveTurn {
  return {
    id,
    phase: 'starting',
    startedAt: now,
    attendance: more.attendance,
    background: more.background,
    agent: more.agent,
    stop: null,
    failure: null,
    stepId: null,
    requestRunning: false,
    openItemId: null,
    running: [],
    approvals: new Map(),
    questions: new Map(),
    denied: new Set(),
    waitingSlot: false,
    wait: null,
    reading: null,
    writing: null,
    compactingSince: null,
    waitedMs: 0,
    personSince: null,
    rateTokens: 0,
    rateMs: 0,
    usageBefore: more.usageBefore,
    ownUsage: noUsage,
    servedBy: null,
    noticesGiven: 0,
    endWait: null,
    unwound: false,
    drained: 0,
  }
}

/** An unsent session: in memory only until its first message is admitted (S-3). */
export function newSession(input: {
  id: string
  journalId: string
  workspace: string
  model: string | null
  effort: string | null
  agent?: string | null | undefined
  approvalMode: ApprovalMode
  now: number
  parent?: Parent
}): SessionState {
  return {
    view: {
      journalId: input.journalId,
      header: {
        ...blankHeader,
        id: input.id,
        createdAt: input.now,
        updatedAt: input.now,
        workspace: input.workspace,
        model: input.model,
        effort: input.effort,
        agent: input.agent ?? null,
        approvalMode: input.approvalMode,
        ...(input.parent ? { parent: input.parent } : {}),
      },
      items: [],
      itemsBefore: 0,
      itemsAfter: 0,
      turns: [],
      turn: null,
      approvals: { head: null, depth: 0 },
      questions: { head: null, depth: 0 },
      changes: [],
      execSessions: [],
    },
    hidden: {
      grants: [],
      commandNotes: [],
      fileNotes: [],
      completionKeys: [],
      wokenTurns: 0,
      exec: { count: 0, sessions: [] },
      notices: [],
    },
    turn: null,
    lastPos: 0,
    stored: false,
    readOnly: null,
    closing: false,
    subagentAsks: new Map(),
    bindings: new Map(),
  }
}

/** How a turn comes to its end. */
export type End = {
  outcome: Outcome
  ending?: Ending
  reason?: string
  /** `provider`: who refused. */
  error?: ErrorBody & { detail?: string | undefined; retryAt?: number | undefined; provider?: string | undefined }
  /** What an interrupted turn leaves for the person to decide. */
  recovery?: Recovery
}
