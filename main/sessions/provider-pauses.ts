/**
 * Providers whose refusal pauses what starts by itself (automations.md 9): a key that is refused today is refused tonight
 * too, and nobody is there to see it. A person's turns are not affected.
 */
import type { ErrorCode } from '../../preload/contract/errors.ts'
import { quotaPauseMs } from '../../preload/contract/limits.ts'
import type { Provider } from '../models/config.ts'
import type { Storage } from '../storage/storage.ts'
import type { Refused } from '../turns/state.ts'
import { SessionClock } from './session-clock.ts'

/** `until` null: only what changes the provider's mind ends it. */
export type ProviderPause = { provider: string; code: ErrorCode; since: number; until: number | null }

export type ProviderPausesPorts = {
  storage: Pick<Storage, 'value' | 'setValue'>
  changed(): void
  /** What waited for the end of a pause may start. */
  ended(): void
  log(message: string, fields: Record<string, unknown>): void
  now(): number
}

const storedName = 'automatic.pauses'

export class ProviderPauses {
  readonly #ports: ProviderPausesPorts
  readonly #pauses = new Map<string, ProviderPause>()
  readonly #clock: SessionClock
  #saving: Promise<void> = Promise.resolve()

  constructor(ports: ProviderPausesPorts) {
    this.#ports = ports
    this.#clock = new SessionClock((provider) => this.#lookAt(provider), ports.now)
  }

  /** What was paused when the last host ended still is. */
  async load(): Promise<void> {
    const stored = await this.#ports.storage.value(storedName)
    for (const pause of Array.isArray(stored) ? stored : []) {
      if (!isPause(pause)) continue
      this.#pauses.set(pause.provider, pause)
      if (pause.until !== null) this.#clock.arm(pause.provider, pause.until)
    }
  }

  of(provider: string): ProviderPause | null {
    return this.#pauses.get(provider) ?? null
  }

  list(): ProviderPause[] {
    return [...this.#pauses.values()]
  }

  /** A turn that started by itself was refused: until its quota is there again, else until something changes. */
  refused({ provider, code, retryAt }: Refused): void {
    const { now } = this.#ports
    const until = code === 'provider.quota_exhausted' ? (retryAt ?? now() + quotaPauseMs) : null
    // A turn that had begun before says nothing new, but may know when it ends.
    this.#pauses.set(provider, { provider, code, since: this.#pauses.get(provider)?.since ?? now(), until })
    if (until !== null) this.#clock.arm(provider, until)
    this.#save()
  }

  /** A turn completed with it, its key changed, or the person said so. */
  end(provider: string): void {
    if (!this.#pauses.delete(provider)) return
    this.#save()
    this.#ports.ended()
  }

  /** Another key, address or kind of a provider: what was refused may be answered now. */
  reconfigured(before: ReadonlyMap<string, Provider>, now: ReadonlyMap<string, Provider>): void {
    for (const { provider } of this.list())
      if (JSON.stringify(before.get(provider)) !== JSON.stringify(now.get(provider))) this.end(provider)
  }

  /** Waits until what was said is stored. */
  async stop(): Promise<void> {
    this.#clock.stop()
    await this.#saving
  }

  #lookAt(provider: string): void {
    const until = this.of(provider)?.until ?? null
    if (until !== null && until <= this.#ports.now()) this.end(provider)
  }

  #save(): void {
    const { storage, log, changed } = this.#ports
    this.#saving = this.#saving
      .then(() => storage.setValue(storedName, this.list()))
      .catch((error: unknown) => log('Which providers are paused could not be saved', { error: String(error) }))
    changed()
  }
}

function isPause(value: unknown): value is ProviderPause {
  if (typeof value !== 'object' || value === null) return false
  const { provider, code, since, until } = value as Record<string, unknown>
  const isTime = (time: unknown) => typeof time === 'number'
  return typeof provider === 'string' && typeof code === 'string' && isTime(since) && (until === null || isTime(until))
}
