/** `config.json` of the data folder: read, watched, and written without losing what people wrote by hand (M-133). */
import { createHash, randomUUID } from 'node:crypto'
import { watch } from 'node:fs'
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'

const configBytesMax = 256 * 1024
/** Editors write in several steps; the file is read once they are done. */
const quietMs = 100

export type ConfigContent = Readonly<Record<string, unknown>>

/** Why the file as it stands cannot be used. `line` and `column` count from 1. */
export type ConfigProblem = { file: string; line: number; column: number; message: string }

export type Config = {
  /** The last content that could be used; empty where there never was one. */
  readonly content: ConfigContent
  /** What is wrong with the file now; null where `content` is what it says. */
  readonly problem: ConfigProblem | null
  /** Called after each change of `content` or `problem`; answers the function that ends it. */
  onChange(listener: () => void): () => void
  /**
   * Writes what `change` makes of the content, keeping unknown keys and the order of all. Throws `config.stale`, with
   * nothing written, where the file is no longer as it was read or does not parse.
   */
  update(change: (content: ConfigContent) => Record<string, unknown>): Promise<void>
  /** Reads the file again now. */
  reload(): Promise<void>
  dispose(): void
}

type Reading = { hash: string | null; content: ConfigContent | null; problem: ConfigProblem | null; indent: string }

/** Reads `file` and follows it until disposed. A missing file is an empty configuration; the folder must exist. */
export async function openConfig(file: string): Promise<Config> {
  const listeners = new Set<() => void>()
  let reading = await read(file)
  let content = reading.content ?? {}
  let writing: Promise<void> = Promise.resolve()
  let quiet: NodeJS.Timeout | undefined

  async function reload(): Promise<void> {
    const fresh = await read(file)
    if (fresh.hash === reading.hash) return
    reading = fresh
    content = fresh.content ?? content
    for (const listener of listeners) listener()
  }

  async function write(change: (content: ConfigContent) => Record<string, unknown>): Promise<void> {
    const known = reading.hash
    await reload()
    if (reading.hash !== known || reading.problem) {
      throw new LatheError('config.stale', 'The configuration file was changed meanwhile; nothing was written.', {
        hint: reading.problem
          ? `${file}, line ${reading.problem.line}: ${reading.problem.message}`
          : 'Look at it again and repeat the change.',
      })
    }
    await replaceFile(file, `${JSON.stringify(change(content), null, reading.indent)}\n`)
    await reload()
  }

  // The folder is watched, since a file replaced by a rename is no longer the one a watcher of the file would see.
  const watcher = watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return
    clearTimeout(quiet)
    quiet = setTimeout(() => void reload().catch(() => {}), quietMs)
  })
  watcher.on('error', () => watcher.close())
  watcher.unref()

  return {
    get content() {
      return content
    },
    get problem() {
      return reading.problem
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    update(change) {
      const written = writing.then(() => write(change))
      writing = written.catch(() => {})
      return written
    },
    reload,
    dispose() {
      clearTimeout(quiet)
      watcher.close()
      listeners.clear()
    },
  }
}

async function read(file: string): Promise<Reading> {
  const unusable = (line: number, column: number, message: string): Reading => ({
    hash: message,
    content: null,
    problem: { file, line, column, message },
    indent: '  ',
  })
  let text: string
  try {
    const { size } = await stat(file)
    if (size > configBytesMax) return unusable(1, 1, 'It is larger than 256 KiB.')
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { hash: null, content: {}, problem: null, indent: '  ' }
    return unusable(1, 1, `It cannot be read (${code}).`)
  }
  return {
    ...parseConfig(file, text),
    hash: createHash('sha256').update(text).digest('hex'),
    indent: /^([ \t]+)"/m.exec(text)?.[1] ?? '  ',
  }
}

/** The content of a configuration text, or where and why it is none. An empty text is an empty configuration. */
export function parseConfig(
  file: string,
  text: string,
): { content: ConfigContent | null; problem: ConfigProblem | null } {
  const body = text.replace(/^\uFEFF/, '')
  const problemAt = (offset: number, message: string): { content: null; problem: ConfigProblem } => {
    const before = body.slice(0, offset).split('\n')
    return { content: null, problem: { file, line: before.length, column: before.at(-1)!.length + 1, message } }
  }
  if (body.trim() === '') return { content: {}, problem: null }
  const value = parsed(body)
  if (value instanceof Failure) {
    const offset = offsetOfFailure(body)
    return offset === body.length
      ? problemAt(body.trimEnd().length, 'The file ends too early.')
      : problemAt(offset, value.reason)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problemAt(body.search(/\S/), 'The file must hold one object, { ... }.')
  return { content: value as ConfigContent, problem: null }
}

class Failure {
  readonly message: string
  constructor(error: unknown) {
    this.message = (error as Error).message
  }

  /** The parser's reason without its quotation of the file, which may hold a key. */
  get reason(): string {
    const reason =
      /^(Expected [^"]*?|Bad [^"]*?|Unterminated string|No number[^"]*?|[^"]*? character)(?: in JSON)? at position/.exec(
        this.message,
      )
    return reason ? `${reason[1]}.` : 'This is not JSON.'
  }

  /** Whether more text could still make it JSON. */
  isAtEndOf(text: string): boolean {
    return (
      /end of JSON input|Unterminated string/.test(this.message) || this.message.includes(`at position ${text.length} `)
    )
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return new Failure(error)
  }
}

/** Where a text stops being the beginning of JSON; its length where it merely ends too early. The parser does not always say. */
function offsetOfFailure(text: string): number {
  let good = 0
  let bad = text.length + 1
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    const prefix = text.slice(0, middle)
    const value = parsed(prefix)
    if (value instanceof Failure && !value.isAtEndOf(prefix)) bad = middle
    else good = middle
  }
  return bad > text.length ? text.length : bad - 1
}

/** Writes a file by a temporary one and a rename, through a link if it is one, keeping its mode (0600 where it is new). */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const target = await realpath(path).catch(() => path)
  const mode = (await stat(target).catch(() => null))?.mode ?? 0o600
  const partial = join(dirname(target), `.${randomUUID()}.part`)
  try {
    const file = await open(partial, 'wx', mode & 0o777)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(partial, target)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
