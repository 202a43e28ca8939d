/** A data folder of its own for each test of a file. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { openStorage, type StorageOptions } from './open-storage.ts'
import type { Storage } from './storage.ts'

/** Call it once at the top of a test file; what was opened is closed, and the folder removed, after each test. */
export function testHome(): { path(): string; open(options?: Partial<StorageOptions>): Promise<Storage> } {
  let home = ''
  const opened: Storage[] = []
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'lathe-storage-'))
  })
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close()
    await rm(home, { recursive: true, force: true })
  })
  return {
    path: () => home,
    open: async (options = {}) => {
      const storage = await openStorage({ home, ...options })
      opened.push(storage)
      return storage
    },
  }
}
