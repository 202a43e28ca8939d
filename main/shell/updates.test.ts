import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { noUpdate, Update } from '../../preload/contract/update.ts'
import { UpdateNews } from './own-answers.ts'
import { createUpdates, type UpdateFeed } from './updates.ts'

const day = 24 * 60 * 60_000

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }))
afterEach(() => void vi.useRealTimers())

function bench(feed: Partial<UpdateFeed> | null = {}) {
  const seen: Update[] = []
  const did: string[] = []
  const at = { agrees: true, asked: 0 }
  const source: UpdateFeed = {
    look: async () => (did.push('look'), { version: '0.2.0', notes: 'Better.' }),
    download: async (progress) => (did.push('download'), progress(41.7), progress(41.9), progress(140)),
    install: (restart) => void did.push(`install, restart ${restart}`),
    ...feed,
  }
  const updates = createUpdates({
    feed: feed && (async () => source),
    mayStop: async () => (at.asked++, at.agrees),
    changed: (update) => void seen.push(update),
    leave: () => void did.push('leave'),
  })
  return { updates, seen, did, at }
}

test('Z-227 Z-231 nothing is looked for before a yes; then once a day, downloaded, and installed by nobody', async () => {
  const { updates, did } = bench()
  updates.follow(null)
  await vi.advanceTimersByTimeAsync(3 * day)
  updates.follow(false)
  await vi.advanceTimersByTimeAsync(3 * day)
  expect(did).toEqual([])
  updates.follow(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(did).toEqual(['look', 'download'])
  expect(updates.state()).toMatchObject({ state: 'ready', version: '0.2.0', notes: 'Better.', atQuit: false })
  // What is there is not fetched again, and leaving installs nothing that nobody asked for.
  await vi.advanceTimersByTimeAsync(3 * day)
  expect(did).toEqual(['look', 'download'])
  expect(await updates.installPlanned()).toBe(false)
})

test('Z-227 whatever a feed says, windows can read what becomes of it', async () => {
  const { updates, seen } = bench({
    look: async () => ({ version: `1.0.0-nightly.${'9'.repeat(200)}`, notes: '<b>'.repeat(20_000) }),
    download: async (progress) => (progress(Number.NaN), progress(-5), progress(Number.POSITIVE_INFINITY)),
  })
  await updates.look()
  expect(seen.at(-1)).toMatchObject({ state: 'ready', version: expect.stringMatching(/^1\.0\.0-nightly/) })
  for (const update of seen) expect(Update.safeParse(update).success).toBe(true)
})

test('S-143 Z-227 an update asks before it stops what runs, and is installed at quit where the person says so', async () => {
  const { updates, did, at } = bench()
  await expect(updates.install('now')).rejects.toMatchObject({ code: 'request.invalid' })
  await updates.look()
  at.agrees = false
  await updates.install('now')
  expect(did).toEqual(['look', 'download'])
  expect(at.asked).toBe(1)
  expect(await updates.installPlanned()).toBe(false)
  await updates.install('quit')
  expect(at.asked).toBe(1)
  expect(updates.state().atQuit).toBe(true)
  expect(await updates.installPlanned()).toBe(true)
  expect(did.slice(2)).toEqual(['install, restart false'])
  at.agrees = true
  await updates.install('now')
  expect(await updates.installPlanned()).toBe(true)
  expect(did.slice(3)).toEqual(['leave', 'install, restart true'])
})

test('a look that fails says why and is tried again the next day; one that hangs ends', async () => {
  let broken = true
  const { updates, seen } = bench({
    look: async () => {
      if (broken) throw new Error('net::ERR_NAME_NOT_RESOLVED\nat somewhere')
      return null
    },
  })
  updates.follow(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(updates.state()).toMatchObject({ state: 'failed', problem: 'net::ERR_NAME_NOT_RESOLVED' })
  broken = false
  await vi.advanceTimersByTimeAsync(day)
  expect(updates.state()).toMatchObject({ state: 'current', problem: null, version: null })
  expect(seen.map(({ state }) => state)).toEqual(['checking', 'failed', 'checking', 'current'])

  const stopped: boolean[] = []
  const slow = bench({
    download: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => (stopped.push(true), reject(new Error('cancelled'))))
      }),
  })
  vi.useRealTimers()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort())
  timeout.mockImplementationOnce(() => new AbortController().signal)
  timeout.mockImplementationOnce(() => {
    const late = new AbortController()
    setImmediate(() => late.abort())
    return late.signal
  })
  expect(await slow.updates.look()).toMatchObject({ state: 'failed' })
  expect(stopped).toEqual([true])
  timeout.mockRestore()
})

test('progress is told in whole steps, and two looks are one', async () => {
  const { updates, seen, did } = bench()
  const [first, second] = await Promise.all([updates.look(), updates.look()])
  expect(first).toBe(second)
  expect(did).toEqual(['look', 'download'])
  expect(seen.filter(({ state }) => state === 'downloading').map(({ percent }) => percent)).toEqual([0, 41, 100])
})

test('a build without a feed looks nowhere', async () => {
  const { updates, did } = bench(null)
  updates.follow(true)
  await vi.advanceTimersByTimeAsync(2 * day)
  expect(await updates.look()).toEqual(noUpdate)
  expect(did).toEqual([])
})

test('windows hear of updates beside what the workbench tells, until its stream ends', async () => {
  vi.useRealTimers()
  const news = new UpdateNews()
  const gate = Promise.withResolvers<void>()
  async function* told(): AsyncGenerator<WorkbenchEvent> {
    yield { type: 'models.changed' }
    await gate.promise
    yield { type: 'entry.removed', id: 'a' }
  }
  const heard: string[] = []
  for await (const event of news.among(told())) {
    heard.push(event.type)
    if (event.type === 'models.changed') news.tell({ ...noUpdate, state: 'checking' })
    if (event.type === 'update.changed') gate.resolve()
  }
  expect(heard).toEqual(['models.changed', 'update.changed', 'entry.removed'])
})
