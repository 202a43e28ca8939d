/** What a lasting host tidies beside all turns: settled deltas, erased sessions, bodies nobody names (T-57, S-21, S-23). */
import { blobsKeptMs, deletedKeptDays, deltasPrunableAfterMs } from '../../preload/contract/limits.ts'
import type { Storage } from '../storage/storage.ts'
import type { Rewinds } from './rewinds.ts'

const everyMs = 10 * 60_000
const dayMs = 24 * 3_600_000

export type LetGoPorts = {
  storage: Pick<Storage, 'pruneDeltas' | 'deletedBefore' | 'erase'>
  rewinds: Pick<Rewinds, 'expire'>
  now(): number
}

export type UpkeepPorts = LetGoPorts & {
  storage: Pick<Storage, 'sweepBlobs'>
  log(message: string, fields: Record<string, unknown>): void
}

/** Begins the rounds; answers the function that ends them. A failing round is logged and the next one tries again. */
export function startUpkeep(ports: UpkeepPorts): () => void {
  const timer = setInterval(() => {
    void tidy(ports).catch((error: unknown) => ports.log('Upkeep failed', { error: String(error) }))
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function tidy(ports: UpkeepPorts): Promise<void> {
  await letGo(ports)
  await ports.storage.sweepBlobs(ports.now() - blobsKeptMs)
}

/** What was kept for a while only: deltas of settled turns, sessions deleted and entries set aside long ago. */
export async function letGo({ storage, rewinds, now }: LetGoPorts): Promise<void> {
  const at = now()
  await storage.pruneDeltas(at - deltasPrunableAfterMs)
  for (const sessionId of await storage.deletedBefore(at - deletedKeptDays * dayMs)) await storage.erase(sessionId, at)
  await rewinds.expire()
}
