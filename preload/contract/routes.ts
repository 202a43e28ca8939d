/**
 * Everything a client can ask of the workbench: one schema per request and reply (design, "The contract").
 * Reviewing this file is reviewing the exposure; the handler table in main/transport is typed from it.
 */
import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import { ErrorBody } from './errors.ts'
import { PlacedCommands } from './command-marks.ts'
import { SessionEvent, TerminalState, WorkbenchEvent, Workspace } from './events.ts'
import { BlobHash, Id, RequestId } from './ids.ts'
import { ApprovalDecision, Attachment, Item, Mentions, Rule } from './items.ts'
import {
  commentCharsMax,
  commentsMax,
  compactionFocusCharsMax,
  editedBytesMax,
  listPageMax,
  queryCharsMax,
  sliceItemsMax,
  titleCharsMax,
} from './limits.ts'
import { ApprovalMode, Entry, FollowUp, ItemSlice, SessionHeader, SessionView, Steer } from './session.ts'
import { Settings, TerminalProfile } from './settings.ts'
import { Update } from './update.ts'

/** Every refusal is this one typed error; `data` is the body people and scripts read. */
const route = oc.errors({ LATHE: { data: ErrorBody } })

const Text = z.string().max(2 * 1024 * 1024)
const EditedText = z.string().max(editedBytesMax)
const Path = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.includes('\0'), 'A path has no NUL.')
const done = z.object({ ok: z.literal(true) })
const inSession = { sessionId: Id }
/** Made by the client; the same id again is the same act (S-27). */
const act = { requestId: RequestId }
/** What a person says: to be sent, queued, steered with, or kept as a draft. */
const message = { text: Text, attachments: z.array(Attachment).max(50), mentions: Mentions.optional() }
/** Made by the client, names one subscription for `streams.ack`. */
const stream = { stream: Id }

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

export const ModelEntry = z.object({
  name: z.string(),
  label: z.string(),
  provider: z.string(),
  contextLength: z.number(),
  contextLengthSource: z.enum(['config', 'server', 'catalog', 'assumed']),
  maxOutput: z.number(),
  tools: z.boolean().nullable(),
  vision: z.boolean().nullable(),
  efforts: z.array(z.string()).nullable(),
  price: z.object({ input: z.number(), output: z.number() }).nullable(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

export const ProviderEntry = z.object({
  id: z.string(),
  kind: z.string(),
  label: z.string(),
  state: z.enum(['ready', 'needs_key', 'unreachable', 'off']),
  reason: z.string().nullable(),
  baseUrl: z.string().nullable(),
  keySource: z.enum(['environment', 'stored', 'none']),
  models: z.array(ModelEntry),
})
export type ProviderEntry = z.infer<typeof ProviderEntry>

/** A stretch of an exported file; the file is `name`. */
export const ExportPart = z.object({ name: z.string(), mediaType: z.string(), text: z.string(), last: z.boolean() })
export type ExportPart = z.infer<typeof ExportPart>

/** A picture that can be shown, by its content; its size in pixels where its header tells it. */
export const Picture = z.object({
  mediaType: z.string(),
  bytes: z.number().int(),
  width: z.number().int().nullable(),
  height: z.number().int().nullable(),
})
export type Picture = z.infer<typeof Picture>
const PictureBody = z.object({ data: z.base64(), mediaType: z.string() })

/** A hunk-wise diff of one change, computed in a worker or by git (F-904). */
export const ChangeDiff = z.object({
  path: z.string(),
  kind: z.enum(['created', 'edited', 'deleted', 'renamed']),
  binary: z.boolean(),
  /** Unified diff text, three lines of context; null where only counts are given. */
  patch: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  added: z.number().nullable(),
  removed: z.number().nullable(),
  note: z.string().nullable(),
  /** Where every side that is there is a picture (F-904); their bytes are `changes.picture`. */
  pictures: z.object({ before: Picture.nullable(), after: Picture.nullable() }).nullable(),
  /** The file differs now from the recorded after (F-910). */
  changedSince: z.boolean(),
  /** Hunks of `patch` that can be kept or undone one by one, by the line numbers of their headers (F-907). */
  hunks: z.array(
    z.object({
      id: z.string(),
      before: z.number().int(),
      after: z.number().int(),
      state: z.enum(['open', 'accepted', 'rejected']),
    }),
  ),
})
export type ChangeDiff = z.infer<typeof ChangeDiff>

/** What an undo or redo would do to each file, and what it did (F-1008, K-12). */
export const UndoPlan = z.object({
  turns: z.number().int(),
  files: z.array(
    z.object({
      path: z.string(),
      act: z.enum(['restore', 'delete', 'create']),
      state: z.enum(['ready', 'same', 'conflict', 'lost']),
    }),
  ),
})
export type UndoPlan = z.infer<typeof UndoPlan>

export const TreeNode = z.object({
  name: z.string(),
  path: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  bytes: z.number().nullable(),
  ignored: z.boolean(),
})
export type TreeNode = z.infer<typeof TreeNode>
export const FileBody = z.object({
  path: z.string(),
  text: z.string().nullable(),
  bytes: z.number(),
  truncated: z.boolean(),
  binary: z.boolean(),
  mediaType: z.string().nullable(),
  /** Hash of the bytes `text` was read from; null where it is not all of them. What is saved names it. */
  version: z.string().nullable(),
  /** Why the editor shows it without changing it; null where it can be edited. */
  readOnly: z.string().nullable(),
  /** Edits that were not saved yet, and the version they were made on; null there: a file that is not on disk. */
  draft: z.object({ text: z.string(), base: z.string().nullable() }).nullable(),
})
export type FileBody = z.infer<typeof FileBody>

export const TerminalFrame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    offset: z.number(),
    data: z.string(),
    cols: z.number(),
    rows: z.number(),
    /** Where the shell does not mark its commands: absent. */
    commands: PlacedCommands.optional(),
  }),
  z.object({ type: z.literal('data'), offset: z.number(), data: z.string() }),
  z.object({
    type: z.literal('exit'),
    offset: z.number(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
  }),
])
export type TerminalFrame = z.infer<typeof TerminalFrame>

export const HostInfo = z.object({
  kind: z.enum(['desktop', 'web']),
  version: z.string(),
  platform: z.string(),
  home: z.string(),
  dataFolder: z.string(),
  capabilities: z.array(z.enum(['open_folder_dialog', 'reveal', 'open_external', 'keychain', 'windows', 'updates'])),
  banner: z.string().nullable(),
})
export type HostInfo = z.infer<typeof HostInfo>

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

export const SearchHit = z.object({
  sessionId: Id,
  sessionTitle: z.string(),
  itemId: Id.nullable(),
  kind: z.string(),
  at: z.number(),
  snippet: z.string(),
  ranges: z.array(z.tuple([z.number(), z.number()])),
})
export type SearchHit = z.infer<typeof SearchHit>

/** What the person says to lines of a change; it goes to the agent with their next message (F-912). */
export const Comment = z.object({
  id: Id,
  changeId: Id,
  path: z.string().max(4_096),
  side: z.enum(['before', 'after']),
  /** Lines of that side, from 1, both inclusive. */
  from: z.number().int().min(1),
  to: z.number().int().min(1),
  quoted: z.string().max(commentCharsMax),
  text: z.string().max(commentCharsMax),
})
export type Comment = z.infer<typeof Comment>
const Comments = z.array(Comment).max(commentsMax)

export const Draft = z.object({
  text: z.string(),
  attachments: z.array(Attachment),
  mentions: Mentions.optional(),
  comments: Comments.optional(),
  revision: z.number().int(),
})
export type Draft = z.infer<typeof Draft>

export const contract = {
  host: {
    info: route.output(HostInfo),
    /** Every workbench-scope event from now on (T-215): subscribe first, then read the lists. */
    watch: route.input(z.object({ ...stream })).output(eventIterator(WorkbenchEvent)),
    reveal: route.input(z.object({ path: Path })).output(done),
    openExternal: route.input(z.object({ url: z.string().max(8_192) })).output(done),
    chooseFolder: route.output(z.object({ path: z.string().nullable() })),
    update: route.output(Update),
    /** Looks for a newer version now and downloads it; answers what is known after that. */
    lookForUpdate: route.output(Update),
    /** Throws `turn.busy` for `now` while something runs. */
    installUpdate: route.input(z.object({ ...act, when: z.enum(['now', 'quit']) })).output(done),
  },
  streams: {
    /** Credit: how many frames of `stream` the client has taken in all. */
    ack: route.input(z.object({ ...stream, taken: z.number().int().nonnegative() })).output(done),
  },
  settings: {
    get: route.output(Settings),
    set: route.input(z.object({ ...act, settings: Settings.partial() })).output(Settings),
    preferences: route.output(z.record(z.string(), z.unknown())),
    setPreferences: route
      .input(z.object({ ...act, preferences: z.record(z.string().max(64), z.unknown()) }))
      .output(z.record(z.string(), z.unknown())),
  },
  workspaces: {
    list: route.output(z.array(Workspace)),
    open: route.input(z.object({ ...act, path: Path })).output(Workspace),
    openDemo: route.input(z.object({ ...act })).output(Workspace),
    forget: route.input(z.object({ ...act, path: Path })).output(done),
    /** Sessions of a folder that moved: all of them at once (S-54). */
    locate: route.input(z.object({ ...act, path: Path, to: Path })).output(Workspace),
    /** Folders below `path`, for choosing one where there is no native dialog. */
    browse: route.input(z.object({ path: Path.nullable() })).output(
      z.object({
        path: z.string(),
        parent: z.string().nullable(),
        folders: z.array(z.object({ name: z.string(), path: z.string(), git: z.boolean() })),
      }),
    ),
  },
  sessions: {
    list: route
      .input(
        z.object({
          before: z.object({ updatedAt: z.number(), id: Id }).optional(),
          limit: z.number().int().min(1).max(listPageMax).optional(),
          workspace: Path.optional(),
          archived: z.boolean().optional(),
          text: z.string().max(queryCharsMax).optional(),
        }),
      )
      .output(z.object({ entries: z.array(Entry), more: z.boolean() })),
    /** An unsent session: stored with its first admitted message (S-3). */
    create: route
      .input(
        z.object({
          ...act,
          workspace: Path,
          model: z.string().max(300).optional(),
          approvalMode: ApprovalMode.optional(),
        }),
      )
      .output(z.object({ ...inSession })),
    rename: route
      .input(
        z.object({
          ...act,
          ...inSession,
          title: z.string().max(titleCharsMax * 4),
          ifRev: z.number().int().optional(),
        }),
      )
      .output(SessionHeader),
    pin: route.input(z.object({ ...act, ...inSession, pinned: z.boolean() })).output(SessionHeader),
    archive: route.input(z.object({ ...act, ...inSession, archived: z.boolean() })).output(SessionHeader),
    delete: route.input(z.object({ ...act, ...inSession })).output(done),
    /** "Recently deleted", newest first: each can come back for 7 days (S-21). */
    deleted: route.output(z.array(z.object({ entry: Entry, deletedAt: z.number().int() }))),
    /** "Delete permanently": nothing of it comes back. */
    purge: route.input(z.object({ ...act, ...inSession })).output(done),
    restore: route.input(z.object({ ...act, ...inSession })).output(SessionHeader),
    /** A new session with what led to an entry, by default the newest settled answer (S-73). */
    fork: route
      .input(
        z.object({
          ...act,
          ...inSession,
          at: Id.optional(),
          side: z.enum(['before', 'after']).optional(),
          title: z
            .string()
            .max(titleCharsMax * 4)
            .optional(),
        }),
      )
      .output(SessionHeader),
    markRead: route
      .input(z.object({ ...act, ...inSession, seq: z.number().int(), unread: z.boolean().optional() }))
      .output(done),
    search: route
      .input(z.object({ query: z.string().max(queryCharsMax), limit: z.number().int().min(1).max(100).optional() }))
      .output(z.object({ hits: z.array(SearchHit), partial: z.boolean() })),
    /** A Lathe JSON in base64 parts of at most 1 MiB; the last one answers the new session, idle (S-92). */
    import: route
      .input(
        z.object({
          uploadId: Id,
          part: z.number().int().nonnegative(),
          last: z.boolean(),
          data: z.string().max(1_500_000),
          /** The same file once more, as a session of its own. */
          copy: z.boolean().optional(),
        }),
      )
      .output(z.object({ sessionId: Id.nullable() })),
    /** A file in parts, asked for in order under an id of the client's; all are of the session as it was at part 0 (S-91). */
    export: route
      .input(
        z.object({
          ...inSession,
          exportId: Id,
          part: z.number().int().nonnegative(),
          format: z.enum(['md', 'json', 'html']),
          /** JSON only: without the pattern pass (S-89). */
          exact: z.boolean().optional(),
        }),
      )
      .output(ExportPart),
  },
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
        }),
      )
      .output(SubmitReply),
    stop: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          /** Default `person`. */ reason: z.enum(['person', 'timeout']).optional(),
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
          approvalMode: ApprovalMode.optional(),
          /** The card this switch is meant for (Z-94). */ forApproval: Id.optional(),
        }),
      )
      .output(SessionHeader),
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
    prompts: route.input(z.object({ ...inSession })).output(z.array(z.string())),
    /** The person's own command: the line without its `!` (T-25). */
    command: route
      .input(z.object({ ...act, ...inSession, line: z.string().min(1).max(65_536) }))
      .output(z.object({ itemId: Id })),
    /** A command that answers without a turn; the answer stands in the transcript unless the session is unsent (S-108). */
    sideCommand: route
      .input(z.object({ ...act, ...inSession, name: z.string().max(40), argument: z.string().max(2_000) }))
      .output(z.object({ text: z.string(), stored: z.boolean() })),
    /** "Stop" on a command's card: ends that command only. */
    stopCommand: route.input(z.object({ ...act, ...inSession, itemId: Id })).output(done),
  },
  exec: {
    /** Ends an exec session and all it started, whoever started it. */
    stop: route.input(z.object({ ...act, ...inSession, id: Id })).output(done),
    /** The person takes its keyboard from the agent, or hands it back. */
    hold: route.input(z.object({ ...act, ...inSession, id: Id, held: z.boolean() })).output(done),
  },
  steers: {
    add: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          ...message,
        }),
      )
      .output(z.object({ steerId: Id })),
    edit: route
      .input(
        z.object({
          ...act,
          ...inSession,
          steerId: Id,
          ...message,
        }),
      )
      .output(z.object({ done: z.boolean(), why: z.enum(['taken', 'not_running']).optional() })),
    withdraw: route
      .input(z.object({ ...act, ...inSession, steerId: Id }))
      .output(
        z.object({ done: z.boolean(), why: z.enum(['taken', 'not_running']).optional(), steer: Steer.optional() }),
      ),
    sendNow: route
      .input(z.object({ ...act, ...inSession, steerId: Id }))
      .output(z.object({ sent: z.enum(['delivered', 'next_step', 'taken', 'not_running']) })),
  },
  followUps: {
    add: route
      .input(
        z.object({
          ...act,
          ...inSession,
          ...message,
        }),
      )
      .output(FollowUp),
    edit: route
      .input(
        z.object({
          ...act,
          ...inSession,
          id: Id,
          revision: z.number().int(),
          ...message,
        }),
      )
      .output(FollowUp),
    move: route.input(z.object({ ...act, ...inSession, id: Id, before: Id.nullable() })).output(done),
    remove: route.input(z.object({ ...act, ...inSession, id: Id })).output(FollowUp),
    clear: route.input(z.object({ ...act, ...inSession })).output(z.array(FollowUp)),
    steerNow: route.input(z.object({ ...act, ...inSession, id: Id })).output(z.object({ steerId: Id })),
    startNow: route.input(z.object({ ...act, ...inSession, id: Id })).output(SubmitReply),
    pause: route.input(z.object({ ...act, ...inSession })).output(done),
    resume: route.input(z.object({ ...act, ...inSession })).output(done),
  },
  approvals: {
    answer: route
      .input(
        z.object({
          ...act,
          ...inSession,
          approvalId: Id,
          argsHash: z.string().max(100),
          decision: ApprovalDecision,
          scope: z.enum(['workspace', 'always']).optional(),
          feedback: z.string().max(2_000).optional(),
        }),
      )
      .output(done),
    rules: route.output(z.array(Rule)),
    removeRule: route.input(z.object({ ...act, id: Id })).output(done),
  },
  questions: {
    answer: route
      .input(
        z.object({
          ...act,
          ...inSession,
          questionId: Id,
          choices: z.array(z.string().max(64)).max(12).optional(),
          text: z.string().max(20_000).optional(),
          secret: z.string().max(20_000).optional(),
          declined: z.boolean().optional(),
        }),
      )
      .output(done),
    /** The person types or chooses: the count begins anew (T-149). Sent at most once a second. */
    touch: route.input(z.object({ ...act, ...inSession, questionId: Id })).output(done),
  },
  recovery: {
    continue: route.input(z.object({ ...act, ...inSession, recoveryId: Id })).output(SubmitReply),
    dismiss: route.input(z.object({ ...act, ...inSession, recoveryId: Id })).output(done),
  },
  attachments: {
    /** Bytes come in base64 parts of at most 1 MiB; the last one answers the attachment. */
    upload: route
      .input(
        z.object({
          uploadId: Id,
          name: z.string().max(255),
          mediaType: z.string().max(200),
          part: z.number().int().nonnegative(),
          last: z.boolean(),
          data: z.string().max(1_500_000),
        }),
      )
      .output(z.object({ attachment: Attachment.nullable() })),
    /** A stored body, base64, for previews and downloads; by session and hash, never by path (S-117). */
    read: route
      .input(z.object({ ...inSession, hash: BlobHash }))
      .output(z.object({ data: z.string(), mediaType: z.string() })),
  },
  changes: {
    diff: route.input(z.object({ ...inSession, changeId: Id })).output(ChangeDiff),
    /** From the recorded after to the file as it is now (F-910). */
    compare: route.input(z.object({ ...inSession, changeId: Id })).output(ChangeDiff),
    /** The picture a change began or ended with. Throws `file.too_large`, `file.not_found`. */
    picture: route
      .input(z.object({ ...inSession, changeId: Id, side: z.enum(['before', 'after']) }))
      .output(PictureBody),
    /** Keeps a hunk, or the whole file where `hunkId` is null, or makes it open again; changes no file (F-908). */
    review: route
      .input(z.object({ ...act, ...inSession, changeId: Id, hunkId: z.string().max(64).nullable(), keep: z.boolean() }))
      .output(done),
    /** Puts a hunk, or the whole file, back. Throws `changes.hunk_conflict` with both texts (F-908). */
    reject: route
      .input(z.object({ ...act, ...inSession, changeId: Id, hunkId: z.string().max(64).nullable() }))
      .output(done),
  },
  undo: {
    /** With `andLater` the turn and all after it. `redo` plans the way forward of what was undone. */
    preview: route
      .input(z.object({ ...inSession, turnId: Id, andLater: z.boolean(), redo: z.boolean() }))
      .output(UndoPlan),
    /** Throws `workspace.busy` while a turn runs in the workspace (F-1012). `force` names conflicts to overwrite. */
    apply: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          andLater: z.boolean(),
          redo: z.boolean(),
          force: z.array(z.string().max(4_096)).max(10_000),
        }),
      )
      .output(UndoPlan),
  },
  files: {
    list: route.input(z.object({ workspace: Path, path: z.string().max(4_096) })).output(z.array(TreeNode)),
    read: route.input(z.object({ workspace: Path, path: Path })).output(FileBody),
    /** A file that is a picture. Throws `file.too_large`, `file.not_found`. */
    picture: route.input(z.object({ workspace: Path, path: Path })).output(PictureBody),
    /**
     * Saves what the person edited, through the commit gate: encoding, byte order mark and line ends stay the file's own.
     * Throws `file.stale` where the file is not `base` any more, null being one that is not there.
     */
    write: route
      .input(z.object({ ...act, workspace: Path, path: Path, text: EditedText, base: z.string().max(100).nullable() }))
      .output(z.object({ version: z.string() })),
    /** Keeps unsaved edits over reloads and restarts; null lets them go. */
    setDraft: route
      .input(
        z.object({
          workspace: Path,
          path: Path,
          draft: z.object({ text: EditedText, base: z.string().max(100).nullable() }).nullable(),
        }),
      )
      .output(done),
    /** Paths of the files with unsaved edits. */
    drafts: route.input(z.object({ workspace: Path })).output(z.array(z.string())),
    /** What a path of this machine is called in the workspace, folders ending in `/`; null where it leads elsewhere, links followed (S-114). */
    place: route.input(z.object({ workspace: Path, path: Path })).output(z.object({ path: z.string().nullable() })),
    /** With `folders` those too, ending in `/`. */
    find: route
      .input(z.object({ workspace: Path, query: z.string().max(200), folders: z.boolean().optional() }))
      .output(z.array(z.object({ path: z.string(), kind: z.enum(['file', 'folder']) }))),
  },
  models: {
    list: route.input(z.object({ refresh: z.boolean().optional() })).output(z.array(ProviderEntry)),
    /** Local servers that answer (M-15): offered, never added silently. */
    probe: route.output(
      z.array(z.object({ kind: z.string(), baseUrl: z.string(), label: z.string(), models: z.array(z.string()) })),
    ),
    test: route
      .input(z.object({ provider: z.string().max(32) }))
      .output(z.object({ ok: z.boolean(), message: z.string() })),
    putProvider: route
      .input(
        z.object({
          ...act,
          id: z.string().max(32),
          kind: z.string().max(32),
          baseUrl: z.string().max(2_000).optional(),
          apiKeyEnv: z.string().max(200).optional(),
          models: z.array(z.string().max(300)).max(200).optional(),
        }),
      )
      .output(done),
    removeProvider: route.input(z.object({ ...act, id: z.string().max(32) })).output(done),
    /** Goes once, to the keychain or the secrets file; no route ever answers it. */
    setKey: route
      .input(z.object({ ...act, provider: z.string().max(32), key: z.string().max(10_000).nullable() }))
      .output(z.object({ storedIn: z.enum(['keychain', 'file', 'none']) })),
  },
  terminals: {
    list: route.output(z.array(TerminalState)),
    /** What a terminal can be opened with: the default first, then the person's profiles and the shells installed. */
    profiles: route.input(z.object({ workspace: Path })).output(z.array(TerminalProfile)),
    open: route
      .input(
        z.object({
          ...act,
          workspace: Path,
          cols: z.number().int().min(2).max(1_000),
          rows: z.number().int().min(1).max(1_000),
          /** Name of a profile; without one, the default. */
          profile: z.string().max(40).optional(),
        }),
      )
      .output(TerminalState),
    attach: route
      .input(z.object({ ...stream, id: Id, after: z.number().int().nonnegative().optional() }))
      .output(eventIterator(TerminalFrame)),
    input: route.input(z.object({ id: Id, data: z.string().max(5 * 1024 * 1024) })).output(done),
    resize: route
      .input(z.object({ id: Id, cols: z.number().int().min(2).max(1_000), rows: z.number().int().min(1).max(1_000) }))
      .output(done),
    rename: route.input(z.object({ ...act, id: Id, title: z.string().max(100) })).output(done),
    /** Forgets scrollback and screen but for the cursor's row. */
    clear: route.input(z.object({ ...act, id: Id })).output(done),
    /** Ends the process tree; the tab goes once its exit is seen. */
    close: route.input(z.object({ ...act, id: Id })).output(done),
  },
}
export type Contract = typeof contract
