import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { testHome } from './test-home.ts'
import { sampleHeader, sampleWrite, toolItem, userItem } from './write-samples.ts'

const { open, path } = testHome()

test('S-23 K-16 blobs stay while an item, draft, change or queued message of any session refers to them', async () => {
  const storage = await open()
  const put = async (text: string) => ({
    name: text,
    mediaType: 'text/plain',
    bytes: text.length,
    hash: await storage.blobs.put(text),
  })
  const [sent, drafted, queued, loose] = await Promise.all([put('sent'), put('drafted'), put('queued'), put('loose')])
  const before = await storage.blobs.put('before the change')
  const followUp = { id: 'f1', text: '', attachments: [queued], createdAt: 1, revision: 1 }
  const header = sampleHeader({ queue: { followUps: [followUp], paused: null } })
  const file = {
    id: 'c1',
    turnId: 't1',
    path: 'a',
    kind: 'edited' as const,
    before,
    after: null,
    added: 1,
    removed: 1,
    by: 'tool' as const,
  }
  await storage.commit(
    sampleWrite(header, {
      items: [userItem(1, 'see', { attachments: [sent, { ...sent, hash: 'f'.repeat(64) }] })],
      changes: [{ turnId: 't1', files: [file] }],
    }),
  )
  await storage.setDraft('unsent', { text: '', attachments: [drafted], revision: 1 })
  expect(await storage.health()).toMatchObject({ integrity: 'ok', blobsMissing: 1, blobBytes: 4 + 7 + 6 + 5 + 17 })

  const soon = Date.now() + 60_000
  expect(await storage.sweepBlobs(soon)).toEqual({ removed: 1, bytes: 5 })
  await expect(storage.blobs.get(loose.hash)).rejects.toMatchObject({ code: 'file.not_found' })
  await storage.erase(header.id, 1)
  expect(await storage.sweepBlobs(soon)).toMatchObject({ removed: 3 })
  expect(Buffer.from(await storage.blobs.get(drafted.hash)).toString()).toBe('drafted')
})

test('S-23 S-7 a damaged row stops neither the sweep nor health, and what it may refer to is kept', async () => {
  const storage = await open()
  const header = sampleHeader()
  const [kept, sent, loose] = await Promise.all(
    ['kept by a damaged row', 'sent', 'loose'].map(async (text) => storage.blobs.put(Buffer.from(text))),
  )
  const attachment = { hash: sent!, name: 'a.txt', bytes: 4, type: 'text/plain', image: null }
  await storage.commit(
    sampleWrite(header, {
      items: [userItem(1, 'see', { attachments: [attachment as never] }), userItem(2, 'x'), toolItem(3), toolItem(4)],
    }),
  )
  await storage.setDraft('unsent', { text: '', attachments: [], revision: 1 })
  const db = new Database(join(path(), 'lathe.db'))
  db.prepare(`UPDATE items SET body = ? WHERE id = 'tool-3'`).run(`{"resultRef":"${kept!}"`)
  db.exec(`
    UPDATE items SET body = '{"attachments":["' WHERE id = 'user-2';
    UPDATE items SET body = '{"resultRef":{"a":1}}' WHERE id = 'tool-4';
    UPDATE drafts SET body = '{"attachments":["x", 1]}';
    UPDATE sessions SET header = '{';
  `)
  db.close()
  expect(await storage.health()).toMatchObject({ integrity: 'ok', blobsMissing: 0, unreferencedBytes: 5 })
  expect(await storage.sweepBlobs(Date.now() + 60_000)).toEqual({ removed: 1, bytes: 5 })
  await expect(storage.blobs.get(loose!)).rejects.toMatchObject({ code: 'file.not_found' })
  expect(Buffer.from(await storage.blobs.get(kept!)).toString()).toBe('kept by a damaged row')
})
