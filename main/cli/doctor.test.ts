import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acquireHome } from '../platform/home.ts'
import { listVersion } from '../sessions/list-rebuild.ts'
import { openStorage } from '../storage/open-storage.ts'
import { doctor } from './doctor.ts'
import type { Output } from './output.ts'

let home: string
let lines: { name: string; status?: string; message: string; fix?: string }[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-doctor-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function examine(
  options: Parameters<typeof doctor>[2] = {},
): Promise<{ message: string; fix?: string } | undefined> {
  lines = []
  const output: Output = {
    json: true,
    print: () => {},
    line: (value) => void lines.push(value as never),
    note: () => {},
    fail: () => {},
    write: async () => {},
    flush: async () => {},
    isLost: () => false,
  }
  await doctor({ home, version: '0' }, output, options)
  return lines.find(({ name }) => name === 'checkpoints')
}

test('F-1015 the size of the checkpoints is told, with how to empty them, and that empties them alone', async () => {
  expect(await examine()).toMatchObject({ message: 'none' })
  for (const store of ['a', 'b']) {
    await mkdir(join(home, 'checkpoints', store), { recursive: true })
    await writeFile(join(home, 'checkpoints', store, 'pack'), Buffer.alloc(3 * 1024 * 1024))
  }
  await mkdir(join(home, 'blobs'))
  await writeFile(join(home, 'blobs', 'x'), 'kept')
  const told = await examine()
  expect(told).toMatchObject({ message: '6.0 MiB of 2 workspaces' })
  expect(told?.fix).toContain('--empty-checkpoints')
  expect(await examine({ emptyCheckpoints: true })).toMatchObject({ message: 'none' })
  expect(await readdir(join(home, 'blobs'))).toEqual(['x'])
})

test('S-132 the list’s version, what waits to be indexed, unreferenced bodies and a silent holder of the lock are told', async () => {
  const storage = await openStorage({ home })
  await storage.blobs.put(Buffer.alloc(3 * 1024 * 1024))
  await storage.setValue('list.version', listVersion)
  await storage.close()
  const told = (check: string) => lines.filter(({ name }) => name === check)
  await examine()
  expect(told('list and search')).toMatchObject([{ status: 'ok' }])
  expect(told('database')).toMatchObject([
    { status: 'ok', message: expect.stringContaining('3.0 MiB of them no longer') },
  ])
  expect(told('owner')).toMatchObject([{ status: 'ok' }])

  const db = new DatabaseSync(join(home, 'lathe.db'))
  db.exec(`UPDATE named_values SET body = '1' WHERE name = 'list.version'`)
  db.exec(`INSERT INTO search_pending (session_id, item_id) VALUES ('s', 'a'), ('s', 'b')`)
  db.close()
  const owner = await acquireHome(home)
  await examine()
  await owner?.release()
  expect(told('list and search')).toMatchObject([
    { status: 'warn', message: `The list of sessions has version 1, not ${listVersion}.`, fix: expect.any(String) },
    { status: 'warn', message: '2 entries wait to be indexed for search.', fix: expect.any(String) },
  ])
  expect(told('owner')).toMatchObject([
    { status: 'warn', message: expect.stringContaining(`Process ${process.pid} holds`) },
  ])
})

test('S-132 nothing is changed without --fix; with it rights, a dead host’s file, list, index and lost bodies are mended and said', async () => {
  const storage = await openStorage({ home })
  const lost = await storage.blobs.put(Buffer.alloc(3 * 1024 * 1024))
  await storage.setValue('list.version', 1)
  await storage.close()
  const db = new DatabaseSync(join(home, 'lathe.db'))
  db.exec(`INSERT INTO search_pending (session_id, item_id) VALUES ('s', 'a')`)
  db.close()
  const body = join(home, 'blobs', lost.slice(0, 2), lost)
  await utimes(body, 1, 1)
  await chmod(home, 0o755)
  // A process that lives and is no Lathe: it was given the number of one that died.
  const host = {
    pid: process.pid,
    instanceId: 'i',
    version: '0',
    endpoint: join(home, 'none.sock'),
    lifetime: 'person',
  }
  await writeFile(join(home, 'host.json'), JSON.stringify(host))
  const warned = () => new Set(lines.flatMap(({ name, status }) => (status === 'warn' ? name : [])))

  await examine()
  for (const name of ['data folder', 'owner', 'list and search']) expect(warned()).toContain(name)
  expect(lines.find(({ name }) => name === 'owner')?.fix).toContain('lathe doctor --fix')
  await examine()
  for (const name of ['data folder', 'owner', 'list and search']) expect(warned()).toContain(name)

  await examine({ fix: true })
  const fixed = lines.filter(({ status }) => status === 'fixed').map(({ name, message }) => `${name}: ${message}`)
  expect(fixed).toEqual([
    'data folder: Only your user can read it now.',
    'owner: host.json was removed.',
    expect.stringMatching(/^database: 3\.\d MiB were given back/),
    'list and search: The list and the search index were made anew.',
  ])
  for (const name of ['data folder', 'owner', 'database', 'list and search']) expect(warned()).not.toContain(name)
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  await expect(stat(body)).rejects.toThrow('ENOENT')
}, 60_000)
