/**
 * The outside of one turn: its signal, what its worker waits for, its timers. It exists from the step that makes the turn
 * visible (T-4) until the turn has settled, and then leaves nobody waiting, whatever the worker still does.
 */
import type { Release } from '../agent/reports.ts'

/** Timers end at 2^31-1 ms; a longer wait is begun anew (T-85). */
const timerMsMax = 2 ** 31 - 1

export class TurnHandle {
  readonly turnId: string
  readonly controller = new AbortController()
  /** Resolves when the turn has settled. */
  readonly ended: Promise<void>
  private request: AbortController | null = null
  private readonly tickets = new Map<string, (answer: Release) => void>()
  private readonly timers = new Map<string, NodeJS.Timeout>()
  private isEnded = false
  private resolveEnded!: () => void

  constructor(turnId: string) {
    this.turnId = turnId
    this.ended = new Promise((resolve) => (this.resolveEnded = resolve))
  }

  /** What `ticket` is answered with; an ended turn answers `cancelled`. */
  ticket(ticket: string): Promise<Release> {
    if (this.isEnded) return Promise.resolve({ noAnswer: 'cancelled' })
    return new Promise((resolve) => this.tickets.set(ticket, resolve))
  }

  release(ticket: string, answer: Release): void {
    this.tickets.get(ticket)?.(answer)
    this.tickets.delete(ticket)
    this.clear(ticket)
  }

  /** A signal for the next model request: the turn's own, or "send now" (T-120). */
  requestSignal(): AbortSignal {
    this.request = new AbortController()
    return AbortSignal.any([this.controller.signal, this.request.signal])
  }

  abortRequest(): void {
    this.request?.abort('steer')
  }

  /** Does `act` after `ms` unless the turn has settled or `name` was cleared; a name that waits already keeps its time. */
  after(name: string, ms: number, act: () => void): void {
    if (this.isEnded || this.timers.has(name)) return
    const wait = Math.min(ms, timerMsMax)
    const timer = setTimeout(() => {
      this.timers.delete(name)
      if (wait < ms) this.after(name, ms - wait, act)
      else act()
    }, wait)
    this.timers.set(name, timer)
  }

  clear(name: string): void {
    clearTimeout(this.timers.get(name))
    this.timers.delete(name)
  }

  end(): void {
    if (this.isEnded) return
    this.isEnded = true
    for (const timer of this.timers.values()) clearTimeout(timer)
    this.timers.clear()
    for (const answer of this.tickets.values()) answer({ noAnswer: 'cancelled' })
    this.tickets.clear()
    this.controller.abort('settled')
    this.resolveEnded()
  }
}
