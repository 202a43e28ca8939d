import type { Migration } from './migration.ts'

/** The search index; all of it can be rebuilt from sessions and items. */
export const search: Migration = {
  version: 2,
  sql: `
    -- One row a title (item_id '') or item that can be found; n is its rowid in both indexes.
    CREATE TABLE search_docs (
      n          INTEGER PRIMARY KEY,
      session_id TEXT NOT NULL,
      item_id    TEXT NOT NULL,
      kind       TEXT NOT NULL,
      at         INTEGER NOT NULL,
      UNIQUE (session_id, item_id)
    ) STRICT;

    -- The cursor: what is settled and not indexed yet.
    CREATE TABLE search_pending (
      session_id TEXT NOT NULL,
      item_id    TEXT NOT NULL,
      PRIMARY KEY (session_id, item_id)
    ) STRICT, WITHOUT ROWID;

    CREATE VIRTUAL TABLE search_words USING fts5 (
      title, user, text, tool, reasoning,
      content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
    );
    CREATE VIRTUAL TABLE search_trigrams USING fts5 (
      title, user, text,
      content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
    );

    INSERT INTO search_pending SELECT id, '' FROM sessions WHERE deleted_at IS NULL;
    INSERT INTO search_pending SELECT items.session_id, items.id
      FROM items JOIN sessions ON sessions.id = items.session_id
      WHERE items.visible = 1 AND items.ended_at IS NOT NULL AND sessions.deleted_at IS NULL
        AND items.kind IN ('user', 'text', 'tool', 'reasoning');
  `,
}
