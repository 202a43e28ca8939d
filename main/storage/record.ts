/** Reading what is stored, whatever it is (S-7): a bad field takes its default, a bad entry is shown as such. */
import { blankHeader, noUsage } from '../../preload/contract/fold.ts'
import { Item } from '../../preload/contract/items.ts'
import { SessionHeader, Turn } from '../../preload/contract/session.ts'
import type { HiddenRecord, PendingNotice } from './storage.ts'

/** The header with each missing, wrong-typed or out-of-range field as in `columns` or at its default, and those fields' names. */
export function readHeader(
  text: string,
  columns: Pick<SessionHeader, 'id' | 'workspace' | 'createdAt' | 'updatedAt' | 'lastSeq'>,
): { header: SessionHeader; repaired: string[] } {
  const stored = parsed(text)
  const repaired: string[] = []
  const fields: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(SessionHeader.shape)) {
    if (name === 'lastSeq') continue
    const read = schema.safeParse(stored[name])
    if (read.success) fields[name] = read.data
    else {
      repaired.push(name)
      fields[name] = { ...blankHeader, ...columns }[name as keyof SessionHeader]
    }
  }
  // Streaming writes the column alone.
  const header = { ...(fields as SessionHeader), lastSeq: columns.lastSeq }
  for (const name of ['rev', 'readSeq', 'notableSeq', 'itemCount'] as const) {
    const beyond = (name === 'readSeq' || name === 'notableSeq') && header[name] > header.lastSeq
    if (header[name] >= 0 && !beyond) continue
    repaired.push(name)
    header[name] = beyond ? header.lastSeq : 0
  }
  return { header, repaired }
}

export function readHidden(text: string): HiddenRecord {
  const stored = parsed(text)
  return {
    grants: list(stored['grants']),
    commandNotes: list(stored['commandNotes']),
    fileNotes: list(stored['fileNotes']),
    completionKeys: list(stored['completionKeys']),
    wokenTurns: typeof stored['wokenTurns'] === 'number' ? stored['wokenTurns'] : 0,
    exec: execRecord(stored['exec']),
    notices: pendingNotices(stored),
  }
}

/** Items as stored; one that cannot be read stands as a notice in its place. */
export function readItem(text: string, sessionId: string): Item {
  const stored = parsed(text)
  const read = Item.safeParse(stored)
  // The stored object, not the schema's copy: a field of a newer Lathe stays.
  if (read.success) return stored as Item
  return {
    id:
      typeof stored['id'] === 'string'
        ? stored['id']
        : `damaged-${sessionId.slice(0, 40)}-${Number(stored['pos'] ?? 0)}`,
    turnId: typeof stored['turnId'] === 'string' ? stored['turnId'] : null,
    stepId: null,
    pos: typeof stored['pos'] === 'number' ? stored['pos'] : 0,
    createdAt: typeof stored['createdAt'] === 'number' ? stored['createdAt'] : 0,
    endedAt: typeof stored['endedAt'] === 'number' ? stored['endedAt'] : 0,
    status: 'final',
    source: 'session',
    contextual: false,
    visible: true,
    kind: 'notice',
    level: 'warning',
    text: 'This entry is damaged and cannot be shown.',
  }
}

/** A turn's row as stored; of a damaged one its id and times, unsettled or cut short. */
export function readTurn(text: string): Turn {
  const stored = parsed(text)
  if (Turn.safeParse(stored).success) return stored as Turn
  const textOf = (name: string) => (typeof stored[name] === 'string' ? stored[name] : '')
  const time = (name: string) => (typeof stored[name] === 'number' ? stored[name] : null)
  const settledAt = time('settledAt')
  return {
    id: textOf('id'),
    userItemId: textOf('userItemId'),
    requestId: textOf('requestId'),
    origin: 'foreground',
    source: 'person',
    model: textOf('model'),
    startedAt: time('startedAt') ?? 0,
    settledAt,
    outcome: settledAt === null ? null : 'interrupted',
    durationMs: null,
    waitedMs: 0,
    steps: 0,
    usage: noUsage,
    rate: null,
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function execRecord(value: unknown): HiddenRecord['exec'] {
  const stored = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const count = typeof stored['count'] === 'number' ? stored['count'] : 0
  return { count, sessions: list(stored['sessions']) }
}

/** An older Lathe kept the ends of processes with the processes. */
function pendingNotices(stored: Record<string, unknown>): PendingNotice[] {
  if (Array.isArray(stored['notices'])) return list(stored['notices'])
  const exec = stored['exec'] as { notices?: unknown } | undefined
  const older: (Omit<PendingNotice, 'about' | 'id'> & { execId: string })[] = list(exec?.notices)
  return older.map(({ execId, ...notice }) => ({ about: 'exec', id: execId, ...notice }))
}

function list(value: unknown): never[] {
  return Array.isArray(value) ? (value as never[]) : []
}
