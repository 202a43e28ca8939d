import { truncate } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readLines } from './read-lines.ts'
import { FileStates, type FileState, type FileStateStore } from './read-state.ts'
import { makeWorkspace, TestBlobs } from './test-workspace.ts'
import { FileWorkers } from './worker-pool.ts'

const never = new AbortController().signal
const query = { offset: 1, limit: 10, charsMax: 1_000, lineCharsMax: 100, signal: never }

test('F-205 a file is known by its hash up to 16 MiB, above by size, time and number', async () => {
  await using workspace = await makeWorkspace()
  const versionOf = async () => {
    const read = await readLines(await workspace.paths.resolve(workspace.place, 'a.txt'), query)
    return read.kind === 'text' ? read.version : null
  }
  const file = await workspace.put('a.txt', 'x\n'.repeat(8 * 1024 * 1024))
  expect(await versionOf()).toMatch(/^[0-9a-f]{64}$/)
  await truncate(file, 16 * 1024 * 1024 + 1)
  expect(await versionOf()).toMatch(/^16777217-\d+-\d+$/)
})

test('F-206 F-207 states are kept for each session by itself and survive a restart', async () => {
  const saved = new Map<string, FileState[]>()
  const store: FileStateStore = {
    load: async (sessionId) => saved.get(sessionId) ?? [],
    save: (sessionId, states) => void saved.set(sessionId, [...(saved.get(sessionId) ?? []), ...states]),
  }
  const first = new FileStates(store)
  await first.note('s1', '/w/a', 'v1', { shown: { offset: 1, limit: 10, callId: 'c1' } })
  const standings = async (states: FileStates) => [
    await states.standing('s1', '/w/a', 'v1'),
    await states.standing('s1', '/w/a', 'v2'),
    await states.standing('subagent', '/w/a', 'v1'),
  ]
  expect(await standings(first)).toEqual(['seen', 'stale', 'unseen'])
  const restarted = new FileStates(store)
  expect(await standings(restarted)).toEqual(['seen', 'stale', 'unseen'])
  expect((await restarted.get('s1', '/w/a'))?.shown).toHaveLength(1)
  await restarted.note('s1', '/w/a', 'v2')
  expect((await restarted.get('s1', '/w/a'))?.shown).toEqual([])
})

test('F-502 contents that were seen are remembered within a bound', async () => {
  const states = new FileStates()
  const blobs = new TestBlobs()
  for (let at = 0; at < 40; at++) await states.note('s', `/w/${at}`, `v${at}`, { content: new Uint8Array(1024 * 1024) })
  const kept = await Promise.all(Array.from({ length: 40 }, (_, at) => states.seenContent(`v${at}`, blobs)))
  expect(kept.filter((content) => content !== null)).toHaveLength(32)
  const written = await blobs.put('written by Lathe')
  expect(Buffer.from((await states.seenContent(written, blobs))!).toString()).toBe('written by Lathe')
})

test('T-8 work in a thread ends with a stop or its time, and the next job runs', async () => {
  const workers = new FileWorkers()
  const slow = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `${at} ${at * 7}\n`).join(''))
  const job = { before: slow, after: slow.subarray(100) }
  const stop = new AbortController()
  const stopped = workers.run('count', job, { size: slow.length, timeoutMs: 20_000, signal: stop.signal })
  setImmediate(() => stop.abort(new Error('stopped')))
  await expect(stopped).rejects.toThrow('stopped')
  await expect(workers.run('count', job, { size: slow.length, timeoutMs: 1 })).rejects.toMatchObject({
    code: 'tool.timed_out',
  })
  const many = Array.from({ length: 6 }, () => workers.run('count', job, { size: slow.length, timeoutMs: 20_000 }))
  expect((await Promise.all(many)).every(({ removed }) => removed > 0)).toBe(true)
  await workers.dispose()
})
