/** Changes of files that were found after their call had ended, or their turn had settled: none of them is lost. */
import { setTimeout as delay } from 'node:timers/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { settleRetryMs } from '../../preload/contract/limits.ts'
import type { TurnEnd } from '../files/workspace-changes.ts'
import { changedFile, isGone } from './file-records.ts'
import type { Command } from '../turns/inputs.ts'

export type LateChangesPorts = {
  command(sessionId: string, command: Command): Promise<unknown>
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
}

export class LateChanges {
  readonly #ports: LateChangesPorts
  readonly #under = new Set<Promise<void>>()

  constructor(ports: LateChangesPorts) {
    this.#ports = ports
  }

  /**
   * Records changes of the session's turn, and what is to be told of them. While they cannot be saved the session says so
   * and tries again until they are (T-41); where it cannot even be read, that is tried a few times. Never rejects.
   */
  record(sessionId: string, found: { turnId: string } & TurnEnd): Promise<void> {
    const { turnId, notice } = found
    if (found.changes.length === 0 && notice === null) return Promise.resolve()
    const changes = found.changes.map((change) => changedFile(change, turnId))
    return this.wait(this.#record(sessionId, { type: 'changes.late', turnId, changes, notice }))
  }

  /** What is still to be found counts as under way too. */
  wait(work: Promise<void>): Promise<void> {
    this.#under.add(work)
    return work.finally(() => this.#under.delete(work))
  }

  /** Resolves once nothing is under way, or after `ms`: before storage closes. */
  async idle(ms: number): Promise<void> {
    const limit = new AbortController()
    const late = delay(ms, undefined, { signal: limit.signal }).then(
      () => true,
      () => true,
    )
    const done = (async () => {
      while (this.#under.size > 0) await Promise.all(this.#under)
    })()
    await Promise.race([done, late])
    limit.abort()
  }

  async #record(sessionId: string, command: Command): Promise<void> {
    for (const ms of [...settleRetryMs, null]) {
      try {
        await this.#ports.command(sessionId, command)
        return
      } catch (error) {
        const mayPass = error instanceof LatheError && error.code.startsWith('storage.') && error.reason !== 'not_owner'
        if (!isGone(error) && (!mayPass || ms === null))
          this.#ports.log('error', 'Changes of files could not be recorded', { sessionId, error: String(error) })
        if (!mayPass || ms === null) return
        await delay(ms, undefined, { ref: false })
      }
    }
  }
}
