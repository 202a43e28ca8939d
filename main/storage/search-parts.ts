/**
 * The tables of the search index: a pair for every 32,768 documents, the newest last. FTS5 counts a word over a whole table
 * before it ranks one row, so what a search costs is bounded by the size of a table, not by all that was ever written.
 */
import type { Database } from 'better-sqlite3'
import { keepStatements } from './statements.ts'

/** A document's part is its number without this many bits. */
export const docsBits = 15

export type SearchPart = { part: number; words: string; trigrams: string }

function partOf(n: number): SearchPart {
  return partAt(n >> docsBits)
}

function partAt(part: number): SearchPart {
  return { part, words: `search_words_${part}`, trigrams: `search_trigrams_${part}` }
}

export function openSearchParts(db: Database) {
  const sql = keepStatements(db)

  return {
    /** Newest first; `oldest` and `newest` are times of what is in it, titles left out. */
    list(): (SearchPart & { oldest: number; newest: number })[] {
      return sql<{ part: number; oldest: number; newest: number }>(
        'SELECT part, oldest, newest FROM search_parts ORDER BY part DESC',
      )
        .all()
        .map(({ part, ...times }) => ({ ...partAt(part), ...times }))
    },

    /** The tables for document `n` of that time, made where they are missing. */
    forDoc(n: number, at: number | null): SearchPart {
      const found = partOf(n)
      const { part, words, trigrams } = found
      if (sql('SELECT 1 FROM search_parts WHERE part = ?').get(part) === undefined) {
        db.exec(`
          CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5 (
            title, user, text, tool, reasoning,
            content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
          );
          CREATE VIRTUAL TABLE IF NOT EXISTS ${trigrams} USING fts5 (
            title, user, text,
            content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
          );
        `)
        sql('INSERT INTO search_parts (part, oldest, newest) VALUES (?, ?, ?)').run(part, Number.MAX_SAFE_INTEGER, 0)
      }
      if (at !== null) sql('UPDATE search_parts SET oldest = :at WHERE part = :part AND oldest > :at').run({ part, at })
      if (at !== null) sql('UPDATE search_parts SET newest = :at WHERE part = :part AND newest < :at').run({ part, at })
      return found
    },

    remove(n: number): void {
      const { words, trigrams } = partOf(n)
      sql(`DELETE FROM ${words} WHERE rowid = ?`).run(n)
      sql(`DELETE FROM ${trigrams} WHERE rowid = ?`).run(n)
      sql('DELETE FROM search_docs WHERE n = ?').run(n)
    },

    /** Drops all of it, also what damage has left without an entry here. */
    clear(): void {
      const tables = sql<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' AND name LIKE 'search\\_%' ESCAPE '\\'",
      ).all()
      for (const { name } of tables) db.exec(`DROP TABLE ${name}`)
      db.exec('DELETE FROM search_parts; DELETE FROM search_docs;')
    },
  }
}
