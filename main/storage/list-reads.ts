/** The list of sessions, as it is paged, named and tidied. */
import type { Database } from 'better-sqlite3'
import { keepStatements } from './statements.ts'

const entryBody = `CASE WHEN json_valid(entry) THEN entry ELSE json_object('id', id, 'workspace', workspace, 'createdAt', created_at, 'updatedAt', updated_at) END AS entry`

export function openListReads(db: Database) {
  const sql = keepStatements(db)

  return {
    entries(query: {
      before: { updatedAt: number; id: string } | null
      limit: number
      workspace: string | null
      archived: boolean
      text: string
    }): { entries: string[]; more: boolean } {
      const rows = sql<{ entry: string }>(`
        SELECT ${entryBody} FROM sessions
        WHERE deleted_at IS NULL AND parent IS NULL
          ${query.archived ? 'AND archived_at IS NOT NULL' : 'AND archived_at IS NULL'}
          ${query.before === null ? '' : 'AND (updated_at, id) < (:updatedAt, :id)'}
          ${query.workspace === null ? '' : 'AND workspace = :workspace'}
          ${query.text === '' ? '' : 'AND instr(title_folded, :text) > 0'}
        ORDER BY updated_at DESC, id DESC LIMIT :count
      `).all({ ...query.before, workspace: query.workspace, text: query.text, count: query.limit + 1 })
      return { entries: rows.slice(0, query.limit).map((row) => row.entry), more: rows.length > query.limit }
    },

    sessionIds(after: string, limit: number): string[] {
      return sql<{ id: string }>(
        'SELECT id FROM sessions WHERE id > ? AND erased_at IS NULL AND parent IS NULL ORDER BY id LIMIT ?',
      )
        .all(after, limit)
        .map((row) => row.id)
    },

    idsByPrefix(prefix: string): string[] {
      return sql<{ id: string }>(
        'SELECT id FROM sessions WHERE id >= :prefix AND substr(id, 1, length(:prefix)) = :prefix AND erased_at IS NULL AND parent IS NULL ORDER BY id LIMIT 2',
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
  }
}
