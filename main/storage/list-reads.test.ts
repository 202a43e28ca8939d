import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { testHome } from './test-home.ts'
import { sampleHeader, sampleWrite, turnRow, turnStarted, userItem } from './write-samples.ts'

const { open, path } = testHome()

test('S-50 the list pages by time and id; entries that move are neither repeated nor lost', async () => {
  const storage = await open()
  const headers = Array.from({ length: 60 }, (_, at) =>
    sampleHeader({
      updatedAt: 1_000 + (at % 7),
      workspace: at % 2 ? '/work/shop' : '/work/blog',
      title: at === 5 ? 'Äpfel zählen' : `Session ${at}`,
    }),
  )
  for (const header of headers) await storage.commit(sampleWrite(header))
  await storage.commit(sampleWrite({ ...headers[8]!, archivedAt: 5 }))
  await storage.commit(sampleWrite({ ...headers[9]!, deletedAt: 5 }))

  const seen: string[] = []
  let before: { updatedAt: number; id: string } | undefined
  for (let more = true; more;) {
    const page = await storage.entries({ limit: 7, before })
    seen.push(...page.entries.map((entry) => entry.id))
    before = page.entries.at(-1)
    more = page.more
    await storage.commit(
      sampleWrite({
        ...headers[seen.length % 60]!,
        updatedAt: 9_000 + seen.length,
        ...(seen.length % 60 === 9 ? { deletedAt: 5 } : seen.length % 60 === 8 ? { archivedAt: 5 } : {}),
      }),
    )
  }
  expect(new Set(seen).size).toBe(seen.length)
  const moved = new Set(
    (await storage.entries({ limit: 100 })).entries
      .filter((entry) => entry.updatedAt >= 9_000)
      .map((entry) => entry.id),
  )
  const stayed = headers.filter(({ id }) => !moved.has(id) && id !== headers[8]!.id && id !== headers[9]!.id)
  expect(seen).toEqual(expect.arrayContaining(stayed.map(({ id }) => id)))

  expect(
    (await storage.entries({ limit: 100, workspace: '/work/blog' })).entries.every(
      (entry) => entry.workspace === '/work/blog',
    ),
  ).toBe(true)
  expect((await storage.entries({ limit: 100, archived: true })).entries.map((entry) => entry.id)).toEqual([
    headers[8]!.id,
  ])
  expect((await storage.entries({ limit: 100, text: 'APFEL' })).entries.map((entry) => entry.id)).toEqual([
    headers[5]!.id,
  ])
})

test('S-54 a moved folder takes all its sessions along', async () => {
  const storage = await open()
  const [one, two] = [sampleHeader({ workspace: '/old' }), sampleHeader({ workspace: '/other' })]
  await storage.commit(sampleWrite(one))
  await storage.commit(sampleWrite(two))
  expect(await storage.moveWorkspace('/old', '/new')).toEqual([one.id])
  expect((await storage.loadSession(one.id))?.header.workspace).toBe('/new')
  expect((await storage.entries({ limit: 5, workspace: '/new' })).entries.map((entry) => entry.workspace)).toEqual([
    '/new',
  ])
})

test('S-131 an id is found by its beginning, taken literally', async () => {
  const storage = await open()
  const header = sampleHeader()
  await storage.commit(sampleWrite(header))
  expect(await storage.idsByPrefix(header.id.slice(0, 8))).toEqual([header.id])
  expect(await storage.idsByPrefix('%')).toEqual([])
})

test('SA-14 1,000 entries are read by pages of 100 while 50 get activity: each other one once', async () => {
  const storage = await open()
  const headers = Array.from({ length: 1_000 }, (_, at) => sampleHeader({ updatedAt: 1_000 + Math.floor(at / 3) }))
  await Promise.all(headers.map((header) => storage.commit(sampleWrite(header))))
  const moved = new Set(headers.filter((_, at) => at % 20 === 7).map(({ id }) => id))
  const moving = headers.filter(({ id }) => moved.has(id))
  const seen: string[] = []
  let before: { updatedAt: number; id: string } | undefined
  for (let more = true; more;) {
    const page = await storage.entries({ limit: 100, before })
    seen.push(...page.entries.map(({ id }) => id))
    before = page.entries.at(-1)
    more = page.more
    for (const header of moving.splice(0, 6))
      await storage.commit(sampleWrite({ ...header, updatedAt: 9_000 + seen.length }))
  }
  expect(moving).toEqual([])
  const others = headers.map(({ id }) => id).filter((id) => !moved.has(id))
  expect(seen.filter((id) => !moved.has(id)).toSorted()).toEqual(others.toSorted())
  expect(new Set(seen).size).toBe(seen.length)
})

test('S-19 the list, the look for what was interrupted and the prefix of an id read no transcript', async () => {
  const writer = await open()
  const header = sampleHeader({ currentTurnId: 't1', itemCount: 1 })
  const running = { ...turnRow('t1'), outcome: null, settledAt: null }
  await writer.commit(
    sampleWrite(header, { items: [userItem(1, 'go')], turns: [running], events: [turnStarted(1, 't1')] }),
  )
  await writer.close()
  const storage = await open({ readOnly: true })
  const other = new Database(join(path(), 'lathe.db'))
  other.exec('DROP TABLE items; DROP TABLE changes')
  other.close()
  expect((await storage.entries({ limit: 10 })).entries.map(({ id }) => id)).toEqual([header.id])
  expect(await storage.unsettledSessions()).toEqual([header.id])
  expect(await storage.deletedEntries(10)).toEqual([])
  expect(await storage.idsByPrefix(header.id.slice(0, 8))).toEqual([header.id])
  await expect(storage.loadSession(header.id)).rejects.toThrow()
})
