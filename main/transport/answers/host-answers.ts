/** Answers of the routes about the host, as a workbench has them: what only a desktop or the web host can do is theirs. */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { WorkbenchEvent } from '../../../preload/contract/events.ts'
import { noUpdate } from '../../../preload/contract/update.ts'
import type { Broadcast } from '../../platform/broadcast.ts'
import { ok, signalOf, type Handlers } from '../handlers.ts'
import type { HostState } from '../host-state.ts'

export type Desktop = {
  reveal(path: string): Promise<void>
  openExternal(url: string): Promise<void>
  chooseFolder(): Promise<string | null>
}

export type HostServices = {
  host: HostState
  events: Broadcast<WorkbenchEvent>
  /** What only a desktop shell can do; absent on the web host (Z-183). */
  desktop: Desktop | null
}

export function hostAnswers({ host, events, desktop }: HostServices): Pick<Handlers, 'host' | 'browsers'> {
  const onDesktop = () => desktop ?? notHere()
  return {
    host: {
      info: async () => host.info(),
      watch: (_, client) => beginningWith(host.event(), events.read(signalOf(client))),
      reveal: async ({ path }) => (await onDesktop().reveal(path), ok),
      openExternal: async ({ url }) => (await onDesktop().openExternal(url), ok),
      chooseFolder: async () => ({ path: await onDesktop().chooseFolder() }),
      // The desktop application answers these itself, whoever owns the workbench.
      update: async () => noUpdate,
      lookForUpdate: async () => notHere(),
      installUpdate: async () => notHere(),
    },
    // The web host answers these itself, whoever owns the workbench.
    browsers: {
      list: async () => [],
      setRights: async () => noWebHost(),
      signOut: async () => noWebHost(),
      address: async () => noWebHost(),
    },
  }
}

/** The state of now, then what comes: the subscription itself began before. */
async function* beginningWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

function noWebHost(): never {
  throw new LatheError('host.not_here', 'No browser is served here.', { hint: 'Start `lathe serve`.' })
}

function notHere(): never {
  throw new LatheError('host.not_here', 'Only the desktop app can do this.')
}
