/** Copying a session up to one of its entries into a new one (S-73 to S-77), inside the transaction that makes it. */
import { sliceItems } from '../../preload/contract/limits.ts'
import type { Database } from 'better-sqlite3'
import type { ChangedFile, Turn } from '../../preload/contract/session.ts'
import { clipBody } from './clip.ts'
import { copiedBodySql, copiedId, copiedIdSql, cutOffBodySql } from './copied-item.ts'
import type { PackedSlice } from './slice-reads.ts'
import type { openSearchMarks } from './search-index.ts'
import { keepStatements, type Statements } from './statements.ts'
import type { SessionCopy } from './storage.ts'

/** Rows copied at once: what SQLite sets aside meanwhile stays in memory. */
const rowsPerPage = 200

/**
 * What led to an entry: all before it in the active path, and where the entry was itself set aside, what was set aside with
 * it or by a mark that was. A summary knows nothing after the last entry it covers, so it comes along where that does (C-75).
 */
const withPath = `
  WITH RECURSIVE marks (id) AS (
    SELECT rewound FROM items WHERE session_id = :sessionId AND id = :itemId AND rewound IS NOT NULL
    UNION SELECT items.rewound FROM marks JOIN items ON items.session_id = :sessionId AND items.id = marks.id
    WHERE items.rewound IS NOT NULL
  ), path AS (
    SELECT * FROM items WHERE session_id = :sessionId AND kind <> 'rewind'
      AND (pos <= :pos OR (kind = 'compaction' AND EXISTS (
        SELECT 1 FROM items AS last WHERE last.session_id = :sessionId AND last.id = items.body ->> '$.coversThrough' AND last.pos <= :pos)))
      AND (rewound IS NULL OR rewound IN (SELECT id FROM marks))
  )`

export type PackedForkPoint = {
  itemId: string
  /** Whose path it is: the entry that was asked for. */
  pathOf: string
  pos: number
  /** The last place in use. */
  lastPos: number
  live: boolean
  /** Visible entries up to it, itself with them. */
  items: number
  lastTurn: string | null
  plan: string | null
  slice: PackedSlice
}

export function openCopyReads(db: Database) {
  const sql = keepStatements(db)
  /** Of what was set aside, only the body says what it was. */
  const shown = `CASE WHEN rewound IS NULL THEN visible ELSE body ->> '$.visible' END`

  return {
    /** Where a copy of the session can end; null where it has no such entry. Without `itemId`, the newest settled answer. */
    forkPoint(sessionId: string, itemId: string | null, side: 'before' | 'after'): PackedForkPoint | null {
      type Row = { id: string; pos: number; ended_at: number | null }
      const asked =
        itemId === null
          ? sql<Row>(`
              SELECT id, pos, ended_at FROM items WHERE session_id = ? AND visible = 1 AND ended_at IS NOT NULL AND kind <> 'rewind'
              ORDER BY kind = 'text' DESC, pos DESC LIMIT 1`).get(sessionId)
          : sql<Row>('SELECT id, pos, ended_at FROM items WHERE session_id = ? AND id = ?').get(sessionId, itemId)
      if (!asked) return null
      const from = { sessionId, itemId: asked.id, pos: side === 'before' ? asked.pos - 1 : asked.pos }
      const at =
        side === 'after'
          ? asked
          : sql<Row>(`${withPath} SELECT id, pos, ended_at FROM path WHERE ${shown} ORDER BY pos DESC LIMIT 1`).get(
              from,
            )
      if (!at) return null
      const path = { ...from, pos: at.pos }
      const items = sql<{ turn_id: string | null; body: string }>(
        `${withPath} SELECT turn_id, body FROM path ORDER BY pos DESC LIMIT ${sliceItems}`,
      ).all(path)
      const last = sql<{ n: number; body: string }>(`
        ${withPath} SELECT turns.n, turns.body FROM turns WHERE session_id = :sessionId AND id IN (SELECT turn_id FROM path)
        ORDER BY n DESC LIMIT 1`).get(path)
      const plan =
        last &&
        sql<{ plan: string }>(`
          ${withPath} SELECT events.body -> '$.plan' AS plan FROM events JOIN turns ON turns.session_id = events.session_id AND turns.id = events.turn_id
          WHERE events.session_id = :sessionId AND events.type = 'plan.changed' AND turns.id IN (SELECT turn_id FROM path)
          ORDER BY events.seq DESC LIMIT 1`).get(path)
      return {
        itemId: at.id,
        pathOf: asked.id,
        pos: at.pos,
        lastPos: sql<{ pos: number }>(`${withPath} SELECT max(pos) AS pos FROM path`).get(path)!.pos,
        live: at.ended_at === null,
        items: sql<{ n: number }>(`${withPath} SELECT count(*) AS n FROM path WHERE ${shown}`).get(path)!.n,
        lastTurn: last?.body ?? null,
        plan: plan?.plan ?? null,
        slice: {
          items: items.toReversed().map((row) => clipBody(row.body)),
          before: 0,
          after: 0,
          turns: [],
          changes: [],
        },
      }
    },
  }
}

export function openCopyWrites(db: Database, marks: ReturnType<typeof openSearchMarks>) {
  const sql = keepStatements(db)

  return (to: string, copy: SessionCopy): void => {
    const path = { sessionId: copy.from, itemId: copy.itemId, pos: copy.pos }
    for (let after = -1, copies = rowsPerPage; copies === rowsPerPage;) {
      copies = sql(`
        ${withPath} INSERT INTO items (session_id, id, pos, turn_id, kind, visible, contextual, recalled, created_at, ended_at, body)
        SELECT :to, ${copiedIdSql('id')}, pos, ${copiedIdSql('turn_id')}, kind, body ->> '$.visible', body ->> '$.contextual', recalled, created_at, ended_at, ${copiedBodySql}
        FROM path WHERE pos > :after ORDER BY pos LIMIT ${rowsPerPage}
      `).run({ ...path, to, after, end: copy.idEnd }).changes
      after = sql<{ pos: number }>('SELECT max(pos) AS pos FROM items WHERE session_id = ?').get(to)!.pos
    }
    endLive(to, copy.at)
    const turns = sql<{ id: string; body: string }>(
      `${withPath} SELECT id, body FROM turns WHERE session_id = :sessionId AND id IN (SELECT turn_id FROM path) ORDER BY n`,
    ).all(path)
    for (const turn of turns) copyTurn(to, copy, turn)
    marks.addSession(to)
  }

  /** What had not ended when it was copied ended there. */
  function endLive(to: string, at: number): void {
    sql(`
      UPDATE items SET ended_at = :at, body = ${cutOffBodySql}, contextual = ${cutOffBodySql} ->> '$.contextual'
      WHERE session_id = :to AND ended_at IS NULL
    `).run({ to, at })
  }

  function copyTurn(to: string, { from, at, idEnd }: SessionCopy, row: { id: string; body: string }): void {
    const renewed = (id: string) => copiedId(id, idEnd)
    const turn = copiedTurn(JSON.parse(row.body) as Turn, renewed, at)
    putTurn(sql, to, turn)
    const files = sql<{ body: string }>('SELECT body FROM changes WHERE session_id = ? AND turn_id = ? ORDER BY n').all(
      from,
      row.id,
    )
    for (const { body } of files) {
      const file = JSON.parse(body) as ChangedFile
      const one = { ...file, id: renewed(file.id), turnId: turn.id }
      sql('INSERT INTO changes (session_id, turn_id, id, body) VALUES (?, ?, ?, ?)').run(
        to,
        turn.id,
        one.id,
        JSON.stringify(one),
      )
    }
  }
}

/** A turn whose deltas stayed with the session it came from. */
export function putTurn(sql: Statements, to: string, turn: Turn): void {
  sql('INSERT INTO turns (session_id, id, started_at, settled_at, deltas, body) VALUES (?, ?, ?, ?, 0, ?)').run(
    to,
    turn.id,
    turn.startedAt,
    turn.settledAt,
    JSON.stringify(turn),
  )
}

/** Usage stays with the session that caused it (S-74). */
export function copiedTurn(turn: Turn, copied: (id: string) => string, at: number): Turn {
  const { followUpId: _, retryOf, continues, ...rest } = turn
  return {
    ...rest,
    id: copied(turn.id),
    userItemId: copied(turn.userItemId),
    ...(retryOf === undefined ? {} : { retryOf: copied(retryOf) }),
    ...(continues === undefined ? {} : { continues: copied(continues) }),
    usage: { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, total: null, cost: null },
    rate: null,
    ...(turn.outcome === null
      ? { outcome: 'interrupted' as const, settledAt: at, durationMs: Math.max(0, at - turn.startedAt) }
      : {}),
  }
}
