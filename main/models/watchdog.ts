/**
 * The time limits of one request (M-84, M-85). Counts one-second ticks instead of reading a clock, so a sleeping computer
 * does not age a request.
 */
import type { Timeouts } from './config.ts'

export type Expired = 'firstToken' | 'idle' | 'total' | 'plain'

export class Watchdog {
  readonly #limits: Timeouts
  readonly #plain: boolean
  readonly #expire: (limit: Expired) => void
  readonly #timer: NodeJS.Timeout
  #total = 0
  #quiet = 0
  #streaming = false

  constructor(limits: Timeouts, plain: boolean, expire: (limit: Expired) => void) {
    this.#limits = limits
    this.#plain = plain
    this.#expire = expire
    this.#timer = setInterval(() => this.#tick(), 1_000)
  }

  #tick(): void {
    this.#total += 1
    this.#quiet += 1
    const { firstToken, idle, total, plain } = this.#limits
    if (total > 0 && this.#total > total) this.#end('total')
    else if (this.#plain) {
      if (this.#total > plain) this.#end('plain')
    } else if (this.#quiet > (this.#streaming ? idle : firstToken)) this.#end(this.#streaming ? 'idle' : 'firstToken')
  }

  #end(limit: Expired): void {
    this.stop()
    this.#expire(limit)
  }

  /** Any byte counts as life once content has come; before it only rising progress does. */
  bytes(): void {
    if (this.#streaming) this.#quiet = 0
  }

  progress(): void {
    this.#quiet = 0
  }

  content(): void {
    this.#streaming = true
    this.#quiet = 0
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
