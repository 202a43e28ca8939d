import Sqlite from 'better-sqlite3'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { latestVersion, migrate, migrations } from './migrations/migrations.ts'
import { openStorage } from './open-storage.ts'
import type { StorageOptions } from './open-storage.ts'
import type { Storage } from './storage.ts'
import { delta, sampleHeader, sampleWrite, textItem, turnRow, turnStarted, userItem } from './write-samples.ts'

let home: string
const opened: Storage[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-database-'))
})

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close()
  await rm(home, { recursive: true, force: true })
})

async function open(options: Partial<StorageOptions> = {}): Promise<Storage> {
  const storage = await openStorage({ home, ...options })
  opened.push(storage)
  return storage
}

const file = (): string => join(home, 'lathe.db')

describe('migrations', () => {
  test('are numbered in order', () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => at + 1))
  })

  test.each(migrations.map(({ version }) => version - 1))('from version %i give the schema of a new one', (from) => {
    const schemaOf = (db: Sqlite.Database) =>
      db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
    const [older, fresh] = [new Sqlite(file()), new Sqlite(':memory:')]
    migrate(older, from)
    migrate(older)
    migrate(fresh)
    expect(schemaOf(older)).toEqual(schemaOf(fresh))
    expect(older.pragma('user_version', { simple: true })).toBe(latestVersion)
    older.close()
  })

  test('a database of version 1 keeps its sessions, which are then found', async () => {
    const db = new Sqlite(file())
    migrate(db, 1)
    db.exec(`
      INSERT INTO sessions VALUES ('s1', 'j1', '/work', 'title', 1, 2, NULL, NULL, NULL, 0, 0, '{"id":"s1"}', '{}', '{"title":"Title"}');
      INSERT INTO items VALUES (7, 's1', 'user-1', 1, NULL, 'user', 1, 1, 1, 1, 1, '${JSON.stringify(userItem(1, 'an old marmalade'))}');
    `)
    db.close()

    const storage = await open()
    expect((await storage.loadSession('s1'))?.items).toEqual([userItem(1, 'an old marmalade')])
    await expect.poll(async () => (await storage.search('marmalade', 5)).hits.length, { timeout: 10_000 }).toBe(1)
  })
})

test('a newer database is opened for reading only and says which version it is', async () => {
  const header = sampleHeader()
  const first = await open()
  await first.commit(sampleWrite(header, { items: [userItem(1, 'hi')] }))
  await first.close()
  const db = new Sqlite(file())
  db.pragma(`user_version = ${latestVersion + 3}`)
  db.close()

  const storage = await open()
  expect(storage.condition).toEqual({ kind: 'newer', version: latestVersion + 3, supported: latestVersion })
  expect((await storage.loadSession(header.id))?.items).toHaveLength(1)
  await expect(storage.commit(sampleWrite(header))).rejects.toMatchObject({
    code: 'session.read_only',
    reason: 'newer_database',
  })
  await expect(storage.setValue('a', 1)).rejects.toMatchObject({ code: 'session.read_only' })
})

describe('S-25 a corrupt database is set aside, never deleted', () => {
  test.each([
    ['not a database', async () => await writeFile(file(), 'this is no database, it is a letter'.repeat(300))],
    ['cut short', async () => await truncate(file(), 5_000)],
    [
      'overwritten in the middle of its schema',
      async () => await writeFile(file(), Buffer.alloc(3_900, 0x5a), { flag: 'r+' }),
    ],
  ])('%s', async (_, damage) => {
    const first = await open()
    await first.commit(sampleWrite(sampleHeader(), { items: [userItem(1, 'hi')] }))
    await first.close()
    await damage()
    const bytes = await readFile(file())

    const storage = await open()
    expect(storage.condition).toMatchObject({ kind: 'set_aside' })
    const { kept } = storage.condition as { kept: string }
    expect(await readFile(kept)).toEqual(bytes)
    expect(await storage.entries({ limit: 5 })).toEqual({ entries: [], more: false })
    await storage.commit(sampleWrite(sampleHeader()))
    await storage.close()

    const again = await open()
    expect(again.condition).toEqual({ kind: 'ok' })
    expect((await again.entries({ limit: 5 })).entries).toHaveLength(1)
    expect((await readdir(home)).filter((name) => name.includes('set-aside'))).toHaveLength(1)
  })

  test('damage met while in use is examined at the next start', async () => {
    const headers = Array.from({ length: 400 }, () => sampleHeader())
    const first = await open()
    await Promise.all(
      headers.map((header) => first.commit(sampleWrite(header, { items: [textItem(1, 'x'.repeat(5_000))] }))),
    )
    await first.close()
    // From here on are the pages of items; the schema stays readable.
    const from = 300_000
    await writeFile(
      file(),
      Buffer.concat([(await readFile(file())).subarray(0, from), Buffer.alloc((await stat(file())).size - from, 0x5a)]),
    )

    const second = await open()
    expect(second.condition).toEqual({ kind: 'ok' })
    const reads = await Promise.allSettled(headers.map((header) => second.contextItems(header.id)))
    expect(reads.find((read) => read.status === 'rejected')?.reason).toMatchObject({
      code: 'storage.failed',
      reason: 'corrupt',
    })
    await second.close()
    expect((await open()).condition).toMatchObject({ kind: 'set_aside' })
  })

  test('a kill in the middle of setting aside loses no file', async () => {
    const first = await open()
    await first.commit(sampleWrite(sampleHeader()))
    await first.close()
    const folder = join(home, 'lathe.db-set-aside-2026-01-01')
    await mkdir(folder)
    await rename(file(), join(folder, 'lathe.db'))
    await writeFile(`${file()}-wal`, 'the journal')

    expect((await open()).condition).toEqual({ kind: 'set_aside', kept: join(folder, 'lathe.db') })
    expect(await readFile(join(folder, 'lathe.db-wal'), 'utf8')).toBe('the journal')
  })
})

test('A-41 a process that lost the data folder writes nothing more', async () => {
  const header = sampleHeader()
  const first = await open({ owner: 'one' })
  await first.commit(sampleWrite(header))
  const second = await open({ owner: 'two' })
  await expect(first.commit(sampleWrite({ ...header, title: 'Late' }))).rejects.toMatchObject({
    code: 'session.read_only',
    reason: 'not_owner',
  })
  await second.commit(sampleWrite({ ...header, title: 'Mine' }))
  expect((await first.loadSession(header.id))?.header.title).toBe('Mine')
})

test('S-135 reading only beside an owner changes nothing, and an empty folder reads as empty', async () => {
  const nobody = await open({ readOnly: true })
  expect(await nobody.entries({ limit: 5 })).toEqual({ entries: [], more: false })
  expect(await readdir(home)).toEqual([])

  const owner = await open()
  const header = sampleHeader()
  await owner.commit(sampleWrite(header))
  const reader = await open({ readOnly: true })
  expect((await reader.entries({ limit: 5 })).entries).toHaveLength(1)
  await expect(reader.commit(sampleWrite(header))).rejects.toMatchObject({ code: 'session.read_only' })
  await owner.commit(sampleWrite({ ...header, title: 'Still the owner' }))
  expect((await reader.loadSession(header.id))?.header.title).toBe('Still the owner')
})

test.runIf(process.platform !== 'win32')('the database and what lies beside it are private', async () => {
  const storage = await open()
  await storage.commit(sampleWrite(sampleHeader()))
  const names = (await readdir(home)).filter((name) => name.startsWith('lathe.db'))
  expect(names).toContain('lathe.db-wal')
  for (const name of names) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600)
})

test('a home that cannot be used is a typed error', async () => {
  await writeFile(join(home, 'file'), '')
  await expect(openStorage({ home: join(home, 'file', 'home') })).rejects.toMatchObject({
    code: 'storage.failed',
    reason: 'no_access',
  })
  await rm(file(), { force: true })
  await mkdir(file())
  await expect(openStorage({ home })).rejects.toMatchObject({
    code: 'storage.failed',
    reason: 'no_access',
    hint: expect.any(String),
  })
})

describe('S-18 acknowledged means durable', () => {
  test(
    'after SIGKILL at any moment every acknowledged commit is there, and nothing is half',
    { timeout: 120_000 },
    async () => {
      const header = sampleHeader()
      let acknowledged = 0
      for (let round = 0; round < 6; round++) {
        const child = spawn(process.execPath, [join(import.meta.dirname, 'commit-loop.ts'), home, header.id], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const lines = createInterface(child.stdout)
        const killAfter = 20 + Math.floor(Math.random() * 150)
        let seen = 0
        lines.on('line', (line) => {
          acknowledged = Number(line)
          if (++seen === killAfter) child.kill('SIGKILL')
        })
        await once(child, 'exit')
        expect(seen).toBeGreaterThanOrEqual(killAfter)

        const storage = await open()
        expect(storage.condition).toEqual({ kind: 'ok' })
        const session = (await storage.loadSession(header.id))!
        const { events, pruned } = await storage.events(header.id, 0, 100_000)
        const all = []
        for (
          let slice = await storage.items(header.id, { limit: 400 });
          ;
          slice = await storage.items(header.id, { before: slice.items[0]!.id, limit: 400 })
        ) {
          all.unshift(...slice.items)
          if (slice.before === 0) break
        }
        const last = session.header.lastSeq
        expect(last).toBeGreaterThanOrEqual(acknowledged)
        // Each commit holds one event, one item and the record: all three or none.
        expect(pruned).toBe(false)
        expect(events.map((event) => event.seq)).toEqual(Array.from({ length: last }, (_, at) => at + 1))
        expect(all.map((item) => item.pos)).toEqual(Array.from({ length: last }, (_, at) => at + 1))
        expect((await storage.health()).integrity).toBe('ok')
        await storage.close()
      }
    },
  )
})

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'T-41 a full disk is a typed error; what was durable stays, and saving goes on once there is room',
  async (context) => {
    const run = async (command: string, ...args: string[]) =>
      (await once(spawn(command, args, { stdio: 'ignore' }), 'exit'))[0] as number
    const disk = join(home, 'disk')
    await mkdir(disk)
    const mounted = await run('mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk)
    context.skip(mounted !== 0, 'no file system can be mounted here')
    try {
      const storage = await openStorage({ home: disk })
      const header = sampleHeader()
      await storage.commit(
        sampleWrite(
          { ...header, lastSeq: 1 },
          { items: [userItem(1, 'kept')], turns: [turnRow('t1')], events: [turnStarted(1, 't1')] },
        ),
      )
      await writeFile(join(disk, 'ballast'), Buffer.alloc(1_500_000))
      let seq = 2
      const fill = async (): Promise<never> => {
        for (; ; seq++) {
          const events = [delta(seq, 't1', 'text-1', 0, 'x'.repeat(50_000))]
          await storage.commit(sampleWrite({ ...header, lastSeq: seq }, { events }))
        }
      }
      await expect(fill()).rejects.toMatchObject({
        code: 'storage.failed',
        reason: 'disk_full',
        hint: expect.stringMatching(/disk space/),
      })
      await expect(storage.blobs.put(Buffer.alloc(3_000_000))).rejects.toMatchObject({
        code: 'storage.failed',
        reason: 'disk_full',
      })
      await rm(join(disk, 'ballast'))
      await storage.commit(
        sampleWrite({ ...header, lastSeq: seq, title: 'Room again' }, { events: [delta(seq, 't1', 'text-1', 0, 'y')] }),
      )
      const loaded = await storage.loadSession(header.id)
      expect([loaded?.header.title, loaded?.items.length]).toEqual(['Room again', 1])
      expect((await storage.health()).integrity).toBe('ok')
      await storage.close()
    } finally {
      await run('umount', disk)
    }
  },
)
