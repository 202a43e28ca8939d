import Sqlite from 'better-sqlite3'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openStorage } from './open-storage.ts'
import type { Storage } from './storage.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from './write-samples.ts'

let home: string
let storage: Storage

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-search-'))
  storage = await openStorage({ home })
})

afterEach(async () => {
  await storage.close()
  await rm(home, { recursive: true, force: true })
})

/** Waits for the index, then answers where each hit is. */
async function found(query: string, limit = 20): Promise<string[]> {
  await indexed()
  return (await storage.search(query, limit)).hits.map((hit) => `${hit.sessionTitle}/${hit.itemId ?? hit.kind}`)
}

async function indexed(): Promise<void> {
  await vi.waitFor(async () => expect((await storage.search('x', 1)).partial).toBe(false), {
    timeout: 20_000,
    interval: 20,
  })
}

test('S-95 titles, messages, answers and attachment names are found; tool calls and reasoning when asked', async () => {
  const now = Date.now()
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'Needle in the title', updatedAt: now }), {
      items: [
        userItem(1, 'a needle', { createdAt: now }),
        textItem(2, 'the needle again', { createdAt: now }),
        toolItem(3, { args: { command: 'grep needle' }, createdAt: now }),
        textItem(4, 'still writing needle', { status: 'live', endedAt: null }),
        userItem(5, 'see file', {
          attachments: [{ name: 'needle.png', mediaType: 'image/png', bytes: 1, hash: 'a'.repeat(64) }],
          createdAt: now,
        }),
      ],
    }),
  )
  expect(await found('needle')).toEqual([
    'Needle in the title/title',
    'Needle in the title/user-1',
    'Needle in the title/user-5',
  ])
  expect(await found('kind:text needle')).toEqual(['Needle in the title/text-2'])
  expect(await found('kind:tool needle')).toEqual(['Needle in the title/tool-3'])
  const hit = (await storage.search('kind:tool needle', 5)).hits[0]!
  expect(hit.ranges.map(([from, to]) => hit.snippet.slice(from, to))).toEqual(['needle'])
})

test('SA-23 phrases and exclusions hold; accents, two CJK characters and parts of words are found', async () => {
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'S' }), {
      items: [
        userItem(1, 'a b and c'),
        userItem(2, 'then a b'),
        userItem(3, 'b a'),
        userItem(4, 'Herr Müller'),
        textItem(5, '今日は日本語です'),
        textItem(6, 'call reorderItems()'),
      ],
    }),
  )
  expect(await found('"a b" -c')).toEqual(['S/user-2'])
  expect(await found('Muller')).toEqual(['S/user-4'])
  expect(await found('日本')).toEqual(['S/text-5'])
  expect(await found('orderit')).toEqual(['S/text-6'])
  expect(await found('reord')).toEqual(['S/text-6'])
  for (const odd of ['foo"', 'NEAR(', '*', '"', '-', 'title:x', '{']) expect(await found(odd)).toEqual([])
})

test('S-97 title before message before answer, new before old, three of a session', async () => {
  const now = Date.now()
  const old = now - 365 * 24 * 60 * 60_000
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'Old', updatedAt: old }), {
      items: [userItem(1, 'the cart page', { createdAt: old })],
    }),
  )
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'New', updatedAt: now }), {
      items: [userItem(1, 'the cart page', { createdAt: now })],
    }),
  )
  await storage.commit(sampleWrite(sampleHeader({ title: 'The cart page', updatedAt: now })))
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'Answer', updatedAt: now }), {
      items: [textItem(1, 'the cart page', { createdAt: now })],
    }),
  )
  await storage.commit(
    sampleWrite(sampleHeader({ title: 'Many' }), {
      items: [1, 2, 3, 4, 5].map((pos) => userItem(pos, 'a crate', { createdAt: pos })),
    }),
  )
  expect(await found('cart')).toEqual(['The cart page/title', 'New/user-1', 'Answer/text-1', 'Old/user-1'])
  expect(await found('crate')).toEqual(['Many/user-5', 'Many/user-4', 'Many/user-3'])
  expect(await found('cart', 1)).toHaveLength(1)
})

test('S-96 filters', async () => {
  const day = (text: string): number => new Date(`${text}T12:00:00`).getTime()
  const make = (
    title: string,
    set: Parameters<typeof sampleHeader>[0],
    write: Partial<Parameters<Storage['commit']>[0]> = {},
  ) => {
    const header = sampleHeader({ title, updatedAt: day('2026-01-10'), ...set })
    return storage.commit(
      sampleWrite(header, { items: [userItem(1, 'ship it', { createdAt: header.updatedAt })], ...write }),
    )
  }
  await make('Shop', { workspace: '/work/Shop', model: 'lab/fast' })
  await make('Blog', { workspace: '/work/blog', updatedAt: day('2026-03-01'), pinnedAt: 1, lastOutcome: 'failed' })
  await make('Archive', { archivedAt: 5 })
  await make('Running', { workspace: '/work/blog' }, { turns: [turnRow('t1')] })
  expect(await found('ship workspace:shop')).toEqual(['Shop/user-1'])
  expect(await found('ship model:fast')).toEqual(['Shop/user-1'])
  expect(await found('ship after:2026-02')).toEqual(['Blog/user-1'])
  expect(await found('ship before:2026-02 workspace:shop')).toEqual(['Shop/user-1'])
  expect(await found('ship is:archived')).toEqual(['Archive/user-1'])
  expect(await found('ship is:pinned is:failed')).toEqual(['Blog/user-1'])
  expect(await found('is:running')).toEqual(['Running/title'])
  expect(await found('workspace:blog -running')).toEqual(['Blog/title'])
})

test('S-99 what is deleted, erased or made invisible is found no more at once; what is restored is found again', async () => {
  const header = sampleHeader({ title: 'Secret' })
  const items = [userItem(1, 'marmalade'), textItem(2, 'marmalade too')]
  await storage.commit(sampleWrite(header, { items }))
  expect(await found('marmalade')).toHaveLength(2)

  await storage.commit(sampleWrite(header, { items: [{ ...items[1]!, visible: false }] }))
  expect((await storage.search('marmalade', 5)).hits).toHaveLength(1)
  await storage.commit(sampleWrite({ ...header, deletedAt: 9 }))
  expect(await storage.search('marmalade', 5)).toEqual({ hits: [], partial: false })
  await storage.commit(sampleWrite(header))
  expect(await found('marmalade')).toEqual(['Secret/user-1'])
  await storage.erase(header.id, 10)
  expect(await storage.search('marmalade', 5)).toEqual({ hits: [], partial: false })
  expect(await storage.search('secret', 5)).toEqual({ hits: [], partial: false })
})

test('S-99 a changed title or text replaces the old one', async () => {
  const header = sampleHeader({ title: 'First name' })
  await storage.commit(sampleWrite(header, { items: [textItem(1, 'draft words')] }))
  expect(await found('draft')).toHaveLength(1)
  await storage.commit(sampleWrite({ ...header, title: 'Second name' }, { items: [textItem(1, 'final words')] }))
  expect(await found('first')).toEqual([])
  expect(await found('second')).toHaveLength(1)
  expect(await found('draft')).toEqual([])
  expect(await found('final')).toHaveLength(1)
})

test.each([
  [
    'its content',
    "UPDATE search_words_0_data SET block = x'00ff00ff' WHERE id > 1; UPDATE search_words_0_idx SET pgno = 99",
  ],
  ['its structure', "UPDATE search_words_0_data SET block = x'ff' WHERE id = 10"],
  ['its sizes', 'DELETE FROM search_words_0_docsize'],
])('S-99 an index damaged in %s rebuilds itself and fails no commit', async (_, damage) => {
  const header = sampleHeader({ title: 'Kept' })
  await storage.commit(sampleWrite(header, { items: [userItem(1, 'marmalade'), userItem(3, 'marmalade jar')] }))
  expect(await found('marmalade')).toHaveLength(2)
  await storage.close()
  const db = new Sqlite(join(home, 'lathe.db'))
  db.unsafeMode(true)
  db.exec(damage)
  db.close()
  storage = await openStorage({ home })

  await storage.search('marmalade', 5)
  await storage.commit(
    sampleWrite(header, { items: [userItem(2, 'more marmalade'), { ...userItem(1, 'marmalade'), visible: false }] }),
  )
  expect(await found('marmalade')).toContain('Kept/user-2')
  expect(await found('marmalade')).not.toContain('Kept/user-1')
  expect(storage.condition).toEqual({ kind: 'ok' })
})

test('S-156 S-99 what stands in several parts of the index is found in all of them, by time too, and goes from the one it is in', async () => {
  const day = (text: string): number => new Date(`${text}T12:00:00`).getTime()
  const old = sampleHeader({ title: 'Old talk of quinces', updatedAt: day('2026-06-01') })
  await storage.commit(
    sampleWrite(old, {
      items: [
        userItem(1, 'quinces first', { createdAt: day('2025-03-01') }),
        userItem(2, 'quinces again', { createdAt: day('2025-03-02') }),
      ],
    }),
  )
  await indexed()
  // The next document begins another part.
  const db = new Sqlite(join(home, 'lathe.db'))
  db.exec(
    "INSERT INTO search_docs (n, session_id, item_id, kind, at) VALUES ((1 << 15) - 1, 'none', 'none', 'text', 0)",
  )
  db.close()
  const now = sampleHeader({ title: 'New', updatedAt: day('2026-05-01') })
  await storage.commit(sampleWrite(now, { items: [textItem(1, 'quinces at last', { createdAt: day('2026-05-01') })] }))
  expect((await found('quinces')).toSorted()).toEqual([
    'New/text-1',
    'Old talk of quinces/title',
    'Old talk of quinces/user-1',
    'Old talk of quinces/user-2',
  ])
  expect(await found('quinces before:2025-06')).toHaveLength(2)
  // A title is as new as its session, whatever part it stands in.
  expect((await found('quinces after:2026-04')).toSorted()).toEqual(['New/text-1', 'Old talk of quinces/title'])
  expect((await found('uince')).toSorted()).toHaveLength(4)
  await storage.commit(sampleWrite(old, { items: [userItem(2, 'quinces again', { visible: false })] }))
  await storage.commit(sampleWrite(now, { items: [textItem(1, 'medlars instead')] }))
  expect((await found('quinces')).toSorted()).toEqual(['Old talk of quinces/title', 'Old talk of quinces/user-1'])
  expect(await found('medlars')).toEqual(['New/text-1'])
  await storage.erase(old.id, 1)
  expect(await found('quinces')).toEqual([])
})
