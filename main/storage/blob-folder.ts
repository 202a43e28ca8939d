import { createHash, webcrypto } from 'node:crypto'
import { mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { syncFolder, writePrivateFile } from '../platform/private-file.ts'
import type { Blobs } from './blobs.ts'

/** Bodies below this are hashed where they are: handing them to another thread costs more. */
const hashedInPlaceMax = 64 * 1024

/** The blobs of `home`, each in `blobs/ab/abcd...` with mode 0600. */
export function openBlobs(home: string): Blobs {
  const root = join(home, 'blobs')

  function pathOf(hash: string): string {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new LatheError('request.invalid', 'That is not the hash of a stored body.')
    return join(root, hash.slice(0, 2), hash)
  }

  return {
    async put(body) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const hash = await sha256(bytes)
      const path = pathOf(hash)
      if ((await sizeOf(path)) !== bytes.byteLength) await store(path, bytes)
      return hash
    },
    async get(hash) {
      try {
        return await readFile(pathOf(hash))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT')
          throw new LatheError('file.not_found', 'The stored content is gone.')
        throw error
      }
    },
  }
}

/** Bytes of all blobs of `home`. */
export async function blobBytes(home: string): Promise<number> {
  let bytes = 0
  for (const hash of await blobHashes(home)) bytes += (await sizeOf(join(home, 'blobs', hash.slice(0, 2), hash))) ?? 0
  return bytes
}

export async function blobHashes(home: string): Promise<string[]> {
  const files = await readdir(join(home, 'blobs'), { recursive: true }).catch(() => [])
  return files.map((path) => path.slice(3)).filter((name) => /^[0-9a-f]{64}$/.test(name))
}

async function sha256(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= hashedInPlaceMax) return createHash('sha256').update(bytes).digest('hex')
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(() => null))?.size ?? null
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
