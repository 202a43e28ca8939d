/** Writes for tests: what an actor would decide, with only what matters to the test spelt out. */
import { blankHeader, noUsage } from '../../preload/contract/fold.ts'
import { newId } from '../../preload/contract/ids.ts'
import { sampleEntry } from '../../preload/contract/sample-entry.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import type { SessionHeader, Turn } from '../../preload/contract/session.ts'
import type { SessionWrite } from './storage.ts'

export function sampleHeader(set: Partial<SessionHeader> = {}): SessionHeader {
  return {
    ...blankHeader,
    id: newId(),
    rev: 1,
    createdAt: 1_000,
    updatedAt: 1_000,
    workspace: '/work/shop',
    ...set,
  }
}

export function sampleWrite(header: SessionHeader, set: Partial<SessionWrite> = {}): SessionWrite {
  const { id, workspace, title, titleSource, updatedAt, createdAt, model, pinnedAt, archivedAt, itemCount } = header
  const columns = { workspace, title, titleSource, updatedAt, createdAt, model, pinnedAt, archivedAt, itemCount }
  const entry = sampleEntry(id, columns)
  return {
    sessionId: header.id,
    journalId: `journal-${header.id}`.slice(0, 64),
    header,
    hidden: {
      grants: [],
      commandNotes: [],
      fileNotes: [],
      completionKeys: [],
      wokenTurns: 0,
      exec: { count: 0, sessions: [] },
      notices: [],
    },
    entry,
    events: [],
    items: [],
    turns: [],
    changes: [],
    requests: [],
    ...set,
  }
}

const place = {
  turnId: null,
  stepId: null,
  createdAt: 1_000,
  endedAt: 1_000,
  status: 'final',
  contextual: true,
  visible: true,
} as const

export function userItem(pos: number, text: string, set: Partial<ItemOf<'user'>> = {}): ItemOf<'user'> {
  return { ...place, id: `user-${pos}`, pos, source: 'person', kind: 'user', text, attachments: [], ...set }
}

export function textItem(pos: number, text: string, set: Partial<ItemOf<'text'>> = {}): ItemOf<'text'> {
  return { ...place, id: `text-${pos}`, pos, source: 'agent', kind: 'text', text, final: true, ...set }
}

export function toolItem(pos: number, set: Partial<ItemOf<'tool'>> = {}): ItemOf<'tool'> {
  return {
    ...place,
    id: `tool-${pos}`,
    pos,
    source: 'agent',
    kind: 'tool',
    callId: `call-${pos}`,
    name: 'shell',
    title: 'Run',
    args: {},
    state: 'ok',
    startedAt: 1_000,
    durationMs: 1,
    waitedMs: 0,
    summary: '',
    output: '',
    outputStart: 0,
    view: null,
    changeIds: [],
    progress: null,
    ...set,
  }
}

export function turnRow(id: string, set: Partial<Turn> = {}): Turn {
  return {
    id,
    userItemId: 'user-1',
    requestId: `request-${id}`,
    origin: 'foreground',
    source: 'person',
    model: 'lab/scripted',
    startedAt: 1_000,
    settledAt: null,
    outcome: null,
    durationMs: null,
    waitedMs: 0,
    steps: 1,
    usage: noUsage,
    rate: null,
    ...set,
  }
}

export function turnStarted(seq: number, turnId: string): StoredEvent {
  return {
    type: 'turn.started',
    seq,
    at: 1_000,
    turnId,
    origin: 'foreground',
    source: 'person',
    requestId: `request-${turnId}`,
    userItemId: 'user-1',
    model: 'lab/scripted',
  }
}

export function turnSettled(seq: number, header: SessionHeader, turn: Turn): StoredEvent {
  return {
    type: 'turn.settled',
    seq,
    at: turn.settledAt ?? 2_000,
    turnId: turn.id,
    outcome: 'completed',
    usage: noUsage,
    durationMs: 1,
    items: [],
    itemsOmitted: 0,
    turn,
    session: header,
  }
}

export function delta(seq: number, turnId: string, itemId: string, offset: number, add: string): StoredEvent {
  return { type: 'item.delta', seq, at: 1_000, turnId, itemId, field: 'text', offset, add }
}
