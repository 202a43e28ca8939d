/** What the worker reads. Bodies are answered as the JSON texts they are stored as; the main side parses them. */
import type { Database } from 'better-sqlite3'
import { promptsOfSessionMax, promptsOfWorkspaceMax } from '../../preload/contract/limits.ts'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import { openBlobReferences } from './blob-references.ts'
import { openCopyReads } from './copied.ts'
import { openListReads } from './list-reads.ts'
import { openRewindReads } from './rewound.ts'
import { openSearchIndex } from './search-index.ts'
import { openSessionFind } from './session-find.ts'
import { openSliceReads } from './slice-reads.ts'
import { openSnapshots, turnBody } from './snapshots.ts'
import { keepStatements } from './statements.ts'

/** Bytes of events answered at once; the caller goes on from the last it got. */
const eventsBytesMax = 4 * 1024 * 1024

export type Reads = ReturnType<typeof openReads>

export function openReads(db: Database) {
  const sql = keepStatements(db)
  const index = openSearchIndex(db)

  function bodies(query: string, ...values: unknown[]): string[] {
    return sql<{ body: string }>(query)
      .all(...values)
      .map((row) => row.body)
  }

  function body(query: string, ...values: unknown[]): string | null {
    return bodies(query, ...values)[0] ?? null
  }

  /** Null where the index is damaged. */
  function search(query: string, limit: number): { hits: SearchHit[]; partial: boolean } | null {
    try {
      return index.search(query, limit, Date.now())
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CORRUPT_VTAB') return null
      throw error
    }
  }

  return {
    ...openSliceReads(db),
    ...openRewindReads(db),
    ...openCopyReads(db),
    ...openListReads(db),
    ...openBlobReferences(db),
    ...openSessionFind(db),
    ...openSnapshots(db),

    unsettledSessions(): string[] {
      return sql<{ session_id: string }>('SELECT DISTINCT session_id FROM turns WHERE settled_at IS NULL')
        .all()
        .map((row) => row.session_id)
    },

    events(sessionId: string, after: number, limit: number): { events: string[]; pruned: boolean } {
      const events: string[] = []
      let bytes = 0
      let last = after
      let pruned = false
      for (const row of sql<{ seq: number; sound: number; body: string }>(
        'SELECT seq, json_valid(body) AS sound, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?',
      ).iterate(sessionId, after, limit)) {
        bytes += row.body.length
        if (bytes > eventsBytesMax && events.length > 0) return { events, pruned }
        // A damaged event is as good as gone: the reader opens the session anew behind it.
        if (!row.sound) return { events, pruned: true }
        if (row.seq !== last + 1) pruned = true
        last = row.seq
        events.push(row.body)
      }
      if (events.length < limit) {
        const head =
          sql<{ last_seq: number }>('SELECT last_seq FROM sessions WHERE id = ?').get(sessionId)?.last_seq ?? 0
        if (head > last) pruned = true
      }
      return { events, pruned }
    },

    item(sessionId: string, itemId: string): string | null {
      return body('SELECT body FROM items WHERE session_id = ? AND id = ?', sessionId, itemId)
    },

    turn(sessionId: string, turnId: string): string | null {
      return body(
        `SELECT ${turnBody} FROM turns WHERE session_id = ? AND id = ? AND rewound IS NULL`,
        sessionId,
        turnId,
      )
    },

    contextItems(sessionId: string): { items: string[]; turns: string[] } {
      return {
        items: bodies('SELECT body FROM items WHERE session_id = ? AND contextual = 1 ORDER BY pos', sessionId),
        turns: bodies(`SELECT ${turnBody} FROM turns WHERE session_id = ? AND rewound IS NULL ORDER BY n`, sessionId),
      }
    },

    sentItems(sessionId: string): { items: string[]; turns: string[] } {
      const mark = sql<{ pos: number }>(`
        SELECT pos FROM items WHERE session_id = ? AND contextual = 1 AND kind = 'compaction' ORDER BY pos DESC LIMIT 1
      `).get(sessionId)
      return {
        items: bodies(
          'SELECT body FROM items WHERE session_id = ? AND contextual = 1 AND pos >= ? ORDER BY pos',
          sessionId,
          mark?.pos ?? 0,
        ),
        turns: bodies('SELECT body FROM turns WHERE session_id = ? AND rewound IS NULL ORDER BY n', sessionId),
      }
    },

    changedPaths(sessionId: string, turnIds: string): string[] {
      return sql<{ path: string }>(`
        SELECT body ->> '$.path' AS path, min(n) AS first FROM changes
        WHERE session_id = ? AND turn_id IN (SELECT value FROM json_each(?)) GROUP BY path ORDER BY first
      `)
        .all(sessionId, turnIds)
        .map((row) => row.path)
    },

    change(sessionId: string, changeId: string): string | null {
      return body('SELECT body FROM changes WHERE session_id = ? AND id = ?', sessionId, changeId)
    },

    request(sessionId: string, requestId: string): { fingerprint: string; reply: string } | null {
      const row = sql<{ fingerprint: string; reply: string }>(
        'SELECT fingerprint, reply FROM requests WHERE session_id = ? AND request_id = ?',
      ).get(sessionId, requestId)
      return row ?? null
    },

    draft(sessionId: string): string | null {
      return body('SELECT body FROM drafts WHERE session_id = ?', sessionId)
    },

    /** Items the person wrote, newest first: this session's, then those of other sessions of its workspace (S-103). */
    prompts(sessionId: string, workspace: string): { own: string[]; others: string[] } {
      return {
        own: bodies(
          'SELECT body FROM items WHERE session_id = ? AND recalled = 1 ORDER BY created_at DESC, n DESC LIMIT ?',
          sessionId,
          promptsOfSessionMax,
        ),
        others: bodies(
          `SELECT items.body FROM sessions JOIN items ON items.session_id = sessions.id
           WHERE sessions.workspace = ? AND sessions.id <> ? AND sessions.deleted_at IS NULL AND items.recalled = 1
           ORDER BY items.created_at DESC, items.n DESC LIMIT ?`,
          workspace,
          sessionId,
          promptsOfWorkspaceMax,
        ),
      }
    },

    rules(): string[] {
      return bodies('SELECT body FROM rules ORDER BY id')
    },

    workspaces(): string[] {
      return bodies('SELECT body FROM workspaces ORDER BY opened_at DESC, path')
    },

    value(name: string): string | null {
      return body('SELECT body FROM named_values WHERE name = ?', name)
    },

    search,

    /** How much waits to be indexed, and whether the index can be used at all. */
    searchState(): { pending: number; damaged: boolean } {
      const pending = sql<{ n: number }>('SELECT count(*) AS n FROM search_pending').get()!.n
      return { pending, damaged: search('lathe', 1) === null }
    },

    /** Sessions by what they hold in the database, the largest first. */
    largest(limit: number): { sessionId: string; title: string; bytes: number }[] {
      return sql<{ sessionId: string; title: string; bytes: number }>(`
        WITH sizes AS (
          SELECT session_id, sum(octet_length(body)) AS bytes FROM items GROUP BY session_id
          UNION ALL SELECT session_id, sum(octet_length(body)) FROM events GROUP BY session_id)
        SELECT id AS sessionId, sum(bytes) AS bytes,
          coalesce(CASE WHEN json_valid(header) THEN header ->> '$.title' END, 'Damaged session') AS title
        FROM sizes JOIN sessions ON sessions.id = sizes.session_id
        WHERE deleted_at IS NULL GROUP BY id ORDER BY bytes DESC, id LIMIT ?
      `).all(limit)
    },

    /** Bytes that a vacuum gives back to the disk. */
    freeBytes(): number {
      const pages = db.pragma('freelist_count', { simple: true }) as number
      return pages * (db.pragma('page_size', { simple: true }) as number)
    },

    health(): { version: number; integrity: string; databaseBytes: number } {
      const pages = db.pragma('page_count', { simple: true }) as number
      const pageBytes = db.pragma('page_size', { simple: true }) as number
      return {
        version: db.pragma('user_version', { simple: true }) as number,
        integrity: db.pragma('quick_check(1)', { simple: true }) as string,
        databaseBytes: pages * pageBytes,
      }
    },
  }
}
