/**
 * What the workbench asks of storage. One worker thread holds the database and is its only writer; what is queued within
 * a few milliseconds is one transaction (group commit). Every promise resolves only once durable.
 */
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { Workspace } from '../../preload/contract/events.ts'
import type { Item, Plan, Rule } from '../../preload/contract/items.ts'
import type { Draft, Prompt } from '../../preload/contract/session-routes.ts'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import type { ChangedFile, Entry, ExecSession, ItemSlice, SessionHeader, Turn } from '../../preload/contract/session.ts'
import type { Blobs } from './blobs.ts'
import type { FoundItem } from './session-find.ts'

/** What one decision of a session's actor stores, all or nothing. */
export type SessionWrite = {
  sessionId: string
  journalId: string
  /** The record as it is after the decision; `hidden` is what clients never see (grants, bindings, provider state). */
  header: SessionHeader
  hidden: HiddenRecord
  /** List columns, written with what they describe (S-51). */
  entry: Entry
  /** `header`, `hidden` and `entry` are as last written but for `lastSeq`: only that is. */
  recordKept?: boolean
  events: StoredEvent[]
  /** Upserts by id. */
  items: Item[]
  turns: Turn[]
  /** Replaces all changes of each turn named. */
  changes: { turnId: string; files: ChangedFile[] }[]
  /** Requests whose answer is kept with what they created, for ever (T-13). */
  requests: RequestBinding[]
  /** A new session begins as a copy of another. */
  copy?: SessionCopy
  /** A new session begins with what an exported file holds. */
  imported?: SessionImport
  /** Clears the session's draft: its message was accepted (S-101). */
  clearDraft?: boolean
  /** Comes before the session's draft, a blank line between: messages a Stop gave back (T-125). */
  givenBack?: Pick<Draft, 'text' | 'attachments' | 'mentions'>
  /** Workspace and everywhere rules this decision stores (Z-85). */
  rules?: Rule[]
}

export type HiddenRecord = {
  /** Session grants (Z-85). */
  grants: Rule[]
  /** Finished commands' output that goes with the person's next message (X-331). */
  commandNotes: { itemId: string; line: string; state: string; output: string }[]
  /** What the person did to files the agent changed: told to it at its next step (F-909). */
  fileNotes: string[]
  /** Which turn answers a delivery that named this key, newest last (T-27). */
  completionKeys: CompletionKey[]
  /** Turns started by finished processes or subagents since the person's last. */
  wokenTurns: number
  exec: ExecRecord
  /** What ended and the agent has not been told, oldest first. */
  notices: PendingNotice[]
}

export type CompletionKey = { key: string; turnId: string; userItemId: string }

/** Exec sessions of a session: the last number given, and those known. */
export type ExecRecord = { count: number; sessions: ExecSession[] }

/** The end of an exec session or of a subagent (C-100). */
export type PendingNotice = {
  about: 'exec' | 'subagent'
  /** Of the exec session, or of the subagent's card. */
  id: string
  /** What people see, and what the model is given. */
  text: string
  prompt: string
  /** The notice item that shows it, while it is attached to the turn that runs. */
  itemId: string | null
  /** All of what `prompt` gives only the beginning and end of. */
  outputRef?: string
  /** When it came, of one that may start a turn. */
  wakesAt?: number
}

/** What led to the entry `itemId` of another session, up to place `pos`, with new ids: see `copiedId`. */
export type SessionCopy = {
  from: string
  itemId: string
  pos: number
  at: number
  idEnd: string
}

/** A file that was found sound: its items and turns get new ids, those in `ids` are given. `name` keeps whose it became. */
export type SessionImport = {
  path: string
  at: number
  ids: Readonly<Record<string, string>>
  name: string
  /** Stands after all that the file holds; null where there is nothing to be said of it. */
  last: Item | null
}

/** Where a copy of a session ends. */
export type ForkPoint = {
  itemId: string
  /** The entry whose past is copied; another one where the copy ends before it. */
  pathOf: string
  pos: number
  /** The last place in use: a summary that ends there stands behind it (C-75). */
  lastPos: number
  live: boolean
  /** Visible entries up to it, itself with them. */
  items: number
  lastTurn: Turn | null
  plan: Plan | null
  /** The newest of them. */
  slice: Item[]
}

export type RequestBinding = { requestId: string; fingerprint: string; reply: unknown }

/** A session as it was last durable. */
export type StoredSession = {
  journalId: string
  header: SessionHeader
  hidden: HiddenRecord
  /** The newest visible items up to the slice limit, and every item after the first of them; those of the unsettled turn whole and from its first open one on, the others clipped as in a slice. */
  items: Item[]
  /** Visible items before `items[0]`. */
  itemsBefore: number
  turns: Turn[]
  changes: ChangedFile[]
  /** Events of the unsettled turn, from its `turn.started` on; empty where none is. A run of deltas to one item is one delta, numbered as the last. */
  unsettled: StoredEvent[]
  /** Highest `pos` in use. */
  lastPos: number
}

/** A session at one moment, read page by page: what is in memory is one page, however long it is. */
export type Snapshot = {
  header: SessionHeader
  /** Of the active path, in order. */
  turns(): AsyncGenerator<Turn>
  /**
   * The entries of the active path in order, whole, a live one with what has streamed into it; `ends` is the settled turn
   * whose last entry that is read as the conversation (visible, no reasoning) it is.
   */
  items(): AsyncGenerator<{ item: Item; ends: Turn | null }>
  close(): Promise<void>
}

/** An entry of the active path, and the session before it. */
export type Point = {
  kind: Item['kind']
  pos: number
  live: boolean
  /** Visible entries before it, and from it on. */
  before: number
  items: number
  /** Turns that begin with it or later. */
  turns: number
  /** The newest turn that begins before it, and the plan as it was then. */
  lastTurn: Turn | null
  plan: Plan | null
}

export type Restoring = { from: number; items: number; turns: number; lastTurn: Turn | null; slice: ItemSlice }

export type StorageCondition =
  | { kind: 'ok' }
  /** Opened read-only: the database is newer than this app. */
  | { kind: 'newer'; version: number; supported: number }
  /** The database was corrupt: set aside at `kept`, a new one was begun (S-25). */
  | { kind: 'set_aside'; kept: string }

export interface Storage {
  readonly condition: StorageCondition
  readonly dataFolder: string
  readonly blobs: Blobs
  /**
   * Throws `storage.failed` (disk full, I/O), `storage.timeout` (over 30 s), `session.read_only` (newer database, another
   * owner), `session.deleted` (erased). After `storage.timeout` a `loadSession` is answered behind that commit and says
   * whether it took place.
   */
  commit(write: SessionWrite): Promise<void>
  /** Resolves null where no such record is. */
  loadSession(sessionId: string): Promise<StoredSession | null>
  /** Sessions with an unsettled turn: one indexed query over turn rows (T-182). */
  unsettledSessions(): Promise<string[]>
  /** Stored events with `seq > after`, in order, at most `limit`; `pruned` where part of that range is gone (T-57). */
  events(sessionId: string, after: number, limit: number): Promise<{ events: StoredEvent[]; pruned: boolean }>
  /** A slice by place, counted in visible items (S-57); texts over 64 KiB are clipped (S-58). */
  items(
    sessionId: string,
    query: { before?: string; after?: string; around?: string; limit: number },
  ): Promise<ItemSlice>
  /** Whole, with all of a call's arguments. */
  item(sessionId: string, itemId: string): Promise<Item | null>
  /** The row of a turn of the active path, however old. */
  turn(sessionId: string, turnId: string): Promise<Turn | null>
  /** Every item in the active path that may enter model context, whole, in order; `turns` with them. */
  contextItems(sessionId: string): Promise<{ items: Item[]; turns: Turn[] }>
  /** The same from the summary in force on: what a model is sent now. */
  sentItems(sessionId: string): Promise<{ items: Item[]; turns: Turn[] }>
  /** Files that these turns changed, each once, in order. */
  changedPaths(sessionId: string, turnIds: readonly string[]): Promise<string[]>
  /** Where the session can be rewound to; null where no entry of its active path is called so. */
  pointOf(sessionId: string, itemId: string): Promise<Point | null>
  /** What a mark set aside, from its first entry or the one after `after` on (S-81). */
  setAside(sessionId: string, markItemId: string, after: string | null, limit: number): Promise<ItemSlice>
  /** What bringing back a mark's entries makes of the session; null where there are none. */
  restoring(sessionId: string, markItemId: string): Promise<Restoring | null>
  /** Where a copy can end: at or before an entry, by default the newest settled answer; null where there is none. */
  forkPoint(sessionId: string, itemId: string | null, side: 'before' | 'after'): Promise<ForkPoint | null>
  /** Marks whose entries were set aside before `time`. */
  rewoundBefore(time: number): Promise<{ sessionId: string; markItemId: string }[]>
  change(sessionId: string, changeId: string): Promise<ChangedFile | null>
  request(sessionId: string, requestId: string): Promise<RequestBinding | null>
  entries(query: {
    before?: { updatedAt: number; id: string } | undefined
    limit: number
    workspace?: string | undefined
    archived?: boolean | undefined
    text?: string | undefined
  }): Promise<{ entries: Entry[]; more: boolean }>
  /** Sessions that are kept, by id, after one of them. */
  sessionIds(after: string, limit: number): Promise<string[]>
  /** A line of the list made anew; left alone where the session has changed since `lastSeq`. */
  setEntry(sessionId: string, entry: Entry, lastSeq: number): Promise<void>
  /** Ids beginning with `prefix` (S-131), at most two. */
  idsByPrefix(prefix: string): Promise<string[]>
  /** Delta events of turns settled before `time` go (T-57). */
  pruneDeltas(settledBefore: number): Promise<void>
  /** Sets `deletedAt` aside for good: items, journal and draft go, id and times stay (S-22). */
  erase(sessionId: string, at: number): Promise<void>
  /** Deleted and not erased, the newest first (S-21). */
  deletedEntries(limit: number): Promise<{ entry: Entry; deletedAt: number }[]>
  deletedBefore(time: number): Promise<string[]>
  draft(sessionId: string): Promise<Draft | null>
  setDraft(sessionId: string, draft: Draft): Promise<void>
  /** What the person wrote, newest first: in this session, then in others of its workspace (S-103). */
  prompts(sessionId: string, workspace: string): Promise<Prompt[]>
  rules(): Promise<Rule[]>
  removeRule(id: string): Promise<void>
  workspaces(): Promise<Workspace[]>
  putWorkspace(workspace: Workspace): Promise<void>
  removeWorkspace(path: string): Promise<void>
  /** Re-points every session of a moved folder (S-54). */
  moveWorkspace(from: string, to: string): Promise<string[]>
  /** Small values by name: settings, list preferences, window state. */
  value(name: string): Promise<unknown>
  setValue(name: string, value: unknown): Promise<void>
  search(query: string, limit: number): Promise<{ hits: SearchHit[]; partial: boolean }>
  /** Visible entries of one session that show `text`, in order (S-69). */
  find(sessionId: string, text: string, limit: number): Promise<{ matches: FoundItem[]; more: boolean }>
  /**
   * One reading of a session as it is now, whatever is written meanwhile (S-91); null where it is not stored. To be
   * closed; one that nobody read from for a minute ends by itself.
   */
  snapshot(sessionId: string): Promise<Snapshot | null>
  /** Integrity, version, sizes: what `lathe doctor` and Settings show. */
  health(): Promise<{
    version: number
    integrity: string
    databaseBytes: number
    blobBytes: number
    blobsMissing: number
    /** Bytes of bodies that nothing kept refers to: the next sweep removes those that are old enough. */
    unreferencedBytes: number
  }>
  /** What takes room, in bytes: the database and what a vacuum would free of it, bodies by what they are for, and the largest sessions. */
  usage(): Promise<{
    databaseBytes: number
    freeBytes: number
    attachments: number
    versions: number
    outputs: number
    unreferenced: { bytes: number; usedAt: number }[]
    largest: { sessionId: string; title: string; bytes: number }[]
  }>
  /** How many entries wait to be indexed for search, and whether the index is damaged. */
  searchState(): Promise<{ pending: number; damaged: boolean }>
  /** Removes the blobs older than `before` that nothing kept refers to (S-23). */
  sweepBlobs(before: number): Promise<{ removed: number; bytes: number }>
  /** Gives the space of what was deleted back to the disk; answers the bytes freed. Commits wait meanwhile: never while a turn runs (S-173). */
  vacuum(): Promise<number>
  /** Waits for what is queued, then closes; idempotent. */
  close(): Promise<void>
}
