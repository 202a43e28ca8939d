/**
 * One process owns a data folder: it has the workbench, and others come to it over the local socket (S-135 to S-137).
 * `openHost` gives either, in one shape, to the front doors.
 */
import { hostPollMs, hostWaitMs } from '../preload/contract/limits.ts'
import { setTimeout as delay } from 'node:timers/promises'
import packageJson from '../package.json' with { type: 'json' }
import { LatheError } from '../preload/contract/errors.ts'
import { acquireHome, readHostFile, removeHostFile, writeHostFile, type Ownership } from './platform/home.ts'
import { secretVariables } from './platform/known-values.ts'
import { createLog } from './platform/log.ts'
import type { LateTick } from './platform/loop-lag.ts'
import { createRedaction } from './platform/redaction.ts'
import type { Connections, Wire } from './transport/connections.ts'
import type { ClientContext, Handlers } from './transport/handlers.ts'
import type { WorkbenchOptions, WorkbenchStatus } from './workbench.ts'

export const { version } = packageJson

/** How long an owner that is ending is waited for before looking again for one that has begun. */
const lookAgainMs = 1_000

export type Host = {
  handlers: Handlers
  /** Whether the workbench is in this process. */
  owns: boolean
  /** Fires when `handlers` are of no more use: the owner went away, or another took the folder over. */
  ended: AbortSignal
  /** Of the workbench here; null where another process has it (S-140). */
  status(): WorkbenchStatus | null
  /** Tells others where this host is; nothing where another owns. `url` is without its token. */
  announce(url?: string): Promise<void>
  /** What went wrong in answering a request; logged, never sent. */
  fault(error: unknown, route: string): void
  /** A tick of this process's main loop came late; logged where this process has the log (Z-240). */
  late(tick: LateTick): void
  /** Resolves once no other process is attached to this one. */
  alone(): Promise<void>
  /** Settles and flushes what this process owns, then gives the folder up; idempotent (S-142). */
  close(): Promise<void>
}

export type HostOptions = Pick<WorkbenchOptions, 'home' | 'kind' | 'lasting' | 'desktop' | 'keychain'> & {
  attendance: ClientContext['attendance']
  signal?: AbortSignal
}

/** Attaches to the owner of `home`, or becomes it. Throws as `attach`, or `host.unreachable` where neither succeeds. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { home, signal } = options
  for (const end = Date.now() + hostWaitMs; ; await delay(hostPollMs, undefined, { signal })) {
    const attached = await attachTo(options)
    if (attached) return attached
    const ownership = await acquireHome(home, { waitMs: lookAgainMs })
    if (ownership) return own(ownership, options)
    if (Date.now() > end) {
      throw new LatheError('host.unreachable', 'Another Lathe process holds this data folder and cannot be reached.', {
        hint: 'Quit it, or run `lathe doctor`.',
      })
    }
  }
}

/** Handlers of whichever host there is at the moment of a call, for a front door that stays when owners change. */
export type LastingHost = Pick<Host, 'handlers' | 'fault' | 'late' | 'status' | 'close'> & {
  owns(): boolean
  isReady(): boolean
  announce(url?: string): Promise<void>
  /** Resolves when `signal` of the options fires; rejects where a next owner could not be had. */
  ended: Promise<void>
}

/** As `openHost`, and again after each owner that ends: attached to the next one, or as the next one (S-135). */
export async function openLastingHost(
  options: HostOptions & { signal: AbortSignal; changed?: () => void },
): Promise<LastingHost> {
  const { signal, changed } = options
  let current = await openHost(options)
  let ready = true
  let url: string | undefined

  async function follow(): Promise<void> {
    for (;;) {
      await fires(AbortSignal.any([signal, current.ended]))
      if (signal.aborted) return
      ready = false
      await current.close()
      current = await openHost(options)
      await current.announce(url)
      ready = true
      changed?.()
    }
  }
  const ended = follow().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })

  type Table = Record<string, Record<string, unknown>>
  const group = (name: string): object =>
    new Proxy({}, { get: (_target, route: string) => (current.handlers as unknown as Table)[name]![route] })
  return {
    handlers: new Proxy({}, { get: (_target, name: string) => group(name) }) as Handlers,
    fault: (error, route) => current.fault(error, route),
    late: (tick) => current.late(tick),
    status: () => current.status(),
    owns: () => current.owns,
    isReady: () => ready,
    announce(at) {
      url = at
      return current.announce(at)
    },
    ended,
    close: () => current.close(),
  }
}

function fires(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    else signal.addEventListener('abort', () => done(), { once: true })
  })
}

async function attachTo({ home, attendance, signal }: HostOptions): Promise<Host | null> {
  const file = await readHostFile(home)
  if (!file) return null
  const [{ attach }, { remoteHandlers }] = await Promise.all([
    import('./transport/local-socket.ts'),
    import('./transport/remote.ts'),
  ])
  const wire = await attach(file, attendance, signal)
  if (!wire) return null
  const ended = new AbortController()
  wire.onClose(() => ended.abort())
  return {
    handlers: remoteHandlers(wire),
    owns: false,
    status: () => null,
    ended: ended.signal,
    announce: async () => {},
    fault: () => {},
    late: () => {},
    alone: async () => {},
    close: async () => wire.close(1000, 'done'),
  }
}

async function own(ownership: Ownership, options: HostOptions): Promise<Host> {
  const { home, attendance: _, signal: __, ...workbenchOptions } = options
  const { instanceId } = ownership
  // Until the workbench knows what else is secret.
  const redaction = createRedaction({ known: secretVariables(process.env), loose: true })
  const log = createLog({ home, redact: redaction.text })
  const logFault = (error: unknown, route: string): void => log.error('A request failed', { route, error })
  try {
    const { createWorkbench } = await import('./workbench.ts')
    const workbench = await createWorkbench({ ...workbenchOptions, home, version, log, owner: instanceId })
    await workbench.start()

    let connections: Promise<Connections> | null = null
    const leases = new Set<Wire>()
    let noLease = Promise.withResolvers<void>()
    const { serveLocally } = await import('./transport/local-socket.ts')
    const local = await serveLocally({
      home,
      instanceId,
      version,
      accept: async (wire, who) => {
        leases.add(wire)
        wire.onClose(() => {
          leases.delete(wire)
          noLease.resolve()
          noLease = Promise.withResolvers()
        })
        // The contract's schemas are loaded with the first client, not with every start.
        connections ??= import('./transport/connections.ts').then(({ createConnections }) =>
          createConnections({ handlers: workbench.handlers, fault: logFault }),
        )
        const { accept } = await connections
        accept(wire, who)
      },
    })

    let closing: Promise<void> | null = null
    async function close(): Promise<void> {
      // Who comes now waits for the folder instead of getting half of an ending host.
      local.stop()
      await workbench.dispose()
      await log.flush()
      await local.close()
      await removeHostFile(home, instanceId)
      await ownership.release()
    }
    return {
      handlers: workbench.handlers,
      owns: true,
      status: () => workbench.status(),
      ended: ownership.lost,
      announce: (url) =>
        writeHostFile(home, {
          pid: process.pid,
          instanceId,
          version,
          endpoint: local.endpoint,
          lifetime: 'person',
          ...(url === undefined ? {} : { url }),
        }),
      fault: logFault,
      late: ({ suspended, ...tick }) =>
        suspended ? log.info('The machine slept', tick) : log.warn('The main loop was late', tick),
      alone: async () => {
        while (leases.size > 0) await noLease.promise
      },
      close: () => (closing ??= close()),
    }
  } catch (error) {
    await ownership.release()
    throw error
  }
}
