/** What a crash left open is settled, in this order, before anything new begins. */
import { settleOpenIntents } from '../files/gate.ts'
import type { StoredLedger } from './exec-records.ts'
import { recordFound, type StoredIntents } from './file-records.ts'
import type { Imports } from './imports.ts'
import type { Sessions } from './sessions.ts'

export type AfterCrashPorts = {
  imports: Pick<Imports, 'sweep'>
  intents: StoredIntents
  ledger: Pick<StoredLedger, 'endLeftovers'>
  sessions: Sessions
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void
}

/** Never throws: what cannot be settled is logged and stays as it is. */
export async function settleAfterCrash({ imports, intents, ledger, sessions, log }: AfterCrashPorts): Promise<void> {
  const settled = <R>(work: Promise<R[]>, otherwise: string): Promise<R[]> =>
    work.catch((error: unknown) => {
      log('error', otherwise, { error: String(error) })
      return []
    })
  await imports.sweep().catch((error: unknown) => {
    log('error', 'An import cut off could not be removed', { error: String(error) })
  })
  const found = await settled(settleOpenIntents(intents), 'Open file intents could not be settled')
  // Before the first turn: what a crash left running must not meet what is started now.
  const ended = await settled(ledger.endLeftovers(), 'Processes of an earlier run could not be ended')
  for (const { owner, preview } of ended) log('warn', 'A process of an earlier run was ended', { owner, preview })
  await Promise.all(ended.map(({ owner }) => sessions.actor(owner).catch(() => null)))
  await sessions.recoverAll()
  await recordFound(found, sessions, intents, log)
}
