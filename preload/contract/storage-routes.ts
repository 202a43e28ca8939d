/** What takes room in the data folder, and giving it back (S-173, K-16). */
import { z } from 'zod'
import { Id } from './ids.ts'
import { act, route } from './route.ts'

export const StorageKind = z.enum([
  'sessions',
  'attachments',
  'versions',
  'outputs',
  'checkpoints',
  'logs',
  'temporary',
  'unreferenced',
  'other',
])
export type StorageKind = z.infer<typeof StorageKind>

/** Cleaning up, in this order: what was deleted long ago, bodies nothing refers to, old checkpoints, the database's own room. */
export const ReclaimStep = z.enum(['deleted', 'bodies', 'checkpoints', 'database'])
export type ReclaimStep = z.infer<typeof ReclaimStep>

const Bytes = z.number().int().nonnegative()

export const StorageUsage = z.object({
  kinds: z.array(z.object({ kind: StorageKind, bytes: Bytes })),
  /** The sessions that take most of the database, the largest first. */
  largest: z.array(z.object({ sessionId: Id, title: z.string(), bytes: Bytes })),
  /** What each step would free now. What goes with deleted sessions is known once they are gone. */
  reclaimable: z.array(z.object({ step: ReclaimStep, bytes: Bytes })),
})
export type StorageUsage = z.infer<typeof StorageUsage>

export const storageRoutes = {
  storage: {
    usage: route.output(StorageUsage),
    /** One step of cleaning up; answers the bytes freed. Throws `turn.busy` while a turn runs anywhere. */
    reclaim: route.input(z.object({ ...act, step: ReclaimStep })).output(z.object({ freed: Bytes })),
  },
}
