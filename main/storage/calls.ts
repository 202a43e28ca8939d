/** The calls between the main side and the worker. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { Reads } from './reads.ts'
import type { StorageCondition } from './storage.ts'
import type { Upkeep } from './upkeep.ts'
import type { Writes } from './writes.ts'

export type Operations = Reads & Writes & Upkeep
export type OperationName = keyof Operations

export type WorkerStart = {
  home: string
  readOnly: boolean
  owner: string
  /** Shared with tests that make commits fail or wait; see faults.ts. */
  faults: SharedArrayBuffer | null
}

export type Call = { id: number; operation: OperationName; args: unknown[] }
export type Reply = { id: number; value?: unknown; error?: ErrorBody }

/** What the worker posts: once how the opening went, then the replies of each round together. */
export type FromWorker = { opened: StorageCondition } | { failed: ErrorBody } | { replies: Reply[] }
/** `close` is the last message: it is answered by the worker's exit. */
export type ToWorker = { calls: Call[] } | { close: true }
