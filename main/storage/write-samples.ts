/** Writes for tests: what an actor would decide, with only what matters to the test spelt out. */
import { newId } from '../../preload/contract/ids.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import type { Entry, SessionHeader, Turn, Usage } from '../../preload/contract/session.ts'
import type { SessionWrite } from './storage.ts'

const usage: Usage = {
  input: null,
  output: null,
  reasoning: null,
  cacheRead: null,
  cacheWrite: null,
  total: null,
  cost: null,
}

export function sampleHeader(set: Partial<SessionHeader> = {}): SessionHeader {
  return {
    id: newId(),
    rev: 1,
    createdAt: 1_000,
    updatedAt: 1_000,
    workspace: '/work/shop',
    extraFolders: [],
    title: 'New session',
    titleSource: 'default',
    model: null,
    effort: null,
    approvalMode: 'ask',
    muted: false,
    lastSeq: 0,
    readSeq: 0,
    notableSeq: 0,
    currentTurnId: null,
    lastTurnId: null,
    lastOutcome: null,
    pinnedAt: null,
    archivedAt: null,
    deletedAt: null,
    forkOf: null,
    usage,
    lastUsage: null,
    context: { used: null, window: null, estimated: false },
    plan: null,
    notices: [],
    queue: { followUps: [], paused: null },
    recovery: null,
    automaticHeld: null,
    itemCount: 0,
    ...set,
  }
}

export function sampleWrite(header: SessionHeader, set: Partial<SessionWrite> = {}): SessionWrite {
  const entry: Entry = {
    id: header.id,
    workspace: header.workspace,
    title: header.title,
    titleSource: header.titleSource,
    updatedAt: header.updatedAt,
    createdAt: header.createdAt,
    model: header.model,
    indicator: 'none',
    runningSince: null,
    execRunning: 0,
    pinnedAt: header.pinnedAt,
    archivedAt: header.archivedAt,
    preview: '',
    itemCount: header.itemCount,
  }
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
      exec: { count: 0, sessions: [], notices: [] },
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
    usage,
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
    usage,
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
