import { afterEach, describe, expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { readProvidersConfig } from './config.ts'
import type { ModelServer } from '../../e2e/model-server/server.ts'
import { createModels } from './models.ts'
import { bench, hear, request } from '../../e2e/model-server/scripted-models.ts'

const servers: ModelServer[] = []
const signal = new AbortController().signal

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function start(...args: Parameters<typeof bench>): Promise<Awaited<ReturnType<typeof bench>>> {
  const made = await bench(...args)
  servers.push(made.server)
  return made
}

function refusal(act: () => unknown): LatheError {
  try {
    act()
  } catch (error) {
    if (error instanceof LatheError) return error
  }
  throw new Error('It was not refused.')
}

describe('names', () => {
  const config = readProvidersConfig({
    providers: {
      lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9', models: ['big'] },
      broken: { kind: 'ollama', baseUrl: 'nonsense' },
    },
    presets: {
      careful: { model: 'lab/big', effort: 'high', fallback: ['lab/small'], imageMode: 'whatever' },
      dead: { model: 'broken/x' },
    },
    model: 'lab/big',
  })
  const models = createModels({ config: () => config, secret: async () => null, env: {} })

  test('M-2 any model id may be typed, with slashes and colons', () => {
    expect(models.resolve('lab/org/m:7b').name).toBe('lab/org/m:7b')
  })

  test('M-23 a preset is a name for a model and what to send with it; unset values stay unset', () => {
    expect(models.choose('careful')).toEqual({
      model: 'lab/big',
      preset: 'careful',
      effort: 'high',
      fallback: ['lab/small'],
      imageMode: 'auto',
    })
    expect(models.choose(null)).toEqual({ model: 'lab/big', preset: null, imageMode: 'auto' })
  })

  test('M-24 an unknown name is refused with the valid ones', () => {
    const { code, hint } = refusal(() => models.choose('nope'))
    expect([code, hint]).toEqual(['model.unknown', expect.stringMatching(/careful.*lab\/big.*demo\/tour/)])
    expect(refusal(() => models.choose('demo/nope')).code).toBe('model.unknown')
  })

  test('M-1 M-25 a provider that is off fails the turn as config.invalid, by name and by preset', async () => {
    expect(refusal(() => models.resolve('broken/x')).code).toBe('config.invalid')
    expect(refusal(() => models.choose('dead')).code).toBe('config.invalid')
    expect(await hear(models, request('a', { model: 'broken/x' }))).toMatchObject([
      { type: 'error', error: { code: 'config.invalid', provider: 'broken' } },
    ])
  })

  test('M-9 without any model there is a refusal that names the demo', () => {
    const none = createModels({ config: () => readProvidersConfig({}), secret: async () => null, env: {} })
    expect(refusal(() => none.choose(null))).toMatchObject({
      code: 'model.none',
      hint: expect.stringContaining('demo/tour'),
    })
    expect(none.choose('demo/tour').model).toBe('demo/tour')
  })
})

test('M-21 M-87 the list comes without a request: states, sources of keys, bundled models', async () => {
  const config = readProvidersConfig({
    providers: {
      openai: { kind: 'openai' },
      claude: { kind: 'anthropic', apiKeyEnv: 'MY_KEY' },
      lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', models: ['big'] },
      bad: {},
    },
  })
  const models = createModels({ config: () => config, secret: async () => null, env: { MY_KEY: 'k' } })
  const states = await models.list()
  expect(states.map(({ id, state, keySource }) => [id, state, keySource])).toEqual([
    ['openai', 'needs_key', 'none'],
    ['claude', 'ready', 'environment'],
    ['lab', 'ready', 'none'],
    ['demo', 'ready', 'none'],
    ['bad', 'off', 'none'],
  ])
  expect(states[0]?.models.length).toBeGreaterThan(3)
  expect(states[2]?.models).toMatchObject([{ name: 'lab/big' }])
})

test('M-5 M-87 a key in the file and a key sent unencrypted are named', async () => {
  const config = readProvidersConfig({
    providers: { far: { kind: 'openai-compatible', baseUrl: 'http://far.example/v1', apiKey: 'k' } },
  })
  expect(config.problems.map(({ where }) => where)).toEqual(['providers.far.apiKey'])
  const [far] = await createModels({ config: () => config, secret: async () => null, env: {} }).list()
  expect(far).toMatchObject({ keySource: 'stored', reason: expect.stringContaining('unencrypted') })
})

test('M-10 a test lists the models and, if asked, makes one request of at most 16 tokens', async () => {
  const { models, server } = await start('openai-compatible', [
    { emit: [{ text: 'hello' }] },
    { error: { status: 401, message: 'no' } },
  ])
  expect(await models.test('lab', null, signal)).toEqual({ ok: true, message: 'lab lists 1 models.' })
  expect(server.asked()).toHaveLength(0)
  expect(await models.test('lab', 'm', signal)).toEqual({ ok: true, message: 'lab answered.' })
  expect(server.asked()[0]?.body.max_tokens).toBe(16)
  expect(await models.test('lab', 'm', signal)).toMatchObject({
    ok: false,
    message: expect.stringContaining('wants a key'),
  })
  expect(await models.test('nobody', null, signal)).toMatchObject({ ok: false })
})

test('M-86 a thousand stopped requests leave neither sockets nor timers behind', async () => {
  const { models, server } = await start('openai-compatible', [
    { emit: [{ text: 'a' }, { hang: true }], repeat: 'always' },
  ])
  const one = async () => {
    const stop = new AbortController()
    const events = await hear(models, request(), (event) => event.type === 'text' && stop.abort(), stop.signal)
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'provider.stopped' } })
  }
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, one))
  await expect.poll(() => server.connections()).toBe(0)
  expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThan(10)
})
