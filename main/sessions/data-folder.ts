/** What takes room in the data folder, and what can be given back without losing anything (S-173, K-16). */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { blobsKeptMs } from '../../preload/contract/limits.ts'
import type { ReclaimStep, StorageKind, StorageUsage } from '../../preload/contract/storage-routes.ts'
import type { WorkspaceChanges } from '../files/workspace-changes.ts'
import type { Storage } from '../storage/storage.ts'
import { letGo, type LetGoPorts } from './upkeep.ts'

export type DataFolderPorts = LetGoPorts & {
  home: string
  storage: Pick<Storage, 'usage' | 'sweepBlobs' | 'vacuum'>
  checkpoints: Pick<WorkspaceChanges, 'tidy' | 'expiredBytes'>
  /** Whether a turn runs in any session. */
  isBusy(): boolean
}

export class DataFolder {
  private readonly ports: DataFolderPorts

  constructor(ports: DataFolderPorts) {
    this.ports = ports
  }

  async usage(): Promise<StorageUsage> {
    const { home, storage, checkpoints, now } = this.ports
    const [stored, folders, expired] = await Promise.all([
      storage.usage(),
      bytesByName(home),
      checkpoints.expiredBytes(),
    ])
    const take = (name: string): number => {
      const bytes = folders.get(name) ?? 0
      folders.delete(name)
      return bytes
    }
    folders.delete('blobs')
    const databases = [...folders.keys()].filter((name) => name.startsWith('lathe.db'))
    const bytes: Record<StorageKind, number> = {
      sessions: databases.reduce((sum, name) => sum + take(name), 0),
      attachments: stored.attachments,
      versions: stored.versions,
      outputs: stored.outputs,
      checkpoints: take('checkpoints'),
      logs: take('logs'),
      temporary: take('tmp'),
      unreferenced: stored.unreferenced.reduce((sum, blob) => sum + blob.bytes, 0),
      other: 0,
    }
    bytes.other = [...folders.values()].reduce((sum, one) => sum + one, 0)
    const old = stored.unreferenced.filter(({ usedAt }) => usedAt < now() - blobsKeptMs)
    return {
      kinds: Object.entries(bytes).map(([kind, of]) => ({ kind: kind as StorageKind, bytes: of })),
      largest: stored.largest,
      reclaimable: [
        { step: 'bodies', bytes: old.reduce((sum, blob) => sum + blob.bytes, 0) },
        { step: 'checkpoints', bytes: expired },
        { step: 'database', bytes: stored.freeBytes },
      ],
    }
  }

  /** Answers the bytes freed. Throws `turn.busy` while a turn runs: its commits would wait for the disk. */
  async reclaim(step: ReclaimStep): Promise<number> {
    const { storage, checkpoints, now, isBusy } = this.ports
    if (isBusy()) throw new LatheError('turn.busy', 'A turn is running.', { hint: 'Clean up once nothing runs.' })
    switch (step) {
      case 'deleted':
        await letGo(this.ports)
        return 0
      case 'bodies':
        return (await storage.sweepBlobs(now() - blobsKeptMs)).bytes
      case 'checkpoints':
        return checkpoints.tidy()
      case 'database':
        return Math.max(0, await storage.vacuum())
    }
  }
}

/** Bytes of each entry of a folder, with all below it. Links count for themselves. */
async function bytesByName(folder: string): Promise<Map<string, number>> {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(names.map(async (name) => [name, await bytesOf(join(folder, name))] as const))
  return new Map(sizes)
}

async function bytesOf(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => null)
  if (entries === null) return (await stat(path).catch(() => null))?.size ?? 0
  let sum = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    sum += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0
  }
  return sum
}
