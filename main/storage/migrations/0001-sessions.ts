import type { Migration } from './migration.ts'

/** Sessions with their items, journal, turns and changes, and the small things kept beside them. */
export const sessions: Migration = {
  version: 1,
  sql: `
    -- Who may write: a process that lost the data folder finds another's id here and writes nothing (A-41).
    CREATE TABLE owner (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      id  TEXT NOT NULL
    ) STRICT;

    -- Large columns last: reading the ones before them touches no overflow page.
    CREATE TABLE sessions (
      id           TEXT PRIMARY KEY,
      journal_id   TEXT NOT NULL,
      workspace    TEXT NOT NULL,
      title_folded TEXT NOT NULL,
      created_at   INTEGER NOT NULL,
      updated_at   INTEGER NOT NULL,
      archived_at  INTEGER,
      deleted_at   INTEGER,
      erased_at    INTEGER,
      last_seq     INTEGER NOT NULL,
      pruned_seq   INTEGER NOT NULL DEFAULT 0,
      entry        TEXT NOT NULL,
      hidden       TEXT NOT NULL,
      header       TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_listed ON sessions (updated_at DESC, id DESC, workspace, archived_at) WHERE deleted_at IS NULL;
    CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
    CREATE INDEX sessions_of_workspace ON sessions (workspace);

    CREATE TABLE items (
      n          INTEGER PRIMARY KEY,
      session_id TEXT NOT NULL REFERENCES sessions (id),
      id         TEXT NOT NULL,
      pos        INTEGER NOT NULL,
      turn_id    TEXT,
      kind       TEXT NOT NULL,
      visible    INTEGER NOT NULL,
      contextual INTEGER NOT NULL,
      recalled   INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      ended_at   INTEGER,
      body       TEXT NOT NULL,
      UNIQUE (session_id, id),
      UNIQUE (session_id, pos)
    ) STRICT;
    CREATE INDEX items_visible ON items (session_id, pos) WHERE visible = 1;
    CREATE INDEX items_recalled ON items (session_id, created_at) WHERE recalled = 1;

    CREATE TABLE events (
      session_id TEXT NOT NULL REFERENCES sessions (id),
      seq        INTEGER NOT NULL,
      turn_id    TEXT,
      type       TEXT NOT NULL,
      body       TEXT NOT NULL,
      PRIMARY KEY (session_id, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE turns (
      n           INTEGER PRIMARY KEY,
      session_id  TEXT NOT NULL REFERENCES sessions (id),
      id          TEXT NOT NULL,
      started_at  INTEGER NOT NULL,
      settled_at  INTEGER,
      started_seq INTEGER,
      settled_seq INTEGER,
      deltas      INTEGER NOT NULL DEFAULT 1,
      body        TEXT NOT NULL,
      UNIQUE (session_id, id)
    ) STRICT;
    CREATE INDEX turns_unsettled ON turns (session_id) WHERE settled_at IS NULL;
    CREATE INDEX turns_prunable ON turns (settled_at) WHERE settled_at IS NOT NULL AND deltas = 1;

    CREATE TABLE changes (
      n          INTEGER PRIMARY KEY,
      session_id TEXT NOT NULL REFERENCES sessions (id),
      turn_id    TEXT NOT NULL,
      id         TEXT NOT NULL,
      body       TEXT NOT NULL,
      UNIQUE (session_id, id)
    ) STRICT;
    CREATE INDEX changes_of_turn ON changes (session_id, turn_id);

    CREATE TABLE requests (
      session_id  TEXT NOT NULL REFERENCES sessions (id),
      request_id  TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      reply       TEXT NOT NULL,
      PRIMARY KEY (session_id, request_id)
    ) STRICT, WITHOUT ROWID;

    -- No reference to sessions: an unsent session has a draft and no record (S-3).
    CREATE TABLE drafts (session_id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE rules (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE workspaces (path TEXT PRIMARY KEY, opened_at INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE named_values (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
  `,
}
