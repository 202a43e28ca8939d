/**
 * The storage thread: one connection, the only writer. What has arrived while a commit waited for the disk is the next
 * transaction (group commit), so the number of waits does not grow with the number of sessions.
 */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { Call, FromWorker, Operations, Reply, ToWorker, WorkerStart } from './calls.ts'
import { isCorruption, markSuspect, openDatabase, UnusableDatabase } from './database.ts'
import type { OpenDatabase } from './database.ts'
import { followFaults } from './faults.ts'
import { openReads } from './reads.ts'
import { openIndexing } from './search-index.ts'
import { Refusal } from './refusal.ts'
import type { StorageCondition } from './storage.ts'
import { openUpkeep } from './upkeep.ts'
import { openWrites } from './writes.ts'

const start = workerData as WorkerStart
const port = parentPort!

const noAccessCodes = new Set(['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR'])
const indexDelayMs = 500
const indexPauseMs = 20
const checkpointDelayMs = 1_000

function post(message: FromWorker): void {
  port.postMessage(message)
}

try {
  serve(openDatabase(start.home, start.readOnly))
} catch (error) {
  post({ failed: bodyOf(error) })
}

function serve({ db, condition, readOnly }: OpenDatabase): void {
  const reads = openReads(db)
  const writes = openWrites(db)
  const upkeep = openUpkeep(db)
  const faults = start.faults ? followFaults(start.faults) : null
  const isOwner = readOnly ? () => false : claim(db, start.owner)
  let checkpoint: NodeJS.Timeout | null = null
  const indexing = readOnly ? null : followSettles(openIndexing(db), isOwner)

  port.on('message', (message: ToWorker) => {
    const calls: Call[] = []
    let closing = false
    for (
      let next: ToWorker | undefined = message;
      next;
      next = receiveMessageOnPort(port)?.message as ToWorker | undefined
    ) {
      if ('close' in next) closing = true
      else calls.push(...next.calls)
    }
    // Writes first, so a read never answers what is not yet durable.
    const replies = [
      ...write(calls.filter(({ operation }) => operation in writes)),
      ...calls.filter(({ operation }) => operation in upkeep).map(keepUp),
      ...calls.filter(({ operation }) => operation in reads).map(read),
    ]
    if (replies.length > 0) post({ replies })
    if (!readOnly) checkpoint ??= setTimeout(shortenLog, checkpointDelayMs)
    indexing?.wake()
    if (closing) close()
  })
  post({ opened: condition })

  /** SQLite would move its log into the database inside a commit, which then waits for the disk twice more (S-158). */
  function shortenLog(): void {
    checkpoint = null
    try {
      db.pragma('wal_checkpoint(PASSIVE)')
    } catch (error) {
      // The log keeps what it holds: the next time moves it.
      failure(error)
    }
  }

  function keepUp(call: Call): Reply {
    if (!isOwner()) return { id: call.id, error: readOnlyBody(condition) }
    try {
      return { id: call.id, value: run(upkeep, call) }
    } catch (error) {
      return { id: call.id, error: failure(error) }
    }
  }

  function read(call: Call): Reply {
    try {
      return { id: call.id, value: db.transaction(() => run(reads, call))() }
    } catch (error) {
      return { id: call.id, error: failure(error) }
    }
  }

  function write(calls: Call[]): Reply[] {
    if (readOnly) return calls.map(({ id }) => ({ id, error: readOnlyBody(condition) }))
    const failing = new Set(calls.filter(() => faults?.takeFailure()))
    try {
      return commit(calls)
    } catch (error) {
      // One bad write fails its neighbours in the group, so each is tried alone.
      return calls.length === 1 ? [{ id: calls[0]!.id, error: failure(error) }] : calls.map(alone)
    }

    function alone(call: Call): Reply {
      try {
        return commit([call])[0]!
      } catch (error) {
        return { id: call.id, error: failure(error) }
      }
    }

    function commit(group: Call[]): Reply[] {
      if (group.length === 0) return []
      return db
        .transaction(() => {
          if (!isOwner())
            throw new Refusal('session.read_only', 'Another Lathe owns this data folder now.', { reason: 'not_owner' })
          const replies = group.map((call) => ({ id: call.id, value: run(writes, call) }))
          faults?.wait()
          if (group.some((call) => failing.has(call)))
            throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL')
          return replies
        })
        .immediate()
    }
  }

  function close(): void {
    indexing?.stop()
    if (checkpoint) clearTimeout(checkpoint)
    db.close()
    port.close()
  }
}

/** Indexes in short rounds between which commits go on; what is written is found within a second (S-99). */
function followSettles(indexNext: () => boolean, isOwner: () => boolean): { wake(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null

  function round(): void {
    timer = null
    try {
      if (isOwner() && indexNext()) timer = setTimeout(round, indexPauseMs)
    } catch (error) {
      // It stays pending: the next write tries again, and search says that it is partial.
      failure(error)
    }
  }

  function wake(): void {
    timer ??= setTimeout(round, indexDelayMs)
  }

  wake()
  return { wake, stop: () => void (timer && clearTimeout(timer)) }
}

/** The last process to open the database for writing is its owner; the check runs in every transaction. */
function claim(db: Database, id: string): () => boolean {
  db.prepare('INSERT OR REPLACE INTO owner (one, id) VALUES (1, ?)').run(id)
  const owner = db.prepare<[], { id: string }>('SELECT id FROM owner')
  return () => owner.get()?.id === id
}

function run(operations: Partial<Operations>, call: Call): unknown {
  return (operations[call.operation] as (...args: unknown[]) => unknown)(...call.args)
}

function failure(error: unknown): ErrorBody {
  if (isCorruption(error)) markSuspect(start.home)
  return bodyOf(error)
}

function readOnlyBody(condition: StorageCondition): ErrorBody {
  if (condition.kind !== 'newer')
    return { code: 'session.read_only', message: 'The data folder was opened for reading only.', reason: 'not_owner' }
  return {
    code: 'session.read_only',
    message: 'The database was written by a newer Lathe and is open for reading only.',
    hint: 'Update Lathe.',
    reason: 'newer_database',
  }
}

function bodyOf(error: unknown): ErrorBody {
  if (error instanceof Refusal) return error.body
  if (error instanceof UnusableDatabase)
    return { code: 'storage.failed', message: error.message, hint: error.hint, reason: error.reason }
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Sqlite.SqliteError ? error.code : ((error as NodeJS.ErrnoException).code ?? '')
  const saving = { code: 'storage.failed', message: `Lathe could not save or read its data: ${message}.` } as const
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return { ...saving, reason: 'disk_full', hint: 'Free some disk space, then try again.' }
  if (code.startsWith('SQLITE_BUSY'))
    return { code: 'storage.busy', message: 'Another program holds the database.', hint: 'Try again.' }
  if (isCorruption(error))
    return { ...saving, reason: 'corrupt', hint: 'Restart Lathe: it sets a damaged database aside and keeps it.' }
  if (noAccessCodes.has(code)) {
    return { ...saving, reason: 'no_access', hint: 'Check that the data folder can be written.' }
  }
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO')
    return { ...saving, reason: 'io', hint: 'Check the disk that holds the data folder.' }
  if (code.startsWith('SQLITE_CONSTRAINT')) return { ...saving, reason: 'conflict', hint: 'Open the session again.' }
  return { ...saving, reason: 'unexpected', hint: 'Try again; the log has more.' }
}
