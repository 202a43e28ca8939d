/**
 * A disk that fails, for `node --import`: what the file named by LATHE_DISK says happens to every commit of the database.
 * `{"code": "SQLITE_FULL"}` fails it as SQLite would, `{"ms": 2000}` has it wait so long for the disk; without the file
 * all is well. It stands between Lathe and SQLite's own binding, in the storage thread too.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const Sqlite = createRequire(new URL('../package.json', import.meta.url))('better-sqlite3')
const file = process.env.LATHE_DISK
const real = Sqlite.prototype.transaction

function fault() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

/** Waits as a thread does whose `fsync` has not returned, and goes on early where the fault ends. */
function wait(ms) {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (const until = Date.now() + ms; Date.now() < until && fault().ms;) Atomics.wait(cell, 0, 0, 50)
}

const messages = { SQLITE_FULL: 'database or disk is full', SQLITE_IOERR_FSYNC: 'disk I/O error' }

/** Only what is begun as a write, immediately: readings go on as they do on a full disk. */
Sqlite.prototype.transaction = function (work) {
  const plain = real.call(this, work)
  const { immediate } = real.call(this, (...args) => {
    const result = work(...args)
    const { code, ms = 0 } = fault()
    if (ms > 0) wait(ms)
    if (code) throw new Sqlite.SqliteError(messages[code], code)
    return result
  })
  return Object.assign((...args) => plain(...args), { immediate })
}
