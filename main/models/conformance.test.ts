/** Every kind passes the same suite; a new kind is accepted when it does (M-132). */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ModelEvent } from './model.ts'
import {
  bench,
  fakeClock,
  hear,
  joined,
  readFile,
  request,
  types,
  type Bench,
} from '../../e2e/model-server/scripted-models.ts'

let open: Bench | undefined

beforeEach(fakeClock)

afterEach(async () => {
  vi.useRealTimers()
  const server = open?.server
  open = undefined
  await server?.close()
})

describe.each(['openai-compatible', 'openai', 'openai-responses', 'anthropic', 'ollama'] as const)(
  'M-132 %s',
  (kind) => {
    const start = async (...[script, more]: Parameters<typeof bench> extends [unknown, ...infer R] ? R : never) =>
      (open = await bench(kind, script, more))

    test('text and reasoning stream in order, then usage and exactly one finish', async () => {
      const { models } = await start([
        { emit: [{ reasoning: 'hm' }, { text: 'Grüße ' }, { text: '你好 🙂' }], usage: { input: 100, output: 20 } },
      ])
      const events = await hear(models, request())
      // Deltas that the network brings together are one event.
      const order = types(events).filter((type, at, all) => type !== all[at - 1])
      expect(order).toEqual(['started', 'reasoning', 'text', 'usage', 'finish'])
      expect([joined(events, 'reasoning'), joined(events, 'text')]).toEqual(['hm', 'Grüße 你好 🙂'])
      expect(events.at(-2)).toMatchObject({ usage: { input: 100, output: 20, estimated: false } })
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', empty: false })
    })

    test('M-45 a stream split at any byte gives the same events', async () => {
      const emit = [
        { reasoning: 'é' },
        { text: '<think>x' },
        { text: 'ü</think>ö🙂' },
        { ping: true as const },
        { call: { id: 'c1', name: 'read_file', args: { path: 'ä' } } },
      ]
      const { models } = await start([{ emit }, ...[1, 2, 3, 7].map((chunkBytes) => ({ emit, chunkBytes }))])
      // How many pieces arrive together is the network's affair; what they say in which order is not.
      const plain = (events: ModelEvent[]) =>
        events.reduce<Record<string, unknown>[]>((told, event) => {
          const { deltas: _, ...said } = { deltas: 0, ...event, ...('id' in event ? { id: '' } : {}) }
          const last = told.at(-1)
          const grows = 'delta' in said ? 'delta' : 'argsDelta' in said ? 'argsDelta' : null
          if (grows && last?.['type'] === said.type)
            last[grows] = `${String(last[grows])}${String(said[grows as never])}`
          else told.push(said)
          return told
        }, [])
      const whole = plain(await hear(models, request('a', { tools: [readFile] })))
      for (let i = 0; i < 4; i += 1)
        expect(plain(await hear(models, request('a', { tools: [readFile] })))).toEqual(whole)
    })

    test('parallel calls arrive whole after the stream has ended', async () => {
      const { models } = await start([
        {
          emit: [
            { text: 'ok' },
            { call: { name: 'read_file', args: { path: 'a' }, fragments: 4 } },
            { call: { name: 'read_file', args: { path: 'b' } } },
          ],
        },
      ])
      const events = await hear(models, request('a', { tools: [readFile] }))
      const done = events.filter((event) => event.type === 'callDone')
      expect(done).toMatchObject([
        { name: 'read_file', args: { path: 'a' } },
        { name: 'read_file', args: { path: 'b' } },
      ])
      expect(new Set(done.map(({ id }) => id)).size).toBe(2)
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tools', empty: false })
    })

    test('M-48 M-53 length, an unknown finish, and an answer of reasoning only', async () => {
      const { models } = await start([
        { emit: [{ text: 'a' }], finish: 'length' },
        { emit: [{ text: 'a' }], finish: 'because' },
        { emit: [{ reasoning: 'a' }] },
      ])
      const finishes = []
      for (let i = 0; i < 3; i += 1) finishes.push((await hear(models, request())).at(-1))
      expect(finishes).toEqual([
        { type: 'finish', reason: 'length', empty: false },
        { type: 'finish', reason: 'unknown', empty: false },
        { type: 'finish', reason: 'stop', empty: true },
      ])
    })

    test('M-54 M-78 a cut stream is asked again once, and its first half is discarded', async () => {
      const { models, server } = await start([
        { emit: [{ text: 'half' }, { delayMs: 20 }, { cut: true }] },
        { emit: [{ text: 'whole' }] },
      ])
      const events = await hear(models, request())
      expect(types(events).filter((type) => type !== 'phase')).toEqual([
        'started',
        'text',
        'usage',
        'reset',
        'warning',
        'wait',
        'wait',
        'started',
        'text',
        'usage',
        'finish',
      ])
      expect(server.asked()).toHaveLength(2)
    })

    test('M-54 an end without a finish reason is interrupted however complete it looks, and its calls never run', async () => {
      const step = {
        emit: [{ text: 'half' }, { call: { name: 'read_file', args: { path: 'a' } } }, { end: true as const }],
      }
      const { models } = await start([step, step])
      const events = await hear(models, request('a', { tools: [readFile] }))
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'provider.response_interrupted' } })
      expect(types(events)).not.toContain('callDone')
    })

    test('M-55 an error inside a good response is classified like a failed one', async () => {
      const fault = {
        error: {
          message: 'prompt is too long: 9 tokens > 8 maximum',
          code: 'context_length_exceeded',
          type: 'invalid_request_error',
        },
      }
      const { models } = await start([{ emit: [{ text: 'a' }, fault] }])
      expect((await hear(models, request())).at(-1)).toMatchObject({
        type: 'error',
        error: { code: 'provider.context_overflow', provider: 'lab', model: 'm' },
      })
    })

    test('M-57 without streaming the events are the same', async () => {
      const step = { emit: [{ text: 'Hi' }, { call: { name: 'read_file', args: { path: 'a' } } }] }
      const { models, server } = await start([step], { lab: { models: [{ id: 'm', stream: false }] } })
      const events = await hear(models, request('a', { tools: [readFile] }))
      expect(events.filter(({ type }) => type !== 'call')).toMatchObject([
        { type: 'started' },
        { type: 'text', delta: 'Hi' },
        { type: 'callDone', args: { path: 'a' } },
        { type: 'usage', usage: { input: 10, output: 5 } },
        { type: 'finish', reason: 'tools' },
      ])
      expect(server.asked()[0]?.body.stream).toBe(false)
    })

    test.each([
      [401, 'provider.auth_missing'],
      [402, 'provider.quota_exhausted'],
      [404, 'model.not_found'],
      [400, 'provider.request_rejected'],
    ])('M-68 status %i ends as %s, without a second request', async (status, code) => {
      const { models, server } = await start([{ error: { status, message: 'no' } }])
      expect(await hear(models, request())).toMatchObject([
        { type: 'error', error: { code, status, requestId: 'req-scripted' } },
      ])
      expect(server.asked()).toHaveLength(1)
    })

    test('M-68 a web page instead of an answer is not the protocol', async () => {
      const page = '<html><body>Welcome</body></html>'
      const { models } = await start([{ error: { status: 200, body: page }, repeat: 2 }])
      expect((await hear(models, request())).at(-1)).toMatchObject({
        error: { code: 'provider.unavailable', reason: 'protocol', detail: 'Welcome' },
      })
    })

    test('M-44 M-86 a stop ends the stream at once, closes the socket, and nothing follows', async () => {
      const { models, server, log } = await start([{ emit: [{ text: 'a' }, { hang: true }] }])
      const stop = new AbortController()
      const events = await hear(models, request(), (event) => event.type === 'text' && stop.abort(), stop.signal)
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'provider.stopped' } })
      expect(types(events)).toEqual(['started', 'text', 'error'])
      await expect.poll(() => server.connections()).toBe(0)
      expect(server.asked()[0]?.aborted).toBe(true)
      expect(log).toEqual([])
    })

    test('M-101 an image goes out in the form of the protocol', async () => {
      const { models, server } = await start([{ emit: [{ text: 'a cat' }] }])
      const data = new Uint8Array([1, 2, 3])
      await hear(
        models,
        request('', {
          messages: [
            {
              role: 'user',
              parts: [
                { type: 'text', text: 'What is it?' },
                { type: 'image', mediaType: 'image/png', data },
              ],
            },
          ],
        }),
      )
      expect(JSON.stringify(server.asked()[0]?.body)).toContain('AQID')
    })
  },
)
