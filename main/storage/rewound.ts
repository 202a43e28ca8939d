/**
 * Entries set aside, brought back, or gone for good (S-81), inside the transaction of the decision that says so; and what
 * such a decision has to know of the session beforehand.
 */
import type { Database } from 'better-sqlite3'
import { sliceItemsMax } from '../../preload/contract/limits.ts'
import { clipBody } from './clip.ts'
import type { PackedSlice } from './slice-reads.ts'
import { Refusal } from './refusal.ts'
import type { openSearchMarks } from './search-index.ts'
import { keepStatements } from './statements.ts'

/** `seq` is of the event that says so. */
export type PackedRewind = { do: 'set_aside' | 'restore' | 'delete'; markItemId: string; from: number; seq: number }

/** Where a session can be rewound to, or how far it can be copied. */
export type PackedPoint = {
  kind: string
  pos: number
  live: boolean
  /** Visible entries of the active path before it, and from it on. */
  before: number
  items: number
  /** Turns that begin with it or later. */
  turns: number
  /** The row of the newest turn that begins before it, and the plan as it was then. */
  lastTurn: string | null
  plan: string | null
}

/** All marks that what `:mark` set aside holds, itself with them. */
const withInner = `
  WITH RECURSIVE marks (id) AS (
    VALUES (:mark)
    UNION SELECT items.id FROM marks JOIN items ON items.session_id = :sessionId AND items.rewound = marks.id
    WHERE items.kind = 'rewind'
  )`

export function openRewindWrites(db: Database, marks: ReturnType<typeof openSearchMarks>) {
  const sql = keepStatements(db)

  function setAside(sessionId: string, { markItemId: mark, from }: PackedRewind): void {
    sql(`
      UPDATE items SET rewound = :mark, visible = 0, contextual = 0
      WHERE session_id = :sessionId AND pos >= :from AND rewound IS NULL
        AND pos < (SELECT pos FROM items WHERE session_id = :sessionId AND id = :mark)
    `).run({ sessionId, mark, from })
    sql(`
      UPDATE turns SET rewound = :mark
      WHERE session_id = :sessionId AND rewound IS NULL AND EXISTS (
        SELECT 1 FROM items WHERE items.session_id = :sessionId AND items.id = turns.body ->> '$.userItemId' AND items.rewound = :mark)
    `).run({ sessionId, mark })
    marks.forgetRewound(sessionId, mark)
  }

  function restore(sessionId: string, { markItemId: mark }: PackedRewind): void {
    marks.addRewound(sessionId, mark)
    sql(`
      UPDATE items SET rewound = NULL, visible = body ->> '$.visible', contextual = body ->> '$.contextual'
      WHERE session_id = :sessionId AND rewound = :mark
    `).run({ sessionId, mark })
    sql('UPDATE turns SET rewound = NULL WHERE session_id = :sessionId AND rewound = :mark').run({ sessionId, mark })
  }

  /** The journal lets go of it too: readers that stood there open anew. */
  function remove(sessionId: string, { markItemId: mark, seq }: PackedRewind): void {
    const given = { sessionId, mark }
    const gone = `SELECT items.id FROM items JOIN marks ON items.rewound = marks.id WHERE items.session_id = :sessionId`
    const goneTurns = `SELECT turns.id FROM turns JOIN marks ON turns.rewound = marks.id WHERE turns.session_id = :sessionId`
    sql(`${withInner} DELETE FROM changes WHERE session_id = :sessionId AND turn_id IN (${goneTurns})`).run(given)
    sql(`${withInner} DELETE FROM events WHERE session_id = :sessionId AND turn_id IN (${goneTurns})`).run(given)
    sql(`${withInner} DELETE FROM events WHERE session_id = :sessionId AND turn_id IS NULL AND seq < :seq AND (
      (type LIKE 'item.%' AND coalesce(body ->> '$.itemId', body ->> '$.item.id') IN (${gone}))
      OR (type = 'session.rewound' AND body ->> '$.markItemId' IN (SELECT id FROM marks)))`).run({ ...given, seq })
    sql(`${withInner} DELETE FROM turns WHERE session_id = :sessionId AND rewound IN (SELECT id FROM marks)`).run(given)
    sql(`${withInner} DELETE FROM items WHERE session_id = :sessionId AND rewound IN (SELECT id FROM marks)`).run(given)
  }

  return (sessionId: string, rewind: PackedRewind): void => {
    if (rewind.do === 'set_aside') setAside(sessionId, rewind)
    else if (rewind.do === 'restore') restore(sessionId, rewind)
    else remove(sessionId, rewind)
  }
}

export function openRewindReads(db: Database) {
  const sql = keepStatements(db)

  function bodies(query: string, values: Record<string, unknown>): string[] {
    return sql<{ body: string }>(query)
      .all(values)
      .map((row) => row.body)
  }

  function count(query: string, values: Record<string, unknown>): number {
    return sql<{ n: number }>(query).get(values)!.n
  }

  return {
    /** Null where no entry of the active path is called so. */
    pointOf(sessionId: string, itemId: string): PackedPoint | null {
      const row = sql<{ kind: string; pos: number; ended_at: number | null }>(
        'SELECT kind, pos, ended_at FROM items WHERE session_id = ? AND id = ? AND rewound IS NULL',
      ).get(sessionId, itemId)
      if (!row) return null
      const { kind, pos } = row
      const at = { sessionId, pos }
      const beginsBefore = `rewound IS NULL AND EXISTS (
        SELECT 1 FROM items WHERE items.session_id = turns.session_id AND items.id = turns.body ->> '$.userItemId' AND items.pos < :pos)`
      const last = sql<{ n: number; body: string }>(
        `SELECT n, body FROM turns WHERE session_id = :sessionId AND ${beginsBefore} ORDER BY n DESC LIMIT 1`,
      ).get(at)
      const plan = last
        ? sql<{ plan: string }>(`
            SELECT events.body -> '$.plan' AS plan FROM events JOIN turns ON turns.session_id = events.session_id AND turns.id = events.turn_id
            WHERE events.session_id = :sessionId AND events.type = 'plan.changed' AND turns.rewound IS NULL AND turns.n <= :n
            ORDER BY events.seq DESC LIMIT 1`).get({ sessionId, n: last.n })?.plan
        : undefined
      return {
        kind,
        pos,
        live: row.ended_at === null,
        before: count(
          'SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND visible = 1 AND pos < :pos',
          at,
        ),
        items: count(
          'SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND visible = 1 AND pos >= :pos',
          at,
        ),
        turns: count(
          `SELECT count(*) AS n FROM turns WHERE session_id = :sessionId AND rewound IS NULL AND NOT (${beginsBefore})`,
          at,
        ),
        lastTurn: last?.body ?? null,
        plan: plan ?? null,
      }
    },

    /** What a mark set aside, from its first entry or the one after `after` on; `after` counts what follows. */
    setAside(sessionId: string, mark: string, after: string | null, limit: number): PackedSlice {
      const given = { sessionId, mark }
      const from = after === null ? -1 : placeOf(sessionId, mark, after)
      const rows = sql<{ turn_id: string | null; pos: number; body: string }>(`
        SELECT turn_id, pos, body FROM items WHERE session_id = :sessionId AND rewound = :mark AND pos > :from ORDER BY pos LIMIT :limit
      `).all({ ...given, from, limit: Math.min(limit, sliceItemsMax) })
      return slice(sessionId, rows, {
        before: count(
          'SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND rewound = :mark AND pos <= :from',
          { ...given, from },
        ),
        after: count(
          'SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND rewound = :mark AND pos > :last',
          { ...given, last: rows.at(-1)?.pos ?? from },
        ),
      })
    },

    /** What bringing back a mark's entries makes of the session: the newest of them, and how many there are in all. */
    restoring(
      sessionId: string,
      mark: string,
      limit: number,
    ): { from: number; items: number; turns: number; lastTurn: string | null; slice: PackedSlice } | null {
      const given = { sessionId, mark }
      const first = sql<{ pos: number | null }>(
        'SELECT min(pos) AS pos FROM items WHERE session_id = :sessionId AND rewound = :mark',
      ).get(given)!.pos
      if (first === null) return null
      const newest = sql<{ turn_id: string | null; pos: number; body: string }>(`
        SELECT turn_id, pos, body FROM items WHERE session_id = :sessionId AND rewound = :mark ORDER BY pos DESC LIMIT :limit
      `).all({ ...given, limit })
      const shown = `body ->> '$.visible' = 1`
      const start = newest.at(-1)!.pos
      return {
        from: first,
        items: count(
          `SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND rewound = :mark AND ${shown}`,
          given,
        ),
        turns: count('SELECT count(*) AS n FROM turns WHERE session_id = :sessionId AND rewound = :mark', given),
        lastTurn:
          bodies(
            'SELECT body FROM turns WHERE session_id = :sessionId AND rewound = :mark ORDER BY n DESC LIMIT 1',
            given,
          )[0] ?? null,
        slice: slice(sessionId, newest.toReversed(), {
          before:
            count('SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND visible = 1 AND pos < :first', {
              sessionId,
              first,
            }) +
            count(
              `SELECT count(*) AS n FROM items WHERE session_id = :sessionId AND rewound = :mark AND pos < :start AND ${shown}`,
              { ...given, start },
            ),
          after: 0,
        }),
      }
    },

    /** Marks whose entries were set aside before `time`. */
    rewoundBefore(time: number): { sessionId: string; markItemId: string }[] {
      return sql<{ sessionId: string; markItemId: string }>(`
        SELECT items.session_id AS sessionId, items.id AS markItemId FROM items JOIN sessions ON sessions.id = items.session_id
        WHERE items.kind = 'rewind' AND items.visible = 1 AND items.created_at < ? AND sessions.deleted_at IS NULL
      `).all(time)
    },
  }

  function placeOf(sessionId: string, mark: string, itemId: string): number {
    const row = sql<{ pos: number }>('SELECT pos FROM items WHERE session_id = ? AND rewound = ? AND id = ?').get(
      sessionId,
      mark,
      itemId,
    )
    if (!row) throw new Refusal('request.invalid', 'That entry is not among them.')
    return row.pos
  }

  function slice(
    sessionId: string,
    rows: readonly { turn_id: string | null; body: string }[],
    counts: { before: number; after: number },
  ): PackedSlice {
    const turnIds = JSON.stringify([...new Set(rows.map((row) => row.turn_id))])
    const ofTurns = { sessionId, turnIds }
    return {
      items: rows.map((row) => clipBody(row.body)),
      ...counts,
      turns: bodies(
        'SELECT body FROM turns WHERE session_id = :sessionId AND id IN (SELECT value FROM json_each(:turnIds)) ORDER BY n',
        ofTurns,
      ),
      changes: bodies(
        'SELECT body FROM changes WHERE session_id = :sessionId AND turn_id IN (SELECT value FROM json_each(:turnIds)) ORDER BY n',
        ofTurns,
      ),
    }
  }
}
