import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startModelServer, type ModelServer } from '../../e2e/model-server/server.ts'
import type { ModelEvent, ModelInfo } from './model.ts'
import { bench, fakeClock, hear, joined, readFile, request, types } from '../../e2e/model-server/scripted-models.ts'

const servers: { close(): unknown }[] = []

beforeEach(fakeClock)

afterEach(async () => {
  vi.useRealTimers()
  for (const server of servers.splice(0)) await server.close()
})

async function start(
  script: Parameters<typeof bench>[1],
  more: Parameters<typeof bench>[2] = {},
): Promise<Awaited<ReturnType<typeof bench>>> {
  const made = await bench('openai-compatible', script, more)
  servers.push(made.server)
  return made
}

async function second(script: NonNullable<Parameters<typeof startModelServer>[0]>['script']): Promise<ModelServer> {
  const server = await startModelServer(script ? { script } : {})
  servers.push(server)
  return server
}

const waits = (events: ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'wait' && event.wait ? [event.wait] : []))
const lastError = (events: ModelEvent[]) => {
  const last = events.at(-1)
  return last?.type === 'error' ? last.error : undefined
}
const answer = { emit: [{ text: 'yes' }] }
const down = (repeat: number) => ({ error: { status: 503, message: 'down' }, repeat })

test('F-1225 FA-40 a refused picture is left out by itself: asked once more without it, and never again of that model', async () => {
  const picture = (byte: number) => ({ type: 'image' as const, mediaType: 'image/png', data: new Uint8Array([byte]) })
  const [good, bad] = [picture(1), picture(2)]
  const withPictures = (...parts: (typeof good)[]) =>
    request('', { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Look' }, ...parts] }] })
  const refused = { error: { status: 400, message: 'Could not process image' } }
  const { models, server } = await start([answer, refused, answer, answer])
  const sent = () => {
    const body = JSON.stringify(server.asked().at(-1)?.body)
    return [good, bad].map(({ data }) => body.includes(`base64,${Buffer.from(data).toString('base64')}`))
  }
  await hear(models, withPictures(good))
  const events = await hear(models, withPictures(good, bad))
  expect(joined(events, 'text')).toBe('yes')
  expect(events.filter(({ type }) => type === 'warning')).toMatchObject([
    { text: 'lab/m refused an image; it was asked without, and keeps the others.' },
  ])
  expect(server.asked().length).toBe(3)
  expect(sent()).toEqual([true, false])
  expect(JSON.stringify(server.asked().at(-1)?.body)).toContain('this model refused it')
  const again = await hear(models, withPictures(good, bad))
  expect([server.asked().length, sent(), again.some(({ type }) => type === 'warning')]).toEqual([
    4,
    [true, false],
    false,
  ])
})

describe('repeating', () => {
  test('M-76 M-80 three retries after 1, 2 and 4 s, each announced, then the error', async () => {
    const { models, server, log } = await start([down(4)])
    const begun = Date.now()
    const events = await hear(models, request())
    expect(waits(events)).toMatchObject(
      [1, 2, 3].map((attempt) => ({
        code: 'provider.unavailable',
        provider: 'lab',
        untilKind: 'retry',
        attempt,
        of: 3,
      })),
    )
    expect(Date.now() - begun).toBe(7_000)
    expect(lastError(events)).toMatchObject({
      code: 'provider.unavailable',
      reason: 'server',
      status: 503,
      message: expect.stringContaining('down'),
    })
    expect(server.asked()).toHaveLength(4)
    // M-72: one line each, without content.
    expect(log).toHaveLength(4)
    expect(JSON.stringify(log)).not.toContain('down')
  })

  test('M-79 a time the provider names is waited for; one that is too long fails at once and says when', async () => {
    const limited = (after: string) => ({
      error: { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': after } },
    })
    const { models, server } = await start([limited('20'), answer, limited('600'), limited('-5'), answer])
    const events = await hear(models, request())
    expect(waits(events)).toMatchObject([{ untilKind: 'reset', code: 'provider.rate_limited' }])
    expect(types(events).filter((type) => type === 'wait')).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({ type: 'finish' })
    const refused = await hear(models, request())
    expect(lastError(refused)).toMatchObject({ code: 'provider.rate_limited', retryAt: Date.now() + 600_000 })
    expect(waits(await hear(models, request()))).toMatchObject([{ untilKind: 'retry' }])
    expect(server.asked()).toHaveLength(5)
  })

  test('M-78 a second failure after output keeps the newest half and fails; the usage of both tries is told', async () => {
    const half = (text: string) => ({ emit: [{ text }, { delayMs: 20 }, { cut: true as const }] })
    const { models } = await start([half('one'), half('two')])
    const events = await hear(models, request())
    expect(types(events).filter((type) => type === 'reset')).toHaveLength(1)
    expect(joined(events.slice(types(events).indexOf('reset')), 'text')).toBe('two')
    expect(types(events).filter((type) => type === 'usage')).toHaveLength(2)
    expect(lastError(events)?.code).toBe('provider.response_interrupted')
  })

  test('M-45 a cut inside a character is an interruption, not another protocol', async () => {
    const { models } = await start([{ emit: [{ text: 'ééé' }], cutAfterBytes: 305 }, answer])
    const events = await hear(models, request())
    expect(events.at(-1)).toMatchObject({ type: 'finish' })
    expect(joined(events, 'text')).toMatch(/yes$/)
  })

  test('M-69 M-70 a server of this machine that is off is tried twice, 2 s apart', async () => {
    const { models, server } = await start([])
    await server.close()
    const events = await hear(models, request())
    expect(waits(events)).toHaveLength(1)
    expect(lastError(events)).toMatchObject({
      code: 'provider.local_server_off',
      hint: expect.stringContaining('Start'),
    })
  })

  test('M-18 a model that is being loaded is waited for', async () => {
    const { models, server } = await start([
      { error: { status: 503, type: 'unavailable_error', message: 'Loading model' }, repeat: 3 },
      answer,
    ])
    const events = await hear(models, request())
    expect(types(events)).toEqual(['phase', 'phase', 'phase', 'started', 'text', 'usage', 'finish'])
    expect(server.asked()).toHaveLength(4)
  })

  test('M-44 M-71 a stop during a wait, while headers are awaited, or before sending, ends at once', async () => {
    const { models, server, log } = await start([down(1), { ...answer, delayMs: 60_000 }])
    const stop = new AbortController()
    const waiting = await hear(models, request(), (event) => event.type === 'wait' && stop.abort(), stop.signal)
    expect(lastError(waiting)?.code).toBe('provider.stopped')
    expect(log).toHaveLength(1)

    const later = new AbortController()
    const pending = hear(models, request(), () => {}, later.signal)
    await vi.waitUntil(() => server.asked().length === 2, { timeout: 10_000 })
    later.abort()
    expect(types(await pending)).toEqual(['error'])

    expect(lastError(await hear(models, request(), () => {}, AbortSignal.abort()))?.code).toBe('provider.stopped')
    expect(server.asked()).toHaveLength(2)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('fallback', () => {
  test('M-81 M-82 after the primary fails its retries the fallback answers, and is first for the rest of the turn', async () => {
    const other = await second([{ emit: [{ text: 'other' }], repeat: 2 }])
    const { models, server } = await start([down(4), answer], {
      config: {
        providers: { spare: { kind: 'openai-compatible', baseUrl: other.baseUrl } },
        fallback: ['nowhere/x', 'spare/b'],
      },
    })
    const turn = models.forTurn()
    const events = await hear(turn, request())
    expect(server.asked()).toHaveLength(4)
    expect(events.filter((event) => event.type === 'warning')).toMatchObject([
      { kind: 'fallback', text: expect.stringMatching(/lab\/m.*spare\/b/) },
    ])
    expect(events.find((event) => event.type === 'started')).toMatchObject({ provider: 'spare', model: 'b' })
    expect(joined(await hear(turn, request()), 'text')).toBe('other')
    expect(joined(await hear(models.forTurn(), request()), 'text')).toBe('yes')
  })

  test('M-79 C-57 a long wait goes on to the fallback at once; one that cannot be fitted is skipped', async () => {
    const other = await second([{ emit: [{ text: 'fits' }] }])
    const { models } = await start([{ error: { status: 429, headers: { 'retry-after': '30' } } }], {
      config: {
        providers: {
          spare: {
            kind: 'openai-compatible',
            baseUrl: other.baseUrl,
            models: [
              { id: 'big', contextLength: 50_000 },
              { id: 'small', contextLength: 1_000 },
            ],
          },
        },
      },
    })
    const rebuild = async (candidate: ModelInfo) =>
      candidate.contextLength < 2_000 ? null : { messages: request('fitted').messages, tools: [], maxOutput: 7 }
    const events = await hear(models, request('long', { fallback: ['spare/small', 'spare/big'], rebuild }))
    expect(waits(events)).toEqual([])
    expect(other.asked()[0]?.body).toMatchObject({
      model: 'big',
      max_tokens: 7,
      messages: [{ role: 'user', content: 'fitted' }],
    })
  })

  test('M-68 a refused key or a rejected request has no fallback', async () => {
    const other = await second([])
    const { models } = await start([{ error: { status: 400, message: 'bad' } }], {
      config: { providers: { spare: { kind: 'openai-compatible', baseUrl: other.baseUrl } }, fallback: ['spare/b'] },
    })
    expect(lastError(await hear(models, request()))?.code).toBe('provider.request_rejected')
    expect(other.asked()).toHaveLength(0)
  })
})

test('M-83 after five failures background turns wait; a person sends one probe, and a failed one doubles the pause', async () => {
  const { models, server } = await start([down(6), answer])
  const background = request('a', { interactive: false })
  await hear(models, background)
  expect(lastError(await hear(models, background))?.reason).toBe('server')
  expect(lastError(await hear(models, background))).toMatchObject({ reason: 'circuit', retryAt: Date.now() + 30_000 })
  expect(server.asked()).toHaveLength(5)
  expect(lastError(await hear(models, request('person')))?.reason).toBe('server')
  expect(server.asked()).toHaveLength(6)
  expect(lastError(await hear(models, background))).toMatchObject({ reason: 'circuit', retryAt: Date.now() + 60_000 })
  vi.advanceTimersByTime(60_000)
  expect(joined(await hear(models, background), 'text')).toBe('yes')
})

describe('M-30 learning', () => {
  const refusing = (param: string) => ({ error: { status: 400, param, message: `Unsupported: ${param}` } })

  test('a refused parameter is left out once it was refused, and for later turns too', async () => {
    const { models, server } = await start([refusing('temperature'), refusing('tools'), { ...answer, repeat: 2 }])
    const asked = request('a', { temperature: 0.5, tools: [readFile] })
    const events = await hear(models, asked)
    expect(events.filter((event) => event.type === 'warning').map((event) => event.text)).toEqual([
      expect.stringContaining('temperature'),
      expect.stringContaining('tools'),
    ])
    await hear(models, asked)
    expect(server.asked()).toHaveLength(4)
    for (const { body } of server.asked().slice(2)) expect(body).not.toHaveProperty(['temperature'])
    expect(server.asked()[3]?.body.tools).toBeUndefined()
    expect(server.asked().every(({ body }) => body.max_tokens > 0)).toBe(true)
  })

  test('at most two corrections a step, and none for what was not sent', async () => {
    const { models, server } = await start([refusing('temperature')])
    expect(lastError(await hear(models, request()))?.code).toBe('provider.request_rejected')
    expect(server.asked()).toHaveLength(1)
  })
})

describe('keys', () => {
  const keyed = (keys: (string | null)[]) => {
    let reads = 0
    return { options: { secret: async () => keys[Math.min(reads++, keys.length - 1)] ?? null } }
  }

  test('M-4 without a key there is no authorization header', async () => {
    const { models, server } = await start([answer])
    await hear(models, request())
    expect(server.asked()[0]?.headers).not.toHaveProperty('authorization')
  })

  test('M-87 the named variable comes before the keychain, and the usual one only at the usual address', async () => {
    const env = { LAB_KEY: 'from-env', OPENAI_API_KEY: 'usual' }
    const { models, server } = await start([answer], {
      lab: { apiKeyEnv: 'LAB_KEY' },
      options: { env, secret: async () => 'stored' },
    })
    await hear(models, request())
    expect(server.asked()[0]?.headers['authorization']).toBe('Bearer from-env')
    const openai = await bench('openai', [answer], { options: { env } })
    servers.push(openai.server)
    await hear(openai.models, request())
    expect(openai.server.asked()[0]?.headers).not.toHaveProperty('authorization')
  })

  test('M-93 a refused key is read again once a turn; only another one is tried', async () => {
    const refused = { error: { status: 401, message: 'no' } }
    const changed = await start([refused, answer], keyed(['old', 'new']))
    expect((await hear(changed.models, request())).at(-1)).toMatchObject({ type: 'finish' })
    expect(changed.server.asked().map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new'])
    const same = await start([refused], keyed(['old']))
    expect(lastError(await hear(same.models, request()))?.code).toBe('provider.auth_invalid')
    const twice = await start([{ ...refused, repeat: 2 }], keyed(['old', 'new', 'newer']))
    expect(lastError(await hear(twice.models, request()))?.code).toBe('provider.auth_invalid')
    expect(twice.server.asked()).toHaveLength(2)
  })

  test('M-5 neither key nor body follows a redirect to another origin', async () => {
    const target = await second([])
    const redirecting = createServer((_, response) =>
      response.writeHead(307, { location: `${target.baseUrl}/chat/completions` }).end(),
    ).listen(0, '127.0.0.1')
    await once(redirecting, 'listening')
    servers.push(redirecting)
    const { models } = await start([], {
      lab: { baseUrl: `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/v1` },
      options: { secret: async () => 'key' },
    })
    expect(lastError(await hear(models, request()))).toMatchObject({ code: 'provider.request_rejected', status: 307 })
    expect(target.requests).toHaveLength(0)
  })

  test('M-11 M-123 two providers at the same time see only their own key and fields', async () => {
    const other = await second([answer])
    const { models, server } = await start([answer], {
      lab: { extraBody: { top_k: 7 } },
      config: { providers: { spare: { kind: 'openai-compatible', baseUrl: other.baseUrl } } },
      options: { secret: async (id: string) => `key-of-${id}` },
    })
    await Promise.all([hear(models, request()), hear(models, request('a', { model: 'spare/m' }))])
    expect(
      [server, other].map((each) => [each.asked()[0]?.headers['authorization'], each.asked()[0]?.body.top_k]),
    ).toEqual([
      ['Bearer key-of-lab', 7],
      ['Bearer key-of-spare', undefined],
    ])
  })
})

describe('M-84 M-85 time limits', () => {
  /** Real time for the bytes to come, fake time for the limits. */
  const listen = async (models: Parameters<typeof hear>[0], seconds: number[], ready: () => boolean) => {
    const pending = hear(models, request('a', { fallback: [] }))
    for (const span of seconds) {
      await vi.waitUntil(ready, { timeout: 10_000 })
      await vi.advanceTimersByTimeAsync(span * 1_000)
    }
    return pending
  }

  test('headers and pings alone are not a first token', async () => {
    const { models, server } = await start([{ emit: [{ ping: true }, { hang: true }], repeat: 2 }], {
      lab: { timeouts: { firstToken: 30 } },
    })
    // The second of the two waits between the tries is the back-off.
    const events = await listen(models, [32, 32], () => server.asked().length === 1 || vi.getTimerCount() > 0)
    expect(lastError(events)).toMatchObject({ code: 'provider.stream_stalled', reason: 'firstToken' })
  })

  test('K-26 text and then silence is an idle stream', async () => {
    const heard: string[] = []
    const { models, server } = await start([{ emit: [{ text: 'a' }, { hang: true }], repeat: 2 }], {
      lab: { timeouts: { idle: 20 } },
    })
    const pending = hear(models, request(), (event) => heard.push(event.type))
    for (let tries = 1; tries <= 2; tries += 1) {
      await vi.waitUntil(() => heard.filter((type) => type === 'text').length === tries, { timeout: 10_000 })
      await vi.advanceTimersByTimeAsync(22_000)
    }
    expect(lastError(await pending)).toMatchObject({ code: 'provider.stream_stalled', reason: 'idle' })
    expect(server.asked()).toHaveLength(2)
    await vi.waitUntil(async () => (await server.connections()) === 0, { timeout: 10_000 })
  })
})

test('M-3 a turn keeps the configuration it began with', async () => {
  const { readProvidersConfig } = await import('./config.ts')
  const first = await second([{ ...answer, repeat: 2 }])
  const next = await second([{ emit: [{ text: 'next' }] }])
  const at = (baseUrl: string) => readProvidersConfig({ providers: { lab: { kind: 'openai-compatible', baseUrl } } })
  let config = at(first.baseUrl)
  const { createModels } = await import('./models.ts')
  const models = createModels({ config: () => config, secret: async () => null, env: {} })
  const turn = models.forTurn()
  await hear(turn, request())
  config = at(next.baseUrl)
  expect(joined(await hear(turn, request()), 'text')).toBe('yes')
  expect(joined(await hear(models.forTurn(), request()), 'text')).toBe('next')
})

test('M-43 a fault of ours ends the stream as app.internal', async () => {
  const { models } = await start([], { options: { secret: () => Promise.reject(new Error('keychain broke')) } })
  expect(await hear(models, request())).toMatchObject([
    { type: 'error', error: { code: 'app.internal', message: 'keychain broke' } },
  ])
})

describe('streams', () => {
  const finished = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
  const counted = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}\n\n'

  test('M-56 usage after the finish is awaited for 2 s, else estimated; a connection lost meanwhile does no harm', async () => {
    const { models } = await start([
      { emit: [{ raw: finished }, { delayMs: 30 }, { raw: counted }], finish: 'stop', usage: null },
      { emit: [{ raw: finished }, { delayMs: 30 }, { cut: true }] },
      { emit: [{ raw: finished }, { hang: true }] },
    ])
    const usageOf = (events: ModelEvent[]) => {
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
      return events.find((event) => event.type === 'usage')?.usage
    }
    expect(usageOf(await hear(models, request()))).toMatchObject({ input: 7, estimated: false })
    expect(usageOf(await hear(models, request()))).toMatchObject({ estimated: true })
    const heard: string[] = []
    const pending = hear(models, request(), ({ type }) => heard.push(type))
    await vi.waitUntil(() => heard.includes('text'), { timeout: 10_000 })
    await vi.advanceTimersByTimeAsync(2_100)
    expect(usageOf(await pending)).toMatchObject({ estimated: true })
  })

  test('M-45 a line over 8 MiB is not the protocol', async () => {
    const { models } = await start([
      { emit: [{ raw: `data: ${'x'.repeat(9 * 1024 * 1024)}` }, { hang: true }], repeat: 2 },
    ])
    expect(lastError(await hear(models, request()))).toMatchObject({ code: 'provider.unavailable', reason: 'protocol' })
  })

  test('K-03 fifty thousand tokens in a flood are whole, counted, and one event for each piece of the network', async () => {
    const { models } = await start([{ emit: [{ words: 50_000 }] }])
    const texts = (await hear(models, request())).filter((event) => event.type === 'text')
    expect(texts.map(({ delta }) => delta).join('')).toBe('word '.repeat(50_000))
    expect(texts.reduce((sum, { deltas }) => sum + deltas, 0)).toBe(50_000)
    expect(texts.length).toBeLessThan(5_000)
  })

  test('M-78 a call that was half streamed is taken back, and may be repeated as often as before output', async () => {
    const cut = {
      emit: [
        { call: { name: 'read_file', args: '{"path":"a', fragments: 1 } },
        { delayMs: 10 },
        { cut: true as const },
      ],
      repeat: 3,
    }
    const { models } = await start([cut, answer])
    const events = await hear(models, request('a', { tools: [readFile] }))
    expect(types(events).filter((type) => type === 'reset')).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
  })
})
