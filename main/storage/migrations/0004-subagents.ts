import type { Migration } from './migration.ts'

/** A subagent's session names the one it works for: it is listed nowhere and goes with that one (C-95). */
export const subagents: Migration = {
  version: 4,
  sql: `
    ALTER TABLE sessions ADD COLUMN parent TEXT;
    DROP INDEX sessions_listed;
    CREATE INDEX sessions_listed ON sessions (updated_at DESC, id DESC, workspace, archived_at) WHERE deleted_at IS NULL AND parent IS NULL;
    CREATE INDEX sessions_of_parent ON sessions (parent) WHERE parent IS NOT NULL;
    CREATE INDEX items_open_subagents ON items (session_id, pos) WHERE kind = 'subagent' AND ended_at IS NULL;
  `,
}
