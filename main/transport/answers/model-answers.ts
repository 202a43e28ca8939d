/** Answers of the routes about models and who serves them. */
import type { WorkbenchEvent } from '../../../preload/contract/events.ts'
import type { ProviderEntry } from '../../../preload/contract/model-routes.ts'
import type { ModelService, ProviderState } from '../../models/models.ts'
import type { Broadcast } from '../../platform/broadcast.ts'
import type { Config } from '../../platform/config.ts'
import type { ProviderPause, ProviderPauses } from '../../sessions/provider-pauses.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { ok, signalOf, type Handlers } from '../handlers.ts'

export type ModelServices = {
  models: ModelService
  config: Config
  secrets: Secrets
  pauses: ProviderPauses
  events: Broadcast<WorkbenchEvent>
}

export function modelAnswers({ models, config, secrets, pauses, events }: ModelServices): Pick<Handlers, 'models'> {
  return {
    models: {
      list: async ({ refresh }, client) =>
        (refresh ? await models.refresh(signalOf(client)) : await models.list()).map((provider) =>
          providerEntry(provider, pauses.of(provider.id)),
        ),
      probe: (_, client) => models.probe(signalOf(client)),
      test: ({ provider }, client) => models.test(provider, null, signalOf(client)),
      putProvider: async ({ id, kind, baseUrl, apiKeyEnv, models: names }) => {
        await config.update((content) => {
          const providers = record(content['providers'])
          const entry = {
            ...record(providers[id]),
            kind,
            ...(baseUrl === undefined ? {} : { baseUrl }),
            ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
            ...(names === undefined ? {} : { models: names }),
          }
          return { ...content, providers: { ...providers, [id]: entry } }
        })
        events.send({ type: 'models.changed' })
        return ok
      },
      removeProvider: async ({ id }) => {
        await config.update((content) => {
          const { [id]: _, ...providers } = record(content['providers'])
          return { ...content, providers }
        })
        events.send({ type: 'models.changed' })
        return ok
      },
      resume: async ({ provider }) => (pauses.end(provider), ok),
      setKey: async ({ provider, key }) => {
        await secrets.set(`provider.${provider}`, key)
        models.credentialsChanged()
        pauses.end(provider)
        events.send({ type: 'models.changed' })
        return { storedIn: await secrets.source(`provider.${provider}`) }
      },
    },
  }
}

function providerEntry(provider: ProviderState, pause: ProviderPause | null): ProviderEntry {
  return {
    ...provider,
    ...(pause ? { paused: { code: pause.code, since: pause.since, until: pause.until } } : {}),
    models: provider.models.map((model) => ({
      ...model,
      provider: provider.id,
      price: model.price ? { input: model.price.input, output: model.price.output } : null,
    })),
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
