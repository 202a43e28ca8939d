/** `lathe serve`: the window for a browser on this machine, over the workbench here or that of the folder's owner. */
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { LatheError } from '../preload/contract/errors.ts'
import { newId } from '../preload/contract/ids.ts'
import { openLastingHost, version } from './host.ts'
import { watchLoop } from './platform/loop-lag.ts'
import { withBrowsers } from './transport/browser-answers.ts'
import { Browsers } from './transport/browsers.ts'
import { createConnections } from './transport/connections.ts'
import { listPageFiles, pageFolder } from './transport/page-files.ts'
import { startWebHost, type WebHost } from './transport/web-host.ts'

/** How long settling and flushing may take before the process ends all the same (SA-35). */
const closeMs = 15_000

export type ServeOptions = {
  home: string
  /** 0 for any free port. */
  port: number
  workspace: string | undefined
  /** Given the address with its token, once requests are answered, and each one that takes its place (S-139). */
  ready(url: string): void
  /** Given an address that lets a browser in to watch only, where it is asked for. */
  watchReady?: ((url: string) => void) | undefined
  note(text: string): void
  /** Ends the host. */
  signal: AbortSignal
}

/**
 * Serves until `signal` fires. While another process owns the data folder its workbench is served, and taken over when
 * that process ends (S-135). Throws where the port cannot be had or the folder not be opened.
 */
export async function serve({ home, port, workspace, ready, watchReady, note, signal }: ServeOptions): Promise<void> {
  const folder = workspace === undefined ? null : await folderOf(workspace)
  const files = await listPageFiles(await pageFolder())
  if (!files.has('/')) note('The window is not built; run `npm run build`. The contract is served without it.')

  const started = performance.now()
  let isServing = false
  const host = await openLastingHost({
    home,
    kind: 'web',
    attendance: 'attended',
    signal,
    changed: () => note('Another process owned the data folder and went away.'),
  })
  const loop = watchLoop({ late: host.late })
  const state = (): 'starting' | 'ready' | 'degraded' | 'draining' => {
    if (signal.aborted) return 'draining'
    if (!isServing || !host.isReady()) return 'starting'
    return host.status()?.isDegraded ? 'degraded' : 'ready'
  }
  const browsers = new Browsers()
  let web: WebHost | null = null
  try {
    web = await startWebHost({
      port,
      files,
      browsers,
      connections: createConnections({
        handlers: withBrowsers(host.handlers, browsers, (rights) => web!.address(rights)),
        fault: host.fault,
      }),
      health: state,
      status: () => ({
        version,
        pid: process.pid,
        uptimeSeconds: Math.round((performance.now() - started) / 1_000),
        owns: host.owns(),
        runningTurns: host.status()?.runningTurns ?? null,
        storage: host.status()?.storage ?? null,
        loop: loop.read(),
      }),
      fault: (error) => host.fault(error, 'http'),
    })
    if (folder !== null)
      await host.handlers.workspaces.open(
        { requestId: newId(), path: folder, trust: true },
        { clientId: newId(), kind: 'web', attendance: 'attended' },
      )
    await host.announce(web.address('full').split('#')[0])
    isServing = true
    const { address } = web
    const tell = { full: ready, watch: watchReady }
    browsers.onNewLink = (rights) => {
      note('The address a browser came by before lets nobody in any more; this one does.')
      tell[rights]?.(address(rights))
    }
    ready(address('full'))
    watchReady?.(address('watch'))
    await host.ended
  } finally {
    loop.stop()
    await Promise.race([host.close(), new Promise((done) => setTimeout(done, closeMs).unref())])
    await web?.close()
  }
}

async function folderOf(given: string): Promise<string> {
  const path = await realpath(resolve(given)).catch(() => null)
  if (path === null) throw new LatheError('workspace.missing', `There is no folder ${given}.`)
  return path
}
