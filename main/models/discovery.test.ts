import { afterEach, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type ModelServerOptions } from '../../e2e/model-server/server.ts'
import { readProvidersConfig } from './config.ts'
import { Discovery, probe, probePlaces } from './discovery.ts'
import { bench, hear, request } from '../../e2e/model-server/scripted-models.ts'

const servers: ModelServer[] = []
const signal = new AbortController().signal

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options)
  servers.push(server)
  return server
}

const compatible = (server: ModelServer) =>
  readProvidersConfig({ providers: { lab: { kind: 'openai-compatible', baseUrl: server.baseUrl } } }).providers.get(
    'lab',
  )!
const lists = (server: ModelServer) => server.requests.filter(({ path }) => path === '/v1/models').length

test('M-13 a list is asked for once, stays fresh for 5 minutes, and outlives a failure', async () => {
  let now = 0
  const server = await serve({ models: ['a'] })
  const discovery = new Discovery(() => now)
  const lab = compatible(server)
  now = 1_000_000
  await Promise.all(Array.from({ length: 10 }, () => discovery.refresh(lab, null, signal)))
  now += 4 * 60_000
  await discovery.refresh(lab, null, signal)
  expect(lists(server)).toBe(1)
  now += 2 * 60_000
  await server.close()
  servers.length = 0
  await discovery.refresh(lab, null, signal)
  expect(discovery.known(lab, null)).toMatchObject({
    models: [{ id: 'a' }],
    stale: true,
    reason: expect.stringContaining('No server answers'),
  })
})

test('M-13 after a failure there is no new try for 30 s', async () => {
  let now = 1_000_000
  let asked = 0
  const server = await serve({ routes: { '/v1/models': () => (asked += 1) } })
  const lab = compatible(server)
  const discovery = new Discovery(() => now)
  // A number is not a list, but 404 and the like are no failure; take the server away for that.
  await server.close()
  servers.length = 0
  await discovery.refresh(lab, null, signal)
  const { reason } = discovery.known(lab, null)
  expect(reason).not.toBeNull()
  const back = await serve({ port: server.port, models: ['late'] })
  now += 29_000
  await discovery.refresh(lab, null, signal)
  expect(lists(back)).toBe(0)
  now += 2_000
  await discovery.refresh(lab, null, signal)
  expect(discovery.known(lab, null)).toMatchObject({ models: [{ id: 'late' }], reason: null })
})

test('M-14 an answer to a question of before a key change is not kept', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const server = await serve({ routes: { '/v1/models': async () => (await held, { data: [{ id: 'old account' }] }) } })
  const discovery = new Discovery(() => 1_000_000)
  const lab = compatible(server)
  const asking = discovery.refresh(lab, 'key', signal)
  discovery.credentialsChanged()
  release()
  await asking
  expect(discovery.known(lab, 'key').models).toEqual([])
})

test('M-15 servers are told apart by what they speak', async () => {
  const ollama = await serve({ routes: { '/api/tags': { models: [{ name: 'qwen3:8b' }] } } })
  const llama = await serve({
    models: ['gguf'],
    routes: { '/props': { default_generation_settings: { n_ctx: 16_384 } } },
  })
  const studio = await serve({ models: ['s'], routes: { '/api/v0/models': { data: [{ id: 's' }] } } })
  const found = await probe([ollama.url, llama.url, studio.url, 'http://127.0.0.1:1'], signal)
  expect(found).toEqual([
    { kind: 'ollama', baseUrl: ollama.url, label: 'Ollama', models: ['qwen3:8b'] },
    { kind: 'openai-compatible', baseUrl: llama.baseUrl, label: 'llama.cpp', models: ['gguf'] },
    { kind: 'openai-compatible', baseUrl: studio.baseUrl, label: 'LM Studio', models: ['s'] },
  ])
  expect(probePlaces('0.0.0.0:11500')).toEqual([
    'http://127.0.0.1:11434',
    'http://127.0.0.1:1234',
    'http://127.0.0.1:8080',
    'http://127.0.0.1:11500',
  ])
})

test('M-16 Ollama is told the context length that is counted with, at most 32,768', async () => {
  const show = { capabilities: ['tools', 'thinking'], model_info: { 'qwen3.context_length': 131_072 } }
  const { server, models } = await bench('ollama', [{ emit: [{ text: 'a' }], repeat: 2 }], {
    server: { routes: { '/api/show': show } },
  })
  servers.push(server)
  await hear(models, request())
  expect(server.asked()[0]?.body.options.num_ctx).toBe(32_768)
  expect(models.resolve('lab/m')).toMatchObject({
    contextLength: 32_768,
    contextLengthSource: 'server',
    tools: true,
    vision: false,
  })
})

test('M-17 M-18 M-19 what local servers say of context, vision and embeddings counts', async () => {
  const studio = await bench('openai-compatible', [], {
    server: {
      routes: {
        '/api/v0/models': {
          data: [
            { id: 'loaded', loaded_context_length: 5_000, max_context_length: 9_000 },
            { id: 'e', type: 'embeddings' },
          ],
        },
      },
    },
  })
  const llama = await bench('openai-compatible', [{ emit: [{ text: 'a' }] }], {
    server: {
      models: [{ id: 'm', meta: { n_ctx_train: 131_072 } }],
      routes: { '/props': { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } } },
    },
  })
  const vllm = await bench('openai-compatible', [], { server: { models: [{ id: 'm', max_model_len: 40_000 }] } })
  servers.push(studio.server, llama.server, vllm.server)
  const lab = async ({ models }: typeof studio) => (await models.refresh(signal)).find(({ id }) => id === 'lab')?.models
  expect(await lab(studio)).toMatchObject([{ name: 'lab/loaded', contextLength: 5_000, contextLengthSource: 'server' }])
  expect(await lab(llama)).toMatchObject([{ contextLength: 16_384, vision: true }])
  await hear(llama.models, request())
  expect(llama.server.asked()[0]?.body.return_progress).toBe(true)
  expect(await lab(vllm)).toMatchObject([{ contextLength: 40_000 }])
  expect(await vllm.models.describe('lab/m', signal)).toMatchObject({ contextLength: 40_000 })
})
