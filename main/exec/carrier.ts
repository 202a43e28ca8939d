/** What carries a process's bytes: three pipes, or a pty. `process.ts` supervises either the same way. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { IPty } from 'node-pty'
import { findProgram } from './find-program.ts'
import { openKernelPipes } from './kernel-pipe.ts'

export type OutputStream = 'stdout' | 'stderr'

/** How a process is started. `args` are argv, never a shell string (X-101, Z-71). */
export type Launch = {
  file: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** Default `null`: the null device. */
  stdin?: 'null' | 'pipe' | undefined
  /** Set: the process gets a pty of this size instead of pipes. */
  pty?: { cols: number; rows: number } | undefined
  /** What runs may open its output again by name, as in `> /dev/stderr`; costs some milliseconds on Linux. */
  outputByName?: boolean | undefined
  /** Windows `cmd` only: arguments are passed as they stand. */
  verbatimArguments?: boolean | undefined
}

export type CarrierEvents = {
  data(stream: OutputStream, bytes: Buffer): void
  exit(exitCode: number | null, signal: string | null): void
  /** All output streams have ended. Comes after `exit` or before it. */
  closed(): void
}

export type Carrier = {
  readonly pid: number
  /** False where the process no longer reads. */
  write(bytes: Buffer): boolean
  /** As `write`; resolves once the system has taken the bytes. */
  send(bytes: Buffer): Promise<boolean>
  closeInput(): void
  pause(): void
  resume(): void
  resize(cols: number, rows: number): void
  /** Lets go of every descriptor; output that was not read yet is lost. */
  destroy(): void
}

/** Rejects with the system's own error where the program cannot be started. */
export async function openPipes(launch: Launch, events: CarrierEvents): Promise<Carrier> {
  const streams = ['stdout', 'stderr'] as const
  const pipes = launch.outputByName ? await openKernelPipes((at, bytes) => events.data(streams[at], bytes)) : null
  const child = spawn(launch.file, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    // On POSIX a new session: the group id is the pid, and there is no controlling terminal.
    detached: process.platform !== 'win32',
    stdio: [launch.stdin === 'pipe' ? 'pipe' : 'ignore', pipes?.[0].writeEnd ?? 'pipe', pipes?.[1].writeEnd ?? 'pipe'],
    windowsHide: true,
    windowsVerbatimArguments: launch.verbatimArguments ?? false,
  })
  pipes?.forEach((pipe) => pipe.closeWriteEnd())
  const outputs = [pipes?.[0].reader ?? child.stdout!, pipes?.[1].reader ?? child.stderr!] as const
  let open = outputs.length
  outputs.forEach((output, at) => {
    if (pipes) output.resume()
    else output.on('data', (bytes: Buffer) => events.data(streams[at]!, bytes))
    output.on('close', () => (open -= 1) === 0 && events.closed())
    // A reset while reading or an EPIPE while writing says no more than the exit that follows it.
    output.on('error', () => {})
  })
  child.stdin?.on('error', () => {})
  child.on('exit', (exitCode, signal) => events.exit(exitCode, signal))
  const destroy = (): void => [child.stdin, ...outputs].forEach((stream) => stream?.destroy())

  try {
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
  } catch (error) {
    destroy()
    throw error
  }
  child.on('error', () => {})
  return {
    pid: child.pid!,
    write(bytes) {
      if (!child.stdin?.writable) return false
      child.stdin.write(bytes)
      return true
    },
    send: (bytes) =>
      new Promise((resolve) => {
        if (!child.stdin?.writable) resolve(false)
        else child.stdin.write(bytes, (error) => resolve(!error))
      }),
    closeInput: () => child.stdin?.end(),
    pause: () => outputs.forEach((stream) => stream.pause()),
    resume: () => outputs.forEach((stream) => stream.resume()),
    resize: () => {},
    destroy,
  }
}

/** All output of a pty arrives as `stdout`. node-pty is native: loaded when the first pty is asked for. */
export async function openPty(
  launch: Launch,
  size: { cols: number; rows: number },
  events: CarrierEvents,
): Promise<Carrier> {
  // node-pty forks first and reports a missing program as output of the child.
  if ((await findProgram(launch.file, launch.env)) === null)
    throw Object.assign(new Error('not found'), { code: 'ENOENT' })
  const { spawn: spawnPty } = await import('node-pty')
  const name = launch.env['TERM'] ?? 'xterm-256color'
  // Bytes, not text: decoding, and with it characters split over chunks, is one place's work.
  const pty: IPty = spawnPty(launch.file, launch.args, {
    ...size,
    name,
    cwd: launch.cwd,
    env: launch.env,
    encoding: null,
  })
  let open = true
  // With `encoding: null` chunks are buffers, whatever the declared type says.
  pty.onData((chunk) => events.data('stdout', chunk as unknown as Buffer))
  pty.onExit(({ exitCode, signal }) => {
    open = false
    events.exit(signal ? null : exitCode, signal ? signalName(signal) : null)
    events.closed()
  })
  return {
    pid: pty.pid,
    write(bytes) {
      if (open) pty.write(bytes)
      return open
    },
    async send(bytes) {
      if (open) pty.write(bytes)
      return open
    },
    closeInput() {
      if (open) pty.write(process.platform === 'win32' ? '\x1a\r' : '\x04')
    },
    pause: () => void (open && pty.pause()),
    resume: () => void (open && pty.resume()),
    resize: (cols, rows) => void (open && pty.resize(cols, rows)),
    destroy() {
      if (open) (pty as IPty & { destroy(): void }).destroy()
      open = false
    },
  }
}

/** `SIGKILL` for 9. */
function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
}
