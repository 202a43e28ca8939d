/** Transcript entries (S-5) and what stands on them: attachments, tool cards, approvals, questions, plans, notices. */
import { z } from 'zod'
import { BlobHash, Id } from './ids.ts'
import { ErrorCode } from './errors.ts'
import { mentionsMax, subagentLabelCharsMax } from './limits.ts'
import { Usage } from './usage.ts'

/** Epoch milliseconds, as far as there are dates for them. */
export const Time = z.number().int().min(-8.64e15).max(8.64e15)

export const Attachment = z.object({
  name: z.string().max(255),
  mediaType: z.string().max(200),
  bytes: z.number().int().nonnegative(),
  hash: BlobHash,
})
export type Attachment = z.infer<typeof Attachment>

/** What a message points at, at a place in its text (S-112). */
export const Mention = z.object({
  kind: z.enum(['file', 'session', 'terminal', 'changes']),
  /** A path as files are named in the workspace; the id of a session, a terminal, a turn. */
  ref: z.string().min(1).max(4_096),
  label: z.string().min(1).max(4_096),
  /** Where its `@` stands, in UTF-16 units. */
  at: z.number().int().nonnegative(),
})
export type Mention = z.infer<typeof Mention>
export const Mentions = z.array(Mention).max(mentionsMax)

/** With what the model is told of it, as it was when the message was admitted (S-113). */
export const ResolvedMention = Mention.extend({ content: z.string() })
export type ResolvedMention = z.infer<typeof ResolvedMention>

export const PlanEntry = z.object({
  id: z.string().max(64),
  text: z.string().max(500),
  state: z.enum(['pending', 'active', 'done', 'dropped']),
})
export const Plan = z.object({ entries: z.array(PlanEntry).max(50), settled: z.boolean() })
export type Plan = z.infer<typeof Plan>

export const ToolState = z.enum(['proposed', 'waiting', 'running', 'ok', 'error', 'denied', 'cancelled', 'unknown'])
export type ToolState = z.infer<typeof ToolState>

export const ToolView = z.object({
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  path: z.string().optional(),
  line: z.number().int().optional(),
  outputRef: z.string().optional(),
  /** A picture the model was shown (F-307). */
  image: z
    .object({ hash: BlobHash, mediaType: z.string(), width: z.number().int(), height: z.number().int() })
    .optional(),
  truncated: z.boolean().optional(),
  /** What a reply about an exec session says as data. */
  exec: z
    .object({
      id: Id,
      state: z.enum(['running', 'stopping', 'ended']),
      elapsedMs: z.number(),
      /** Hard time left; null without a limit. */
      remainingMs: z.number().nullable(),
      omitted: z.number(),
      matched: z.boolean().optional(),
    })
    .optional(),
})
export type ToolView = z.infer<typeof ToolView>

export const ApprovalDecision = z.enum(['once', 'session', 'always', 'deny', 'deny_stop'])
export type ApprovalDecision = z.infer<typeof ApprovalDecision>

/** A stored permission (Z-81), as the card shows it before it is stored (Z-87). */
export const RuleMatch = z.object({
  tool: z.string().optional(),
  /** Words of one simple command; `*` is one word, `**` at the end the rest (Z-82). */
  command: z.array(z.string()).optional(),
  path: z.object({ glob: z.string(), access: z.enum(['read', 'write']) }).optional(),
  host: z.string().optional(),
})
export type RuleMatch = z.infer<typeof RuleMatch>

export const Rule = z.object({
  id: Id,
  effect: z.enum(['allow', 'ask', 'deny']),
  match: RuleMatch,
  scope: z.enum(['session', 'workspace', 'always']),
  workspace: z.string().optional(),
  by: z.enum(['person', 'policy']),
  at: Time,
})
export type Rule = z.infer<typeof Rule>

export const ApprovalRequest = z.object({
  tool: z.string(),
  title: z.string(),
  detail: z.string(),
  detailKind: z.enum(['command', 'diff', 'path', 'url', 'text']),
  folder: z.string().optional(),
  /** Why it asks, one sentence. */
  reason: z.string(),
  /** The very rules a wider scope would store; empty where nothing may be stored (`storable` says why not). */
  rules: z.array(RuleMatch),
  notStorable: z.string().optional(),
  /** Hash of the call as shown: the call that runs is byte for byte this one (Z-92). */
  argsHash: z.string(),
  /** Who asks, where it is not the session's own agent (Z-97). */
  origin: z.string().optional(),
})
export type ApprovalRequest = z.infer<typeof ApprovalRequest>

export const Choice = z.object({ id: z.string().max(64), label: z.string().max(200) })
export type Choice = z.infer<typeof Choice>

const base = {
  id: Id,
  turnId: Id.nullable(),
  stepId: Id.nullable(),
  /** Unique in the session; orders the transcript totally. */
  pos: z.number().int(),
  createdAt: Time,
  endedAt: Time.nullable(),
  status: z.enum(['live', 'final', 'partial']),
  source: z.enum(['person', 'agent', 'command', 'automation', 'session']),
  /** May enter model context. */
  contextual: z.boolean(),
  visible: z.boolean(),
  /** UTF-16 units left out of its texts in a slice; absent where the item is whole (S-58). */
  omitted: z.number().int().optional(),
  /** The item of another session it is a copy of (S-74). */
  copiedFrom: Id.optional(),
}

/** The subagent's session whose approval or question this stands for: that is where it is decided (Z-97). */
const askedIn = Id.optional()

/** What started a turn by itself, in words people know it by. */
export const Automation = z.object({ name: z.string().max(200) })
export type Automation = z.infer<typeof Automation>

const UserItem = z.object({
  ...base,
  kind: z.literal('user'),
  text: z.string(),
  /** What the model gets instead of `text` where they differ (T-20). */
  prompt: z.string().optional(),
  attachments: z.array(Attachment),
  mentions: z.array(ResolvedMention).optional(),
  /** What said it, where no person did. */
  automation: Automation.optional(),
  steer: z.boolean().optional(),
})
const TextItem = z.object({ ...base, kind: z.literal('text'), text: z.string(), final: z.boolean() })
const ReasoningItem = z.object({
  ...base,
  kind: z.literal('reasoning'),
  title: z.string().optional(),
  text: z.string(),
})
export const ToolItem = z.object({
  ...base,
  kind: z.literal('tool'),
  callId: z.string().max(200),
  name: z.string().max(200),
  title: z.string(),
  args: z.unknown(),
  /** All of the arguments as JSON, where `args` holds only the beginning of their texts. */
  argsRef: BlobHash.optional(),
  state: ToolState,
  /** A code of an older version that is none any more is left out. */
  code: ErrorCode.optional().catch(undefined),
  startedAt: Time.nullable(),
  durationMs: z.number().int().nullable(),
  waitedMs: z.number().int(),
  summary: z.string(),
  /** Live output while it runs (`item.delta` field `output`): the tail from `outputStart`, in UTF-16 units, on. */
  output: z.string(),
  outputStart: z.number().int(),
  view: ToolView.nullable(),
  /** The whole text the model read, where it is longer than `summary`. */
  resultRef: BlobHash.optional(),
  changeIds: z.array(Id),
  /** Its result went out of the model's context for its size; the entry itself is as it was (C-52). */
  pruned: z.boolean().optional(),
  progress: z.object({ message: z.string(), done: z.number().optional(), total: z.number().optional() }).nullable(),
  approvalId: Id.optional(),
  questionId: Id.optional(),
  /** Refused at the boundary of the workspace for the third time in its turn. */
  escalated: z.boolean().optional(),
  /** The person's own `!` command. */
  byPerson: z.boolean().optional(),
})
export const ApprovalItem = z.object({
  ...base,
  kind: z.literal('approval'),
  toolItemId: Id,
  state: z.enum(['open', 'allowed', 'denied', 'nobody_answered', 'cancelled', 'interrupted']),
  request: ApprovalRequest,
  scope: z.enum(['once', 'session', 'workspace', 'always']).optional(),
  decidedBy: z.enum(['person', 'rule', 'mode', 'timeout']).optional(),
  feedback: z.string().max(2_000).optional(),
  decidedAt: Time.optional(),
  askedIn,
})
export const QuestionItem = z.object({
  ...base,
  kind: z.literal('question'),
  toolItemId: Id,
  state: z.enum(['open', 'answered', 'declined', 'blank', 'expired', 'cancelled', 'interrupted', 'unattended']),
  ask: z.enum(['choice', 'text', 'secret']),
  text: z.string().max(4_000),
  choices: z.array(Choice).max(12),
  multiple: z.boolean(),
  allowText: z.boolean(),
  expiresAt: Time.nullable(),
  /** Who asks, where it is not the session's own agent (C-104). */
  origin: z.string().optional(),
  askedIn,
  /** The exec session that asks, where it is no call of a turn (T-152). */
  execId: Id.optional(),
  /** What the person answered, for people; "answered (hidden)" of a secret (T-151). */
  answer: z.string().optional(),
})
/** How far a subagent has come (C-96); the last three are final. */
const SubagentPhase = z.enum(['queued', 'starting', 'model', 'tools', 'done', 'failed', 'stopped'])
export type SubagentPhase = z.infer<typeof SubagentPhase>

const SubagentItem = z.object({
  ...base,
  kind: z.literal('subagent'),
  /** The call that asked for it. */
  toolItemId: Id,
  /** Its own session, where its transcript stands; null in a copy, whose original it belongs to. */
  sessionId: Id.nullable(),
  label: z.string().max(subagentLabelCharsMax),
  /** The beginning of what it was asked. */
  task: z.string(),
  model: z.string(),
  /** The turn did not wait for it. */
  background: z.boolean(),
  phase: SubagentPhase,
  /** Why it failed. */
  reason: z.enum(['error', 'step_limit', 'no_text', 'interrupted']).optional(),
  startedAt: Time.nullable(),
  steps: z.number().int(),
  usage: Usage,
  /** Titles of its newest calls, the last one last. */
  actions: z.array(z.string()).max(3),
  /** The beginning of what it brought, or why it brought nothing. */
  result: z.string(),
})
const NoticeItem = z.object({
  ...base,
  kind: z.literal('notice'),
  level: z.enum(['info', 'warning', 'error']),
  text: z.string(),
  /** What the model is given of it, where it is given anything. */
  prompt: z.string().optional(),
  /** All of what `prompt` gives only the beginning and end of. */
  outputRef: BlobHash.optional(),
})
const ErrorItem = z.object({
  ...base,
  kind: z.literal('error'),
  code: ErrorCode,
  title: z.string(),
  message: z.string().max(2_000),
  hint: z.string(),
  actions: z.array(
    z.enum([
      'retry',
      'continue',
      'settings',
      'choose_model',
      'choose_agent',
      'new_session',
      'report',
      'open_config',
      'open_agent',
      'wait',
    ]),
  ),
  /** The agent whose file `open_agent` opens. */
  agent: z.string().optional(),
  details: z.string().max(1_200).optional(),
  retryAt: Time.nullable(),
})

/** Stands where later entries were set aside (S-81): how many, and of how many turns. */
const RewindItem = z.object({
  ...base,
  kind: z.literal('rewind'),
  items: z.number().int(),
  turns: z.number().int(),
  withFiles: z.boolean(),
})
/** The end of what a fork was copied from (S-77). */
const ForkItem = z.object({
  ...base,
  kind: z.literal('fork'),
  from: z.object({ sessionId: Id, itemId: Id, title: z.string() }),
})

export const CompactionReason = z.enum(['before_turn', 'in_turn', 'after_settle', 'manual'])
export type CompactionReason = z.infer<typeof CompactionReason>

/** In what the model is sent, `summary` stands for all up to `coversThrough`, which it follows by place (S-62, C-71). */
const CompactionItem = z.object({
  ...base,
  kind: z.literal('compaction'),
  coversThrough: Id,
  summary: z.string(),
  reason: CompactionReason,
  /** Estimates of the whole context, counted alike. */
  tokensBefore: z.number().int().nonnegative(),
  tokensAfter: z.number().int().nonnegative(),
  /** Who wrote the summary; null where no model could and the facts were listed (C-69). */
  model: z.string().nullable(),
})

export const Item = z.discriminatedUnion('kind', [
  UserItem,
  TextItem,
  ReasoningItem,
  ToolItem,
  ApprovalItem,
  QuestionItem,
  SubagentItem,
  NoticeItem,
  ErrorItem,
  RewindItem,
  ForkItem,
  CompactionItem,
])
export type Item = z.infer<typeof Item>
export type ItemOf<K extends Item['kind']> = Extract<Item, { kind: K }>

/** Non-text fields of an item that may change in place (`item.patch`). */
export const ItemPatch = z.object({
  state: z.string().optional(),
  status: base.status.optional(),
  endedAt: Time.nullable().optional(),
  final: z.boolean().optional(),
  title: z.string().optional(),
  /** A code of an older version that is none any more is left out. */
  code: ErrorCode.optional().catch(undefined),
  escalated: z.boolean().optional(),
  startedAt: Time.nullable().optional(),
  durationMs: z.number().int().nullable().optional(),
  waitedMs: z.number().int().optional(),
  progress: z
    .object({ message: z.string(), done: z.number().optional(), total: z.number().optional() })
    .nullable()
    .optional(),
  approvalId: Id.optional(),
  questionId: Id.optional(),
  scope: z.enum(['once', 'session', 'workspace', 'always']).optional(),
  decidedBy: z.enum(['person', 'rule', 'mode', 'timeout']).optional(),
  decidedAt: Time.optional(),
  feedback: z.string().optional(),
  answer: z.string().optional(),
  expiresAt: Time.nullable().optional(),
  phase: SubagentPhase.optional(),
  steps: z.number().int().optional(),
  usage: Usage.optional(),
  actions: z.array(z.string()).max(3).optional(),
  summary: z.string().optional(),
  visible: z.boolean().optional(),
  contextual: z.boolean().optional(),
  pruned: z.boolean().optional(),
})
export type ItemPatch = z.infer<typeof ItemPatch>
