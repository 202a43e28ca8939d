/** Answers of the routes about the workbench: host, settings, workspaces, models, terminals, attachments. */
import { LatheError } from '../../../preload/contract/errors.ts'
import { attachmentBytesMax } from '../../../preload/contract/limits.ts'
import type { Attachment, Item } from '../../../preload/contract/items.ts'
import type { ProviderEntry } from '../../../preload/contract/model-routes.ts'
import { noUpdate } from '../../../preload/contract/update.ts'
import type { ProviderState } from '../../models/models.ts'
import type { ProviderPause } from '../../sessions/provider-pauses.ts'
import { whileMayAct } from '../../turns/requests.ts'
import type { Handlers } from '../handlers.ts'
import type { Services } from './services.ts'
import { Uploads } from './uploads.ts'

const ok = { ok: true } as const
const never = () => new AbortController().signal

export function workbenchAnswers(
  services: Services,
): Pick<
  Handlers,
  'host' | 'storage' | 'settings' | 'workspaces' | 'attachments' | 'agents' | 'browsers' | 'models' | 'terminals'
> {
  const { storage, settings, workspaces, models, terminals, exec, events } = services
  const uploads = new Uploads(storage.blobs, attachmentBytesMax)
  return {
    host: {
      info: async () => services.host.info(),
      watch: (_, client) => beginningWith(services.host.event(), events.read(client.signal ?? never())),
      reveal: async ({ path }) => (await desktop(services).reveal(path), ok),
      openExternal: async ({ url }) => (await desktop(services).openExternal(url), ok),
      chooseFolder: async () => ({ path: await desktop(services).chooseFolder() }),
      // The desktop application answers these itself, whoever owns the workbench.
      update: async () => noUpdate,
      lookForUpdate: async () => notHere(),
      installUpdate: async () => notHere(),
    },
    storage: {
      usage: () => services.dataFolder.usage(),
      reclaim: async ({ step }) => ({ freed: await services.dataFolder.reclaim(step) }),
    },
    settings: {
      get: async () => services.defaultModel.shownSettings(),
      set: async ({ settings: patch }) => {
        if (patch.model !== undefined && patch.model !== null) models.choose(patch.model)
        await settings.set(patch)
        const shown = services.defaultModel.shownSettings()
        events.send({ type: 'settings.changed', settings: shown })
        return shown
      },
      preferences: async () => settings.preferences(),
      setPreferences: async ({ preferences }) => {
        const changed = await settings.setPreferences(preferences)
        events.send({ type: 'preferences.changed', preferences: changed })
        return changed
      },
    },
    workspaces: {
      list: () => workspaces.list(),
      open: ({ path, trust }) => workspaces.open(path, trust ? { trusted: true } : {}),
      trust: ({ path, trusted }) => workspaces.setTrust(path, trusted),
      openDemo: () => workspaces.openDemo(),
      forget: async ({ path }) => (await workspaces.forget(path), ok),
      locate: async ({ path, to }) => {
        const { workspace, sessionIds } = await workspaces.locate(path, to)
        for (const id of sessionIds)
          await services.sessions.command(id, { type: 'workspace.moved', to: workspace.path })
        return workspace
      },
      browse: ({ path }) => workspaces.browse(path),
    },
    attachments: {
      upload: (part) => uploads.add(part),
      read: async ({ sessionId, hash }) => {
        const owned = await attachmentOf(services, sessionId, hash)
        if (!owned) throw new LatheError('access.denied', 'This body is not one of this session.')
        return { data: Buffer.from(await storage.blobs.get(hash)).toString('base64'), mediaType: owned.mediaType }
      },
    },
    // The web host answers these itself, whoever owns the workbench.
    browsers: {
      list: async () => [],
      setRights: async () => noWebHost(),
      signOut: async () => noWebHost(),
      address: async () => noWebHost(),
    },
    agents: { list: ({ workspace }) => services.agents.list(workspace) },
    models: {
      list: async ({ refresh }, client) =>
        (refresh ? await models.refresh(client.signal ?? never()) : await models.list()).map((provider) =>
          providerEntry(provider, services.pauses.of(provider.id)),
        ),
      probe: (_, client) => models.probe(client.signal ?? never()),
      test: ({ provider }, client) => models.test(provider, null, client.signal ?? never()),
      putProvider: async ({ id, kind, baseUrl, apiKeyEnv, models: names }) => {
        await services.config.update((content) => {
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
        await services.config.update((content) => {
          const { [id]: _, ...providers } = record(content['providers'])
          return { ...content, providers }
        })
        events.send({ type: 'models.changed' })
        return ok
      },
      resume: async ({ provider }) => (services.pauses.end(provider), ok),
      setKey: async ({ provider, key }) => {
        await services.secrets.set(`provider.${provider}`, key)
        models.credentialsChanged()
        services.pauses.end(provider)
        events.send({ type: 'models.changed' })
        return { storedIn: await services.secrets.source(`provider.${provider}`) }
      },
    },
    terminals: {
      list: async () => terminals.list(),
      profiles: ({ workspace }) => terminals.profiles(workspace),
      open: ({ workspace, cols, rows, profile }, { rights }) =>
        terminals.open({ workspace, cols, rows, profile, signal: whileMayAct(rights) }),
      // An exec session is looked at, and typed into, as a terminal is.
      attach: ({ id, after }, client) => {
        const signal = client.signal ?? never()
        const session = exec.atScreen(id)
        return session
          ? session.frames(after, signal)
          : terminals.attach(id, { ...(after === undefined ? {} : { after }), signal })
      },
      input: async ({ id, data }) => {
        const session = exec.atScreen(id)
        if (session) session.type(data)
        else terminals.input(id, data)
        return ok
      },
      resize: async ({ id, cols, rows }) => {
        const session = exec.atScreen(id)
        if (session) session.resize(cols, rows)
        else terminals.resize(id, cols, rows)
        return ok
      },
      rename: async ({ id, title }) => (terminals.rename(id, title), ok),
      clear: async ({ id }) => {
        const session = exec.atScreen(id)
        await (session ? session.clear() : terminals.clear(id))
        return ok
      },
      close: async ({ id }) => (await terminals.close(id), ok),
    },
  }
}

/** The state of now, then what comes: the subscription itself began before. */
async function* beginningWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

function desktop(services: Services) {
  return services.desktop ?? notHere()
}

function noWebHost(): never {
  throw new LatheError('host.not_here', 'No browser is served here.', { hint: 'Start `lathe serve`.' })
}

function notHere(): never {
  throw new LatheError('host.not_here', 'Only the desktop app can do this.')
}

/** The attachment of this session with that body; null where it has none (S-117). */
async function attachmentOf(services: Services, sessionId: string, hash: string): Promise<Attachment | null> {
  const among = (items: readonly Item[]) =>
    items
      .flatMap((item) => {
        if (item.kind === 'user') return item.attachments
        const image = item.kind === 'tool' ? item.view?.image : undefined
        return image ? [{ name: 'image', mediaType: image.mediaType, bytes: 0, hash: image.hash }] : []
      })
      .find((one) => one.hash === hash)
  const actor = await services.sessions.actor(sessionId)
  const { items, header, turn } = actor.published
  const waiting = [...header.queue.followUps, ...(turn?.steers ?? [])].flatMap((one) => one.attachments)
  const draft = (await services.storage.draft(sessionId))?.attachments ?? []
  return (
    among(items) ??
    [...waiting, ...draft].find((one) => one.hash === hash) ??
    among((await services.storage.contextItems(sessionId)).items) ??
    null
  )
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
