/** The models room's front: resolving names, streaming answers, and what the picker, Settings and the doctor ask for. */
import { errorBody, LatheError } from '../../preload/contract/errors.ts'
import { bundledModels, knownModel, publicInfo, type KnownModel } from './catalog.ts'
import { Circuits } from './circuit.ts'
import { splitName, type Preset, type Provider, type ProvidersConfig } from './config.ts'
import { Discovery, probe, probePlaces, type FoundServer } from './discovery.ts'
import { Learned, type FindingStore } from './learned.ts'
import { userMessage, type ModelEvent, type ModelInfo, type ModelRequest, type Models } from './model.ts'
import { RefusedImages } from './refused-images.ts'
import { step, type Shared, type Turn } from './step.ts'
import { orStop } from './stop.ts'

export type ModelsOptions = {
  /** The configuration as it is now; read once a turn (M-3). */
  config(): ProvidersConfig
  /** The keychain's entry of a provider. */
  secret(providerId: string): Promise<string | null>
  /** Milliseconds since 1970. */
  now?: () => number
  /** In [0, 1). */
  random?: () => number
  /** One structured entry per failed request; never content or keys (M-72). */
  log?: (entry: Record<string, unknown>) => void
  findings?: FindingStore
  env?: Record<string, string | undefined>
}

/** What a name in the composer, `/model` or `--model` stands for (M-22, M-23). */
export type ModelChoice = {
  model: string
  preset: string | null
  effort?: string | undefined
  temperature?: number | undefined
  maxOutput?: number | undefined
  contextLimit?: number | undefined
  fallback?: string[] | undefined
  imageMode: 'auto' | 'native' | 'text'
}

/** A provider as Settings and the picker show it. */
export type ProviderState = {
  id: string
  kind: string
  label: string
  state: 'ready' | 'needs_key' | 'unreachable' | 'off'
  reason: string | null
  baseUrl: string | null
  keySource: 'environment' | 'stored' | 'none'
  models: ModelInfo[]
}

export interface ModelService extends Models {
  /** A model's or preset's name. Throws `model.none` for null without a default, else as `resolve`. */
  choose(name: string | null): ModelChoice
  /** All providers with their models, from what is known; no network (M-21). */
  list(): Promise<ProviderState[]>
  /** Asks the servers for their lists, within the limits of the cache, and answers what is then known (M-13). */
  refresh(signal: AbortSignal): Promise<ProviderState[]>
  /** Servers on this machine that answer, for one-click adding (M-15). */
  probe(signal: AbortSignal): Promise<FoundServer[]>
  /** Lists the models, and with a model makes one request of at most 16 tokens (M-10). */
  test(providerId: string, model: string | null, signal: AbortSignal): Promise<{ ok: boolean; message: string }>
  /** To be called when a key was added, changed or removed (M-14). */
  credentialsChanged(): void
}

const testLimitMs = 5_000

export function createModels(options: ModelsOptions): ModelService {
  const { config, secret, now = Date.now, random = Math.random, log = () => {}, env = process.env } = options
  const discovery = new Discovery(now)
  const shared: Shared = {
    keyOf,
    circuits: new Circuits(),
    learned: new Learned(now, options.findings),
    refusedImages: new RefusedImages(),
    now,
    random,
    log,
  }

  /** M-87: the named variable, the keychain, the configuration, and only at the kind's own address its usual variable. */
  async function keyOf(provider: Provider): Promise<string | null> {
    return (await keyAndSource(provider)).key
  }

  async function keyAndSource(provider: Provider): Promise<{ key: string | null; source: ProviderState['keySource'] }> {
    if (provider.kind === 'demo') return { key: null, source: 'none' }
    const fromEnv = (name: string | undefined) => (name === undefined ? '' : (env[name]?.trim() ?? ''))
    const named = fromEnv(provider.apiKeyEnv)
    if (named) return { key: named, source: 'environment' }
    const stored = (await secret(provider.id))?.trim() || provider.apiKey
    if (stored) return { key: stored, source: 'stored' }
    const usual = fromEnv(provider.usualKeyEnv)
    return usual ? { key: usual, source: 'environment' } : { key: null, source: 'none' }
  }

  function known(name: string, current: ProvidersConfig): KnownModel {
    const { provider: id, model } = splitName(name)
    const off = current.off.get(id)
    if (off !== undefined)
      throw new LatheError('config.invalid', `The provider ${id} is off: ${off}`, {
        hint: 'Correct its entry in config.json.',
      })
    const provider = current.providers.get(id)
    const unknownDemo = provider?.kind === 'demo' && !bundledModels('demo').some((demo) => demo.id === model)
    if (!provider || model === '' || unknownDemo) throw unknownName(name, current)
    return limited(knownModel(provider, model, discovery.facts(provider, model)))
  }

  /** What the provider refused counts, whatever was said of the model (C-44, C-55). */
  function limited(model: KnownModel): KnownModel {
    const limit = shared.learned.limit(model.name)
    const better = model.contextLengthSource === 'assumed' && Number.isFinite(limit)
    return limit < model.contextLength || better
      ? { ...model, contextLength: limit, contextLengthSource: 'server' }
      : model
  }

  function resolveName(name: string, current: ProvidersConfig): KnownModel {
    return known(current.presets.get(name)?.model ?? name, current)
  }

  async function described(name: string, current: ProvidersConfig, signal: AbortSignal): Promise<KnownModel> {
    const model = resolveName(name, current)
    const { provider } = model
    const asks = provider.kind === 'ollama' || (provider.kind === 'openai-compatible' && provider.loopback)
    if (!asks || model.contextLengthSource === 'config') return model
    const limit = AbortSignal.any([signal, AbortSignal.timeout(1_000)])
    const facts = await orStop(discovery.describe(provider, model.id, await keyOf(provider), limit), limit).catch(
      () => undefined,
    )
    return facts ? limited(knownModel(provider, model.id, facts)) : model
  }

  function forConfig(current: ProvidersConfig): Models {
    const turn: Turn = {
      // The length Ollama is told must be the length counted with (M-16); others need no asking before a request.
      resolve: async (name, signal) =>
        resolveName(name, current).provider.kind === 'ollama'
          ? described(name, current, signal)
          : resolveName(name, current),
      fallback: current.fallback,
      working: new Map(),
      healed: false,
    }
    return {
      stream: (request, signal) => guarded(request, signal, turn),
      resolve: (name) => publicInfo(resolveName(name, current)),
      describe: async (name, signal) => publicInfo(await described(name, current, signal)),
      learnLimit: (name, tokens) => shared.learned.addLimit(resolveName(name, current).name, tokens),
      forTurn: () => forConfig(current),
    }
  }

  /** M-43: exactly one `finish` or `error` at the end, whatever happens. */
  async function* guarded(request: ModelRequest, signal: AbortSignal, turn: Turn): AsyncGenerator<ModelEvent> {
    const asked = splitName(request.model)
    try {
      for await (const event of step(request, signal, turn, shared)) {
        // What still arrives after a stop is dropped (M-44).
        if (signal.aborted && event.type !== 'error' && event.type !== 'usage') break
        yield event
        if (event.type === 'finish' || event.type === 'error') return
      }
      yield { type: 'error', error: { code: 'provider.stopped', message: 'Stopped.', ...asked } }
    } catch (thrown) {
      log({ event: 'unexpected', model: request.model, error: thrown instanceof Error ? thrown.stack : String(thrown) })
      const body = signal.aborted
        ? { code: 'provider.stopped' as const, message: 'Stopped.' }
        : { ...errorBody(thrown), code: 'app.internal' as const }
      yield { type: 'error', error: { ...body, ...asked } }
    }
  }

  function modelsOf(provider: Provider, listed: { id: string }[]): ModelInfo[] {
    const ids = new Set([...provider.models, ...listed, ...bundledModels(provider.kind)].map(({ id }) => id))
    return [...ids]
      .map((id) => knownModel(provider, id, discovery.facts(provider, id)))
      .filter((model) => !model.hidden)
      .map(publicInfo)
  }

  async function stateOf(provider: Provider): Promise<ProviderState> {
    const { key, source } = await keyAndSource(provider)
    const { models, reason, stale } = discovery.known(provider, key)
    const needsKey = key === null && ['openai', 'openai-responses', 'anthropic'].includes(provider.kind)
    const bare = key !== null && !provider.loopback && provider.baseUrl.startsWith('http:')
    return {
      id: provider.id,
      kind: provider.kind,
      label: provider.label,
      state: needsKey ? 'needs_key' : reason !== null && models.length === 0 ? 'unreachable' : 'ready',
      reason:
        reason ??
        (bare ? 'The key goes over the network unencrypted.' : stale ? 'The list is older than five minutes.' : null),
      baseUrl: provider.baseUrl || null,
      keySource: source,
      models: modelsOf(provider, models),
    }
  }

  async function list(): Promise<ProviderState[]> {
    const { providers, off } = config()
    const states = await Promise.all([...providers.values()].map(stateOf))
    const disabled = [...off].map(([id, reason]): ProviderState => ({
      id,
      kind: '',
      label: id,
      state: 'off',
      reason,
      baseUrl: null,
      keySource: 'none',
      models: [],
    }))
    return [...states, ...disabled]
  }

  return {
    stream: (request, signal) => forConfig(config()).stream(request, signal),
    resolve: (name) => forConfig(config()).resolve(name),
    describe: (name, signal) => forConfig(config()).describe(name, signal),
    learnLimit: (name, tokens) => forConfig(config()).learnLimit(name, tokens),
    forTurn: () => forConfig(config()),
    choose(name) {
      const current = config()
      const wanted = name ?? current.model
      if (wanted === null)
        throw new LatheError('model.none', 'No model is chosen yet.', {
          hint: 'Choose a model; on the command line by --model, of which demo/tour needs no key.',
        })
      const preset: Preset = current.presets.get(wanted) ?? { model: wanted }
      known(preset.model, current)
      return { ...preset, preset: current.presets.has(wanted) ? wanted : null, imageMode: preset.imageMode ?? 'auto' }
    },
    list,
    async refresh(signal) {
      await Promise.all(
        [...config().providers.values()].map(async (provider) =>
          discovery.refresh(provider, await keyOf(provider), signal),
        ),
      )
      return list()
    },
    probe: (signal) => probe(probePlaces(env['OLLAMA_HOST']), signal),
    async test(providerId, model, signal) {
      const current = config()
      const provider = current.providers.get(providerId)
      if (!provider) return { ok: false, message: current.off.get(providerId) ?? `There is no provider ${providerId}.` }
      if (model === null) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(testLimitMs)])
        const key = await keyOf(provider)
        await discovery.refresh(provider, key, limit)
        const { models, reason } = discovery.known(provider, key)
        return reason === null
          ? { ok: true, message: `${provider.label} lists ${models.length} models.` }
          : { ok: false, message: reason }
      }
      const request: ModelRequest = {
        model: `${providerId}/${model}`,
        messages: [userMessage('Say hello.')],
        tools: [],
        maxOutput: 16,
        sessionId: 'test',
        interactive: true,
        fallback: [],
      }
      for await (const event of forConfig(current).stream(request, signal)) {
        if (event.type === 'error') return { ok: false, message: event.error.message }
      }
      return { ok: true, message: `${provider.label} answered.` }
    },
    credentialsChanged: () => discovery.credentialsChanged(),
  }
}

function unknownName(name: string, { presets, providers }: ProvidersConfig): LatheError {
  const models = [...providers.values()].flatMap((provider) =>
    [...provider.models, ...bundledModels(provider.kind)].map(({ id }) => `${provider.id}/${id}`),
  )
  const valid = [...presets.keys(), ...new Set(models)].slice(0, 20)
  return new LatheError('model.unknown', `There is no model or preset "${name}".`, {
    hint: `Known names: ${valid.join(', ')}.`,
  })
}
