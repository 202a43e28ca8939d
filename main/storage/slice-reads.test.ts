import { expect, test } from 'vitest'
import { testHome } from './test-home.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from './write-samples.ts'

const { open } = testHome()

test('S-57 slices join without a repeat from any point, in both directions', async () => {
  const storage = await open()
  const header = sampleHeader()
  const items = Array.from({ length: 250 }, (_, at) => textItem(at * 3 + 1, `item ${at}`, { visible: at % 5 !== 4 }))
  await storage.commit(sampleWrite(header, { items }))

  const visible = items.filter((item) => item.visible)
  const back = []
  let slice = await storage.items(header.id, { limit: 30 })
  for (;;) {
    back.unshift(...slice.items)
    expect(slice.before + slice.after + slice.items.filter((item) => item.visible).length).toBe(visible.length)
    if (slice.before === 0) break
    slice = await storage.items(header.id, { before: slice.items[0]!.id, limit: 30 })
  }
  expect(back).toEqual(items.slice(items.indexOf(visible[0]!)))

  const around = await storage.items(header.id, { around: 'text-301', limit: 21 })
  expect(around.items.filter((item) => item.visible)).toHaveLength(21)
  const forth = [...around.items]
  for (let after = around.after; after > 0;) {
    const next = await storage.items(header.id, { after: forth.at(-1)!.id, limit: 40 })
    forth.push(...next.items)
    after = next.after
  }
  expect(forth.at(-1)).toEqual(visible.at(-1))
  expect(new Set(forth.map((item) => item.id)).size).toBe(forth.length)
  await expect(storage.items(header.id, { before: 'nowhere', limit: 5 })).rejects.toMatchObject({
    code: 'request.invalid',
  })
})

test('S-57 a slice brings the rows of its turns and what they changed', async () => {
  const storage = await open()
  const header = sampleHeader()
  const rows = ['turn-1', 'turn-2', 'turn-3'].map((id) => turnRow(id, { settledAt: 2_000 }))
  const items = rows.map(({ id }, at) => textItem(at + 1, `answer ${at + 1}`, { turnId: id }))
  const change = {
    id: 'change-1',
    turnId: 'turn-2',
    path: 'cart.js',
    kind: 'created' as const,
    before: null,
    after: null,
    added: 1,
    removed: 0,
    by: 'tool' as const,
  }
  await storage.commit(sampleWrite(header, { items, turns: rows, changes: [{ turnId: 'turn-2', files: [change] }] }))

  const slice = await storage.items(header.id, { before: items[2]!.id, limit: 1 })
  expect(slice.turns).toEqual([rows[1]])
  expect(slice.changes).toEqual([change])
})

test('S-58 long texts are clipped in slices and whole on demand', async () => {
  const storage = await open()
  const header = sampleHeader()
  const text = 'ä'.repeat(40_000)
  await storage.commit(sampleWrite(header, { items: [userItem(1, text), toolItem(2, { args: { content: text } })] }))

  const slice = await storage.items(header.id, { limit: 10 })
  const clipped = slice.items[0] as { text: string; omitted?: number }
  expect(clipped.omitted).toBe(40_000 - 32 * 1024)
  expect(clipped.text).toBe(
    `${'ä'.repeat(24 * 1024)}\n\n[${clipped.omitted} characters omitted]\n\n${'ä'.repeat(8 * 1024)}`,
  )
  expect((await storage.loadSession(header.id))?.items).toEqual(slice.items)
  expect(JSON.stringify(slice.items[1]).length).toBeLessThan(40_000)
  expect(await storage.item(header.id, 'user-1')).toEqual(userItem(1, text))
  expect((await storage.contextItems(header.id)).items[0]).toEqual(userItem(1, text))
  await expect(storage.commit(sampleWrite(header, { items: [slice.items[0]!] }))).rejects.toThrow(/clipped/)
})

test('K-14 a slice ends before it outgrows a frame, and the next one goes on there', async () => {
  const storage = await open()
  const header = sampleHeader()
  const items = Array.from({ length: 150 }, (_, at) => textItem(at + 1, 'y'.repeat(64 * 1024)))
  await storage.commit(sampleWrite(header, { items }))
  const newest = await storage.items(header.id, { limit: 400 })
  expect(JSON.stringify(newest.items).length).toBeLessThan(5 * 1024 * 1024)
  const earlier = await storage.items(header.id, { before: newest.items[0]!.id, limit: 1 })
  expect(earlier.items[0]!.pos).toBe(newest.items[0]!.pos - 1)
})
