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

/** One read; a pipe of the kernel's holds no more. */
const readBytes = 64 * 1024

/**
 * Pipes for standard output and standard error; null where they cannot be had, and socket pairs must do. `data` hears what
 * arrives, in a buffer that is filled anew afterwards: a flood of output makes no flood of garbage.
 */
export async function openKernelPipes(
  data: (at: 0 | 1, bytes: Buffer) => void,
): Promise<[KernelPipe, KernelPipe] | null> {
  if (process.platform !== 'linux') return null
  const folder = await mkdtemp(join(tmpdir(), 'lathe-pipe-')).catch(() => null)
  if (folder === null) return null
  const [output, error] = [join(folder, '1'), join(folder, '2')]
  try {
    await run('mkfifo', ['-m', '600', output, error], { timeout: 2_000, env: { PATH: '/bin:/usr/bin' } })
    return [await openBothEnds(output, (bytes) => data(0, bytes)), await openBothEnds(error, (bytes) => data(1, bytes))]
  } catch {
    return null
  } finally {
    await Promise.all([output, error].map((path) => rm(path, { force: true })))
    await rmdir(folder).catch(() => {})
  }
}

async function openBothEnds(path: string, data: (bytes: Buffer) => void): Promise<KernelPipe> {
  const buffer = Buffer.allocUnsafeSlow(readBytes)
  const onread = { buffer, callback: (length: number) => (data(buffer.subarray(0, length)), true) }
  // The reader first and without waiting for a writer; then the writer finds it there and does not wait either.
  const fd = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const reader = new Socket({ fd, writable: false, onread })
  const writeEnd = await openFile(path, constants.O_WRONLY)
  return { reader, writeEnd, closeWriteEnd: () => close(writeEnd) }
}
