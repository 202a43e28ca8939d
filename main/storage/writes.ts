/** What the worker writes. Each function runs inside a transaction of the worker's and stores all or nothing. */
import type { Database } from 'better-sqlite3'
import { openCopyWrites } from './copied.ts'
import { openImportWrites } from './imported.ts'
import { joinMessages } from '../../preload/contract/mentions.ts'
import type { Draft } from '../../preload/contract/session-routes.ts'
import type { PackedWrite } from './packed.ts'
import { Refusal } from './refusal.ts'
import { openRewindWrites } from './rewound.ts'
import { openSearchMarks, rebuildIndex } from './search-index.ts'
import { keepStatements } from './statements.ts'

/** Events looked through at once when deltas are pruned: a few milliseconds of work. */
const pruneStep = 5_000

export type Writes = ReturnType<typeof openWrites>

export function openWrites(db: Database) {
  const sql = keepStatements(db)

  const marks = openSearchMarks(db)
  const rewind = openRewindWrites(db, marks)
  const copyInto = openCopyWrites(db, marks)
  const importInto = openImportWrites(db, marks)

  /** The record before the write; refused where it was erased (S-22). */
  function before(sessionId: string): { title_folded: string; deleted_at: number | null } | undefined {
    const row = sql<{ title_folded: string; deleted_at: number | null; erased_at: number | null }>(
      'SELECT title_folded, deleted_at, erased_at FROM sessions WHERE id = ?',
    ).get(sessionId)
    if (row && row.erased_at !== null) throw new Refusal('session.deleted', 'This session was deleted.')
    return row
  }

  /** What is deleted or hidden can be found no more from the same moment on; what is new is indexed later (S-99). */
  function markForSearch(write: PackedWrite, earlier: ReturnType<typeof before>): void {
    const { sessionId } = write
    if (write.parent !== null) return
    if (write.deletedAt !== null) return marks.forgetSession(sessionId)
    if (earlier && earlier.deleted_at !== null) return marks.addSession(sessionId)
    if (earlier?.title_folded !== write.titleFolded) marks.add(sessionId, '')
    for (const item of write.items) {
      if (item.searchable) marks.add(sessionId, item.id)
      else if (item.visible === 0) marks.forgetItem(sessionId, item.id)
    }
  }

  function giveBack(sessionId: string, back: Pick<Draft, 'text' | 'attachments' | 'mentions'>): void {
    const stored = sql<{ body: string }>('SELECT body FROM drafts WHERE session_id = ?').get(sessionId)
    const now = stored ? (JSON.parse(stored.body) as Draft) : { text: '', attachments: [], revision: 0 }
    const draft: Draft = {
      ...now,
      ...joinMessages([back, now]),
      revision: now.revision + 1,
    }
    sql('INSERT OR REPLACE INTO drafts (session_id, body) VALUES (?, ?)').run(sessionId, JSON.stringify(draft))
  }

  function putRecord(write: PackedWrite): void {
    const { sessionId, record } = write
    if (!record) {
      sql('UPDATE sessions SET last_seq = ? WHERE id = ?').run(write.lastSeq, sessionId)
      return
    }
    sql(`
      INSERT INTO sessions (id, journal_id, workspace, parent, title_folded, created_at, updated_at, archived_at, deleted_at, last_seq, entry, hidden, header)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        journal_id = excluded.journal_id, workspace = excluded.workspace, title_folded = excluded.title_folded,
        updated_at = excluded.updated_at, archived_at = excluded.archived_at, deleted_at = excluded.deleted_at,
        last_seq = excluded.last_seq, entry = excluded.entry, hidden = excluded.hidden, header = excluded.header
    `).run(
      sessionId,
      write.journalId,
      write.workspace,
      write.parent,
      write.titleFolded,
      write.createdAt,
      write.updatedAt,
      write.archivedAt,
      write.deletedAt,
      write.lastSeq,
      record.entry,
      record.hidden,
      record.header,
    )
  }

  return {
    commit(write: PackedWrite): void {
      const { sessionId } = write
      const earlier = before(sessionId)
      putRecord(write)
      if (write.copy) copyInto(sessionId, write.copy)
      if (write.imported) importInto(sessionId, write.imported)
      for (const event of write.events) {
        sql('INSERT INTO events (session_id, seq, turn_id, type, body) VALUES (?, ?, ?, ?, ?)').run(
          sessionId,
          event.seq,
          event.turnId,
          event.type,
          event.body,
        )
      }
      for (const item of write.items) {
        sql(`
          INSERT INTO items (session_id, id, pos, turn_id, kind, visible, contextual, recalled, created_at, ended_at, body)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (session_id, id) DO UPDATE SET
            pos = excluded.pos, turn_id = excluded.turn_id, kind = excluded.kind, visible = excluded.visible,
            contextual = excluded.contextual, recalled = excluded.recalled, ended_at = excluded.ended_at, body = excluded.body
        `).run(
          sessionId,
          item.id,
          item.pos,
          item.turnId,
          item.kind,
          item.visible,
          item.contextual,
          item.recalled,
          item.createdAt,
          item.endedAt,
          item.body,
        )
      }
      for (const turn of write.turns) {
        sql(`
          INSERT INTO turns (session_id, id, started_at, settled_at, started_seq, settled_seq, body)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (session_id, id) DO UPDATE SET
            settled_at = excluded.settled_at, started_seq = coalesce(started_seq, excluded.started_seq),
            settled_seq = coalesce(settled_seq, excluded.settled_seq), body = excluded.body
        `).run(sessionId, turn.id, turn.startedAt, turn.settledAt, turn.startedSeq, turn.settledSeq, turn.body)
      }
      for (const { turnId, files } of write.changes) {
        sql('DELETE FROM changes WHERE session_id = ? AND turn_id = ?').run(sessionId, turnId)
        for (const file of files) {
          sql('INSERT INTO changes (session_id, turn_id, id, body) VALUES (?, ?, ?, ?)').run(
            sessionId,
            turnId,
            file.id,
            file.body,
          )
        }
      }
      for (const { requestId, fingerprint, reply } of write.requests) {
        sql('INSERT INTO requests (session_id, request_id, fingerprint, reply) VALUES (?, ?, ?, ?)').run(
          sessionId,
          requestId,
          fingerprint,
          reply,
        )
      }
      for (const rule of write.rules)
        sql('INSERT OR REPLACE INTO rules (id, body) VALUES (?, ?)').run(rule.id, rule.body)
      if (write.clearDraft) sql('DELETE FROM drafts WHERE session_id = ?').run(sessionId)
      if (write.givenBack) giveBack(sessionId, write.givenBack)
      markForSearch(write, earlier)
      for (const each of write.rewinds) rewind(sessionId, each)
    },

    /** One bounded stretch of one session; false once no settled turn before `settledBefore` has deltas. */
    pruneNext(settledBefore: number): boolean {
      const turn = sql<{ n: number; session_id: string; settled_seq: number | null; pruned_seq: number }>(`
        SELECT turns.n, turns.session_id, turns.settled_seq, sessions.pruned_seq
        FROM turns JOIN sessions ON sessions.id = turns.session_id
        WHERE turns.settled_at IS NOT NULL AND turns.deltas = 1 AND turns.settled_at < ?
        ORDER BY turns.settled_at, turns.n LIMIT 1
      `).get(settledBefore)
      if (!turn) return false
      const from = turn.pruned_seq
      const settled = turn.settled_seq ?? from
      const to = Math.min(settled, from + pruneStep)
      // Turns of a session follow one another, so up to this settle every delta in a turn is of a settled one. A
      // command's deltas, which are in no turn, go once its item has ended.
      sql(`
        DELETE FROM events
        WHERE session_id = ? AND seq > ? AND seq <= ? AND type = 'item.delta' AND (turn_id IS NOT NULL OR EXISTS (
          SELECT 1 FROM items WHERE items.session_id = events.session_id AND items.id = events.body ->> '$.itemId' AND items.ended_at IS NOT NULL))
      `).run(turn.session_id, from, to)
      if (to > from) sql('UPDATE sessions SET pruned_seq = ? WHERE id = ?').run(to, turn.session_id)
      if (to >= settled) sql('UPDATE turns SET deltas = 0 WHERE n = ?').run(turn.n)
      return true
    },

    /** Its subagents, whose sessions are only its own, go with it. */
    erase(sessionId: string, at: number): void {
      const subagents = sql<{ id: string }>('SELECT id FROM sessions WHERE parent = ? AND erased_at IS NULL').all(
        sessionId,
      )
      for (const { id } of subagents) this.erase(id, at)
      marks.forgetSession(sessionId)
      for (const table of ['items', 'events', 'turns', 'changes', 'requests', 'drafts']) {
        sql(`DELETE FROM ${table} WHERE session_id = ?`).run(sessionId)
      }
      sql(`
        UPDATE sessions SET erased_at = ?, deleted_at = coalesce(deleted_at, ?), workspace = '', title_folded = '', entry = '{}', hidden = '{}', header = '{}'
        WHERE id = ? AND erased_at IS NULL
      `).run(at, at, sessionId)
    },

    rebuildSearch: () => rebuildIndex(db),

    setDraft(sessionId: string, body: string): void {
      before(sessionId)
      sql('INSERT OR REPLACE INTO drafts (session_id, body) VALUES (?, ?)').run(sessionId, body)
    },

    setEntry(sessionId: string, entry: string, lastSeq: number): void {
      // One that is as it was writes nothing, so that nothing waits for the disk.
      sql(
        'UPDATE sessions SET entry = :entry WHERE id = :sessionId AND last_seq = :lastSeq AND erased_at IS NULL AND entry <> :entry',
      ).run({ entry, sessionId, lastSeq })
    },

    removeRule(id: string): void {
      sql('DELETE FROM rules WHERE id = ?').run(id)
    },

    putWorkspace(path: string, openedAt: number, body: string): void {
      sql('INSERT OR REPLACE INTO workspaces (path, opened_at, body) VALUES (?, ?, ?)').run(path, openedAt, body)
    },

    removeWorkspace(path: string): void {
      sql('DELETE FROM workspaces WHERE path = ?').run(path)
    },

    moveWorkspace(from: string, to: string): string[] {
      return sql<{ id: string }>(`
        UPDATE sessions SET workspace = ?, header = json_set(header, '$.workspace', ?), entry = json_set(entry, '$.workspace', ?)
        WHERE workspace = ? AND erased_at IS NULL RETURNING id
      `)
        .all(to, to, to, from)
        .map((row) => row.id)
    },

    setValue(name: string, body: string): void {
      sql('INSERT OR REPLACE INTO named_values (name, body) VALUES (?, ?)').run(name, body)
    },
  }
}
