/** The folders that checkpoints are kept in, one a workspace, and what becomes of old ones (F-1013, F-1015). */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

export type CheckpointStore = { path: string; bytes: number; usedAt: number }

const bytesMax = 20 * 1024 * 1024 * 1024
const keptMs = 30 * 24 * 60 * 60 * 1_000

export function checkpointFolder(home: string): string {
  return join(home, 'checkpoints')
}

export async function checkpointStores(folder: string): Promise<CheckpointStore[]> {
  const names = await readdir(folder).catch(() => [])
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const files = ['pack', 'state.json'].map((file) => stat(join(path, file)).catch(() => null))
      const [pack, state] = await Promise.all(files)
      const used = await stat(path).catch(() => null)
      return { path, bytes: (pack?.size ?? 0) + (state?.size ?? 0), usedAt: used?.mtimeMs ?? 0 }
    }),
  )
}

/** Those that go: not used for 30 days, then the oldest until all fit into 20 GiB; never one that is in use. */
export async function expiredCheckpoints(
  folder: string,
  isUsed: (path: string) => boolean,
): Promise<CheckpointStore[]> {
  const stores = await checkpointStores(folder)
  let bytes = stores.reduce((sum, store) => sum + store.bytes, 0)
  const expired: CheckpointStore[] = []
  for (const store of stores.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (store.usedAt > Date.now() - keptMs && bytes <= bytesMax) break
    if (isUsed(store.path)) continue
    expired.push(store)
    bytes -= store.bytes
  }
  return expired
}

/** Removes those that have expired; answers the bytes freed. */
export async function tidyCheckpoints(folder: string, isUsed: (path: string) => boolean): Promise<number> {
  let bytes = 0
  for (const store of await expiredCheckpoints(folder, isUsed)) {
    await rm(store.path, { recursive: true, force: true })
    bytes += store.bytes
  }
  return bytes
}

/** Removes all of them. Turns are undone by the contents of their changes, which are kept elsewhere and stay. */
export async function emptyCheckpoints(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}
