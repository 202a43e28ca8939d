/** Import of exported sessions, over the contract of a whole workbench (S-92, SA-22, TA-37). */
import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Item } from '../../preload/contract/items.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from '../storage/write-samples.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { Imports } from './imports.ts'
import { exportedText, wholeItems } from './test-exports.ts'

let home: string
let storage: Storage
let imports: Imports
const listed: string[] = []

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'lathe-imports-')))
  await mkdir(join(home, 'data'))
  storage = await openStorage({ home: join(home, 'data') })
  imports = new Imports({
    storage,
    folder: join(home, 'tmp'),
    entryChanged: (entry) => listed.push(entry.id),
    environment: () => ({ now: 5_000, newId, settings: defaultSettings, rules: [] }),
  })
})

afterEach(async () => {
  await imports.close()
  await storage.close()
  await rm(home, { recursive: true })
})

/** A session of 2 turns and 600 items, with a title of the person's and a grant. */
async function store(): Promise<string> {
  const header = sampleHeader({
    workspace: join(homedir(), 'site'),
    title: 'Fix the cart',
    titleSource: 'manual',
    itemCount: 600,
    createdAt: 10,
    updatedAt: 20,
    lastTurnId: 't2',
    lastOutcome: 'failed',
  })
  const at = (place: number) => ({ turnId: place < 300 ? 't1' : 't2', stepId: `s${place}` })
  const items = Array.from({ length: 600 }, (_, place): Item => {
    if (place % 300 === 0) return userItem(place + 1, `question ${place}`, { ...at(place), id: `u${place}` })
    if (place % 2 === 1) return toolItem(place + 1, { ...at(place), id: `i${place}`, approvalId: 'a' })
    return textItem(place + 1, `answer "${place}" \\ {[`, { ...at(place), id: `i${place}` })
  })
  const settled = { settledAt: 2_000, durationMs: 900 }
  await storage.commit({
    ...sampleWrite(header, {
      items,
      turns: [
        turnRow('t1', { ...settled, userItemId: 'u0', outcome: 'completed' }),
        turnRow('t2', { ...settled, userItemId: 'u300', outcome: 'failed', retryOf: 't1' }),
      ],
    }),
    hidden: {
      ...sampleWrite(header).hidden,
      grants: [
        { id: 'g', effect: 'allow', match: { command: ['npm', 'test'] }, scope: 'session', by: 'person', at: 1 },
      ],
    },
  })
  return header.id
}

async function exported(sessionId: string): Promise<string> {
  const snapshot = (await storage.snapshot(sessionId))!
  const { text } = await exportedText(snapshot, 'json')
  await snapshot.close()
  return text
}

/** In parts that cut characters and values. */
async function bring(text: string, copy = false): Promise<string> {
  const uploadId = newId()
  const bytes = Buffer.from(text)
  const size = 70_001
  const parts = Math.max(1, Math.ceil(bytes.length / size))
  for (let part = 0; part < parts; part++) {
    const data = bytes.subarray(part * size, (part + 1) * size).toString('base64')
    const { sessionId } = await imports.add({ uploadId, part, last: part === parts - 1, data, copy })
    if (sessionId !== null) return sessionId
  }
  throw new Error('Nothing came of it.')
}

async function refusal(promise: Promise<unknown>): Promise<LatheError> {
  return promise.then(
    () => {
      throw new Error('It was taken.')
    },
    (error: unknown) => error as LatheError,
  )
}

async function sessionCount(): Promise<number> {
  return (await storage.entries({ limit: 100 })).entries.length
}

/** The same, whatever order its keys stand in. */
function sorted(json: string): string {
  const byKey = (_: string, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value
  return JSON.stringify(JSON.parse(json, byKey))
}

/** Every id replaced by the place at which it first stands. */
function withoutIds(text: string): unknown {
  const ids = new Map<string, string>()
  const renamed = sorted(text).replaceAll(
    /"(id|turnId|stepId|userItemId|retryOf|approvalId|workspace)":"([^"]*)"/g,
    (whole, name, id) => {
      if (name === 'workspace') return whole
      if (!ids.has(id)) ids.set(id, `${ids.size}`)
      return `"${name}":"${ids.get(id)}"`
    },
  )
  return JSON.parse(renamed)
}

test('S-92 SA-22 an exported session comes back equal but for ids; twice it is a duplicate unless a copy is asked for', async () => {
  const original = await store()
  const text = await exported(original)
  const imported = await bring(text)
  expect(imported).not.toBe(original)
  expect(withoutIds(await exported(imported))).toEqual(withoutIds(text))
  expect(listed).toContain(imported)
  expect(await storage.loadSession(imported)).toMatchObject({
    header: {
      title: 'Fix the cart',
      titleSource: 'manual',
      createdAt: 10,
      updatedAt: 20,
      itemCount: 600,
      workspace: join(homedir(), 'site'),
      currentTurnId: null,
      lastOutcome: 'failed',
      recovery: null,
    },
    unsettled: [],
    lastPos: 600,
  })
  expect(await refusal(bring(text))).toMatchObject({ code: 'import.duplicate', data: { sessionId: imported } })
  expect(await sessionCount()).toBe(2)
  const copy = await bring(text, true)
  expect(withoutIds(await exported(copy))).toEqual(withoutIds(text))
  await storage.erase(copy, 1)
  await storage.erase(imported, 1)
  expect(await bring(text)).not.toBe(imported)
  expect(await readdir(join(home, 'tmp'))).toEqual([])
})

test('TA-37 T-143 no grant comes with it: what the original was allowed is asked for again', async () => {
  const original = await store()
  const imported = await bring(await exported(original))
  expect((await storage.loadSession(original))?.hidden.grants).toHaveLength(1)
  expect((await storage.loadSession(imported))?.hidden.grants).toEqual([])
  expect((await storage.loadSession(imported))?.header.approvalMode).toBe('ask')
})

test('S-92 what a file holds beside an entry stays out, and what it says still goes on has ended', async () => {
  const file = JSON.parse(await exported(await store())) as Record<string, any>
  const { items } = file
  items[1].rewound = items[1].grants = items[1].code = 'evil'
  Object.assign(items[3], { state: 'waiting', status: 'live' })
  const approval = { toolItemId: 'i3', state: 'open', request: { ...request } }
  items.push({ ...items[5], ...approval, kind: 'approval', id: 'ap', pos: 601 })
  const json = JSON.stringify(file).replace('"rewound"', '"__proto__"')
  const stored = await wholeItems(storage, await bring(json))
  expect(Object.keys(stored[1]!).filter((key) => ['__proto__', 'rewound', 'grants', 'code'].includes(key))).toEqual([])
  expect(stored[3]).toMatchObject({ state: 'cancelled', status: 'final', contextual: false })
  expect(stored[600]).toMatchObject({ state: 'cancelled', toolItemId: stored[3]!.id })
})

const request = {
  tool: 'shell',
  title: 'Run',
  detail: 'ls',
  detailKind: 'command',
  reason: '',
  rules: [],
  argsHash: '',
}

test('S-92 S-64 what a model would be sent and no person sees stays out, and the transcript says so', async () => {
  const header = sampleHeader({ itemCount: 4 })
  const told = { kind: 'file' as const, ref: 'a.ts', label: 'a.ts', at: 0, content: 'hidden: mention' }
  const notice = { ...textItem(4, ''), kind: 'notice', level: 'info', text: 'Saved.', prompt: 'hidden: notice' }
  await storage.commit(
    sampleWrite(header, {
      items: [
        userItem(1, 'plain words', { prompt: 'plain words' }),
        userItem(2, '@a.ts fix it', { prompt: 'hidden: prompt', mentions: [told] }),
        notice as unknown as Item,
      ],
    }),
  )
  const file = JSON.parse(await exported(header.id)) as { items: Item[] }
  expect(JSON.stringify(file.items)).toContain('hidden: prompt')
  // Lathe writes no such entry; whoever made the file did.
  file.items.splice(2, 0, userItem(3, 'hidden: invisible', { visible: false }))
  const sessionId = await bring(JSON.stringify(file))
  const sent = (await storage.contextItems(sessionId)).items
  expect(JSON.stringify(sent)).not.toContain('hidden:')
  expect(sent.map((item) => (item.kind === 'user' ? item.text : item.kind))).toEqual([
    'plain words',
    '@a.ts fix it',
    'notice',
  ])
  expect(sent[1]).toMatchObject({ mentions: [{ ref: 'a.ts', content: '' }] })
  const { items } = await storage.items(sessionId, { limit: 80 })
  expect(items.at(-1)).toMatchObject({
    kind: 'notice',
    level: 'warning',
    contextual: false,
    text: expect.stringMatching(/^3 entries of this file held text/),
  })
  expect((await storage.loadSession(sessionId))!.header.itemCount).toBe(4)
})

test('S-92 a bad file is refused by its first bad path, and nothing of it is stored', async () => {
  const text = await exported(await store())
  const file = JSON.parse(text) as Record<string, any>
  const changed = (change: (copy: typeof file) => void) => {
    const copy = structuredClone(file)
    change(copy)
    return JSON.stringify(copy)
  }
  const cases: [string, string, string][] = [
    ['items[512].pos', 'import.invalid', changed(({ items }) => void (items[512].pos = 'x'))],
    ['items[512].kind', 'import.invalid', changed(({ items }) => void (items[512].kind = 'hologram'))],
    ['items[7].id', 'import.invalid', changed(({ items }) => void (items[7].id = items[6].id))],
    ['items[9].createdAt', 'import.invalid', changed(({ items }) => void (items[9].createdAt = 9e15))],
    ['items[599].pos', 'import.invalid', changed(({ items }) => void (items[599].pos = Number.MAX_SAFE_INTEGER))],
    ['session.updatedAt', 'import.invalid', changed(({ session }) => void (session.updatedAt = 9e15))],
    ['session.title', 'import.invalid', changed(({ session }) => void (session.title = 'x'.repeat(801)))],
    ['session.workspace', 'import.invalid', changed(({ session }) => void (session.workspace = '../../etc'))],
    ['session.workspace', 'import.invalid', changed(({ session }) => void (session.workspace = '/a\0b'))],
    ['turns[1]', 'import.invalid', changed(({ turns }) => void (turns[1].reason = 'x'.repeat(300_000)))],
    ['', 'import.invalid', text.replace('"args": {', `"args": {"a": ${'['.repeat(20_000)}${']'.repeat(20_000)},`)],
    ['turns[1].startedAt', 'import.invalid', changed(({ turns }) => void delete turns[1].startedAt)],
    ['session.title', 'import.invalid', changed(({ session }) => void (session.title = null))],
    ['session', 'import.invalid', changed((copy) => void delete copy['session'])],
    ['format', 'import.invalid', changed((copy) => void (copy['format'] = 'other'))],
    ['', 'import.invalid', text.slice(0, -200)],
    ['', 'import.invalid', '[]'],
    ['', 'import.invalid', ''],
  ]
  for (const [path, code, bad] of cases) expect(await refusal(bring(bad))).toMatchObject({ code, data: { path } })
  const newer = changed((copy) => void (copy['version'] = 99))
  expect(await refusal(bring(newer))).toMatchObject({ code: 'import.unsupported' })
  expect(await sessionCount()).toBe(1)
  expect(await readdir(join(home, 'tmp'))).toEqual([])
})

test('S-92 what a host that was killed left of an import goes with the next start', async () => {
  const folder = join(home, 'tmp')
  await imports.add({ uploadId: newId(), part: 0, last: false, data: Buffer.from('{').toString('base64') })
  expect(await readdir(folder)).toHaveLength(1)
  await imports.sweep()
  expect(await readdir(home)).toEqual(['data'])
})
