import { createHash, webcrypto } from 'node:crypto'
import { mkdir, readFile, readdir, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { syncFolder, writePrivateFile } from '../platform/private-file.ts'
import type { Blobs } from './blobs.ts'

/** Bodies below this are hashed where they are: handing them to another thread costs more. */
const hashedInPlaceMax = 64 * 1024

export type BlobFolder = Blobs & {
  list(): Promise<{ hash: string; bytes: number }[]>
  /** Removes what was last put before `before` and is not in `kept`, which is read once no put can be missed by it. */
  sweep(before: number, kept: () => Promise<Set<string>>): Promise<{ removed: number; bytes: number }>
}

/** The blobs of `home`, each in `blobs/ab/abcd...` with mode 0600. */
export function openBlobFolder(home: string): BlobFolder {
  const root = join(home, 'blobs')
  /** Puts that run, and the removals they wait for: a body is never found and removed at once. */
  const putting = new Set<Promise<string>>()
  let removing: Promise<unknown> = Promise.resolve()

  function pathOf(hash: string): string {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new LatheError('request.invalid', 'That is not the hash of a stored body.')
    return join(root, hash.slice(0, 2), hash)
  }

  async function put(bytes: Uint8Array): Promise<string> {
    const hash = await sha256(bytes)
    await removing
    const path = pathOf(hash)
    const known = await stat(path).catch(() => null)
    // Its time says when it was last wanted, which a sweep goes by.
    if (known?.size === bytes.byteLength) await utimes(path, new Date(), new Date())
    else await store(path, bytes)
    return hash
  }

  async function list(): Promise<{ hash: string; bytes: number }[]> {
    const names = (await readdir(root, { recursive: true }).catch(() => [])).map((path) => path.slice(3))
    const found = names
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .map(async (hash) => ({ hash, bytes: (await stat(pathOf(hash)).catch(() => null))?.size ?? 0 }))
    return await Promise.all(found)
  }

  async function removeOld(hash: string, before: number): Promise<number> {
    const file = await stat(pathOf(hash)).catch(() => null)
    if (!file || file.mtimeMs >= before) return 0
    await unlink(pathOf(hash))
    return file.size
  }

  return {
    list,

    async put(body) {
      const work = put(typeof body === 'string' ? Buffer.from(body) : body)
      putting.add(work)
      try {
        return await work
      } finally {
        putting.delete(work)
      }
    },

    async get(hash) {
      try {
        return await readFile(pathOf(hash))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
          throw new LatheError('file.not_found', 'The stored content is gone.')
        }
        throw error
      }
    },

    async sweep(before, kept) {
      const stored = await list()
      const wanted = await kept()
      const swept = { removed: 0, bytes: 0 }
      for (const { hash } of stored.filter((blob) => !wanted.has(blob.hash))) {
        while (putting.size > 0) await Promise.allSettled(putting)
        const removal = removeOld(hash, before)
        removing = removal.catch(() => undefined)
        const bytes = await removal
        if (bytes > 0) swept.removed++
        swept.bytes += bytes
      }
      return swept
    },
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= hashedInPlaceMax) return createHash('sha256').update(bytes).digest('hex')
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

async function store(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path)
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    await writePrivateFile(path, bytes)
    if (made) await syncFolder(dirname(folder))
  } catch (error) {
    const full = (error as NodeJS.ErrnoException).code === 'ENOSPC'
    throw new LatheError('storage.failed', `Lathe could not store the content: ${(error as Error).message}`, {
      reason: full ? 'disk_full' : 'io',
      hint: full ? 'Free some disk space, then try again.' : 'Check the disk that holds the data folder.',
      cause: error,
    })
  }
}
