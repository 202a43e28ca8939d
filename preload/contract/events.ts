/**
 * The closed catalogue of events (T-48). Stored events are numbered by `seq`, one up per session; the rest carry null.
 * Readers ignore unknown types and fields, so an older window survives a newer host.
 */
import { z } from 'zod'
import { Browser } from './browsers.ts'
import { ErrorBody } from './errors.ts'
import { Id } from './ids.ts'
import { ApprovalItem, Automation, Item, ItemPatch, Plan, QuestionItem, Rule, Time } from './items.ts'
import { NotificationKind } from './notifications.ts'
import {
  AgentName,
  ChangedFile,
  ContextFigures,
  Ending,
  Entry,
  ExecSession,
  ItemSlice,
  Notice,
  Outcome,
  Queue,
  Recovery,
  RunningCompaction,
  SessionHeader,
  Steer,
  Turn,
  TurnOrigin,
  TurnSource,
  TurnStatus,
} from './session.ts'
import { Usage } from './usage.ts'
import { Update } from './update.ts'

const stored = { seq: z.number().int().positive(), at: Time }
const inTurn = { ...stored, turnId: Id }
const inTurnOrSession = { ...stored, turnId: Id.optional() }

const TurnStarted = z.object({
  type: z.literal('turn.started'),
  ...inTurn,
  origin: TurnOrigin,
  source: TurnSource,
  automation: Automation.optional(),
  requestId: z.string(),
  userItemId: Id,
  model: z.string(),
  agent: AgentName.optional(),
  agentAsked: z.literal(true).optional(),
  followUpId: Id.optional(),
  retryOf: Id.optional(),
  continues: Id.optional(),
})
const TurnSettled = z.object({
  type: z.literal('turn.settled'),
  ...inTurn,
  outcome: Outcome,
  ending: Ending.optional(),
  reason: z.string().optional(),
  error: ErrorBody.optional(),
  usage: Usage,
  durationMs: z.number().int(),
  servedBy: z.string().optional(),
  /** This turn's visible items, newest 80, texts clipped as in a slice. */
  items: z.array(Item),
  itemsOmitted: z.number().int(),
  /** The turn's row and the session header as they are now. */
  turn: Turn,
  session: SessionHeader,
})

export const StoredEvent = z.discriminatedUnion('type', [
  TurnStarted,
  z.object({ type: z.literal('turn.status'), ...inTurn, status: TurnStatus.nullable() }),
  TurnSettled,
  z.object({
    type: z.literal('step.started'),
    ...inTurn,
    stepId: Id,
    step: z.number().int().positive(),
    model: z.string(),
  }),
  z.object({
    type: z.literal('step.ended'),
    ...inTurn,
    stepId: Id,
    finish: z.enum(['stop', 'tools', 'length', 'aborted', 'error']),
    usage: Usage.optional(),
    firstTokenMs: z.number().int().optional(),
  }),
  z.object({ type: z.literal('plan.changed'), ...inTurn, plan: Plan }),
  z.object({
    type: z.literal('steers.changed'),
    ...inTurn,
    steers: z.array(Steer),
    cause: z.object({
      steerId: Id,
      kind: z.enum(['added', 'edited', 'sending', 'consumed', 'withdrawn', 'leftover']),
      reason: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal('usage.changed'),
    ...inTurn,
    turn: Usage,
    session: Usage,
    context: ContextFigures,
    rate: z.number().nullable(),
  }),
  z.object({ type: z.literal('item.put'), ...inTurnOrSession, item: Item, after: Id.nullable() }),
  z.object({
    type: z.literal('item.delta'),
    ...inTurnOrSession,
    itemId: Id,
    field: z.enum(['text', 'output']),
    offset: z.number().int().nonnegative(),
    add: z.string(),
  }),
  z.object({ type: z.literal('item.patch'), ...inTurnOrSession, itemId: Id, set: ItemPatch }),
  z.object({ type: z.literal('approval.queue'), ...stored, head: ApprovalItem.nullable(), depth: z.number().int() }),
  z.object({ type: z.literal('question.queue'), ...stored, head: QuestionItem.nullable(), depth: z.number().int() }),
  z.object({
    type: z.literal('queue.changed'),
    ...stored,
    followUps: Queue.shape.followUps,
    paused: Queue.shape.paused,
    pausedBy: Queue.shape.pausedBy,
    cause: z.enum([
      'added',
      'edited',
      'moved',
      'removed',
      'cleared',
      'taken',
      'steered',
      'started',
      'paused',
      'resumed',
      'refused',
      'leftover',
    ]),
  }),
  z.object({ type: z.literal('compaction.started'), ...stored, ...RunningCompaction.shape }),
  z.object({
    type: z.literal('compaction.ended'),
    ...stored,
    jobId: Id,
    /** Absent where nothing was written. */
    markItemId: Id.optional(),
    error: ErrorBody.optional(),
    context: ContextFigures,
    /** Of the session, with what the summary cost. */
    usage: Usage,
    durationMs: z.number().int(),
  }),
  z.object({ type: z.literal('changes.changed'), ...stored, about: Id, files: z.array(ChangedFile) }),
  z.object({ type: z.literal('exec.changed'), ...stored, execSessions: z.array(ExecSession) }),
  z.object({ type: z.literal('notices.changed'), ...stored, notices: z.array(Notice) }),
  z.object({ type: z.literal('session.changed'), ...stored, patch: SessionHeader.partial() }),
  z.object({ type: z.literal('session.recovery'), ...stored, recovery: Recovery.nullable() }),
  z.object({
    type: z.literal('session.rewound'),
    ...stored,
    markItemId: Id,
    /** Entries of the active path from this place on were set aside, or with `restored` are back. */
    from: z.number().int(),
    items: z.number().int(),
    turns: z.number().int(),
    withFiles: z.boolean(),
    restored: z.boolean(),
    /** What was set aside is gone for good. */
    deleted: z.boolean().optional(),
    session: SessionHeader,
    /** The newest of what is back; or, for a reader that holds nothing older, what the transcript now ends with. */
    slice: ItemSlice.optional(),
  }),
  z.object({
    type: z.literal('title.status'),
    ...stored,
    status: z.enum(['working', 'done', 'failed', 'kept']),
    reason: z.string().optional(),
    preview: z.string().max(120).optional(),
  }),
])
export type StoredEvent = z.infer<typeof StoredEvent>

/** Session-scope frames that are never stored. */
export const PassingEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('draft.changed'),
    seq: z.null(),
    at: Time,
    revision: z.number().int(),
    source: z.string(),
  }),
  z.object({
    type: z.literal('session.storageFailed'),
    seq: z.null(),
    at: Time,
    since: Time,
    attempt: z.number().int(),
    /** Why, in the words of the last try. */
    error: ErrorBody,
  }),
  z.object({
    type: z.literal('stream.resync'),
    seq: z.null(),
    at: Time,
    /** `unsent`: what no event tells changed, for a session that has none yet (S-3). */
    reason: z.enum(['pruned', 'journal', 'ahead', 'slow', 'unsent']),
  }),
])
export type PassingEvent = z.infer<typeof PassingEvent>

export const SessionEvent = z.union([StoredEvent, PassingEvent])
export type SessionEvent = z.infer<typeof SessionEvent>

type WithoutPlace<E> = E extends unknown ? Omit<E, 'seq' | 'at'> : never
/** A stored event before the actor gave it its place. */
export type EventDraft = WithoutPlace<StoredEvent>

export const TerminalState = z.object({
  id: Id,
  title: z.string(),
  workspace: z.string(),
  /** Where its shell is now, as far as that tells; else the workspace. */
  folder: z.string(),
  /** Name of the profile it was opened with. */
  profile: z.string(),
  program: z.string(),
  state: z.enum(['running', 'exited', 'failed']),
  exitCode: z.number().int().nullable(),
  busy: z.boolean(),
  createdAt: Time,
})
export type TerminalState = z.infer<typeof TerminalState>

export const Workspace = z.object({
  path: z.string(),
  name: z.string(),
  state: z.enum(['present', 'missing']),
  branch: z.string().nullable(),
  /** Until it is, its turns only read and its instructions are left out (Z-4). */
  trusted: z.boolean(),
  openedAt: Time,
  demo: z.boolean(),
})
export type Workspace = z.infer<typeof Workspace>

/** Workbench scope, to every client on one stream, never stored (T-215). Each carries the whole value of what it names. */
export const WorkbenchEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('entry.put'), entry: Entry }),
  z.object({ type: z.literal('entry.removed'), id: Id }),
  z.object({ type: z.literal('settings.changed'), settings: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('preferences.changed'), preferences: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('workspace.changed'), workspace: Workspace }),
  z.object({
    type: z.literal('files.changed'),
    workspace: z.string(),
    paths: z.union([z.array(z.string()).max(500), z.literal('rescan')]),
  }),
  z.object({ type: z.literal('terminal.changed'), terminal: TerminalState.optional(), removed: Id.optional() }),
  /** Of the web host: all of them, or to one that only watches itself. */
  z.object({ type: z.literal('browsers.changed'), browsers: z.array(Browser) }),
  z.object({ type: z.literal('models.changed') }),
  z.object({ type: z.literal('rules.changed'), rules: z.array(Rule) }),
  z.object({
    type: z.literal('notification.put'),
    key: z.string(),
    sessionId: Id,
    kind: NotificationKind,
    title: z.string(),
    itemId: Id.optional(),
  }),
  z.object({ type: z.literal('notification.removed'), key: z.string() }),
  z.object({
    type: z.literal('host.changed'),
    state: z.enum(['starting', 'ready', 'degraded', 'draining', 'stopped']),
    slowSaving: z.boolean(),
    freeDisk: z.number().nullable(),
    banner: z.string().nullable(),
  }),
  z.object({ type: z.literal('update.changed'), update: Update }),
])
export type WorkbenchEvent = z.infer<typeof WorkbenchEvent>

/** What a workbench event is about: a newer one of the same replaces an older that waits. */
export function subjectOf(event: WorkbenchEvent): string {
  switch (event.type) {
    case 'entry.put':
      return `entry ${event.entry.id}`
    case 'entry.removed':
      return `entry ${event.id}`
    case 'workspace.changed':
      return `workspace ${event.workspace.path}`
    case 'terminal.changed':
      return `terminal ${event.terminal?.id ?? event.removed}`
    case 'files.changed':
      return `files ${event.workspace}`
    case 'notification.put':
    case 'notification.removed':
      return `notification ${event.key}`
    default:
      return event.type
  }
}

/** What stands for `event` where it takes the place of an earlier one that nobody has read: no path of either is lost. */
export function inPlaceOf(event: WorkbenchEvent): WorkbenchEvent {
  return event.type === 'files.changed' ? { ...event, paths: 'rescan' } : event
}
