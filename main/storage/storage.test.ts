import { expect, test, vi } from 'vitest'
import { createFaults } from './faults.ts'
import { testHome } from './test-home.ts'
import {
  delta,
  sampleHeader,
  sampleWrite,
  textItem,
  toolItem,
  turnRow,
  turnSettled,
  turnStarted,
  userItem,
} from './write-samples.ts'

const { open } = testHome()

test('K-13 a session loads after a restart as it was committed', async () => {
  const header = sampleHeader({ lastSeq: 3, itemCount: 2, title: 'Fix the cart' })
  const turn = turnRow('t1', { settledAt: 2_000, outcome: 'completed', durationMs: 1_000 })
  const items = [userItem(1, 'fix the cart', { turnId: 't1' }), textItem(2, 'done', { turnId: 't1' })]
  const changes = [
    {
      id: 'c1',
      turnId: 't1',
      path: 'cart.ts',
      kind: 'edited' as const,
      before: null,
      after: null,
      added: 1,
      removed: 2,
      by: 'tool' as const,
    },
  ]
  const hidden = {
    grants: [],
    commandNotes: [{ itemId: 'i', line: 'ls', state: 'ok', output: 'a' }],
    fileNotes: [],
    completionKeys: [{ key: 'k', turnId: 't1', userItemId: 'u1' }],
    wokenTurns: 2,
    exec: { count: 0, sessions: [] },
    notices: [],
  }
  const first = await open()
  await first.commit(
    sampleWrite(header, {
      items,
      hidden,
      turns: [turn],
      changes: [{ turnId: 't1', files: changes }],
      events: [turnStarted(1, 't1'), delta(2, 't1', 'text-2', 0, 'done'), turnSettled(3, header, turn)],
    }),
  )
  await first.close()

  const loaded = await (await open()).loadSession(header.id)

  expect(loaded).toEqual({
    journalId: sampleWrite(header).journalId,
    header,
    hidden,
    items,
    itemsBefore: 0,
    turns: [turn],
    changes,
    unsettled: [],
    lastPos: 2,
  })
})

test('S-15 a commit is all or nothing: one bad part leaves nothing of it', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 1 })
  await storage.commit(sampleWrite(header, { events: [turnStarted(1, 't1')], items: [userItem(1, 'one')] }))

  const again = sampleWrite(
    { ...header, title: 'Changed' },
    { items: [userItem(2, 'two')], events: [turnStarted(1, 't1')] },
  )
  await expect(storage.commit(again)).rejects.toMatchObject({ code: 'storage.failed', reason: 'conflict' })

  const loaded = await storage.loadSession(header.id)
  expect(loaded?.header.title).toBe('New session')
  expect(loaded?.items.map((item) => item.id)).toEqual(['user-1'])
})

test('S-16 of writes grouped into one transaction only the bad one fails', async () => {
  const faults = createFaults()
  const storage = await open({ faults })
  const headers = [sampleHeader(), sampleHeader(), sampleHeader()]
  faults.failCommits(1)

  const results = await Promise.allSettled(
    headers.map((header) => storage.commit(sampleWrite(header, { items: [userItem(1, 'hi')] }))),
  )

  expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect((results[0] as PromiseRejectedResult).reason).toMatchObject({
    code: 'storage.failed',
    reason: 'disk_full',
    hint: expect.any(String),
  })
  expect(await storage.loadSession(headers[0]!.id)).toBeNull()
  expect((await storage.loadSession(headers[2]!.id))?.items).toHaveLength(1)
  await storage.commit(sampleWrite(headers[0]!))
})

test('S-18 nothing is acknowledged while the disk stands still, and a read sees only what is durable', async () => {
  const faults = createFaults()
  const storage = await open({ faults })
  const header = sampleHeader()
  let acknowledged = false
  faults.stall()
  const commit = storage.commit(sampleWrite(header)).then(() => (acknowledged = true))
  const read = storage.loadSession(header.id).then((session) => [acknowledged, session?.header.id])
  await new Promise((resolve) => setImmediate(resolve))
  expect(acknowledged).toBe(false)
  faults.release()
  await commit
  expect(await read).toEqual([true, header.id])
})

test('S-18 a commit over 30 s answers storage.timeout; the next reading says whether it took place', async () => {
  const faults = createFaults()
  const storage = await open({ faults })
  const header = sampleHeader()
  faults.stall()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const commit = storage.commit(sampleWrite(header))
    vi.advanceTimersByTime(30_000)
    await expect(commit).rejects.toMatchObject({ code: 'storage.timeout' })
  } finally {
    vi.useRealTimers()
  }
  const known = storage.loadSession(header.id)
  faults.release()
  expect((await known)?.header.id).toBe(header.id)
})

test('S-7 SA-37 a damaged record opens with defaults, told once', async () => {
  const repairs: [string, string[]][] = []
  const storage = await open({ onRepair: (...repair) => repairs.push(repair) })
  const header = sampleHeader({ lastSeq: 5 })
  const damaged = {
    ...header,
    readSeq: -4,
    notableSeq: 99,
    titleSource: 7,
    usage: 'none',
    approvalMode: undefined,
  } as never
  const item = { ...textItem(1, 'fine'), kind: 'hologram' } as never
  await storage.commit({ ...sampleWrite(header), header: damaged, items: [item, textItem(2, 'fine')] })

  const loaded = await storage.loadSession(header.id)

  expect(loaded?.header).toEqual({ ...header, readSeq: 0, notableSeq: 5 })
  expect(loaded?.items.map((read) => [read.id, read.kind])).toEqual([
    ['text-1', 'notice'],
    ['text-2', 'text'],
  ])
  await storage.loadSession(header.id)
  expect(repairs).toEqual([[header.id, ['titleSource', 'approvalMode', 'usage', 'readSeq', 'notableSeq']]])
})

test('S-22 an erased session leaves id and times, and no write brings it back', async () => {
  const storage = await open()
  const header = sampleHeader({ deletedAt: 10, lastSeq: 1, title: 'Private' })
  await storage.commit(
    sampleWrite(header, {
      items: [userItem(1, 'secret plan')],
      events: [turnStarted(1, 't1')],
      requests: [{ requestId: 'r', fingerprint: 'f', reply: 1 }],
    }),
  )
  expect(await storage.deletedBefore(11)).toEqual([header.id])
  expect(await storage.deletedBefore(10)).toEqual([])

  await storage.erase(header.id, 20)

  await expect(storage.commit(sampleWrite(header))).rejects.toMatchObject({ code: 'session.deleted' })
  await expect(storage.setDraft(header.id, { text: 'x', attachments: [], revision: 1 })).rejects.toMatchObject({
    code: 'session.deleted',
  })
  await expect(storage.loadSession(header.id)).rejects.toMatchObject({ code: 'session.deleted' })
  expect(await storage.events(header.id, 0, 10)).toMatchObject({ events: [] })
  expect(await storage.item(header.id, 'user-1')).toBeNull()
  expect(await storage.request(header.id, 'r')).toBeNull()
  expect(await storage.deletedBefore(100)).toEqual([])
  expect(await storage.idsByPrefix(header.id.slice(0, 8))).toEqual([])
})

test('T-13 a request is kept with what it created, across a restart', async () => {
  const header = sampleHeader()
  const request = { requestId: 'r-1', fingerprint: 'abc', reply: { accepted: 'started', turnId: 't' } }
  const first = await open()
  await first.commit(sampleWrite(header, { requests: [request] }))
  await first.close()
  const storage = await open()
  expect(await storage.request(header.id, 'r-1')).toEqual(request)
  expect(await storage.request(header.id, 'r-2')).toBeNull()
})

test('S-101 S-103 drafts are cleared by acceptance; prompts come newest first, the session before its workspace', async () => {
  const storage = await open()
  const [mine, other] = [sampleHeader(), sampleHeader()]
  await storage.setDraft(mine.id, { text: 'half', attachments: [], revision: 3 })
  expect(await storage.draft(mine.id)).toEqual({ text: 'half', attachments: [], revision: 3 })
  await storage.commit(
    sampleWrite(mine, {
      clearDraft: true,
      items: [
        userItem(1, 'first', { createdAt: 1 }),
        userItem(2, 'made', { source: 'automation' }),
        toolItem(3, { byPerson: true, args: { command: 'ls -l' }, createdAt: 2 }),
        userItem(4, 'first', { createdAt: 3 }),
      ],
    }),
  )
  await storage.commit(sampleWrite(other, { items: [userItem(1, 'theirs', { createdAt: 99 })] }))
  expect(await storage.draft(mine.id)).toBeNull()
  expect(await storage.prompts(mine.id, '/work/shop')).toEqual([
    { text: 'first' },
    { text: '!ls -l' },
    { text: 'theirs' },
  ])
})

test('S-103 S-112 a prompt comes back with what it mentioned, but for what cannot be meant in this session', async () => {
  const storage = await open()
  const [mine, other] = [sampleHeader(), sampleHeader()]
  const mention = (kind: 'file' | 'changes' | 'session', ref: string, at: number) => ({ kind, ref, label: 'x', at })
  const of = (...mentions: ReturnType<typeof mention>[]) => mentions.map((one) => ({ ...one, content: 'told' }))
  const file = mention('file', 'src/app.ts', 0)
  const changes = mention('changes', 't1', 3)
  const items = [userItem(1, '@x @x', { createdAt: 2, mentions: of(file, changes) })]
  await storage.commit(sampleWrite(mine, { items }))
  const theirs = userItem(1, '@x @x @x', { mentions: of(file, changes, mention('session', mine.id, 6)) })
  await storage.commit(sampleWrite(other, { items: [theirs] }))
  expect(await storage.prompts(mine.id, '/work/shop')).toEqual([
    { text: '@x @x', mentions: [file, changes] },
    { text: '@x @x @x', mentions: [file] },
  ])
})

test('rules, workspaces and named values are kept', async () => {
  const storage = await open()
  const rule = { id: 'r1', effect: 'allow', match: { tool: 'shell' }, scope: 'always', by: 'person', at: 1 } as const
  await storage.commit(sampleWrite(sampleHeader(), { rules: [rule] }))
  expect(await storage.rules()).toEqual([rule])
  await storage.removeRule('r1')
  expect(await storage.rules()).toEqual([])

  const workspace = {
    path: '/work/shop',
    name: 'shop',
    state: 'present',
    branch: null,
    trusted: false,
    openedAt: 2,
    demo: false,
  } as const
  await storage.putWorkspace(workspace)
  await storage.putWorkspace({ ...workspace, path: '/work/blog', openedAt: 3 })
  expect((await storage.workspaces()).map((kept) => kept.path)).toEqual(['/work/blog', '/work/shop'])
  await storage.removeWorkspace('/work/blog')
  expect(await storage.workspaces()).toEqual([workspace])

  expect(await storage.value('settings')).toBeNull()
  await storage.setValue('settings', { model: 'lab/scripted' })
  expect(await storage.value('settings')).toEqual({ model: 'lab/scripted' })
})

test('S-173 the space of what was erased goes back to the disk', async () => {
  const storage = await open()
  const header = sampleHeader()
  await storage.commit(sampleWrite(header, { items: [toolItem(1, { output: 'x'.repeat(2_000_000) })] }))
  await storage.erase(header.id, 1)
  expect(await storage.vacuum()).toBeGreaterThan(1_900_000)
  await storage.commit(sampleWrite(sampleHeader()))
  expect((await storage.health()).integrity).toBe('ok')
})

test('S-5 an item is whole by its schema, and its place is its own in the session', async () => {
  const { Item } = await import('../../preload/contract/items.ts')
  const item = textItem(1, 'fine')
  expect(Item.safeParse(item).success).toBe(true)
  const needed = [
    'id',
    'turnId',
    'stepId',
    'kind',
    'pos',
    'createdAt',
    'endedAt',
    'status',
    'source',
    'contextual',
    'visible',
  ]
  for (const name of needed)
    expect([name, Item.safeParse({ ...item, [name]: undefined }).success]).toEqual([name, false])
  expect(Item.safeParse({ ...item, status: 'done' }).success).toBe(false)

  const storage = await open()
  const header = sampleHeader({ lastSeq: 1 })
  await storage.commit(sampleWrite(header, { items: [item] }))
  await expect(
    storage.commit(sampleWrite(header, { items: [textItem(1, 'another', { id: 'other' })] })),
  ).rejects.toMatchObject({ code: 'storage.failed', reason: 'conflict' })
  expect((await storage.loadSession(header.id))?.items).toHaveLength(1)
})
