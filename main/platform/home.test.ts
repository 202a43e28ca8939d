import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acquireHome, dataFolder, readHostFile, removeHostFile, writeHostFile } from './home.ts'

/** Beyond what any system gives out. */
const deadPid = 2_147_483_646

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-home-'))
})

afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

test('the data folder is LATHE_HOME, else the place of the platform', () => {
  expect(dataFolder({ LATHE_HOME: '/x' }, 'linux')).toBe('/x')
  expect(dataFolder({ XDG_DATA_HOME: '/data' }, 'linux')).toBe(join('/data', 'lathe'))
  expect(dataFolder({ APPDATA: 'C:\\Data' }, 'win32')).toBe(join('C:\\Data', 'Lathe'))
  expect(dataFolder({}, 'darwin')).toMatch(/Library/)
})

test('S-135 one process owns a data folder, and gives it up', async () => {
  const first = await acquireHome(home)
  expect(await acquireHome(home, { waitMs: 0 })).toBeNull()
  const waiting = acquireHome(home, { waitMs: 5_000 })
  await first?.release()
  const second = await waiting
  expect(second).not.toBeNull()
  await first?.release()
  expect(await acquireHome(home, { waitMs: 0 })).toBeNull()
  await second?.release()
})

test('a data folder that cannot be made is named, with what to do', async () => {
  await writeFile(join(home, 'file'), '')
  await expect(acquireHome(join(home, 'file', 'data'))).rejects.toMatchObject({
    code: 'storage.failed',
    message: expect.stringContaining(join(home, 'file', 'data')),
    hint: expect.stringContaining('LATHE_HOME'),
  })
})

test('S-135 of many that come at once exactly one owns', async () => {
  await lock(1, { pid: deadPid })
  const owners = await Promise.all(Array.from({ length: 12 }, () => acquireHome(home, { waitMs: 0 })))
  expect(owners.filter((owner) => owner !== null)).toHaveLength(1)
  expect((await readdir(home)).filter((name) => name.endsWith('.lock'))).toEqual(['owner-2.lock'])
  await owners.find((owner) => owner !== null)?.release()
})

test('A-42 a killed owner is replaced at once, a silent one after 15 s, a living one not', async () => {
  await lock(1, { pid: process.ppid })
  expect(await acquireHome(home, { waitMs: 0 })).toBeNull()
  await lock(1, { pid: process.ppid }, 16_000)
  expect(await acquireHome(home, { waitMs: 0 })).not.toBeNull()
  await lock(9, { pid: deadPid })
  expect(await acquireHome(home, { waitMs: 0 })).not.toBeNull()
})

test('S-137 a pid of another machine says nothing', async () => {
  await lock(1, { pid: deadPid, machine: 'elsewhere' })
  expect(await acquireHome(home, { waitMs: 0 })).toBeNull()
})

test('S-136 host.json is private, gone with a dead host, and removed by its own host only', async () => {
  const host = {
    pid: process.pid,
    instanceId: 'me',
    version: '1',
    endpoint: '/run/lathe.sock',
    lifetime: 'person',
  } as const
  expect(await readHostFile(home)).toBeNull()
  await writeHostFile(home, host)
  expect(await readHostFile(home)).toEqual(host)
  expect(await modeOf(join(home, 'host.json'), 0o600)).toBe(0o600)
  await removeHostFile(home, 'another')
  expect(await readHostFile(home)).toEqual(host)
  await writeHostFile(home, { ...host, pid: deadPid })
  expect(await readHostFile(home)).toBeNull()
  await removeHostFile(home, 'me')
  expect(await readdir(home)).toEqual([])
  await writeFile(join(home, 'host.json'), '{"pid": "1"')
  expect(await readHostFile(home)).toBeNull()
})

async function lock(number: number, owner: { pid: number; machine?: string }, ageMs = 0): Promise<void> {
  const path = join(home, `owner-${number}.lock`)
  await writeFile(path, JSON.stringify({ instanceId: 'other', machine: hostname(), ...owner }))
  const at = new Date(Date.now() - ageMs)
  await utimes(path, at, at)
}

/** The permission bits; where there are none, the ones asked for. */
async function modeOf(path: string, asked: number): Promise<number> {
  return process.platform === 'win32' ? asked : (await stat(path)).mode & 0o777
}
