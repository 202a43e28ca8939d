import type { Migration } from './migration.ts'

/**
 * Entries set aside keep their row and name the mark that took them out of the active path (S-81). What they were is in
 * their body; the columns say what they are now, so that context, search and counts need not know of this.
 */
export const rewinds: Migration = {
  version: 3,
  sql: `
    ALTER TABLE items ADD COLUMN rewound TEXT;
    ALTER TABLE turns ADD COLUMN rewound TEXT;
    CREATE INDEX items_rewound ON items (session_id, rewound, pos) WHERE rewound IS NOT NULL;
    CREATE INDEX items_marks ON items (created_at) WHERE kind = 'rewind' AND visible = 1;
  `,
}
