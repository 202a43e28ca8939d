/** The log files of the data folder (Z-106): ids, lengths, codes and durations; never what people or models wrote. */
import { appendFile, mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'

const fileBytesMax = 10 * 1024 * 1024
const filesMax = 5
/** Characters that may wait for the disk; past it lines are dropped and counted. */
const waitingCharsMax = 1024 * 1024

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof levels)[number]
export type LogFields = Record<string, unknown>

export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  /** `fields.error` is written with its stack. */
  error(message: string, fields?: LogFields): void
  /** From now on `redact` takes secrets out of every line. */
  redactBy(redact: (line: string) => string): void
  /** Waits until all that was logged is in the file. */
  flush(): Promise<void>
}

/** `LATHE_LOG`, else `info`. */
export function logLevel(env: NodeJS.ProcessEnv = process.env): LogLevel {
  return levels.find((level) => level === env['LATHE_LOG']) ?? 'info'
}

/**
 * A log in `home/logs`: `lathe.log` and four older ones, 10 MiB and mode 0600 each. `redact` takes secrets out of every
 * line (Z-101). The writer is loaded with the first line, so a start that logs nothing pays nothing.
 */
export function createLog(options: { home: string; level?: LogLevel; redact: (line: string) => string }): Log {
  const { home, level = logLevel() } = options
  let { redact } = options
  const file = rotatingFile(join(home, 'logs'), (line) => redact(line))
  const enabled = levels.indexOf(level)
  let logger: Promise<Logger> | null = null
  let writing: Promise<unknown> = Promise.resolve()

  async function load(): Promise<Logger> {
    const { pino } = await import('pino')
    return pino({ level, base: { pid: process.pid }, serializers: { error: pino.stdSerializers.err } }, file)
  }

  function write(at: 'debug' | 'info' | 'warn' | 'error', message: string, fields: LogFields = {}): void {
    if (levels.indexOf(at) < enabled) return
    logger ??= load()
    writing = logger.then((loaded) => loaded[at](fields, message)).catch(() => undefined)
  }

  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    redactBy: (from) => void (redact = from),
    async flush() {
      await writing
      await file.flush()
    },
  }
}

/** Appends lines in order, one write for all that wait; a failing disk loses lines, never more. */
function rotatingFile(folder: string, redact: (line: string) => string) {
  const path = join(folder, 'lathe.log')
  let waiting: string[] = []
  let waitingChars = 0
  let dropped = 0
  let size = -1
  let appending: Promise<void> | null = null

  async function append(): Promise<void> {
    while (waiting.length > 0) {
      const text =
        waiting.join('') +
        (dropped > 0 ? `{"level":40,"time":${Date.now()},"msg":"${dropped} log lines were dropped"}\n` : '')
      waiting = []
      waitingChars = 0
      dropped = 0
      try {
        if (size < 0) size = await begin()
        if (size > 0 && size + text.length > fileBytesMax) size = await rotate()
        await appendFile(path, text, { mode: 0o600 })
        size += Buffer.byteLength(text)
      } catch {
        size = -1
      }
    }
    appending = null
  }

  async function begin(): Promise<number> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return (await stat(path).catch(() => null))?.size ?? 0
  }

  async function rotate(): Promise<number> {
    for (let number = filesMax - 2; number >= 0; number--) {
      const from = number === 0 ? path : join(folder, `lathe.${number}.log`)
      await rename(from, join(folder, `lathe.${number + 1}.log`)).catch(() => undefined)
    }
    return 0
  }

  return {
    write(line: string): void {
      if (waitingChars + line.length > waitingCharsMax) {
        dropped++
        return
      }
      const text = redact(line)
      waiting.push(text)
      waitingChars += text.length
      appending ??= append()
    },
    flush: async () => void (await appending),
  }
}
