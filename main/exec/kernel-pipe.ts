/**
 * Real pipes on Linux. Node gives children socket pairs, and a socket cannot be opened again by name: `> /dev/stderr`,
 * `tee /dev/stderr` or `-o /dev/stdout` would fail in a command although they work in every terminal. Node cannot ask for
 * a pipe either, so a named one is made, opened at both ends and unlinked.
 */
import { execFile } from 'node:child_process'
import { close, constants, open } from 'node:fs'
import { mkdtemp, rm, rmdir } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type KernelPipe = {
  /** Ends when the last process that holds the other end has closed it. */
  reader: Socket
  /** For the child; closed here once it has its own. */
  writeEnd: number
  closeWriteEnd(): void
}

const openFile = promisify(open)
const run = promisify(execFile)

/** Pipes for standard output and standard error; null where they cannot be had, and socket pairs must do. */
export async function openKernelPipes(): Promise<[KernelPipe, KernelPipe] | null> {
  if (process.platform !== 'linux') return null
  const folder = await mkdtemp(join(tmpdir(), 'lathe-pipe-')).catch(() => null)
  if (folder === null) return null
  const [output, error] = [join(folder, '1'), join(folder, '2')]
  try {
    await run('mkfifo', ['-m', '600', output, error], { timeout: 2_000, env: { PATH: '/bin:/usr/bin' } })
    return [await openBothEnds(output), await openBothEnds(error)]
  } catch {
    return null
  } finally {
    await Promise.all([output, error].map((path) => rm(path, { force: true })))
    await rmdir(folder).catch(() => {})
  }
}

async function openBothEnds(path: string): Promise<KernelPipe> {
  // The reader first and without waiting for a writer; then the writer finds it there and does not wait either.
  const reader = new Socket({ fd: await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
  const writeEnd = await openFile(path, constants.O_WRONLY)
  return { reader, writeEnd, closeWriteEnd: () => close(writeEnd) }
}
