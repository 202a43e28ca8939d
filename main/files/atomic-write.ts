/** Puts bytes into a file so that it holds the old content or the new, whatever happens in between (F-610 to F-612). */
import type { Stats } from 'node:fs'
import { access, constants, mkdir, open, rename, rm, rmdir, stat, symlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { linkMode } from './change.ts'

/** Names of temporary files; they make no events and are deleted after a crash (F-604, F-1111). */
export const temporaryPrefix = '.lathe-tmp-'

export function isTemporary(name: string): boolean {
  return name.startsWith(temporaryPrefix)
}

export type FileWrite = {
  /** Real path. */
  path: string
  content: Uint8Array
  /** The file as it was, or null where there is none. */
  old: { stats: Stats; content: Uint8Array } | null
  /** Of a file that is made anew; else the system's default. `linkMode` makes a link that leads to `content`. */
  mode?: number
  /** In the same folder; its name begins with `temporaryPrefix`. */
  temporary: string
}

const busyRetryMs = 2_000

/**
 * Throws `file.read_only`, `file.disk_full`, `file.busy`; the file is as before then and no temporary file is left.
 * `reached` is called once the temporary file is complete, before it takes the file's place.
 */
export async function writeFileWhole(write: FileWrite, reached?: () => Promise<void>): Promise<void> {
  try {
    if (write.mode === linkMode || write.old?.stats.isSymbolicLink()) return await replaceLink(write, reached)
    if (write.old) await checkWritePermission(write.path, write.old.stats)
    // The other names of a file share its bytes only as long as its number stays.
    if (write.old && write.old.stats.nlink > 1) return await writeInPlace(write, write.old)
    const written = await writeBeside(write)
    if (!written) return await writeInPlace(write, write.old!)
    await reached?.()
    await replaceWhenFree(write.temporary, write.path)
    await flushFolder(dirname(write.path))
  } catch (error) {
    await rm(write.temporary, { force: true }).catch(() => {})
    throw typedError(error, write.path)
  }
}

export async function deleteFile(path: string): Promise<void> {
  try {
    await rm(path)
    await flushFolder(dirname(path))
  } catch (error) {
    throw typedError(error, path)
  }
}

/** Makes the folders that are missing above a file; answers those it made, outermost first. */
export async function makeFolders(folder: string): Promise<string[]> {
  const missing: string[] = []
  for (let at = folder; !(await exists(at)); at = dirname(at)) missing.unshift(at)
  for (const [index, path] of missing.entries()) {
    await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return
      await removeEmptyFolders(missing.slice(0, index))
      throw typedError(error, path)
    })
  }
  if (missing[0]) await flushFolder(dirname(missing[0]))
  return missing
}

/** Removes folders made for a write that did not happen; what others put there meanwhile stays. */
export async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {})
}

/** Of the folders above a deleted file the innermost `count`, as long as nothing else is in them (F-1009). */
export async function removeEmptyParents(path: string, count: number): Promise<void> {
  let folder = dirname(path)
  for (let left = count; left > 0; left--, folder = dirname(folder)) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!removed) return
  }
}

/** One of both is a link: the entry itself is replaced, what it leads to is never touched. */
async function replaceLink(
  { temporary, path, content, mode }: FileWrite,
  reached?: () => Promise<void>,
): Promise<void> {
  if (mode === linkMode) await symlink(Buffer.from(content), temporary)
  else await writeBeside({ temporary, path, content, old: null, ...(mode === undefined ? {} : { mode }) })
  await reached?.()
  await replaceWhenFree(temporary, path)
  await flushFolder(dirname(path))
}

/** False where only writing in place is possible: the folder is closed, or the owner cannot be kept (F-611). */
async function writeBeside({ temporary, content, old, mode = old?.stats.mode }: FileWrite): Promise<boolean> {
  let handle: FileHandle
  try {
    handle = await open(temporary, 'wx', mode === undefined ? 0o666 : 0o600)
  } catch (error) {
    if (old && isRefusal(error)) return false
    throw error
  }
  try {
    if (old && !(await keepOwner(handle, old.stats))) {
      await rm(temporary, { force: true })
      return false
    }
    await handle.writeFile(content)
    if (mode !== undefined) await handle.chmod(mode & 0o7777)
    await handle.sync()
    return true
  } finally {
    await handle.close()
  }
}

async function keepOwner(handle: FileHandle, old: Stats): Promise<boolean> {
  if (process.platform === 'win32') return true
  const now = await handle.stat()
  if (now.uid === old.uid && now.gid === old.gid) return true
  return handle.chown(old.uid, old.gid).then(
    () => true,
    () => false,
  )
}

/** The before blob is stored by now, and the old bytes are put back when writing fails half way. */
async function writeInPlace({ path, content }: FileWrite, old: { stats: Stats; content: Uint8Array }): Promise<void> {
  const handle = await open(path, 'r+')
  const put = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
    await handle.truncate(bytes.length)
    await handle.sync()
  }
  try {
    await put(content).catch(async (error: unknown) => {
      await put(old.content)
      throw error
    })
  } finally {
    await handle.close()
  }
}

/** Windows refuses to replace a file that a program holds open; most let go soon (F-612). */
async function replaceWhenFree(from: string, to: string): Promise<void> {
  for (const until = performance.now() + busyRetryMs; ; await delay(50)) {
    try {
      return await rename(from, to)
    } catch (error) {
      if (process.platform !== 'win32' || !isRefusal(error)) throw error
      if (performance.now() > until) throw new LatheError('file.busy', `${to} is held open by another program.`)
    }
  }
}

/** A user who may do everything is still asked by a file without write permission. */
async function checkWritePermission(path: string, stats: Stats): Promise<void> {
  if ((stats.mode & 0o222) !== 0) await access(path, constants.W_OK)
  else throw readOnly(path)
}

/** So that the new name survives a power cut too; file systems that cannot do it are no reason to fail. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EBUSY', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function typedError(error: unknown, path: string): unknown {
  if (error instanceof LatheError) return error
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new LatheError('file.disk_full', `The disk is full; ${path} is as it was.`, { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return readOnly(path)
    case 'EBUSY':
    case 'ETXTBSY':
      return new LatheError('file.busy', `${path} is in use.`, { cause: error })
    case 'ENOTDIR':
      return new LatheError('path.invalid', `A part of ${path} is a file, not a folder.`, { cause: error })
    case 'ENAMETOOLONG':
      return new LatheError('path.invalid', `The name of ${path} is too long.`, { cause: error })
    default:
      return error
  }
}

function readOnly(path: string): LatheError {
  return new LatheError('file.read_only', `${path} may not be written; its permission was left as it is.`)
}
