import type { ModelEntry, ProviderEntry } from '../../preload/contract/model-routes.ts'

/** A model's name as stored and sent: `provider/model`. */
export function modelName(provider: string, model: string): string {
  return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`
}

export function findModel(
  providers: readonly ProviderEntry[],
  name: string,
): { provider: ProviderEntry; model: ModelEntry } | null {
  for (const provider of providers)
    for (const model of provider.models) if (modelName(provider.id, model.name) === name) return { provider, model }
  return null
}

/** A model as people read it; one that is in no list keeps its stored name. */
export function modelLabel(providers: readonly ProviderEntry[], name: string): string {
  return findModel(providers, name)?.model.label ?? name
}
