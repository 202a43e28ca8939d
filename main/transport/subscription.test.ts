import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SessionEvent, WorkbenchEvent } from '../../preload/contract/events.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import {
  slowSessionReader,
  slowTerminalReader,
  slowWatcher,
  subscribe,
  terminalLimits,
  type StreamLimits,
} from './subscription.ts'

const limits: StreamLimits = {
  windowFrames: 4,
  windowBytes: 1_000_000,
  resumeBytes: 1_000_000,
  queueFrames: 8,
  queueBytes: 1_000_000,
}

const delta = (seq: number): SessionEvent => ({
  type: 'item.delta',
  seq,
  at: 0,
  turnId: 't',
  itemId: 'i',
  field: 'text',
  offset: seq,
  add: 'x',
})

/** Lets everything that can run without the reader run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await turnOfTheLoop()
}

async function take<T>(frames: AsyncGenerator<T>, count: number): Promise<T[]> {
  const taken: T[] = []
  while (taken.length < count) {
    const next = await frames.next()
    if (next.done) break
    taken.push(next.value)
  }
  return taken
}

test('design "slow readers": a session stream holds back without credit, reads no further than its bound, and loses nothing', async () => {
  let read = 0
  let opened = 0
  let after = 0
  const subscription = subscribe({
    signal: new AbortController().signal,
    slow: slowSessionReader,
    limits,
    open: async function* () {
      opened++
      for (let seq = after + 1; seq <= 100; seq++) {
        read++
        after = seq
        yield delta(seq)
      }
    },
  })
  const first = await take(subscription.frames, 4)
  const fifth = subscription.frames.next()
  await settle()
  expect(read).toBeLessThanOrEqual(limits.windowFrames + limits.queueFrames + 1)
  subscription.ack(4)
  const seen = [...first, (await fifth).value!]
  while (seen.length < 100) {
    subscription.ack(seen.length)
    seen.push(...(await take(subscription.frames, Math.min(4, 100 - seen.length))))
  }
  expect(seen.map((event) => event.seq)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
  expect((await subscription.frames.next()).done).toBe(true)
  expect(opened).toBeGreaterThan(1)
})

test('X-806 a window that has not confirmed 512 KiB is sent nothing, and nothing is read for it until it has down to 64', async () => {
  const piece = 'y'.repeat(16 * 1024)
  const leaving = new AbortController()
  let read = 0
  const subscription = subscribe<TerminalFrame>({
    signal: leaving.signal,
    slow: slowTerminalReader,
    limits: terminalLimits,
    open: async function* () {
      for (;;) yield { type: 'data', offset: ++read * piece.length, data: piece }
    },
  })
  let sent = 0
  const reading = (async () => {
    for await (const _ of subscription.frames) sent++
  })()
  await settle()
  const most = Math.ceil((512 * 1024) / piece.length)
  expect(sent).toBeLessThanOrEqual(most)
  expect(sent).toBeGreaterThan(most - 2)
  // One is read ahead, which the window's credit decides the fate of.
  expect(read).toBeLessThanOrEqual(sent + 1)
  const before = sent
  subscription.ack(before - 5)
  await settle()
  expect(sent).toBe(before)
  subscription.ack(before - 3)
  await settle()
  expect(sent).toBeGreaterThan(before + 20)
  leaving.abort()
  await reading
})

test('T-215 a newer value of the same thing takes the place of one that waits; past the bound the stream ends', async () => {
  const changed = (shows: string): WorkbenchEvent => ({ type: 'settings.changed', settings: { shows } })
  const merging = subscribe<WorkbenchEvent>({
    signal: new AbortController().signal,
    slow: slowWatcher,
    limits: { ...limits, windowFrames: 1 },
    open: async function* () {
      for (let i = 0; i < 1_000; i++) yield changed(String(i))
      yield { type: 'files.changed', workspace: '/w', paths: ['a'] }
      yield { type: 'files.changed', workspace: '/w', paths: ['b'] }
    },
  })
  const seen: WorkbenchEvent[] = []
  for await (const event of merging.frames) {
    seen.push(event)
    await settle()
    merging.ack(seen.length)
  }
  expect(seen.length).toBeLessThanOrEqual(3)
  expect(seen.at(-2)).toEqual(changed('999'))
  expect(seen.at(-1)).toMatchObject({ paths: 'rescan' })

  const flooded = subscribe<WorkbenchEvent>({
    signal: new AbortController().signal,
    slow: slowWatcher,
    limits,
    open: async function* () {
      for (let i = 0; i < 1_000; i++) yield { type: 'entry.removed', id: `e${i}` }
    },
  })
  await take(flooded.frames, limits.windowFrames)
  await settle()
  let taken = limits.windowFrames
  flooded.ack(taken)
  for await (const _ of flooded.frames) flooded.ack(++taken)
  expect(taken).toBeLessThanOrEqual(limits.windowFrames + limits.queueFrames)
})

test('a stream ends with its signal, tells its source, and passes on its source’s failure', async () => {
  const leaving = new AbortController()
  let sourceEnded = false
  const waiting = subscribe<SessionEvent>({
    signal: leaving.signal,
    slow: slowSessionReader,
    open: async function* (signal) {
      yield delta(1)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      sourceEnded = true
    },
  })
  expect((await waiting.frames.next()).value).toMatchObject({ seq: 1 })
  const next = waiting.frames.next()
  leaving.abort()
  expect((await next).done).toBe(true)
  await settle()
  expect(sourceEnded).toBe(true)

  const failing = subscribe<SessionEvent>({
    signal: new AbortController().signal,
    slow: slowSessionReader,
    open: async function* () {
      yield delta(1)
      throw new Error('gone')
    },
  })
  await failing.frames.next()
  await expect(failing.frames.next()).rejects.toThrow('gone')
})

test('acknowledging more than was sent is request.invalid; an old acknowledgement changes nothing', async () => {
  const subscription = subscribe<SessionEvent>({
    signal: new AbortController().signal,
    slow: slowSessionReader,
    open: async function* () {
      yield delta(1)
    },
  })
  await subscription.frames.next()
  expect(() => subscription.ack(2)).toThrow(expect.objectContaining({ code: 'request.invalid' }))
  subscription.ack(1)
  subscription.ack(0)
})
