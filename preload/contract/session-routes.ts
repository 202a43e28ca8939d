/** One session: its transcript, its turns, its draft, the processes it started. */
import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { Comments } from './change-routes.ts'
import { SessionEvent } from './events.ts'
import { Id } from './ids.ts'
import { Attachment, Item, Mentions } from './items.ts'
import { compactionFocusCharsMax, queryCharsMax, sliceItemsMax } from './limits.ts'
import { act, done, inSession, message, Path, route, stream } from './route.ts'
import { AgentName, ApprovalMode, ItemSlice, SessionHeader, SessionView, Steer } from './session.ts'

export const SubmitReply = z.discriminatedUnion('accepted', [
  z.object({ accepted: z.literal('started'), turnId: Id, userItemId: Id }),
  z.object({ accepted: z.literal('queued'), followUpId: Id }),
  z.object({ accepted: z.literal('steered'), steerId: Id }),
])
export type SubmitReply = z.infer<typeof SubmitReply>

export const StopReply = z.discriminatedUnion('stopped', [
  z.object({ stopped: z.literal(true), withdrawn: z.array(Steer) }),
  z.object({ stopped: z.literal(false), why: z.enum(['unknown', 'settled', 'not_current']) }),
])
export type StopReply = z.infer<typeof StopReply>
/** What fills the model's context, section by section (C-10). */
export const ContextReport = z.object({
  model: z.string().nullable(),
  window: z.number().nullable(),
  used: z.number().nullable(),
  estimated: z.boolean(),
  compactAt: z.number().nullable(),
  /** The summary in force, and how many entries stand under it and are sent in full. */
  mark: z.object({ itemId: Id, covered: z.number().int() }).nullable(),
  sent: z.number().int(),
  pruned: z.number().int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.number(), text: z.string().optional() })),
})
export type ContextReport = z.infer<typeof ContextReport>
export const Draft = z.object({
  text: z.string(),
  attachments: z.array(Attachment),
  mentions: Mentions.optional(),
  comments: Comments.optional(),
  revision: z.number().int(),
})
export type Draft = z.infer<typeof Draft>

/** A message as it was sent, to be recalled. */
export const Prompt = z.object({ text: z.string(), mentions: Mentions.optional() })
export type Prompt = z.infer<typeof Prompt>

export const sessionRoutes = {
  session: {
    open: route.input(z.object({ ...inSession, around: Id.optional() })).output(SessionView),
    events: route
      .input(z.object({ ...inSession, ...stream, after: z.number().int().nonnegative(), journalId: Id }))
      .output(eventIterator(SessionEvent)),
    items: route
      .input(
        z.object({
          ...inSession,
          before: Id.optional(),
          after: Id.optional(),
          around: Id.optional(),
          limit: z.number().int().min(1).max(sliceItemsMax).optional(),
        }),
      )
      .output(ItemSlice),
    /** Entries of the whole session that show a text, oldest first (S-69). */
    find: route
      .input(z.object({ ...inSession, text: z.string().min(1).max(queryCharsMax) }))
      .output(z.object({ matches: z.array(z.object({ itemId: Id, pos: z.number().int() })), more: z.boolean() })),
    /** The whole of an item whose text was clipped in a slice (S-58). */
    item: route.input(z.object({ ...inSession, itemId: Id })).output(Item),
    submit: route
      .input(
        z.object({
          ...act,
          ...inSession,
          ...message,
          whenBusy: z.enum(['refuse', 'queue', 'steer']).optional(),
          model: z.string().max(300).optional(),
          /** For this message alone; null: the built-in one. */
          agent: AgentName.nullable().optional(),
        }),
      )
      .output(SubmitReply),
    stop: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          /** Default `person`. */
          reason: z.enum(['person', 'timeout']).optional(),
        }),
      )
      .output(StopReply),
    retry: route
      .input(z.object({ ...act, ...inSession, turnId: Id, model: z.string().max(300).optional() }))
      .output(SubmitReply),
    continue: route.input(z.object({ ...act, ...inSession, turnId: Id })).output(SubmitReply),
    settings: route
      .input(
        z.object({
          ...act,
          ...inSession,
          model: z.string().max(300).nullable().optional(),
          effort: z.string().max(40).nullable().optional(),
          /** From the next turn on; null: the built-in one. What it names of model and effort then goes before the session's. */
          agent: AgentName.nullable().optional(),
          approvalMode: ApprovalMode.optional(),
          /** The card this switch is meant for (Z-94). */
          forApproval: Id.optional(),
        }),
      )
      .output(SessionHeader),
    /** Adds a folder outside the workspace, or changes whether it may be written (F-104). Throws as `workspaces.open`. */
    putFolder: route.input(z.object({ ...act, ...inSession, path: Path, writable: z.boolean() })).output(SessionHeader),
    removeFolder: route.input(z.object({ ...act, ...inSession, path: Path })).output(SessionHeader),
    /** Sets this message of the person's and all after it aside; with `edited`, that text is sent instead (S-79, S-80). */
    rewind: route
      .input(
        z.object({
          ...act,
          ...inSession,
          itemId: Id,
          edited: z
            .object({
              ...message,
              model: z.string().max(300).optional(),
            })
            .optional(),
          /** The files of those turns were set back before, by `undo.apply` (S-80). */
          withFiles: z.boolean().optional(),
        }),
      )
      .output(z.object({ markItemId: Id.nullable(), submitted: SubmitReply.nullable() })),
    /** What a mark set aside, oldest first (S-81). */
    setAside: route.input(z.object({ ...inSession, markItemId: Id, after: Id.optional() })).output(ItemSlice),
    restoreSetAside: route.input(z.object({ ...act, ...inSession, markItemId: Id })).output(done),
    deleteSetAside: route.input(z.object({ ...act, ...inSession, markItemId: Id })).output(done),
    /** "Try again" beside a failed save: it is tried at once (T-41). */
    retrySaving: route.input(z.object({ ...act, ...inSession })).output(done),
    releaseHold: route.input(z.object({ ...act, ...inSession })).output(done),
    context: route.input(z.object({ ...inSession })).output(ContextReport),
    /** Replaces older turns by a summary in what the model is sent; answers once that is done. `focus`: what matters (C-73). */
    compact: route
      .input(z.object({ ...act, ...inSession, focus: z.string().max(compactionFocusCharsMax).optional() }))
      .output(z.object({ came: z.enum(['compacted', 'nothing', 'cancelled']) })),
    /** Ends a summary that is being written, unless a turn waits for it. */
    cancelCompaction: route.input(z.object({ ...act, ...inSession, jobId: Id })).output(done),
    draft: route.input(z.object({ ...inSession })).output(Draft),
    setDraft: route
      .input(
        z.object({
          ...inSession,
          ...message,
          comments: Comments.optional(),
          source: z.string().max(64),
        }),
      )
      .output(z.object({ revision: z.number().int() })),
    /** Prompts to recall with Up, newest first: this session's, then its workspace's (S-103). */
    prompts: route.input(z.object({ ...inSession })).output(z.array(Prompt)),
    /** The person's own command: the line without its `!` (T-25). */
    command: route
      .input(z.object({ ...act, ...inSession, line: z.string().min(1).max(65_536) }))
      .output(z.object({ itemId: Id })),
    /** A command that answers without a turn; the answer stands in the transcript unless the session is unsent (S-108). */
    sideCommand: route
      .input(z.object({ ...act, ...inSession, name: z.string().max(40), argument: z.string().max(2_000) }))
      .output(z.object({ text: z.string(), stored: z.boolean() })),
    /** "Stop" on a command's card: ends that command only. */
    /** Ends one subagent by its card (C-102). */
    stopSubagent: route.input(z.object({ ...act, ...inSession, itemId: Id })).output(done),
    stopCommand: route.input(z.object({ ...act, ...inSession, itemId: Id })).output(done),
  },
  exec: {
    /** Ends an exec session and all it started, whoever started it. */
    stop: route.input(z.object({ ...act, ...inSession, id: Id })).output(done),
    /** The person takes its keyboard from the agent, or hands it back. */
    hold: route.input(z.object({ ...act, ...inSession, id: Id, held: z.boolean() })).output(done),
  },
}
