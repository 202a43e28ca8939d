/** The contract of a running host, as a command line has it: by the local socket that `host.json` names (S-136). */
import { newId } from '../preload/contract/ids.ts'
import type { SessionEvent } from '../preload/contract/events.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { readHostFile } from '../main/platform/home.ts'
import type { ClientContext, Handlers } from '../main/transport/handlers.ts'
import { attach } from '../main/transport/local-socket.ts'
import { remoteHandlers } from '../main/transport/remote.ts'

export class HostClient {
  readonly handlers: Handlers
  readonly who: ClientContext = { clientId: newId(), kind: 'cli', attendance: 'attended' }
  readonly #close: () => void

  private constructor(handlers: Handlers, close: () => void) {
    this.handlers = handlers
    this.#close = close
  }

  static async of(home: string): Promise<HostClient> {
    const host = await readHostFile(home)
    const wire = host && (await attach(host, 'attended'))
    if (!wire) throw new Error(`No host serves ${home}.`)
    return new HostClient(remoteHandlers(wire), () => wire.close(1000, 'done'))
  }

  /** As naming it on a command line does. */
  async trust(path: string): Promise<void> {
    await this.handlers.workspaces.open({ requestId: newId(), path, trust: true }, this.who)
  }

  open(sessionId: string): Promise<SessionView> {
    return this.handlers.session.open({ sessionId }, this.who)
  }

  /** Events as they come, until the host goes. */
  events(sessionId: string, after: number, journalId: string): AsyncIterable<SessionEvent> {
    return this.handlers.session.events({ sessionId, after, journalId, stream: newId() }, this.who)
  }

  /** The journal from its first event to the one `view` is true at. */
  async journal(view: SessionView): Promise<SessionEvent[]> {
    const done = new AbortController()
    const { id: sessionId, lastSeq } = view.header
    const stream = this.handlers.session.events(
      { sessionId, after: 0, journalId: view.journalId, stream: newId() },
      { ...this.who, signal: done.signal },
    )
    const events: SessionEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (event.seq === null || event.seq >= lastSeq) break
    }
    done.abort()
    return events
  }

  [Symbol.dispose](): void {
    this.#close()
  }
}
