import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes a file of mode 0600 in one step: a reader sees the old content or the new one, never a part, also after a power
 * loss. The folder must exist. Throws the system's error and leaves no partial file.
 */
export async function writePrivateFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<string>,
): Promise<void> {
  const folder = dirname(path)
  const partial = join(folder, `.${randomUUID()}.part`)
  try {
    const file = await open(partial, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** Makes names created in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows opens no folder; its rename is durable with the file.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
