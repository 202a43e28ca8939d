/** What is known of a model, each field from the best source: configuration, the server, the bundled catalog, a default (M-12). */
import catalog from './catalog.json' with { type: 'json' }
import { efforts, type ModelFacts, type Provider, type Quirks } from './config.ts'
import type { ModelInfo } from './model.ts'

/** The models the bundled catalog lists for a kind. */
export function bundledModels(kind: string): ModelFacts[] {
  const vendor = kind === 'openai-responses' ? 'openai' : kind
  return (catalog.models as unknown as Record<string, ModelFacts[]>)[vendor] ?? []
}

/** A dated name such as `gpt-5-2025-08-07` has the facts of the name without its date. */
function bundledFacts(kind: string, id: string): ModelFacts | undefined {
  const undated = id.replace(/-(\d{4}-\d{2}-\d{2}|\d{8})$/, '')
  return bundledModels(kind).find((facts) => facts.id === id || facts.id === undated)
}

/** A model as it will be asked: what the picker sees, and what only requests need. */
export type KnownModel = ModelInfo & {
  id: string
  provider: Provider
  stream: boolean
  quirks: Quirks
  hidden: boolean
}

const assumedRemote = 128_000
const assumedLocal = 8_192
const assumedOutput = 8_192

/** `server` is what the provider's own list said of this model, if it was asked. */
export function knownModel(provider: Provider, id: string, server: Partial<ModelFacts> | undefined): KnownModel {
  const configured: Partial<ModelFacts> = provider.models.find((model) => model.id === id) ?? {}
  const bundled: Partial<ModelFacts> = bundledFacts(provider.kind, id) ?? {}
  const pick = <K extends keyof ModelFacts>(key: K) => configured[key] ?? server?.[key] ?? bundled[key]
  const sources = [
    [configured, 'config'],
    [server ?? {}, 'server'],
    [bundled, 'catalog'],
  ] as const
  const lengthSource =
    sources.find(([facts]) => facts.contextLength !== undefined)?.[1] ??
    // Ollama is told the length with each request, so it holds (M-16).
    (provider.kind === 'ollama' ? 'catalog' : 'assumed')
  const local = provider.loopback || provider.kind === 'demo'
  return {
    name: `${provider.id}/${id}`,
    id,
    provider,
    label: pick('label') ?? id,
    contextLength: pick('contextLength') ?? (provider.loopback ? assumedLocal : assumedRemote),
    contextLengthSource: lengthSource,
    maxOutput: pick('maxOutput') ?? assumedOutput,
    tools: pick('tools') ?? null,
    vision: pick('vision') ?? null,
    efforts: pick('efforts') ?? null,
    price: local ? { input: 0, output: 0 } : (pick('price') ?? null),
    local,
    stream: pick('stream') ?? true,
    quirks: { ...bundled.quirks, ...server?.quirks, ...configured.quirks },
    hidden: pick('hidden') ?? false,
  }
}

/** Without what only this room needs. */
export function publicInfo({
  name,
  label,
  contextLength,
  contextLengthSource,
  maxOutput,
  tools,
  vision,
  efforts,
  price,
  local,
}: KnownModel): ModelInfo {
  return { name, label, contextLength, contextLengthSource, maxOutput, tools, vision, efforts, price, local }
}

/** The nearest lower effort offered, else the lowest offered; as it is where no list is known (M-32). */
export function chooseEffort(wanted: string | undefined, offered: readonly string[] | null): string | undefined {
  const rank = (effort: string) => efforts.indexOf(effort as (typeof efforts)[number])
  if (wanted === undefined || rank(wanted) === -1) return undefined
  if (offered === null) return wanted
  const ordered = offered.toSorted((a, b) => rank(a) - rank(b))
  return ordered.findLast((effort) => rank(effort) <= rank(wanted)) ?? ordered[0]
}
