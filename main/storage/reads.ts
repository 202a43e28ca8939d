/** What the worker reads. Bodies are answered as the JSON texts they are stored as; the main side parses them. */
import type { Database } from 'better-sqlite3'
import type { Item } from '../../preload/contract/items.ts'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import {
  itemTextBytesMax,
  sliceItems,
  promptsOfSessionMax,
  promptsOfWorkspaceMax,
} from '../../preload/contract/limits.ts'
import { clipItem } from './clip.ts'
import { openCopyReads } from './copied.ts'
import { mergeDeltas, type JournalRow } from './merged-deltas.ts'
import { Refusal } from './refusal.ts'
import { openRewindReads } from './rewound.ts'
import { openSearchIndex } from './search-index.ts'
import { openSessionFind } from './session-find.ts'
import { openSnapshots, turnBody } from './snapshots.ts'
import { keepStatements } from './statements.ts'

/** A slice ends early rather than grow past this (K-14); texts in it are clipped, so one item always fits. */
const sliceBytesMax = 4 * 1024 * 1024
/** Bytes of events answered at once; the caller goes on from the last it got. */
const eventsBytesMax = 4 * 1024 * 1024

/** Of a damaged event only its type: nobody can take it for a sound one (S-7). */
const eventBody = `CASE WHEN json_valid(body) THEN body ELSE json_object('type', type) END AS body`
const entryBody = `CASE WHEN json_valid(entry) THEN entry ELSE json_object('id', id, 'workspace', workspace, 'createdAt', created_at, 'updatedAt', updated_at) END AS entry`

/** The elements of a list in a body; of a damaged body none. */
const eachIn = (body: string, path: string) =>
  `json_each(CASE WHEN json_valid(${body}) THEN ${body} ELSE '{}' END, '${path}')`
const hashOfFile = `CASE WHEN file.type = 'object' THEN file.value ->> '$.hash' END`
/** A body's hash, wherever it stands in a text. */
const hashForm = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g

export type Reads = ReturnType<typeof openReads>

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

export function openReads(db: Database) {
  const sql = keepStatements(db)
  const index = openSearchIndex(db)

  /** The visible items before `pos`, newest first, at most `limit` and what fits a slice; answers the first one's place. */
  function startOfSlice(sessionId: string, below: number, limit: number): number {
    let bytes = 0
    let start = below
    const rows = sql<Place>(
      'SELECT pos, octet_length(body) AS bytes FROM items WHERE session_id = ? AND visible = 1 AND pos < ? ORDER BY pos DESC LIMIT ?',
    )
    for (const row of rows.iterate(sessionId, below, limit)) {
      bytes += sliceBytes(row)
      if (bytes > sliceBytesMax && start !== below) break
      start = row.pos
    }
    return start
  }

  function endOfSlice(sessionId: string, above: number, limit: number): number {
    let bytes = 0
    let end = above
    const rows = sql<Place>(
      'SELECT pos, octet_length(body) AS bytes FROM items WHERE session_id = ? AND visible = 1 AND pos > ? ORDER BY pos LIMIT ?',
    )
    for (const row of rows.iterate(sessionId, above, limit)) {
      bytes += sliceBytes(row)
      if (bytes > sliceBytesMax && end !== above) break
      end = row.pos
    }
    return end
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

  function body(query: string, ...values: unknown[]): string | null {
    return bodies(query, ...values)[0] ?? null
  }

  function firstOpen(sessionId: string, turnId: string): number | null {
    const query = 'SELECT min(pos) AS pos FROM items WHERE session_id = ? AND turn_id = ? AND ended_at IS NULL'
    return sql<{ pos: number | null }>(query).get(sessionId, turnId)!.pos
  }

  function unsettledTurn(sessionId: string): { id: string; startedSeq: number } | null {
    const row = sql<{ id: string; started_seq: number | null }>(
      'SELECT id, started_seq FROM turns WHERE session_id = ? AND settled_at IS NULL ORDER BY n DESC LIMIT 1',
    ).get(sessionId)
    return row ? { id: row.id, startedSeq: row.started_seq ?? 0 } : null
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
    ...openRewindReads(db, clipBody),
    ...openCopyReads(db, clipBody),
    ...openSessionFind(db),
    ...openSnapshots(db),

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
      const start = Math.min(newest, open ?? newest)
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
      for (const row of sql<{ seq: number; body: string }>(
        'SELECT seq, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?',
      ).iterate(sessionId, after, limit)) {
        bytes += row.body.length
        if (bytes > eventsBytesMax && events.length > 0) return { events, pruned }
        // A damaged event is as good as gone: the reader opens the session anew behind it.
        if (parsed(row.body) === null) return { events, pruned: true }
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

    entries(query: {
      before: { updatedAt: number; id: string } | null
      limit: number
      workspace: string | null
      archived: boolean
      text: string
    }): { entries: string[]; more: boolean } {
      const rows = sql<{ entry: string }>(`
        SELECT ${entryBody} FROM sessions
        WHERE deleted_at IS NULL
          ${query.archived ? 'AND archived_at IS NOT NULL' : 'AND archived_at IS NULL'}
          ${query.before === null ? '' : 'AND (updated_at, id) < (:updatedAt, :id)'}
          ${query.workspace === null ? '' : 'AND workspace = :workspace'}
          ${query.text === '' ? '' : 'AND instr(title_folded, :text) > 0'}
        ORDER BY updated_at DESC, id DESC LIMIT :count
      `).all({ ...query.before, workspace: query.workspace, text: query.text, count: query.limit + 1 })
      return { entries: rows.slice(0, query.limit).map((row) => row.entry), more: rows.length > query.limit }
    },

    sessionIds(after: string, limit: number): string[] {
      return sql<{ id: string }>('SELECT id FROM sessions WHERE id > ? AND erased_at IS NULL ORDER BY id LIMIT ?')
        .all(after, limit)
        .map((row) => row.id)
    },

    idsByPrefix(prefix: string): string[] {
      return sql<{ id: string }>(
        'SELECT id FROM sessions WHERE id >= :prefix AND substr(id, 1, length(:prefix)) = :prefix AND erased_at IS NULL ORDER BY id LIMIT 2',
      )
        .all({ prefix })
        .map((row) => row.id)
    },

    deletedEntries(limit: number): { entry: string; deletedAt: number }[] {
      return sql<{ entry: string; deletedAt: number }>(
        `SELECT ${entryBody}, deleted_at AS deletedAt FROM sessions WHERE deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at DESC LIMIT ?`,
      ).all(limit)
    },

    deletedBefore(time: number): string[] {
      return sql<{ id: string }>(
        'SELECT id FROM sessions WHERE deleted_at IS NOT NULL AND erased_at IS NULL AND deleted_at < ? ORDER BY deleted_at',
      )
        .all(time)
        .map((row) => row.id)
    },

    draft(sessionId: string): string | null {
      return body('SELECT body FROM drafts WHERE session_id = ?', sessionId)
    },

    /** Items the person wrote, newest first: this session's, then those of other sessions of its workspace (S-103). */
    prompts(sessionId: string, workspace: string): string[] {
      return [
        ...bodies(
          'SELECT body FROM items WHERE session_id = ? AND recalled = 1 ORDER BY created_at DESC, n DESC LIMIT ?',
          sessionId,
          promptsOfSessionMax,
        ),
        ...bodies(
          `SELECT items.body FROM sessions JOIN items ON items.session_id = sessions.id
           WHERE sessions.workspace = ? AND sessions.id <> ? AND sessions.deleted_at IS NULL AND items.recalled = 1
           ORDER BY items.created_at DESC, items.n DESC LIMIT ?`,
          workspace,
          sessionId,
          promptsOfWorkspaceMax,
        ),
      ]
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

    /**
     * Hashes of the bodies that anything kept refers to, rewound and queued things included. A damaged row may refer to
     * whatever in it looks like a hash: what it kept is not swept because it cannot be read.
     */
    blobReferences(): { referenced: string[]; possible: string[] } {
      const referenced = sql<{ hash: unknown }>(`
        WITH sound_changes AS (SELECT body FROM changes WHERE json_valid(body)),
          sound_tools AS (SELECT body FROM items WHERE kind = 'tool' AND json_valid(body)),
          queued AS (SELECT value FROM sessions, ${eachIn('header', '$.queue.followUps')} WHERE type = 'object'),
          steers AS (
            SELECT value FROM turns JOIN events ON events.session_id = turns.session_id AND events.seq >= turns.started_seq,
              ${eachIn('events.body', '$.steers')} AS steer
            WHERE turns.settled_at IS NULL AND events.type = 'steers.changed' AND steer.type = 'object')
        SELECT body ->> '$.before' AS hash FROM sound_changes
        UNION SELECT body ->> '$.after' FROM sound_changes
        UNION SELECT body ->> '$.undone.from' FROM sound_changes
        UNION SELECT body ->> '$.view.image.hash' FROM sound_tools
        UNION SELECT body ->> '$.view.outputRef' FROM sound_tools
        UNION SELECT body ->> '$.resultRef' FROM sound_tools
        UNION SELECT body ->> '$.argsRef' FROM sound_tools
        UNION SELECT ${hashOfFile} FROM items, ${eachIn('items.body', '$.attachments')} AS file WHERE items.kind = 'user'
        UNION SELECT ${hashOfFile} FROM drafts, ${eachIn('drafts.body', '$.attachments')} AS file
        UNION SELECT ${hashOfFile} FROM queued, ${eachIn('queued.value', '$.attachments')} AS file
        UNION SELECT ${hashOfFile} FROM steers, ${eachIn('steers.value', '$.attachments')} AS file
      `).all()
      const possible = new Set<string>()
      for (const { text } of sql<{ text: string }>(`
        SELECT body AS text FROM changes WHERE NOT json_valid(body)
        UNION ALL SELECT body FROM items WHERE NOT json_valid(body)
        UNION ALL SELECT body FROM drafts WHERE NOT json_valid(body)
        UNION ALL SELECT header FROM sessions WHERE NOT json_valid(header)
        UNION ALL SELECT body FROM events WHERE type = 'steers.changed' AND NOT json_valid(body)
      `).iterate())
        for (const [hash] of text.matchAll(hashForm)) possible.add(hash)
      return {
        referenced: referenced.flatMap(({ hash }) =>
          typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : [],
        ),
        possible: [...possible],
      }
    },

    search,

    /** How much waits to be indexed, and whether the index can be used at all. */
    searchState(): { pending: number; damaged: boolean } {
      const pending = sql<{ n: number }>('SELECT count(*) AS n FROM search_pending').get()!.n
      return { pending, damaged: search('lathe', 1) === null }
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

function sliceBytes(row: Place): number {
  return Math.min(row.bytes, itemTextBytesMax)
}

function clipBody(body: string): string {
  // One byte of text is at least one unit of JSON, so a shorter body holds no text to clip.
  if (body.length <= itemTextBytesMax / 3) return body
  const item = parsed(body)
  const clipped = item && clipItem(item)
  return clipped === item ? body : JSON.stringify(clipped)
}

/** Null where the text is damaged; the main side answers for that (S-7). */
function parsed(body: string): Item | null {
  try {
    return JSON.parse(body) as Item
  } catch {
    return null
  }
}
