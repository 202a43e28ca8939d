/** A small runner for rooms that need a program's answer (git, ripgrep, the login shell). Argv only; no shell, no text. */
import { LatheError } from '../../preload/contract/errors.ts'
import { type RunningProcess, startProcess } from './process.ts'

export type Command = {
  file: string
  args: string[]
  /** Absolute. */
  cwd: string
  /** The whole environment of the program; nothing is added from the host's. */
  env: Record<string, string>
  input?: string | Uint8Array | undefined
  timeoutMs: number
  signal?: AbortSignal | undefined
}

export type CommandResult = {
  /** Null where a signal ended it, or where it was ended because `maxBytes` were reached. */
  code: number | null
  stdout: Buffer
  /** At most its last 64 KiB. */
  stderr: string
  truncated: boolean
}

const stderrBytes = 64 * 1024

/**
 * Runs a program and gives back its output, the first `maxBytes` of it; past them it is ended as a tree and `truncated`
 * is set. A non-zero exit is a result. Throws `exec.spawn_failed`, `exec.timed_out`, or the signal's reason; in both
 * latter cases the tree was ended before.
 */
export async function runCommand(command: Command & { maxBytes: number }): Promise<CommandResult> {
  const chunks: Buffer[] = []
  let length = 0
  const { code, stderr, stopped } = await run(command, (bytes) => {
    const taken = bytes.subarray(0, command.maxBytes - length)
    chunks.push(taken)
    length += taken.length
    return taken.length === bytes.length
  })
  return { code, stdout: Buffer.concat(chunks), stderr, truncated: stopped }
}

export type LineCommand = Command & {
  /** `\0` for lists of file names (K-10). */
  separator: '\n' | '\0'
  /** Longer lines are cut to this many bytes. */
  maxLineBytes: number
  /** One line without its separator. False stops the program: enough was seen. */
  onLine(line: string): boolean | void
}

/** Runs a program and hands on its output line by line. Throws as `runCommand` does. `stopped`: `onLine` said enough. */
export async function runLines(
  command: LineCommand,
): Promise<{ code: number | null; stderr: string; stopped: boolean }> {
  const lines = new LineSplitter(command.separator, command.maxLineBytes, command.onLine)
  const result = await run(command, (bytes) => lines.push(bytes))
  if (!result.stopped) lines.end()
  return result
}

/** `take` answers false when it wants no more. */
async function run(
  command: Command,
  take: (bytes: Buffer) => boolean,
): Promise<{ code: number | null; stderr: string; stopped: boolean }> {
  command.signal?.throwIfAborted()
  let early: RunningProcess | null = null
  let stopped = false
  let stderr = Buffer.alloc(0)
  const running = await startProcess({
    ...command,
    stdin: command.input === undefined ? 'null' : 'pipe',
    output(stream, bytes) {
      if (stream === 'stderr') stderr = Buffer.concat([stderr, bytes]).subarray(-stderrBytes)
      else if (!stopped && !take(bytes)) {
        stopped = true
        void early?.stop('stopped')
      }
    },
  })
  early = running
  if (stopped) void running.stop('stopped')
  const stop = (): void => void running.stop('stopped')
  const timer = setTimeout(() => void running.stop('timed_out'), command.timeoutMs)
  command.signal?.addEventListener('abort', stop)
  if (command.signal?.aborted) stop()
  try {
    if (command.input !== undefined) {
      running.write(command.input)
      running.closeInput()
    }
    const end = await running.end
    if (!stopped) command.signal?.throwIfAborted()
    if (end.reason === 'timed_out')
      throw new LatheError(
        'exec.timed_out',
        `${command.file} did not finish within ${command.timeoutMs / 1_000} s and was ended.`,
      )
    return { code: end.exitCode, stderr: stderr.toString('utf8'), stopped }
  } finally {
    clearTimeout(timer)
    command.signal?.removeEventListener('abort', stop)
  }
}

/** Splits bytes at a separator byte; a line that grows past the limit keeps its beginning only. */
class LineSplitter {
  #separator: number
  #limit: number
  #onLine: (line: string) => boolean | void
  #parts: Buffer[] = []
  #length = 0

  constructor(separator: '\n' | '\0', limit: number, onLine: (line: string) => boolean | void) {
    this.#separator = separator.charCodeAt(0)
    this.#limit = limit
    this.#onLine = onLine
  }

  push(bytes: Buffer): boolean {
    let from = 0
    for (let at = bytes.indexOf(this.#separator); at >= 0; at = bytes.indexOf(this.#separator, from)) {
      this.#keep(bytes.subarray(from, at))
      from = at + 1
      if (this.#flush() === false) return false
    }
    this.#keep(bytes.subarray(from))
    return true
  }

  /** A last line without a separator counts. */
  end(): void {
    if (this.#length > 0) this.#flush()
  }

  #keep(part: Buffer): void {
    const taken = part.subarray(0, this.#limit - this.#length)
    if (taken.length === 0) return
    this.#parts.push(taken)
    this.#length += taken.length
  }

  #flush(): boolean | void {
    const line = Buffer.concat(this.#parts, this.#length).toString('utf8')
    this.#parts = []
    this.#length = 0
    return this.#onLine(line)
  }
}
