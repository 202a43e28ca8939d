import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { createFaults } from './faults.ts'
import { openStorage } from './open-storage.ts'
import type { StorageOptions } from './open-storage.ts'
import type { Storage } from './storage.ts'
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

let home: string
const opened: Storage[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-storage-'))
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
    exec: { count: 0, sessions: [], notices: [] },
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

test('T-57 deltas of settled turns are pruned; a reader of the gap is told', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 4 })
  const turn = turnRow('t1', { settledAt: 2_000, outcome: 'completed' })
  const events = [
    turnStarted(1, 't1'),
    delta(2, 't1', 'text-1', 0, 'a'),
    delta(3, 't1', 'text-1', 1, 'b'),
    turnSettled(4, header, turn),
  ]
  await storage.commit(sampleWrite(header, { events, turns: [turn] }))
  const running = sampleHeader({ lastSeq: 2 })
  await storage.commit(
    sampleWrite(running, { events: [turnStarted(1, 't2'), delta(2, 't2', 'text-1', 0, 'a')], turns: [turnRow('t2')] }),
  )
  expect(await storage.events(header.id, 0, 100)).toEqual({ events, pruned: false })

  await storage.pruneDeltas(2_000)
  expect(await storage.events(header.id, 0, 100)).toEqual({ events, pruned: false })
  await storage.pruneDeltas(2_001)

  expect(await storage.events(header.id, 0, 100)).toEqual({ events: [events[0], events[3]], pruned: true })
  expect(await storage.events(header.id, 3, 100)).toEqual({ events: [events[3]], pruned: false })
  expect((await storage.events(running.id, 0, 100)).events).toHaveLength(2)
  expect((await storage.loadSession(header.id))?.header.lastSeq).toBe(4)
})

test('T-57 deltas of a command outside turns go once its item ended', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 4 })
  const output = (seq: number, itemId: string): StoredEvent => ({
    type: 'item.delta',
    seq,
    at: 1,
    itemId,
    field: 'output',
    offset: 0,
    add: 'x',
  })
  const turn = turnRow('t1', { settledAt: 2_000, outcome: 'completed' })
  await storage.commit(
    sampleWrite(header, {
      events: [output(1, 'tool-1'), output(2, 'tool-2'), turnStarted(3, 't1'), turnSettled(4, header, turn)],
      items: [toolItem(1), toolItem(2, { endedAt: null, status: 'live', state: 'running' })],
      turns: [turn],
    }),
  )
  await storage.pruneDeltas(3_000)
  expect((await storage.events(header.id, 0, 10)).events.map((event) => event.seq)).toEqual([2, 3, 4])
})

test('T-182 unsettled turns are found, with the items and events that recovery needs', async () => {
  const storage = await open()
  const settled = sampleHeader({ lastSeq: 0 })
  await storage.commit(sampleWrite(settled, { turns: [turnRow('t0', { settledAt: 5, outcome: 'completed' })] }))
  const header = sampleHeader({ lastSeq: 1 })
  await storage.commit(
    sampleWrite(header, {
      items: [textItem(1, 'before')],
      events: [{ type: 'title.status', seq: 1, at: 1, status: 'working' }],
    }),
  )
  const long = 'x'.repeat(200_000)
  const items = [
    userItem(2, long, { turnId: 't1' }),
    toolItem(3, { turnId: 't1', endedAt: null, status: 'live', state: 'running' }),
  ]
  const later = Array.from({ length: 100 }, (_, at) => textItem(10 + at, `note ${at}`, { turnId: 't1' }))
  const deltas = Array.from({ length: 50 }, (_, at) => delta(3 + at, 't1', 'text-10', at * 2, 'ab'))
  await storage.commit(
    sampleWrite(
      { ...header, lastSeq: 52 },
      { events: [turnStarted(2, 't1'), ...deltas], turns: [turnRow('t1')], items: [...items, ...later] },
    ),
  )

  expect(await storage.unsettledSessions()).toEqual([header.id])
  const loaded = await storage.loadSession(header.id)
  expect(loaded?.items.map((item) => item.pos).slice(0, 2)).toEqual([3, 10])
  expect(loaded?.itemsBefore).toBe(2)
  expect(loaded?.unsettled[0]).toEqual(turnStarted(2, 't1'))
  expect(loaded?.unsettled.slice(1)).toEqual([{ ...delta(52, 't1', 'text-10', 0, 'ab'.repeat(50)) }])
  expect(await storage.item(header.id, 'user-2')).toEqual(items[0])
})

test('T-201 folding a replay of merged deltas equals folding every delta', async () => {
  const storage = await open()
  const header = sampleHeader({ lastSeq: 0 })
  const texts = ['He', 'llo', ' wor', 'ld', '!']
  const events: StoredEvent[] = [turnStarted(1, 't1')]
  const put = (id: string, pos: number): void =>
    void events.push({
      type: 'item.put',
      seq: events.length + 1,
      at: 1,
      turnId: 't1',
      item: textItem(pos, '', { id, status: 'live', turnId: 't1' }),
      after: null,
    })
  put('a', 1)
  put('b', 2)
  let a = ''
  let b = ''
  for (const [at, text] of texts.entries()) {
    events.push(delta(events.length + 1, 't1', 'a', a.length, text))
    a += text
    if (at % 2) continue
    events.push(delta(events.length + 1, 't1', 'b', b.length, text))
    b += text
  }
  await storage.commit(sampleWrite({ ...header, lastSeq: events.length }, { events, turns: [turnRow('t1')] }))
  const view: SessionView = {
    journalId: 'j',
    header,
    items: [],
    itemsBefore: 0,
    itemsAfter: 0,
    turns: [],
    turn: null,
    approvals: { head: null, depth: 0 },
    questions: { head: null, depth: 0 },
    changes: [],
    execSessions: [],
  }
  const replayed = (await storage.loadSession(header.id))!.unsettled
  expect(replayed.length).toBeLessThan(events.length)
  expect(replayed.reduce(foldEvent, view)).toEqual(events.reduce(foldEvent, view))
})

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
  expect(await storage.prompts(mine.id, '/work/shop')).toEqual(['first', '!ls -l', 'theirs'])
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

test('S-131 an id is found by its beginning, taken literally', async () => {
  const storage = await open()
  const header = sampleHeader()
  await storage.commit(sampleWrite(header))
  expect(await storage.idsByPrefix(header.id.slice(0, 8))).toEqual([header.id])
  expect(await storage.idsByPrefix('%')).toEqual([])
})

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

test('S-173 the space of what was erased goes back to the disk', async () => {
  const storage = await open()
  const header = sampleHeader()
  await storage.commit(sampleWrite(header, { items: [toolItem(1, { output: 'x'.repeat(2_000_000) })] }))
  await storage.erase(header.id, 1)
  expect(await storage.vacuum()).toBeGreaterThan(1_900_000)
  await storage.commit(sampleWrite(sampleHeader()))
  expect((await storage.health()).integrity).toBe('ok')
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
  const other = new Database(join(home, 'lathe.db'))
  other.exec('DROP TABLE items; DROP TABLE changes')
  other.close()
  expect((await storage.entries({ limit: 10 })).entries.map(({ id }) => id)).toEqual([header.id])
  expect(await storage.unsettledSessions()).toEqual([header.id])
  expect(await storage.deletedEntries(10)).toEqual([])
  expect(await storage.idsByPrefix(header.id.slice(0, 8))).toEqual([header.id])
  await expect(storage.loadSession(header.id)).rejects.toThrow()
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
  const db = new Database(join(home, 'lathe.db'))
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
