/** The session as clients see it: its record's projection, the running turn, a line of the list (S-4, S-46..S-50). */
import { z } from 'zod'
import { ErrorBody } from './errors.ts'
import { BlobHash, Id } from './ids.ts'
import {
  ApprovalItem,
  Attachment,
  Automation,
  CompactionReason,
  Item,
  Mentions,
  Plan,
  QuestionItem,
  ResolvedMention,
  Time,
} from './items.ts'
import { Usage } from './usage.ts'

export const ApprovalMode = z.enum(['read-only', 'ask', 'edits', 'all'])
export type ApprovalMode = z.infer<typeof ApprovalMode>

/** The narrower of two modes. */
export function narrowerMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  const { options } = ApprovalMode
  return options.indexOf(one) < options.indexOf(other) ? one : other
}

/** An agent's name, which is that of its file without `.md`; the built-in one has none. */
export const AgentName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)

export const TurnOrigin = z.enum(['foreground', 'background'])
export const TurnSource = z.enum([
  'person',
  'follow_up',
  'recovery',
  'schedule',
  'trigger',
  'process',
  'subagent',
  'session',
  'goal',
])
export type TurnSource = z.infer<typeof TurnSource>
export const Outcome = z.enum(['completed', 'stopped', 'failed', 'interrupted'])
export type Outcome = z.infer<typeof Outcome>
export const Ending = z.enum(['answer', 'max_steps', 'no_final_text', 'output_limit', 'budget', 'quiet'])
export type Ending = z.infer<typeof Ending>
const TitleSource = z.enum(['default', 'provisional', 'generated', 'fallback', 'manual'])

const Count = z.number().nonnegative().nullable()
/** How full the model's context is: tokens of the last request and what one request may hold (C-44). */
export const ContextFigures = z.object({
  used: Count,
  window: z.number().int().positive().nullable(),
  /** From here on older turns are summarised before the next one; null where the window is only assumed. */
  compactAt: z.number().int().positive().nullable(),
  estimated: z.boolean(),
  /** Whose figures these are: they say nothing about another model (C-43). */
  model: z.string().nullable(),
})
export type ContextFigures = z.infer<typeof ContextFigures>

export const Steer = z.object({
  id: Id,
  text: z.string(),
  attachments: z.array(Attachment),
  mentions: z.array(ResolvedMention).optional(),
  createdAt: Time,
  state: z.enum(['pending', 'sending']),
  actions: z.array(z.enum(['edit', 'withdraw', 'sendNow'])),
})
export type Steer = z.infer<typeof Steer>

export const FollowUp = z.object({
  id: Id,
  text: z.string(),
  attachments: z.array(Attachment),
  /** Looked up when it starts: what they are by then counts. */
  mentions: Mentions.optional(),
  model: z.string().optional(),
  /** Null: the built-in one, whatever the session's. */
  agent: AgentName.nullable().optional(),
  createdAt: Time,
  revision: z.number().int().positive(),
  /** A message that made a background turn yield starts whatever the queue's pause (T-31). */
  ignoresPause: z.boolean().optional(),
})
export type FollowUp = z.infer<typeof FollowUp>

const QueuePause = z.enum(['stop', 'failure', 'recovery', 'refused', 'person'])
export const Queue = z.object({
  followUps: z.array(FollowUp),
  paused: QueuePause.nullable(),
  pausedBy: ErrorBody.optional(),
})
export type Queue = z.infer<typeof Queue>

/** A call that writes files, while the model still writes its arguments (F-707). */
export const CallInWriting = z.object({
  tool: z.string().max(200),
  /** Path null: not known yet. `added`: lines so far. */
  files: z.array(z.object({ path: z.string().max(4_096).nullable(), added: z.number().int() })).max(50),
  /** Files beyond those. */
  more: z.number().int(),
})
export type CallInWriting = z.infer<typeof CallInWriting>

export const TurnStatus = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stopping') }),
  z.object({ kind: z.literal('approval'), depth: z.number().int().positive() }),
  z.object({ kind: z.literal('question'), depth: z.number().int().positive() }),
  z.object({ kind: z.literal('waiting_slot') }),
  z.object({ kind: z.literal('compacting'), since: Time }),
  z.object({
    kind: z.literal('rate_limited'),
    provider: z.string(),
    providerLabel: z.string(),
    until: Time.nullable(),
    untilKind: z.enum(['reset', 'retry']),
  }),
  z.object({
    kind: z.literal('retrying'),
    attempt: z.number().int(),
    of: z.number().int(),
    until: Time.nullable(),
    code: z.string(),
  }),
  z.object({ kind: z.literal('prompt_reading'), percent: z.number().nullable() }),
  z.object({ kind: z.literal('writing'), call: CallInWriting }),
  z.object({ kind: z.literal('tool'), itemId: Id, title: z.string(), since: Time, others: z.number().int() }),
  /** Nothing else is left to do than to wait for subagents in the background (T-42). */
  z.object({ kind: z.literal('subagents'), count: z.number().int().positive() }),
  z.object({ kind: z.literal('working') }),
])
export type TurnStatus = z.infer<typeof TurnStatus>

export const Notice = z.object({
  key: z.string().max(100),
  level: z.enum(['info', 'warning', 'error']),
  text: z.string().max(500),
  expiresAt: Time.optional(),
  action: z.string().max(100).optional(),
})
export type Notice = z.infer<typeof Notice>

export const Recovery = z.object({
  recoveryId: Id,
  turnId: Id,
  status: z.enum(['awaiting', 'resuming', 'resolved']),
  reason: z.enum([
    'confirm',
    'tool_state_unknown',
    'loop_guard',
    'unknown_format',
    'invalid_format',
    'recovery_failed',
  ]),
  canContinue: z.boolean(),
  attempts: z.number().int(),
  /** Title of the tool that may or may not have run. */
  tool: z.string().optional(),
})
export type Recovery = z.infer<typeof Recovery>

/** A summary of older turns that is being written (C-58); it covers what stands before `place`, where its mark will be. */
export const RunningCompaction = z.object({
  jobId: Id,
  startedAt: Time,
  reason: CompactionReason,
  place: z.number().int(),
})
export type RunningCompaction = z.infer<typeof RunningCompaction>

/** Nothing starts by itself until a person starts something; `waiting` is how much would. */
const Hold = z.object({
  since: Time,
  by: z.enum(['stop', 'recovery']),
  waiting: z.number().int().nonnegative().default(0),
})

/** Whose subagent a session is (C-95): such a one is in no list and is erased with its parent. */
export const Parent = z.object({
  sessionId: Id,
  /** The card that shows it there, and that one's turn. */
  itemId: Id,
  turnId: Id,
  label: z.string(),
  /** 1 for a subagent of a person's session. */
  depth: z.number().int().positive(),
  /** The person's session that all of it is done for, and the card that shows it there. */
  top: z.object({ sessionId: Id, itemId: Id }),
})
export type Parent = z.infer<typeof Parent>

/** A folder outside the workspace that the person added to a session (F-104). */
export const ExtraFolder = z.object({ path: z.string(), writable: z.boolean() })
export type ExtraFolder = z.infer<typeof ExtraFolder>

/** What a client knows of a session besides its items. Private fields (provider state, keys) never stand here. */
export const SessionHeader = z.object({
  id: Id,
  rev: z.number().int(),
  createdAt: Time,
  updatedAt: Time,
  workspace: z.string(),
  extraFolders: z.array(ExtraFolder),
  title: z.string(),
  titleSource: TitleSource,
  model: z.string().nullable(),
  effort: z.string().nullable(),
  /** Who its turns are done by; nobody named: the built-in agent. */
  agent: AgentName.nullish(),
  approvalMode: ApprovalMode,
  muted: z.boolean(),
  lastSeq: z.number().int(),
  readSeq: z.number().int(),
  notableSeq: z.number().int(),
  currentTurnId: Id.nullable(),
  lastTurnId: Id.nullable(),
  lastOutcome: Outcome.nullable(),
  pinnedAt: Time.nullable(),
  archivedAt: Time.nullable(),
  deletedAt: Time.nullable(),
  forkOf: z.object({ sessionId: Id, itemId: Id }).nullable(),
  parent: Parent.optional(),
  usage: Usage,
  lastUsage: Usage.nullable(),
  context: ContextFigures,
  compaction: RunningCompaction.nullable(),
  plan: Plan.nullable(),
  notices: z.array(Notice),
  queue: Queue,
  recovery: Recovery.nullable(),
  automaticHeld: Hold.nullable(),
  /** Visible items in the active path. */
  itemCount: z.number().int(),
})
export type SessionHeader = z.infer<typeof SessionHeader>

/** A turn's row: what the end of a turn is drawn from (S-63). Unsettled while `outcome` is null. */
export const Turn = z.object({
  id: Id,
  userItemId: Id,
  requestId: z.string(),
  origin: TurnOrigin,
  source: TurnSource,
  automation: Automation.optional(),
  model: z.string(),
  /** As chosen when it was admitted (T-18); absent: the built-in one. */
  agent: AgentName.optional(),
  /** Named with its message, whatever the session's: what repeats the turn or goes on with it has the same. */
  agentAsked: z.literal(true).optional(),
  followUpId: Id.optional(),
  retryOf: Id.optional(),
  continues: Id.optional(),
  startedAt: Time,
  settledAt: Time.nullable(),
  outcome: Outcome.nullable(),
  ending: Ending.optional(),
  reason: z.string().optional(),
  error: ErrorBody.optional(),
  durationMs: z.number().int().nullable(),
  waitedMs: z.number().int(),
  steps: z.number().int(),
  usage: Usage,
  rate: z.number().nullable(),
  servedBy: z.string().optional(),
})
export type Turn = z.infer<typeof Turn>

/** The turn that runs, beside its row: what a window that watched it has. */
export const RunningTurn = z.object({
  id: Id,
  step: z.number().int(),
  status: TurnStatus.nullable(),
  steers: z.array(Steer),
  usage: Usage,
  rate: z.number().nullable(),
})
export type RunningTurn = z.infer<typeof RunningTurn>

export const ExecEnd = z.object({
  at: Time,
  reason: z.enum(['exited', 'stopped', 'timed_out', 'shutdown', 'lost']),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** All of its output, where a reply could not show all of it. */
  outputRef: BlobHash.optional(),
})
export type ExecEnd = z.infer<typeof ExecEnd>

/** A process that outlives the call, or the line, that started it (exec.md 4). */
export const ExecSession = z.object({
  /** `x1`, `x2`, ...: counts up in its session and is never reused there. */
  id: Id,
  /** Who started it; a person's `!` line is theirs. */
  owner: z.enum(['agent', 'person']),
  /** `background`: left running by a one-shot command. */
  label: z.string().max(40).optional(),
  state: z.enum(['running', 'stopping', 'ended']),
  /** First line of the command, secrets redacted. */
  preview: z.string(),
  folder: z.string(),
  startedAt: Time,
  tty: z.boolean(),
  /** The card that started it, and its turn. */
  itemId: Id,
  turnId: Id.optional(),
  /** Its end starts a turn of an idle session. */
  wakes: z.boolean().optional(),
  /** The person has taken its keyboard from the agent. */
  held: z.boolean().optional(),
  /** The subagent that started it. */
  subagent: z.object({ sessionId: Id, label: z.string() }).optional(),
  /** It asks for a secret: the open question. */
  questionId: Id.optional(),
  end: ExecEnd.optional(),
})
export type ExecSession = z.infer<typeof ExecSession>

/** One file a turn changed, for the Changes tab: counts now, contents by hash on demand. */
export const ChangedFile = z.object({
  id: Id,
  turnId: Id,
  path: z.string(),
  kind: z.enum(['created', 'edited', 'deleted', 'renamed']),
  /** Where a renamed file was; the change that deletes it there stands beside this one (F-906). */
  from: z.string().optional(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  added: z.number().int().nullable(),
  removed: z.number().int().nullable(),
  by: z.enum(['tool', 'command', 'agent', 'person']),
  /** It fell where another turn may have made it (F-903). */
  uncertain: z.boolean().optional(),
  /** What the person decided on its hunks, by their identities; the others are open (F-907). */
  review: z.record(z.string(), z.enum(['accepted', 'rejected'])).optional(),
  /** The content at which the person kept the whole file: its hash, or empty where it was deleted. */
  reviewed: z.string().optional(),
  /** Taken back by an undo; `from` is what it replaced and a redo brings back (F-1010). */
  undone: z.object({ from: z.string().nullable() }).optional(),
  /** Permission bits before and after where they differ, or of a file that is gone; 0o120777 is a link (F-906). */
  mode: z.object({ before: z.number().int().nullable(), after: z.number().int().nullable() }).optional(),
  /** Folders above it that were made for it (F-1009). */
  folders: z.number().int().optional(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

/** A stretch of the transcript with what its turns ended in and changed; `before` and `after` count visible items. */
export const ItemSlice = z.object({
  items: z.array(Item),
  before: z.number().int(),
  after: z.number().int(),
  turns: z.array(Turn),
  changes: z.array(ChangedFile),
})
export type ItemSlice = z.infer<typeof ItemSlice>

/**
 * All a window holds of a session, true at `header.lastSeq`. Windows, the actor and replay fold the same events over it
 * with `foldEvent`, so they agree at equal seq by construction (T-201).
 */
export const SessionView = z.object({
  journalId: Id,
  header: SessionHeader,
  /** A contiguous stretch of items, by `pos`: the newest, or those around what was asked for. */
  items: z.array(Item),
  /** Visible items before the first of `items`. */
  itemsBefore: z.number().int(),
  /** Visible items after the last of `items`; 0 where they reach the newest. */
  itemsAfter: z.number().int(),
  /** Rows of the turns that have items here, newest last. */
  turns: z.array(Turn),
  turn: RunningTurn.nullable(),
  approvals: z.object({ head: ApprovalItem.nullable(), depth: z.number().int() }),
  questions: z.object({ head: QuestionItem.nullable(), depth: z.number().int() }),
  /** Files changed in each turn of `turns`. */
  changes: z.array(ChangedFile),
  execSessions: z.array(ExecSession),
})
export type SessionView = z.infer<typeof SessionView>

export const Indicator = z.enum(['needs_you', 'interrupted', 'running', 'waiting', 'failed', 'unread', 'none'])
export type Indicator = z.infer<typeof Indicator>

/** A line of the session list (S-48). */
export const Entry = z.object({
  id: Id,
  workspace: z.string(),
  title: z.string(),
  titleSource: TitleSource,
  updatedAt: Time,
  createdAt: Time,
  model: z.string().nullable(),
  indicator: Indicator,
  /** Start of the unsettled turn, for the running clock. */
  runningSince: Time.nullable(),
  /** How many of its exec sessions still run, whatever the indicator. */
  execRunning: z.number().int(),
  pinnedAt: Time.nullable(),
  archivedAt: Time.nullable(),
  preview: z.string(),
  itemCount: z.number().int(),
})
export type Entry = z.infer<typeof Entry>
