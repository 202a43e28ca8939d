/** What only the desktop application can answer, over a workbench that may be in another process. */
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import type { Update } from '../../preload/contract/update.ts'
import { Broadcast, joined } from '../platform/broadcast.ts'
import type { Desktop } from '../transport/answers/host-answers.ts'
import { ok, type Handlers } from '../transport/handlers.ts'
import type { Updates } from './updates.ts'

/** The update as windows are told of it, from now on. */
export class UpdateNews {
  private readonly news = new Broadcast<WorkbenchEvent>(() => 'update')

  tell(update: Update): void {
    this.news.send({ type: 'update.changed', update })
  }

  /** What the workbench tells, and the update where it changes; ends with the workbench's stream. */
  among(told: AsyncIterable<WorkbenchEvent>): AsyncGenerator<WorkbenchEvent> {
    return joined(told, (signal) => this.news.read(signal))
  }
}

/** `handlers` with this application's own answers in place of the owner's; `owns()` where the workbench is in this process. */
export function withOwnAnswers(
  handlers: Handlers,
  own: { desktop: Desktop; updates: Updates; news: UpdateNews; owns(): boolean },
): Handlers {
  const { desktop, updates, news, owns } = own
  const host: Handlers['host'] = {
    watch: (input, client) => news.among(handlers.host.watch(input, client)),
    info: async (input, client) => {
      const info = await handlers.host.info(input, client)
      const capabilities = owns()
        ? info.capabilities
        : (['open_folder_dialog', 'reveal', 'open_external', 'windows'] as const)
      const canUpdate = updates.state().state !== 'none'
      return { ...info, kind: 'desktop', capabilities: [...capabilities, ...(canUpdate ? (['updates'] as const) : [])] }
    },
    reveal: async ({ path }) => (await desktop.reveal(path), ok),
    openExternal: async ({ url }) => (await desktop.openExternal(url), ok),
    chooseFolder: async () => ({ path: await desktop.chooseFolder() }),
    update: async () => updates.state(),
    lookForUpdate: () => updates.look(),
    installUpdate: async ({ when }) => (await updates.install(when), ok),
  }
  return new Proxy(handlers, { get: (all, name: keyof Handlers) => (name === 'host' ? host : all[name]) })
}
