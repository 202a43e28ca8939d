/** Work on the whole database that no transaction can hold; commits wait while it runs. */
import type { Database } from 'better-sqlite3'

export type Upkeep = ReturnType<typeof openUpkeep>

export function openUpkeep(db: Database) {
  return {
    /** Gives the space of what was deleted back to the disk; answers the bytes freed (S-173). */
    vacuum(): number {
      const before = bytes(db)
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
      return before - bytes(db)
    },
  }
}

function bytes(db: Database): number {
  return (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number)
}
