/** The database file: opening it at the right version, or setting a corrupt one aside. */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { latestVersion, migrate, versionOf } from './migrations/migrations.ts'
import type { StorageCondition } from './storage.ts'

const fileName = 'lathe.db'
/** Stands beside a database that answered "malformed" while in use: the next start examines it. */
const suspectName = 'lathe.db-suspect'
const setAsidePrefix = 'lathe.db-set-aside-'
const besides = ['-wal', '-shm']
const walBytesKept = 16 * 1024 * 1024

export type OpenDatabase = { db: Database; condition: StorageCondition; readOnly: boolean }

/** A database that cannot be used as asked; the worker answers it as `storage.failed`. */
export class UnusableDatabase extends Error {
  readonly reason: string
  readonly hint: string

  constructor(reason: string, message: string, hint: string) {
    super(message)
    this.reason = reason
    this.hint = hint
  }
}

/**
 * Opens `home`'s database for writing, migrated; read-only where it is newer than this app. A corrupt one is moved to a
 * folder of its own, never deleted, and a new one is begun (S-25). With `readOnly` nothing on disk is changed: what does
 * not exist yet reads as empty.
 */
export function openDatabase(home: string, readOnly: boolean): OpenDatabase {
  const path = join(home, fileName)
  if (readOnly) return openForReading(path)
  const half = finishSettingAside(home)
  if (half) return { ...openForWriting(home, path), condition: { kind: 'set_aside', kept: half } }
  try {
    return openForWriting(home, path)
  } catch (error) {
    if (!isCorruption(error)) throw error
    const kept = setAside(home)
    return { ...openForWriting(home, path), condition: { kind: 'set_aside', kept } }
  }
}

/** Has the next start examine the whole database before it trusts it. */
export function markSuspect(home: string): void {
  writeFileSync(join(home, suspectName), '', { mode: 0o600 })
}

export function isCorruption(error: unknown): boolean {
  const code = error instanceof Sqlite.SqliteError ? error.code : ''
  // A virtual table's damage is the search index's alone, which rebuilds itself (S-99).
  return code === 'SQLITE_NOTADB' || (code.startsWith('SQLITE_CORRUPT') && code !== 'SQLITE_CORRUPT_VTAB')
}

function openForReading(path: string): OpenDatabase {
  if (!existsSync(path)) {
    const db = new Sqlite(':memory:')
    migrate(db)
    return { db, condition: { kind: 'ok' }, readOnly: true }
  }
  const db = new Sqlite(path, { readonly: true })
  db.pragma('busy_timeout = 5000')
  const version = versionOf(db)
  if (version > latestVersion) return { db, condition: newer(version), readOnly: true }
  if (version === latestVersion) return { db, condition: { kind: 'ok' }, readOnly: true }
  db.close()
  throw new UnusableDatabase(
    'old_schema',
    'The database was written by an older Lathe.',
    'Start Lathe once to bring it up to date.',
  )
}

function openForWriting(home: string, path: string): OpenDatabase {
  const db = create(path)
  try {
    const version = versionOf(db)
    if (version > latestVersion) {
      db.close()
      return { db: new Sqlite(path, { readonly: true }), condition: newer(version), readOnly: true }
    }
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    // The storage thread moves the log into the database itself, after its answers.
    db.pragma('wal_autocheckpoint = 0')
    db.pragma('foreign_keys = ON')
    db.pragma('busy_timeout = 5000')
    db.pragma(`journal_size_limit = ${walBytesKept}`)
    if (existsSync(join(home, suspectName))) examine(home, db)
    migrate(db)
    return { db, condition: { kind: 'ok' }, readOnly: false }
  } catch (error) {
    db.close()
    throw error
  }
}

/** The file is made before SQLite sees it, so that it and what SQLite puts beside it have mode 0600. */
function create(path: string): Database {
  closeSync(openSync(path, 'a', 0o600))
  return new Sqlite(path)
}

function examine(home: string, db: Database): void {
  if (db.pragma('quick_check(1)', { simple: true }) !== 'ok')
    throw new Sqlite.SqliteError('malformed', 'SQLITE_CORRUPT')
  rmSync(join(home, suspectName))
}

function newer(version: number): StorageCondition {
  return { kind: 'newer', version, supported: latestVersion }
}

/** Moves the database with its journal files into a new folder; the database first, so that a kill in between is seen. */
function setAside(home: string): string {
  const folder = join(home, setAsidePrefix + new Date().toISOString().replaceAll(/[:.]/g, '-'))
  mkdirSync(folder, { mode: 0o700 })
  for (const suffix of ['', ...besides]) moveIfThere(join(home, fileName + suffix), join(folder, fileName + suffix))
  rmSync(join(home, suspectName), { force: true })
  return join(folder, fileName)
}

/** A kill in the middle of setting aside leaves journal files without a database; SQLite would delete them. */
function finishSettingAside(home: string): string | null {
  if (existsSync(join(home, fileName))) return null
  const left = besides.filter((suffix) => existsSync(join(home, fileName + suffix)))
  const folder = readdirSync(home)
    .filter((name) => name.startsWith(setAsidePrefix))
    .sort()
    .at(-1)
  if (left.length === 0 || folder === undefined) return null
  for (const suffix of left) moveIfThere(join(home, fileName + suffix), join(home, folder, fileName + suffix))
  return join(home, folder, fileName)
}

function moveIfThere(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to)
}
