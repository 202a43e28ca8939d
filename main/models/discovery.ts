/**
 * What servers say of their models: lists with a cache (M-13, M-14), the local servers' own facts (M-16 to M-19), and
 * finding local servers (M-15). Nothing here is needed for a request to go out.
 */
import { send } from '../platform/net.ts'
import { isRecord, type ModelFacts, type Provider } from './config.ts'
import { hash } from './wire.ts'

/** What a server said of one model; the id is its own. */
export type ServerFacts = Partial<ModelFacts> & { id: string }

export type ServerList = {
  models: ServerFacts[]
  /** Why the newest try failed; the models are then those of the last good one, if any. */
  reason: string | null
  /** Older than it should be (M-13). */
  stale: boolean
}

type Cached = {
  models: ServerFacts[]
  at: number
  failedAt: number
  reason: string | null
  inFlight: Promise<void> | undefined
}

const fresh = 5 * 60_000
const usable = 24 * 60 * 60_000
const afterFailure = 30_000
const keyLimit = 32
const listMs = 5_000
const probeMs = 800
const bodyLimit = 8 * 1024 * 1024
/** Ollama loads models with this much context unless told otherwise (M-16). */
const ollamaContext = 32_768

export class Discovery {
  readonly #now: () => number
  readonly #lists = new Map<string, Cached>()
  /** By provider, address and model: what Ollama says of one model. */
  readonly #described = new Map<string, Partial<ModelFacts>>()
  #generation = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** A key was added, changed or removed: answers to older questions no longer count (M-14). */
  credentialsChanged(): void {
    this.#generation += 1
  }

  /** What is known without asking. */
  known(provider: Provider, key: string | null): ServerList {
    const cached = this.#lists.get(this.#keyOf(provider, key))
    const age = this.#now() - (cached?.at ?? 0)
    if (!cached || age > usable) return { models: [], reason: cached?.reason ?? null, stale: false }
    return { models: cached.models, reason: cached.reason, stale: age > fresh }
  }

  /** Facts of one model from any list or description already here. */
  facts(provider: Provider, id: string): Partial<ModelFacts> | undefined {
    const described = this.#described.get(`${provider.id} ${provider.baseUrl} ${id}`)
    if (described) return described
    const prefix = `${provider.id} ${provider.baseUrl} `
    for (const [key, { models }] of this.#lists) {
      const found = key.startsWith(prefix) ? models.find((model) => model.id === id) : undefined
      if (found) return found
    }
    return undefined
  }

  /** Asks for the list unless it is fresh, was just refused, or is being asked for. */
  async refresh(provider: Provider, key: string | null, signal: AbortSignal): Promise<void> {
    if (provider.kind === 'demo') return
    const name = this.#keyOf(provider, key)
    const cached: Cached = this.#lists.get(name) ?? {
      models: [],
      at: 0,
      failedAt: 0,
      reason: null,
      inFlight: undefined,
    }
    const now = this.#now()
    if (cached.inFlight) return cached.inFlight
    if (now - cached.at < fresh || now - cached.failedAt < afterFailure) return
    this.#lists.delete(name)
    this.#lists.set(name, cached)
    if (this.#lists.size > keyLimit) this.#lists.delete(this.#lists.keys().next().value!)
    const generation = this.#generation
    cached.inFlight = listOf(provider, key, signal)
      .then(
        (models) => {
          if (generation === this.#generation)
            Object.assign(cached, { models, at: this.#now(), failedAt: 0, reason: null })
          else this.#lists.delete(name)
        },
        (error: Error) => {
          if (!signal.aborted) Object.assign(cached, { failedAt: this.#now(), reason: error.message })
        },
      )
      .finally(() => (cached.inFlight = undefined))
    return cached.inFlight
  }

  /** Asks a server on this machine about one model, once; undefined where it says nothing. */
  async describe(
    provider: Provider,
    id: string,
    key: string | null,
    signal: AbortSignal,
  ): Promise<Partial<ModelFacts> | undefined> {
    if (provider.kind === 'ollama') {
      const name = `${provider.id} ${provider.baseUrl} ${id}`
      const facts = this.#described.get(name) ?? (await showOllama(provider, id, key, signal))
      if (facts) this.#described.set(name, facts)
      return facts
    }
    if (provider.kind === 'openai-compatible' && provider.loopback) await this.refresh(provider, key, signal)
    return this.facts(provider, id)
  }

  #keyOf(provider: Provider, key: string | null): string {
    return `${provider.id} ${provider.baseUrl} ${key === null ? '-' : hash(key, 16)}`
  }
}

/** The models a server lists. Throws an Error that says why there is no list. */
async function listOf(provider: Provider, key: string | null, signal: AbortSignal): Promise<ServerFacts[]> {
  const get = (path: string, ms = listMs) => getJson(provider, path, key, signal, ms)
  if (provider.kind === 'ollama') return modelsOfOllama(await get('/api/tags'))
  if (provider.kind === 'anthropic')
    return entries((await get('/v1/models?limit=1000'))?.['data'], (model) => ({
      id: model.id,
      ...(typeof model['display_name'] === 'string' ? { label: model['display_name'] } : {}),
    }))
  const ifThere = (path: string) => get(path, probeMs).catch(() => undefined)
  // A server on this machine is asked everything at once: a turn waits for the answers.
  const [list, props, studio] = await Promise.all([
    get('/models').then(
      (listed) => ({ listed }),
      (error: unknown) => ({ error }),
    ),
    provider.loopback ? ifThere(`${new URL(provider.baseUrl).origin}/props`) : undefined,
    provider.loopback ? modelsOfStudio(ifThere) : undefined,
  ])
  if (studio) return studio
  if ('error' in list) throw list.error
  // No list is no error: any model id may be typed (M-19).
  const models = entries(list.listed?.['data'], compatibleFacts)
  return props ? models.map((model) => ({ ...model, ...llamaFacts(props) })) : models
}

function entries(
  list: unknown,
  facts: (entry: Record<string, unknown> & { id: string }) => ServerFacts,
): ServerFacts[] {
  if (!Array.isArray(list)) return []
  return list
    .filter(
      (entry): entry is Record<string, unknown> & { id: string } => isRecord(entry) && typeof entry['id'] === 'string',
    )
    .map(facts)
}

function positive(...values: unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0)
}

function compatibleFacts(entry: Record<string, unknown> & { id: string }): ServerFacts {
  const meta = isRecord(entry['meta']) ? entry['meta'] : {}
  const contextLength = positive(
    entry['context_length'],
    entry['max_model_len'],
    entry['context_window'],
    entry['max_context_length'],
    meta['n_ctx'],
    meta['n_ctx_train'],
  )
  return { id: entry.id, ...(contextLength === undefined ? {} : { contextLength }) }
}

/** llama.cpp: the context of one slot, and what it can see (M-18). */
function llamaFacts(props: Record<string, unknown>): Partial<ModelFacts> {
  const settings = isRecord(props['default_generation_settings']) ? props['default_generation_settings'] : {}
  const contextLength = positive(settings['n_ctx'], props['n_ctx'])
  const modalities = isRecord(props['modalities']) ? props['modalities'] : {}
  return {
    quirks: { promptProgress: true },
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(typeof modalities['vision'] === 'boolean' ? { vision: modalities['vision'] } : {}),
  }
}

/** LM Studio: the loaded context length counts, else the maximum; embedding models are hidden (M-17). */
async function modelsOfStudio(
  get: (path: string) => Promise<Record<string, unknown> | undefined>,
): Promise<ServerFacts[] | undefined> {
  const [newer, older] = await Promise.all([get('/../api/v1/models'), get('/../api/v0/models')])
  if (Array.isArray(newer?.['models'])) {
    return newer['models']
      .filter((entry) => isRecord(entry) && typeof entry['key'] === 'string')
      .map((entry) => {
        const loaded = Array.isArray(entry.loaded_instances) ? entry.loaded_instances[0] : undefined
        const able = isRecord(entry.capabilities) ? entry.capabilities : {}
        return studioFacts(
          entry.key,
          entry.display_name,
          positive(loaded?.config?.context_length, entry.max_context_length),
          entry.type,
          able['vision'],
          able['trained_for_tool_use'],
        )
      })
  }
  if (!Array.isArray(older?.['data'])) return undefined
  return entries(older['data'], (entry) =>
    studioFacts(
      entry.id,
      undefined,
      positive(entry['loaded_context_length'], entry['max_context_length']),
      entry['type'],
      entry['type'] === 'vlm',
      undefined,
    ),
  )
}

function studioFacts(
  id: string,
  label: unknown,
  contextLength: number | undefined,
  type: unknown,
  vision: unknown,
  tools: unknown,
): ServerFacts {
  return {
    id,
    ...(typeof label === 'string' ? { label } : {}),
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(type === 'embedding' || type === 'embeddings' ? { hidden: true } : {}),
    ...(typeof vision === 'boolean' ? { vision } : {}),
    ...(typeof tools === 'boolean' ? { tools } : {}),
  }
}

function modelsOfOllama(tags: Record<string, unknown> | undefined): ServerFacts[] {
  return (Array.isArray(tags?.['models']) ? tags['models'] : []).flatMap((model) =>
    isRecord(model) && typeof model['name'] === 'string' ? [{ id: model['name'] }] : [],
  )
}

async function showOllama(
  provider: Provider,
  id: string,
  key: string | null,
  signal: AbortSignal,
): Promise<Partial<ModelFacts> | undefined> {
  const shown = await getJson(provider, '/api/show', key, signal, 1_000, { model: id }).catch(() => undefined)
  if (!shown) return undefined
  const able = Array.isArray(shown['capabilities']) ? shown['capabilities'] : undefined
  const info = isRecord(shown['model_info']) ? shown['model_info'] : {}
  const trained = positive(
    ...Object.entries(info).flatMap(([name, value]) => (name.endsWith('.context_length') ? [value] : [])),
  )
  return {
    ...(trained === undefined ? {} : { contextLength: Math.min(trained, ollamaContext) }),
    ...(able
      ? {
          tools: able.includes('tools'),
          vision: able.includes('vision'),
          ...(able.includes('thinking') ? {} : { efforts: [] }),
        }
      : {}),
  }
}

/** `path` is under the base URL, or a whole address of the same origin. Undefined for 404. */
async function getJson(
  provider: Provider,
  path: string,
  key: string | null,
  signal: AbortSignal,
  ms: number,
  body?: unknown,
): Promise<Record<string, unknown> | undefined> {
  const url = path.startsWith('http')
    ? path
    : path.startsWith('/../')
      ? new URL(path.slice(3), provider.baseUrl).href
      : provider.baseUrl + path
  const auth: Record<string, string> =
    key === null ? {} : provider.kind === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  let response
  try {
    response = await send({
      url,
      method: body === undefined ? 'GET' : 'POST',
      signal: limit,
      connectMs: ms,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(provider.kind === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
        ...auth,
        ...provider.headers,
      },
    })
  } catch {
    throw new Error(
      provider.loopback ? `No server answers at ${provider.baseUrl}.` : `${provider.label} could not be reached.`,
    )
  }
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > bodyLimit) throw new Error(`The model list of ${provider.label} is too long.`)
  }
  if (response.status === 404) return undefined
  if (response.status === 401 || response.status === 403)
    throw new Error(key === null ? `${provider.label} wants a key.` : `${provider.label} refused the key.`)
  if (response.status !== 200) throw new Error(`${provider.label} answered with status ${response.status}.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${provider.label} sent a list that is not JSON.`)
  }
  return isRecord(value) ? value : undefined
}

export type FoundServer = { kind: 'ollama' | 'openai-compatible'; baseUrl: string; label: string; models: string[] }

/** The places local servers usually listen at, and OLLAMA_HOST; nothing else is looked at (M-15). */
export function probePlaces(ollamaHost: string | undefined): string[] {
  const places = ['http://127.0.0.1:11434', 'http://127.0.0.1:1234', 'http://127.0.0.1:8080']
  if (ollamaHost) {
    const url = /^https?:\/\//.test(ollamaHost) ? ollamaHost : `http://${ollamaHost}`
    if (URL.canParse(url)) places.push(new URL(url).origin.replace('0.0.0.0', '127.0.0.1'))
  }
  return [...new Set(places)]
}

/** Servers that answer, told apart by what they speak, not by port. Nothing is added anywhere. */
export async function probe(places: string[], signal: AbortSignal): Promise<FoundServer[]> {
  const found = await Promise.all(places.map((origin) => identify(origin, signal)))
  return found.filter((server) => server !== undefined)
}

async function identify(origin: string, signal: AbortSignal): Promise<FoundServer | undefined> {
  const server = {
    id: 'probe',
    label: origin,
    kind: 'openai-compatible',
    baseUrl: origin,
    headers: {},
    loopback: true,
  } as unknown as Provider
  const get = (path: string) => getJson(server, path, null, signal, probeMs).catch(() => undefined)
  const [tags, newer, older, props, list] = await Promise.all(
    ['/api/tags', '/api/v1/models', '/api/v0/models', '/props', '/v1/models'].map(get),
  )
  if (Array.isArray(tags?.['models']))
    return { kind: 'ollama', baseUrl: origin, label: 'Ollama', models: modelsOfOllama(tags).map(({ id }) => id) }
  const models = entries(list?.['data'], compatibleFacts).map(({ id }) => id)
  const compatible = { kind: 'openai-compatible', baseUrl: `${origin}/v1`, models } as const
  if (Array.isArray(newer?.['models']) || Array.isArray(older?.['data'])) return { ...compatible, label: 'LM Studio' }
  if (props && 'default_generation_settings' in props) return { ...compatible, label: 'llama.cpp' }
  return Array.isArray(list?.['data']) ? { ...compatible, label: 'Local server' } : undefined
}
