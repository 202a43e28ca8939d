import type { Migration } from './migration.ts'

/** The search index in parts of bounded size, whose tables are made as they are needed; all of it is made anew. */
export const searchParts: Migration = {
  version: 5,
  sql: `
    DROP TABLE search_words;
    DROP TABLE search_trigrams;
    DELETE FROM search_docs;

    -- The times of what is in a part, titles left out: a search by time passes over the others.
    CREATE TABLE search_parts (part INTEGER PRIMARY KEY, oldest INTEGER NOT NULL, newest INTEGER NOT NULL) STRICT;

    INSERT OR IGNORE INTO search_pending SELECT id, '' FROM sessions WHERE deleted_at IS NULL AND parent IS NULL;
    INSERT OR IGNORE INTO search_pending SELECT items.session_id, items.id
      FROM items JOIN sessions ON sessions.id = items.session_id
      WHERE items.visible = 1 AND items.ended_at IS NOT NULL AND sessions.deleted_at IS NULL AND sessions.parent IS NULL
        AND items.kind IN ('user', 'text', 'tool', 'reasoning');
  `,
}
