import type { Database } from 'better-sqlite3'
import type { Migration } from './migration.ts'
import { sessions } from './0001-sessions.ts'
import { search } from './0002-search.ts'
import { rewinds } from './0003-rewinds.ts'
import { subagents } from './0004-subagents.ts'
import { searchParts } from './0005-search-parts.ts'

export const migrations: readonly Migration[] = [sessions, search, rewinds, subagents, searchParts]

export const latestVersion = migrations.at(-1)!.version

/** Brings the database to `upTo`, each step with its `user_version` in one transaction: a kill leaves the older version whole. */
export function migrate(db: Database, upTo: number = latestVersion): void {
  const from = versionOf(db)
  for (const { version, sql } of migrations) {
    if (version <= from || version > upTo) continue
    db.transaction(() => {
      db.exec(sql)
      db.pragma(`user_version = ${version}`)
    }).immediate()
  }
}

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number
}
