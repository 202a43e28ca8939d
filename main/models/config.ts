/**
 * The providers part of `config.json` (models.md 1). Entries are checked one by one: a bad one is off with its reason and
 * the others work (M-1); unknown keys are problems for `lathe doctor`, never fatal.
 */
import { z } from 'zod'
import { isLoopbackHost, isPrivateHost } from '../platform/net.ts'
import { refusedValue } from '../platform/refused-value.ts'

const providerKinds = ['openai', 'openai-responses', 'openai-compatible', 'anthropic', 'ollama', 'demo'] as const
export type ProviderKind = (typeof providerKinds)[number]

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const

const tokens = z.number().int().positive()
const Price = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
})

/** Named oddities of a model (models.md 7). */
const QuirksFields = z.object({
  /** Reasoning in tags that open the text; `auto`: for compatible and local kinds (M-60). */
  thinkTags: z.enum(['auto', 'on', 'off']).optional(),
  /** The server reports how much of the prompt it has read, if asked (M-18). */
  promptProgress: z.boolean().optional(),
  /** How thinking is asked for over the messages protocol. */
  thinking: z.enum(['adaptive', 'budget', 'none']).optional(),
})

export type Quirks = z.infer<typeof QuirksFields>

/** What may be said of a model, in configuration and in the bundled catalog (M-12). */
export const ModelFacts = z.object({
  id: z.string().min(1).max(300),
  label: z.string().min(1).max(100).optional(),
  contextLength: tokens.optional(),
  maxOutput: tokens.optional(),
  tools: z.boolean().optional(),
  vision: z.boolean().optional(),
  efforts: z.array(z.enum(efforts)).optional(),
  price: Price.optional(),
  hidden: z.boolean().optional(),
  /** False makes plain requests (M-57). */
  stream: z.boolean().optional(),
  quirks: QuirksFields.optional(),
})
export type ModelFacts = z.infer<typeof ModelFacts>

const ProviderFields = z.object({
  kind: z.enum(providerKinds),
  label: z.string().min(1).max(60).optional(),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .optional(),
  apiKey: z.string().min(1).optional(),
  models: z
    .array(z.union([z.string().min(1).max(300), ModelFacts]))
    .max(1_000)
    .optional(),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[^\r\n]*$/)).optional(),
  extraBody: z.record(z.string(), z.unknown()).optional(),
  timeouts: z.record(z.string(), z.unknown()).optional(),
  proxy: z.null().optional(),
})

const Preset = z.object({
  model: z.string(),
  effort: z.enum(efforts).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxOutput: tokens.optional(),
  contextLimit: tokens.optional(),
  fallback: z.array(z.string()).max(10).optional(),
  imageMode: z.enum(['auto', 'native', 'text']).catch('auto').optional(),
})
export type Preset = z.infer<typeof Preset>

/** The schema of this part of `config.json`. Providers and presets are left unchecked here: `readProvidersConfig` does. */
const ProvidersPart = z.looseObject({
  providers: z.record(z.string(), z.unknown()).optional(),
  presets: z.record(z.string(), z.unknown()).optional(),
  model: z.string().nullable().optional(),
  fallback: z.array(z.string()).max(10).optional(),
  aux: z.object({ model: z.string().optional() }).optional(),
  retry: z.enum(['standard']).optional(),
})

/** Seconds (M-84). */
export type Timeouts = { connect: number; firstToken: number; idle: number; total: number; plain: number }

export type Provider = {
  id: string
  label: string
  kind: ProviderKind
  /** Without trailing slashes; empty for `demo`. */
  baseUrl: string
  /** The base URL is the kind's own, so the kind's usual variable may hold the key (M-87). */
  usualKeyEnv: string | undefined
  apiKeyEnv: string | undefined
  apiKey: string | undefined
  models: ModelFacts[]
  headers: Record<string, string>
  extraBody: Record<string, unknown>
  timeouts: Timeouts
  loopback: boolean
}

export type ProvidersConfig = {
  providers: ReadonlyMap<string, Provider>
  /** Entries that are off, each with its reason. */
  off: ReadonlyMap<string, string>
  presets: ReadonlyMap<string, Preset>
  model: string | null
  fallback: string[]
  auxModel: string | null
  /** For `lathe doctor`: path of the key and what is wrong with it. */
  problems: { where: string; problem: string }[]
}

const providerId = /^[a-z0-9][a-z0-9-]{0,31}$/

const kindDefaults: Record<ProviderKind, { label: string; baseUrl?: string; keyEnv?: string }> = {
  openai: { label: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' },
  'openai-responses': { label: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' },
  anthropic: { label: 'Anthropic', baseUrl: 'https://api.anthropic.com', keyEnv: 'ANTHROPIC_API_KEY' },
  ollama: { label: 'Ollama', baseUrl: 'http://127.0.0.1:11434' },
  'openai-compatible': { label: '' },
  demo: { label: 'Demo', baseUrl: '' },
}

const remoteTimeouts: Timeouts = { connect: 10, firstToken: 300, idle: 90, total: 600, plain: 300 }
const localTimeouts: Timeouts = { connect: 5, firstToken: 1_200, idle: 90, total: 3_600, plain: 1_200 }

/** Reads the providers part. Never throws: what cannot be used is off or ignored, and named in `problems`. */
export function readProvidersConfig(value: unknown): ProvidersConfig {
  const problems: ProvidersConfig['problems'] = []
  const part = isRecord(value) ? value : {}
  const field = <K extends keyof typeof ProvidersPart.shape>(key: K): z.infer<typeof ProvidersPart>[K] => {
    const read = ProvidersPart.shape[key].safeParse(part[key])
    if (!read.success) problems.push({ where: key, problem: refusedValue(read.error) })
    return read.data as z.infer<typeof ProvidersPart>[K]
  }

  const providers = new Map<string, Provider>()
  const off = new Map<string, string>()
  for (const [id, entry] of Object.entries(field('providers') ?? {})) {
    const read = readProvider(id, entry, problems)
    if (typeof read === 'string') {
      off.set(id, read)
      problems.push({ where: `providers.${id}`, problem: read })
    } else providers.set(id, read)
  }
  // The demo needs no entry (M-128); one of its own may only rename it.
  if (!providers.has('demo') && !off.has('demo'))
    providers.set('demo', readProvider('demo', { kind: 'demo' }, problems) as Provider)

  const presets = new Map<string, Preset>()
  for (const [name, entry] of Object.entries(field('presets') ?? {})) {
    const read = Preset.safeParse(entry)
    if (read.success) presets.set(name, read.data)
    else problems.push({ where: `presets.${name}`, problem: refusedValue(read.error) })
  }
  field('retry')
  return {
    providers,
    off,
    presets,
    model: field('model') ?? null,
    fallback: field('fallback') ?? [],
    auxModel: field('aux')?.model ?? null,
    problems,
  }
}

function readProvider(id: string, entry: unknown, problems: ProvidersConfig['problems']): Provider | string {
  if (!providerId.test(id))
    return 'The name must be 1 to 32 small letters, digits or dashes, and not start with a dash.'
  const read = ProviderFields.safeParse(entry)
  if (!read.success) return refusedValue(read.error)
  for (const key of Object.keys(entry as object)) {
    if (!(key in ProviderFields.shape)) problems.push({ where: `providers.${id}.${key}`, problem: 'Unknown key.' })
  }
  const given = read.data
  if (given.apiKey !== undefined)
    problems.push({ where: `providers.${id}.apiKey`, problem: 'A key stands in the file; Settings keeps it safer.' })
  const defaults = kindDefaults[given.kind]
  // People paste the address with or without the part every path of the protocol starts with.
  const versionPart = given.kind === 'anthropic' || given.kind === 'ollama' ? /\/+(v1\/*)?$|\/v1$/ : /\/+$/
  const baseUrl = (given.baseUrl ?? defaults.baseUrl)?.replace(versionPart, '')
  if (baseUrl === undefined) return 'baseUrl is missing.'
  const host = baseUrl === '' ? 'localhost' : new URL(baseUrl).hostname
  return {
    id,
    label: given.label ?? (defaults.label || id),
    kind: given.kind,
    baseUrl,
    usualKeyEnv: baseUrl === defaults.baseUrl ? defaults.keyEnv : undefined,
    apiKeyEnv: given.apiKeyEnv,
    apiKey: given.apiKey,
    models: (given.models ?? []).map((model) => (typeof model === 'string' ? { id: model } : model)),
    headers: given.headers ?? {},
    extraBody: given.extraBody ?? {},
    timeouts: readTimeouts(given.timeouts ?? {}, isPrivateHost(host) ? localTimeouts : remoteTimeouts),
    loopback: isLoopbackHost(host),
  }
}

/** Whole seconds; anything else is ignored. Only `total` may be 0 (off) or last more than an hour. */
function readTimeouts(given: Record<string, unknown>, defaults: Timeouts): Timeouts {
  const entries = Object.entries(defaults).map(([name, preset]) => {
    const value = given[name]
    const least = name === 'total' ? 0 : 1
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least) return [name, preset]
    return [name, Math.min(value, name === 'total' ? 86_400 : 3_600)]
  })
  return Object.fromEntries(entries) as Timeouts
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `PROVIDER/MODEL`, split at the first slash; the rest is the provider's own name for the model (M-2). */
export function splitName(name: string): { provider: string; model: string } {
  const slash = name.indexOf('/')
  return slash === -1 ? { provider: name, model: '' } : { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}

/** Variables that hold the keys of configured providers: no child process gets them. */
export function keyVariables(providers: ProvidersConfig): string[] {
  return [...providers.providers.values()].flatMap((provider) =>
    [provider.apiKeyEnv, provider.usualKeyEnv].filter((name) => name !== undefined),
  )
}

/** Keys that stand in the configuration file, under the names of stored ones. */
export function writtenKeys(providers: ProvidersConfig): { name: string; value: string }[] {
  return [...providers.providers.values()].flatMap(({ id, apiKey }) =>
    apiKey === undefined ? [] : [{ name: `provider.${id}`, value: apiKey }],
  )
}
