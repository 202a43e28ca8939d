/** What only the web host can answer, over a workbench that may be in another process: who its browsers are. */
import type { BrowserRights } from '../../preload/contract/browsers.ts'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { Broadcast, joined } from '../platform/broadcast.ts'
import type { Browsers } from './browsers.ts'
import { ok, type ClientContext, type Handlers } from './handlers.ts'

/** `handlers` with the web host's own answers in place of the owner's; `addressOf` is an address of these rights. */
export function withBrowsers(
  handlers: Handlers,
  browsers: Browsers,
  addressOf: (rights: BrowserRights) => string,
): Handlers {
  const news = new Broadcast<null>(() => 'browsers')
  browsers.onChange(() => news.send(null))

  /** One that only watches learns of itself. */
  function shownTo({ clientId, rights }: ClientContext) {
    const all = browsers.list()
    return rights?.mayAct() === false ? all.filter(({ id }) => id === clientId) : all
  }
  async function* changes(client: ClientContext, signal: AbortSignal): AsyncGenerator<WorkbenchEvent> {
    for await (const _ of news.read(signal)) yield { type: 'browsers.changed', browsers: shownTo(client) }
  }

  const ofHost: Pick<Handlers['host'], 'info' | 'watch'> = {
    info: async (input, client) => ({
      ...(await handlers.host.info(input, client)),
      browser: browsers.get(client.clientId),
    }),
    watch: (input, client) => joined(handlers.host.watch(input, client), (signal) => changes(client, signal)),
  }
  // The rest is the owner's, who may be another one at each call.
  const host = new Proxy(ofHost as Handlers['host'], {
    get: (own, route: keyof Handlers['host']) => own[route] ?? handlers.host[route],
  })
  const own: Handlers['browsers'] = {
    list: async (_, client) => shownTo(client),
    setRights: async ({ id, rights }) => (browsers.setRights(id, rights), ok),
    signOut: async ({ id }) => (browsers.signOut(id), ok),
    address: async ({ rights }) => ({ url: addressOf(rights) }),
  }
  return new Proxy(handlers, {
    get: (all, name: keyof Handlers) => (name === 'host' ? host : name === 'browsers' ? own : all[name]),
  })
}
