/** Stretches of a session's active path: the one it is opened with, and those that are scrolled to. */
import type { Database } from 'better-sqlite3'
import { itemTextBytesMax, sliceItems } from '../../preload/contract/limits.ts'
import { clipBody } from './clip.ts'
import { mergeDeltas, type JournalRow } from './merged-deltas.ts'
import { Refusal } from './refusal.ts'
import { turnBody } from './snapshots.ts'
import { keepStatements } from './statements.ts'

/** A slice ends early rather than grow past this (K-14); texts in it are clipped, so one item always fits. */
const sliceBytesMax = 4 * 1024 * 1024

/** Of a damaged event only its type: nobody can take it for a sound one (S-7). */
const eventBody = `CASE WHEN json_valid(body) THEN body ELSE json_object('type', type) END AS body`

export type PackedSession = {
  journalId: string
  columns: { id: string; workspace: string; createdAt: number; updatedAt: number; lastSeq: number }
  header: string
  hidden: string
  items: string[]
  itemsBefore: number
  turns: string[]
  changes: string[]
  unsettled: string[]
  lastPos: number
}

export type PackedSlice = { items: string[]; before: number; after: number; turns: string[]; changes: string[] }

type SessionRow = {
  journal_id: string
  workspace: string
  created_at: number
  updated_at: number
  last_seq: number
  erased_at: number | null
  hidden: string
  header: string
}
type Place = { pos: number; bytes: number }

export type PlaceQuery = {
  before?: string | undefined
  after?: string | undefined
  around?: string | undefined
  limit: number
}

export function openSliceReads(db: Database) {
  const sql = keepStatements(db)

  /** The place of the first visible item below `place` that fits a slice of at most `limit`; `place` where none is there. */
  function startOfSlice(sessionId: string, place: number, limit: number): number {
    const below =
      'SELECT pos, octet_length(body) AS bytes FROM items WHERE session_id = ? AND visible = 1 AND pos < ? ORDER BY pos DESC LIMIT ?'
    return lastThatFits(sql<Place>(below).iterate(sessionId, place, limit)) ?? place
  }

  /** The same above it. */
  function endOfSlice(sessionId: string, place: number, limit: number): number {
    const above =
      'SELECT pos, octet_length(body) AS bytes FROM items WHERE session_id = ? AND visible = 1 AND pos > ? ORDER BY pos LIMIT ?'
    return lastThatFits(sql<Place>(above).iterate(sessionId, place, limit)) ?? place
  }

  function visibleBelow(sessionId: string, pos: number): number {
    return sql<{ n: number }>('SELECT count(*) AS n FROM items WHERE session_id = ? AND visible = 1 AND pos < ?').get(
      sessionId,
      pos,
    )!.n
  }

  function visibleAbove(sessionId: string, pos: number): number {
    return sql<{ n: number }>('SELECT count(*) AS n FROM items WHERE session_id = ? AND visible = 1 AND pos > ?').get(
      sessionId,
      pos,
    )!.n
  }

  function placeOf(sessionId: string, itemId: string): number {
    const row = sql<{ pos: number }>('SELECT pos FROM items WHERE session_id = ? AND id = ?').get(sessionId, itemId)
    if (!row) throw new Refusal('request.invalid', 'That entry is not in this session.')
    return row.pos
  }

  function bodies(query: string, ...values: unknown[]): string[] {
    return sql<{ body: string }>(query)
      .all(...values)
      .map((row) => row.body)
  }

  function firstOpen(sessionId: string, turnId: string): number | null {
    const query = 'SELECT min(pos) AS pos FROM items WHERE session_id = ? AND turn_id = ? AND ended_at IS NULL'
    return sql<{ pos: number | null }>(query).get(sessionId, turnId)!.pos
  }

  /** Subagents in the background may have outlived their turn. */
  function firstSubagent(sessionId: string): number | null {
    const query = "SELECT min(pos) AS pos FROM items WHERE session_id = ? AND kind = 'subagent' AND ended_at IS NULL"
    return sql<{ pos: number | null }>(query).get(sessionId)!.pos
  }

  function unsettledTurn(sessionId: string): { id: string; startedSeq: number } | null {
    const row = sql<{ id: string; started_seq: number | null }>(
      'SELECT id, started_seq FROM turns WHERE session_id = ? AND settled_at IS NULL ORDER BY n DESC LIMIT 1',
    ).get(sessionId)
    return row ? { id: row.id, startedSeq: row.started_seq ?? 0 } : null
  }

  return {
    loadSession(sessionId: string): PackedSession | null {
      const row = sql<SessionRow>(
        'SELECT journal_id, workspace, created_at, updated_at, last_seq, erased_at, hidden, header FROM sessions WHERE id = ?',
      ).get(sessionId)
      if (!row) return null
      if (row.erased_at !== null) throw new Refusal('session.deleted', 'This session was deleted.')
      const turn = unsettledTurn(sessionId)
      const newest = startOfSlice(sessionId, Number.MAX_SAFE_INTEGER, sliceItems)
      // Recovery closes what the turn left open, so that much is always at hand.
      const open = turn && firstOpen(sessionId, turn.id)
      const start = Math.min(newest, open ?? newest, firstSubagent(sessionId) ?? newest)
      const items = sql<{ turn_id: string | null; body: string }>(
        'SELECT turn_id, body FROM items WHERE session_id = ? AND pos >= ? AND rewound IS NULL ORDER BY pos',
      ).all(sessionId, start)
      const turnIds = JSON.stringify([...new Set(items.map((item) => item.turn_id))])
      return {
        journalId: row.journal_id,
        columns: {
          id: sessionId,
          workspace: row.workspace,
          createdAt: row.created_at,
          updatedAt: row.updated_at,
          lastSeq: row.last_seq,
        },
        header: row.header,
        hidden: row.hidden,
        items: items.map((item) => (turn && item.turn_id === turn.id ? item.body : clipBody(item.body))),
        itemsBefore: visibleBelow(sessionId, start),
        turns: bodies(
          `SELECT ${turnBody} FROM turns WHERE session_id = :sessionId AND (settled_at IS NULL
            OR n = (SELECT max(n) FROM turns WHERE session_id = :sessionId AND rewound IS NULL) OR id IN (SELECT value FROM json_each(:turnIds))) ORDER BY n`,
          { sessionId, turnIds },
        ),
        changes: bodies(
          'SELECT body FROM changes WHERE session_id = ? AND turn_id IN (SELECT value FROM json_each(?)) AND json_valid(body) ORDER BY n',
          sessionId,
          turnIds,
        ),
        unsettled: turn
          ? mergeDeltas(
              sql<JournalRow>(
                `SELECT type, ${eventBody} FROM events WHERE session_id = ? AND seq >= ? ORDER BY seq`,
              ).iterate(sessionId, turn.startedSeq),
            )
          : [],
        lastPos:
          sql<{ pos: number | null }>('SELECT max(pos) AS pos FROM items WHERE session_id = ?').get(sessionId)!.pos ??
          0,
      }
    },

    items(sessionId: string, query: PlaceQuery): PackedSlice {
      const [first, last] = stretch(query)
      const items = sql<{ turn_id: string | null; body: string }>(
        'SELECT turn_id, body FROM items WHERE session_id = ? AND pos BETWEEN ? AND ? AND rewound IS NULL ORDER BY pos',
      ).all(sessionId, first, last)
      const turnIds = JSON.stringify([...new Set(items.map((item) => item.turn_id))])
      return {
        items: items.map((item) => clipBody(item.body)),
        before: visibleBelow(sessionId, first),
        after: visibleAbove(sessionId, last),
        turns: bodies(
          `SELECT ${turnBody} FROM turns WHERE session_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY n`,
          sessionId,
          turnIds,
        ),
        changes: bodies(
          'SELECT body FROM changes WHERE session_id = ? AND turn_id IN (SELECT value FROM json_each(?)) AND json_valid(body) ORDER BY n',
          sessionId,
          turnIds,
        ),
      }

      function stretch({ before, after, around, limit }: PlaceQuery): [number, number] {
        if (before !== undefined) {
          const place = placeOf(sessionId, before)
          return [startOfSlice(sessionId, place, limit), place - 1]
        }
        if (after !== undefined) {
          const place = placeOf(sessionId, after)
          return [place + 1, endOfSlice(sessionId, place, limit)]
        }
        if (around !== undefined) {
          const place = placeOf(sessionId, around)
          const earlier = Math.floor((limit - 1) / 2)
          return [startOfSlice(sessionId, place, earlier), endOfSlice(sessionId, place, limit - 1 - earlier)]
        }
        return [startOfSlice(sessionId, Number.MAX_SAFE_INTEGER, limit), Number.MAX_SAFE_INTEGER]
      }
    },
  }
}

function lastThatFits(places: Iterable<Place>): number | null {
  let bytes = 0
  let last: number | null = null
  for (const { pos, bytes: whole } of places) {
    bytes += Math.min(whole, itemTextBytesMax)
    if (bytes > sliceBytesMax && last !== null) break
    last = pos
  }
  return last
}
