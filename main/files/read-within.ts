/** Reading a file that is used unasked, so it must be what it seems to be: no link out of its folder, no pipe, no secret. */
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { isSecretName, isWithin } from './sensitive-paths.ts'

/**
 * The first `bytesMax` bytes of a regular file that really lies in `folder` and holds no secrets by its name, and its size.
 * A link within the folder is followed. Throws `path.outside_workspace`, `path.secret`, `file.not_regular`, and the system's
 * error where it is not there or cannot be read.
 */
export async function readWithin(
  folder: string,
  path: string,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; size: number }> {
  const real = await realpath(path)
  if (!isWithin(real, await realpath(folder)))
    throw new LatheError('path.outside_workspace', 'It is a link that leads out of its folder.')
  if (isSecretName(basename(real))) throw new LatheError('path.secret', 'It is a link to a file of secrets.')
  return readBeginning(real, bytesMax, constants.O_NOFOLLOW)
}

/**
 * The first `bytesMax` bytes of a regular file, wherever it lies, and its size. Throws `file.not_regular`, and the system's
 * error where it is not there or cannot be read.
 */
export async function readBeginning(
  path: string,
  bytesMax: number,
  flags = 0,
): Promise<{ bytes: Uint8Array; size: number }> {
  // A pipe without a writer would hold its reader for ever.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  const found = await file.stat()
  if (!found.isFile()) throw new LatheError('file.not_regular', 'It is no regular file.')
  const buffer = Buffer.alloc(Math.min(bytesMax, found.size))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
  return { bytes: buffer.subarray(0, bytesRead), size: found.size }
}
