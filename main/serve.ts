/** `lathe serve`: the window for a browser on this machine, over the workbench here or that of the folder's owner. */
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { LatheError } from '../preload/contract/errors.ts'
import { newId } from '../preload/contract/ids.ts'
import { openHost, version, type Host } from './host.ts'
import { createConnections } from './transport/connections.ts'
import type { Handlers } from './transport/handlers.ts'
import { listPageFiles, pageFolder } from './transport/page-files.ts'
import { startWebHost } from './transport/web-host.ts'

/** How long settling and flushing may take before the process ends all the same (SA-35). */
const closeMs = 15_000

export type ServeOptions = {
  home: string
  /** 0 for any free port. */
  port: number
  workspace: string | undefined
  /** Given the address with its token, once requests are answered (S-139). */
  ready(url: string): void
  note(text: string): void
  /** Ends the host. */
  signal: AbortSignal
}

/**
 * Serves until `signal` fires. While another process owns the data folder its workbench is served, and taken over when
 * that process ends (S-135). Throws where the port cannot be had or the folder not be opened.
 */
export async function serve({ home, port, workspace, ready, note, signal }: ServeOptions): Promise<void> {
  const folder = workspace === undefined ? null : await folderOf(workspace)
  const files = await listPageFiles(await pageFolder())
  if (!files.has('/')) note('The window is not built; run `npm run build`. The contract is served without it.')

  const started = performance.now()
  let state: 'starting' | 'ready' | 'draining' = 'starting'
  const open = (): Promise<Host> => openHost({ home, kind: 'web', attendance: 'attended', signal })
  let host = await open()
  const web = await startWebHost({
    port,
    files,
    connections: createConnections({ handlers: forwarding(() => host.handlers), fault: (error, route) => host.fault(error, route) }),
    health: () => state,
    status: () => ({ version, pid: process.pid, uptimeSeconds: Math.round((performance.now() - started) / 1_000), owns: host.owns }),
    fault: (error) => host.fault(error, 'http'),
  }).catch(async (error: unknown) => {
    await host.close()
    throw error
  })
  const address = web.url.split('#')[0]!

  try {
    if (folder !== null) await host.handlers.workspaces.open({ requestId: newId(), path: folder }, { clientId: newId(), kind: 'web', attendance: 'attended' })
    await host.announce(address)
    state = 'ready'
    ready(web.url)
    while (!signal.aborted) {
      await fires(AbortSignal.any([signal, host.ended]))
      if (signal.aborted) break
      state = 'starting'
      note('The process that owned the data folder went away.')
      await host.close()
      host = await open()
      await host.announce(address)
      state = 'ready'
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    state = 'draining'
    await Promise.race([host.close(), new Promise((done) => setTimeout(done, closeMs).unref())])
    await web.close()
  }
}

/** Handlers that are those of whichever host there is at the moment of a call. */
function forwarding(current: () => Handlers): Handlers {
  type Table = Record<string, Record<string, unknown>>
  const group = (name: string): object => new Proxy({}, { get: (_target, route: string) => (current() as unknown as Table)[name]![route] })
  return new Proxy({}, { get: (_target, name: string) => group(name) }) as Handlers
}

async function folderOf(given: string): Promise<string> {
  const path = await realpath(resolve(given)).catch(() => null)
  if (path === null) throw new LatheError('workspace.missing', `There is no folder ${given}.`)
  return path
}

function fires(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    else signal.addEventListener('abort', () => done(), { once: true })
  })
}
