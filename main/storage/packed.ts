/**
 * What crosses to the worker: JSON texts with the columns lifted out. The main thread serialises each object once, the
 * worker binds the text as it is, and nothing is cloned as a structure.
 */
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { Item } from '../../preload/contract/items.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Draft } from '../../preload/contract/session-routes.ts'
import type { PackedRewind } from './rewound.ts'
import { isSearchable } from './search-kinds.ts'
import type { SessionCopy, SessionImport, SessionWrite } from './storage.ts'

export type PackedWrite = {
  sessionId: string
  journalId: string
  workspace: string
  /** The session it is a subagent of. */
  parent: string | null
  titleFolded: string
  createdAt: number
  updatedAt: number
  archivedAt: number | null
  deletedAt: number | null
  lastSeq: number
  /** Null where only `lastSeq` of the record differs from what is stored. */
  record: { entry: string; hidden: string; header: string } | null
  events: { seq: number; turnId: string | null; type: string; body: string }[]
  items: PackedItem[]
  turns: {
    id: string
    startedAt: number
    settledAt: number | null
    startedSeq: number | null
    settledSeq: number | null
    body: string
  }[]
  changes: { turnId: string; files: { id: string; body: string }[] }[]
  requests: { requestId: string; fingerprint: string; reply: string }[]
  clearDraft: boolean
  givenBack: Pick<Draft, 'text' | 'attachments' | 'mentions'> | null
  rules: { id: string; body: string }[]
  rewinds: PackedRewind[]
  copy: SessionCopy | null
  imported: SessionImport | null
}

export type PackedItem = {
  id: string
  pos: number
  turnId: string | null
  kind: string
  visible: 0 | 1
  contextual: 0 | 1
  /** A prompt of the person's, found again with Up (S-103). */
  recalled: 0 | 1
  /** Settled and of a kind the index holds; while an item is live it is not indexed. */
  searchable: boolean
  createdAt: number
  endedAt: number | null
  body: string
}

export function packWrite(write: SessionWrite): PackedWrite {
  const { header, entry } = write
  return {
    sessionId: write.sessionId,
    journalId: write.journalId,
    workspace: header.workspace,
    parent: header.parent?.sessionId ?? null,
    titleFolded: folded(header.title),
    createdAt: header.createdAt,
    updatedAt: header.updatedAt,
    archivedAt: header.archivedAt,
    deletedAt: header.deletedAt,
    lastSeq: header.lastSeq,
    record: write.recordKept
      ? null
      : { entry: JSON.stringify(entry), hidden: JSON.stringify(write.hidden), header: JSON.stringify(header) },
    events: write.events.map((event) => ({
      seq: event.seq,
      turnId: ('turnId' in event && event.turnId) || null,
      type: event.type,
      body: JSON.stringify(event),
    })),
    items: write.items.map(packItem),
    turns: write.turns.map((turn) => ({
      id: turn.id,
      startedAt: turn.startedAt,
      settledAt: turn.settledAt,
      startedSeq: seqOf(write, 'turn.started', turn.id),
      settledSeq: seqOf(write, 'turn.settled', turn.id),
      body: JSON.stringify(turn),
    })),
    changes: write.changes.map(({ turnId, files }) => ({
      turnId,
      files: files.map((file) => ({ id: file.id, body: JSON.stringify(file) })),
    })),
    requests: write.requests.map(({ requestId, fingerprint, reply }) => ({
      requestId,
      fingerprint,
      reply: JSON.stringify(reply ?? null),
    })),
    clearDraft: write.clearDraft ?? false,
    givenBack: write.givenBack ?? null,
    rewinds: write.events.flatMap(packRewind),
    copy: write.copy ?? null,
    imported: write.imported ?? null,
    rules: (write.rules ?? []).map((rule) => ({ id: rule.id, body: JSON.stringify(rule) })),
  }
}

/** Case and diacritics taken off, so that "Muller" finds "Müller". */
export function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

export function packItem(item: Item): PackedItem {
  // What a slice left out would be lost for good.
  if ('omitted' in item)
    throw new LatheError('app.internal', `Item ${item.id} was clipped for a slice and cannot be stored.`)
  return {
    id: item.id,
    pos: item.pos,
    turnId: item.turnId,
    kind: item.kind,
    visible: item.visible ? 1 : 0,
    contextual: item.contextual ? 1 : 0,
    recalled: item.visible && (isPrompt(item) || isOwnCommand(item)) ? 1 : 0,
    searchable: item.visible && item.status !== 'live' && isSearchable(item.kind),
    createdAt: item.createdAt,
    endedAt: item.endedAt,
    body: JSON.stringify(item),
  }
}

/** Which entries leave the active path or come back is told by the journal alone. */
function packRewind(event: StoredEvent): PackedRewind[] {
  if (event.type !== 'session.rewound') return []
  const { markItemId, from, seq } = event
  return [{ do: event.deleted ? 'delete' : event.restored ? 'restore' : 'set_aside', markItemId, from, seq }]
}

function isPrompt(item: Item): boolean {
  return item.kind === 'user' && item.source === 'person'
}

function isOwnCommand(item: Item): boolean {
  return item.kind === 'tool' && item.byPerson === true
}

function seqOf(write: SessionWrite, type: string, turnId: string): number | null {
  return write.events.find((event) => event.type === type && 'turnId' in event && event.turnId === turnId)?.seq ?? null
}
