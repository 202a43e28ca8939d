/**
 * Starts turns that no person asked for: when it is time to look, how many run at once over all sessions, and
 * what a refusal leaves. What would start stays where it is stored until its admission is durable (T-26, T-28).
 */
import { LatheError } from '../../preload/contract/errors.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { AutomaticRequest } from '../turns/automatic.ts'
import type { SessionActor } from './actor.ts'
import { SessionClock } from './session-clock.ts'

export type AutomaticStartsPorts = {
  submit(sessionId: string, request: AutomaticRequest): Promise<SubmitReply>
  /** Looks in a session what is next, now. */
  look(sessionId: string): void
  /** Background turns that run. */
  running(): number
  most(): number
  log(message: string, fields: Record<string, unknown>): void
  now(): number
}

/** What may be better soon; anything else waits for the session's next turn. */
const passing = new Set(['storage.failed', 'storage.busy', 'storage.timeout', 'storage.low', 'workspace.busy'])
const againMs = 30_000

export class AutomaticStarts {
  private readonly ports: AutomaticStartsPorts
  private readonly clock: SessionClock
  /** Sessions in which something waits for others to end, the first due first. */
  private readonly waiting = new Set<string>()
  /** Sessions in which something waits for the end of a pause. */
  private readonly paused = new Set<string>()
  private starting = 0

  constructor(ports: AutomaticStartsPorts) {
    this.ports = ports
    this.clock = new SessionClock((id) => ports.look(id), ports.now)
  }

  lookAt(sessionId: string, at: number): void {
    this.clock.arm(sessionId, at)
  }

  async start(actor: SessionActor, request: AutomaticRequest): Promise<void> {
    const { ports } = this
    if (ports.running() + this.starting >= ports.most()) {
      this.waiting.add(actor.id)
      return
    }
    this.starting++
    try {
      await ports.submit(actor.id, request)
    } catch (error) {
      if (error instanceof LatheError && error.reason === 'provider_paused') {
        this.paused.add(actor.id)
        return
      }
      const code = error instanceof LatheError ? error.code : 'app.internal'
      if (passing.has(code)) this.clock.arm(actor.id, ports.now() + againMs)
      ports.log('An automatic turn could not start', { sessionId: actor.id, source: request.source, code })
    } finally {
      this.starting--
      this.freed()
    }
  }

  /** A place may be free: the session that waits longest looks again. */
  freed(): void {
    const [first] = this.waiting
    if (first === undefined || this.ports.running() + this.starting >= this.ports.most()) return
    this.waiting.delete(first)
    this.ports.look(first)
  }

  /** Some pause has ended: whoever still meets another waits on. */
  resumed(): void {
    const waiting = [...this.paused]
    this.paused.clear()
    for (const id of waiting) this.ports.look(id)
  }

  stop(): void {
    this.clock.stop()
    this.paused.clear()
    this.waiting.clear()
  }
}
