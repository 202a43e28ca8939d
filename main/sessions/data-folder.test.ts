import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StorageKind } from '../../preload/contract/storage-routes.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, userItem } from '../storage/write-samples.ts'
import { DataFolder } from './data-folder.ts'

let home: string
let storage: Storage
let isBusy = false

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-room-'))
  storage = await openStorage({ home })
  isBusy = false
})
afterEach(async () => {
  await storage.close()
  await rm(home, { recursive: true, force: true })
})

function folder(): DataFolder {
  return new DataFolder({
    home,
    storage,
    rewinds: { expire: async () => {} },
    checkpoints: { tidy: async () => 700, expiredBytes: async () => 700 },
    isBusy: () => isBusy,
    now: Date.now,
  })
}

async function put(bytes: number, ageMs = 0): Promise<string> {
  const hash = await storage.blobs.put(Buffer.alloc(bytes, `${bytes}`))
  const at = (Date.now() - ageMs) / 1_000
  await utimes(join(home, 'blobs', hash.slice(0, 2), hash), at, at)
  return hash
}

test('K-16 S-173 room is told by kind and for the largest sessions, and what cleaning up would free before it is done', async () => {
  const [small, large] = [sampleHeader({ title: 'Small' }), sampleHeader({ title: 'Large' })]
  const file = { name: 'a.png', mediaType: 'image/png', bytes: 1_000, hash: await put(1_000) }
  const items = [userItem(1, 'see', { attachments: [file] }), toolItem(2, { resultRef: await put(2_000) })]
  await storage.commit(sampleWrite(small, { items }))
  await storage.commit(sampleWrite(large, { items: [textItem(1, 'x'.repeat(300_000))] }))
  await put(40)
  await put(500, 25 * 3_600_000)
  for (const [name, bytes] of [
    ['logs/lathe.log', 90],
    ['checkpoints/x/pack', 900],
    ['tmp/exec/1', 30],
    ['windows.json', 7],
  ] as const) {
    await mkdir(join(home, name, '..'), { recursive: true })
    await writeFile(join(home, name), Buffer.alloc(bytes))
  }

  const { kinds, largest, reclaimable } = await folder().usage()
  const of = (kind: StorageKind) => kinds.find((one) => one.kind === kind)?.bytes
  expect(of('attachments')).toBe(1_000)
  expect(of('outputs')).toBe(2_000)
  expect(of('unreferenced')).toBe(540)
  expect(of('logs')).toBe(90)
  expect(of('checkpoints')).toBe(900)
  expect(of('temporary')).toBe(30)
  expect(of('sessions')).toBeGreaterThan(300_000)
  expect(largest.map(({ title }) => title)).toEqual(['Large', 'Small'])
  expect(largest[0]!.bytes).toBeGreaterThan(300_000)
  expect(reclaimable.slice(0, 2)).toEqual([
    { step: 'bodies', bytes: 500 },
    { step: 'checkpoints', bytes: 700 },
  ])
})

test('S-173 S-23 cleaning up frees what was told, and nothing while a turn runs', async () => {
  const header = sampleHeader()
  await storage.commit(sampleWrite(header, { items: [textItem(1, 'x'.repeat(3_000_000))] }))
  await storage.erase(header.id, Date.now())
  await put(500, 25 * 3_600_000)
  isBusy = true
  await expect(folder().reclaim('database')).rejects.toMatchObject({ code: 'turn.busy' })
  isBusy = false
  const told = (await folder().usage()).reclaimable
  const promised = told.find(({ step }) => step === 'database')!.bytes
  expect(promised).toBeGreaterThan(1_000_000)
  expect(await folder().reclaim('bodies')).toBe(500)
  expect(await folder().reclaim('checkpoints')).toBe(700)
  expect(await folder().reclaim('database')).toBeGreaterThanOrEqual(promised)
  const after = (await folder().usage()).reclaimable
  expect(after.find(({ step }) => step === 'bodies')).toEqual({ step: 'bodies', bytes: 0 })
})
