/**
 * Readings of a session that stay as they began while writes go on (S-91): each is a read transaction on a connection of
 * its own, so other reads see the present.
 */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { newId } from '../../preload/contract/ids.ts'
import { mergeDeltas, type JournalRow } from './merged-deltas.ts'
import { Refusal } from './refusal.ts'
import { keepStatements, type Statements } from './statements.ts'

/** A page ends early rather than grow past this; a longer item is a page of its own. */
const pageBytesMax = 1024 * 1024
const snapshotsMax = 8
/** An open one keeps the log of writes from being taken up, so none is kept that nobody reads. */
const idleMs = 60_000

/** What is read in whole rows; `last` is where the next page begins, null behind the end. */
export type PackedTurns = { turns: string[]; last: number | null }
export type PackedItems = {
  items: { body: string; deltas: string[]; ends: string | null }[]
  last: number | null
}

type Open = {
  db: Database
  sql: Statements
  sessionId: string
  /** Where each turn's last entry of the conversation stands; made with the first page of items. */
  ends: Map<string, number> | null
  idle: NodeJS.Timeout
}

export function openSnapshots(db: Database) {
  const open = new Map<string, Open>()

  function end(snapshotId: string): void {
    const one = open.get(snapshotId)
    open.delete(snapshotId)
    if (!one) return
    clearTimeout(one.idle)
    one.db.close()
  }

  function at(snapshotId: string): Open {
    const one = open.get(snapshotId)
    if (!one) throw new Refusal('storage.failed', 'Reading stood still for too long.', { reason: 'stopped' })
    one.idle.refresh()
    return one
  }

  return {
    beginSnapshot(sessionId: string) {
      // A database in memory stands for one that does not exist yet.
      if (db.memory) return null
      if (open.size >= snapshotsMax) throw new Refusal('storage.busy', 'Too many sessions are being read at once.')
      const own = new Sqlite(db.name, { readonly: true })
      try {
        own.pragma('busy_timeout = 5000')
        own.exec('BEGIN')
        const sql = keepStatements(own)
        const row = sql<{
          workspace: string
          created_at: number
          updated_at: number
          last_seq: number
          erased_at: number | null
          header: string
        }>('SELECT workspace, created_at, updated_at, last_seq, erased_at, header FROM sessions WHERE id = ?').get(
          sessionId,
        )
        if (row && row.erased_at !== null) throw new Refusal('session.deleted', 'This session was deleted.')
        if (!row) {
          own.close()
          return null
        }
        const snapshotId = newId()
        const idle = setTimeout(() => end(snapshotId), idleMs)
        idle.unref()
        open.set(snapshotId, { db: own, sql, sessionId, ends: null, idle })
        const columns = {
          id: sessionId,
          workspace: row.workspace,
          createdAt: row.created_at,
          updatedAt: row.updated_at,
          lastSeq: row.last_seq,
        }
        return { snapshotId, columns, header: row.header }
      } catch (error) {
        own.close()
        throw error
      }
    },

    snapshotTurns(snapshotId: string, after: number): PackedTurns {
      const { sql, sessionId } = at(snapshotId)
      const page: PackedTurns = { turns: [], last: null }
      let bytes = 0
      for (const { n, body } of sql<{ n: number; body: string }>(
        `SELECT n, ${turnBody} FROM turns WHERE session_id = ? AND n > ? AND rewound IS NULL ORDER BY n`,
      ).iterate(sessionId, after)) {
        page.turns.push(body)
        bytes += body.length
        if (bytes < pageBytesMax) continue
        page.last = n
        break
      }
      return page
    },

    snapshotItems(snapshotId: string, after: number): PackedItems {
      const one = at(snapshotId)
      const { sql, sessionId } = one
      one.ends ??= endsOf(one)
      const page: PackedItems = { items: [], last: null }
      let bytes = 0
      for (const row of sql<ItemRow>(
        'SELECT id, pos, turn_id, ended_at, body FROM items WHERE session_id = ? AND pos > ? AND rewound IS NULL ORDER BY pos',
      ).iterate(sessionId, after)) {
        const ends = row.turn_id !== null && one.ends.get(row.turn_id) === row.pos ? settled(one, row.turn_id) : null
        page.items.push({ body: row.body, deltas: row.ended_at === null ? deltasOf(one, row) : [], ends })
        bytes += row.body.length
        if (bytes < pageBytesMax) continue
        page.last = row.pos
        break
      }
      return page
    },

    endSnapshot: end,
  }
}

type ItemRow = { id: string; pos: number; turn_id: string | null; ended_at: number | null; body: string }

/** Of a damaged turn only what its columns say: nobody can take it for a sound one (S-7). */
export const turnBody = `CASE WHEN json_valid(body) THEN body ELSE json_object('id', id, 'startedAt', started_at, 'settledAt', settled_at) END AS body`

function endsOf({ sql, sessionId }: Open): Map<string, number> {
  const rows = sql<{ turn_id: string; pos: number }>(`
    SELECT turn_id, max(pos) AS pos FROM items
    WHERE session_id = ? AND visible = 1 AND kind <> 'reasoning' AND turn_id IS NOT NULL GROUP BY turn_id
  `)
  return new Map([...rows.iterate(sessionId)].map(({ turn_id, pos }) => [turn_id, pos]))
}

function settled({ sql, sessionId }: Open, turnId: string): string | null {
  const row = sql<{ body: string }>(
    `SELECT ${turnBody} FROM turns WHERE session_id = ? AND id = ? AND settled_at IS NOT NULL AND rewound IS NULL`,
  ).get(sessionId, turnId)
  return row?.body ?? null
}

/** What has streamed into a live entry since its row was written. */
function deltasOf({ sql, sessionId }: Open, { id, turn_id: turnId }: ItemRow): string[] {
  const rows = sql<JournalRow>(`
    SELECT type, body FROM events
    WHERE session_id = :sessionId AND type = 'item.delta' AND json_valid(body) AND body ->> '$.itemId' = :id
      AND seq >= coalesce((SELECT started_seq FROM turns WHERE session_id = :sessionId AND id = :turnId), 0)
    ORDER BY seq
  `)
  return mergeDeltas(rows.iterate({ sessionId, id, turnId }))
}
