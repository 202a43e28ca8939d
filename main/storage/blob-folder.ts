import { createHash, randomUUID, webcrypto } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { syncFolder, writePrivateFile } from '../platform/private-file.ts'
import type { Blobs } from './blobs.ts'

/** Bodies below this are hashed where they are: handing them to another thread costs more. */
const hashedInPlaceMax = 64 * 1024

export type BlobFolder = Blobs & {
  /** `usedAt`: when it was last put, in epoch milliseconds. */
  list(): Promise<{ hash: string; bytes: number; usedAt: number }[]>
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

  /** Written under a passing name first, since its own is known at the end only. */
  async function putPieces(pieces: AsyncIterable<Uint8Array>): Promise<string> {
    const hash = createHash('sha256')
    const partial = join(root, `.${randomUUID()}.part`)
    let bytes = 0
    try {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const file = await open(partial, 'wx', 0o600)
      try {
        for await (const piece of pieces) {
          hash.update(piece)
          bytes += piece.byteLength
          await file.writeFile(piece)
        }
        await file.sync()
      } finally {
        await file.close()
      }
      const name = hash.digest('hex')
      await removing
      const path = pathOf(name)
      const known = await stat(path).catch(() => null)
      if (known?.size === bytes) {
        await utimes(path, new Date(), new Date())
        return name
      }
      const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(partial, path)
      await syncFolder(dirname(path))
      if (made) await syncFolder(root)
      return name
    } catch (error) {
      throw storageFailure(error)
    } finally {
      await rm(partial, { force: true })
    }
  }

  async function list(): ReturnType<BlobFolder['list']> {
    const names = (await readdir(root, { recursive: true }).catch(() => [])).map((path) => path.slice(3))
    const found = names
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .map(async (hash) => {
        const file = await stat(pathOf(hash)).catch(() => null)
        return { hash, bytes: file?.size ?? 0, usedAt: file?.mtimeMs ?? 0 }
      })
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
      const work =
        typeof body === 'string' ? put(Buffer.from(body)) : body instanceof Uint8Array ? put(body) : putPieces(body)
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
    throw storageFailure(error)
  }
}

function storageFailure(error: unknown): LatheError {
  const full = (error as NodeJS.ErrnoException).code === 'ENOSPC'
  return new LatheError('storage.failed', `Lathe could not store the content: ${(error as Error).message}`, {
    reason: full ? 'disk_full' : 'io',
    hint: full ? 'Free some disk space, then try again.' : 'Check the disk that holds the data folder.',
    cause: error,
  })
}
