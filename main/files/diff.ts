/**
 * Diffs of two versions of a file (F-904, F-906). Short texts are compared here; longer ones by `git diff --patience`
 * (the hunks of `--histogram`, on scattered edits thirty times sooner), or in a worker where there is no git; never for longer than 2 s.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { runCommand } from '../exec/command.ts'
import { changedBlocks, countChanges, splitLines, unifiedText, type Hunk } from './line-diff.ts'
import { diffOf, type TextDiff } from './text-diff.ts'
import { countLines, decodeText, isBinary, lineEndsOf, utf8, type DecodedText } from './text.ts'
import type { FileWorkers } from './worker-pool.ts'

export type FileDiff = {
  binary: boolean
  /** Null where only counts are given: binary, over 2 MiB, or over 20,000 changed lines. */
  hunks: Hunk[] | null
  added: number | null
  removed: number | null
  coarse: boolean
  /** What lines cannot show: another encoding, other line ends, sizes of binaries, why there is no line diff. */
  note: string | null
}

export type DiffOptions = {
  context?: number
  /** Keep line ends in the lines even where all of them changed: to put hunks back byte for byte. */
  raw?: boolean
  signal?: AbortSignal | undefined
}

const diffBytesMax = 2 * 1024 * 1024
const changedLinesMax = 20_000
const diffTimeMs = 2_000
const countTimeMs = 10_000
/** What is compared here takes a millisecond or two. */
const hereCharsMax = 128 * 1024
const hereDistance = 200

export class Differ {
  readonly #workers: FileWorkers
  readonly #env: Record<string, string>

  /** `env` is the environment git runs with: `PATH` at least. */
  constructor(workers: FileWorkers, env: Record<string, string>) {
    this.#workers = workers
    this.#env = env
  }

  /** What leads from one version to the other; null means the file is not there. Throws only the signal's reason. */
  async diff(before: Uint8Array | null, after: Uint8Array | null, options: DiffOptions = {}): Promise<FileDiff> {
    const size = Math.max(before?.length ?? 0, after?.length ?? 0)
    if ([before, after].some((bytes) => bytes !== null && isBinary(bytes))) {
      const note = `Binary, ${before === null ? 'new' : sizeOf(before)} to ${after === null ? 'deleted' : sizeOf(after)}`
      return { binary: true, hunks: null, added: null, removed: null, coarse: false, note }
    }
    if (size > diffBytesMax) {
      const job = { size, timeoutMs: countTimeMs, signal: options.signal }
      const counts = await this.#workers.run('count', { before, after }, job)
      return { binary: false, hunks: null, ...counts, coarse: false, note: 'Too large for a line diff.' }
    }
    const [a, b] = await Promise.all([decoded(before), decoded(after)])
    const note = before && after ? formatNote(a, b) : null
    const [from, to] = options.raw || !otherEnds(a.text, b.text) ? [a.text, b.text] : [withLf(a.text), withLf(b.text)]
    const diff = await this.#textDiff(from, to, options)
    const tooMany = !options.raw && diff.added + diff.removed > changedLinesMax
    return {
      binary: false,
      ...diff,
      hunks: tooMany ? null : diff.hunks,
      note: tooMany ? 'Too many changed lines for a line diff.' : note,
    }
  }

  async #textDiff(before: string, after: string, { context = 3, signal }: DiffOptions): Promise<TextDiff> {
    if (before.length + after.length <= hereCharsMax) {
      const [a, b] = [splitLines(before), splitLines(after)]
      const blocks = changedBlocks(a, b, { distance: hereDistance })
      if (blocks) return diffOf(a, b, blocks, context)
    }
    try {
      return await this.#gitDiff(before, after, context, signal)
    } catch (error) {
      if (signal?.aborted || !(error instanceof LatheError)) throw error
      if (error.code !== 'exec.spawn_failed') return diffOf(splitLines(before), splitLines(after), null, context)
      const size = before.length + after.length
      return this.#workers.run(
        'diff',
        { before, after, context, milliseconds: diffTimeMs },
        { size, timeoutMs: countTimeMs, signal },
      )
    }
  }

  async #gitDiff(before: string, after: string, context: number, signal: AbortSignal | undefined): Promise<TextDiff> {
    const folder = await mkdtemp(join(tmpdir(), 'lathe-diff-'))
    try {
      await Promise.all([writeFile(join(folder, 'before'), before), writeFile(join(folder, 'after'), after)])
      const { code, stdout, stderr } = await runCommand({
        file: 'git',
        args: [
          'diff',
          '--no-index',
          '--patience',
          '--text',
          '--no-color',
          '--no-ext-diff',
          '--no-textconv',
          `-U${context}`,
          '--',
          'before',
          'after',
        ],
        cwd: folder,
        env: {
          ...this.#env,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: devNull,
          GIT_CEILING_DIRECTORIES: tmpdir(),
          LC_ALL: 'C',
        },
        timeoutMs: diffTimeMs,
        maxBytes: 4 * diffBytesMax,
        signal,
      })
      if (code !== 0 && code !== 1)
        throw new LatheError('tool.failed', `git could not compare the versions: ${stderr.trim()}`)
      return parseGitDiff(stdout.toString('utf8'))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** A diff as text that diff viewers and `git apply` read; null means the file is not there. */
export function patchText(path: string, hunks: readonly Hunk[], sides: { before: boolean; after: boolean }): string {
  const name = (side: 'a' | 'b', there: boolean): string => (there ? quotePath(`${side}/${path}`) : '/dev/null')
  return `--- ${name('a', sides.before)}\n+++ ${name('b', sides.after)}\n${unifiedText(hunks)}`
}

/** Lines added and removed where that is cheap to say, else null: for the change record of each edit. */
export async function quickCounts(
  before: Uint8Array | null,
  after: Uint8Array | null,
): Promise<{ added: number | null; removed: number | null }> {
  const unknown = { added: null, removed: null }
  if ((before?.length ?? 0) + (after?.length ?? 0) > 2 * hereCharsMax) return unknown
  if ([before, after].some((bytes) => bytes !== null && isBinary(bytes))) return unknown
  const [a, b] = await Promise.all([decoded(before), decoded(after)])
  if (before === null) return { added: countLines(b.text), removed: 0 }
  if (after === null) return { added: 0, removed: countLines(a.text) }
  const [from, to] = [splitLines(a.text), splitLines(b.text)]
  const blocks = changedBlocks(from, to, { distance: hereDistance })
  return blocks ? countChanges(blocks) : unknown
}

function parseGitDiff(output: string): TextDiff {
  const hunks: Hunk[] = []
  let [added, removed] = [0, 0]
  for (const line of splitLines(output)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    const hunk = hunks.at(-1)
    if (head) {
      const [beforeAt, beforeCount, afterAt, afterCount] = [head[1], head[2] ?? 1, head[3], head[4] ?? 1].map(
        Number,
      ) as [number, number, number, number]
      hunks.push({
        beforeStart: beforeAt + (beforeCount === 0 ? 1 : 0),
        afterStart: afterAt + (afterCount === 0 ? 1 : 0),
        lines: [],
      })
    } else if (hunk && line.startsWith('\\')) {
      const last = hunk.lines.at(-1)!
      last.text = last.text.slice(0, -1)
    } else if (hunk) {
      const mark = line[0] as ' ' | '-' | '+'
      hunk.lines.push({ mark, text: line.slice(1) })
      if (mark === '+') added++
      if (mark === '-') removed++
    }
  }
  return { hunks, added, removed, coarse: false }
}

async function decoded(bytes: Uint8Array | null): Promise<DecodedText> {
  return (bytes && (await decodeText(bytes))) ?? { text: '', encoding: utf8 }
}

function sizeOf(bytes: Uint8Array): string {
  return `${bytes.length.toLocaleString('en')} bytes`
}

function otherEnds(before: string, after: string): boolean {
  const [a, b] = [lineEndsOf(before), lineEndsOf(after)]
  return a !== b && a !== 'none' && b !== 'none'
}

function withLf(text: string): string {
  return lineEndsOf(text) === 'cr' ? text.replaceAll('\r', '\n') : text.replaceAll('\r\n', '\n')
}

/** Changes that no line shows, as a sentence (F-906). */
function formatNote(before: DecodedText, after: DecodedText): string | null {
  const nameOf = ({ encoding }: DecodedText): string =>
    encoding.name.toUpperCase() +
    (encoding.name === 'utf-8' && encoding.mark.length > 0 ? ' with a byte order mark' : '')
  const notes: string[] = []
  if (nameOf(before) !== nameOf(after)) notes.push(`The encoding changed from ${nameOf(before)} to ${nameOf(after)}.`)
  if (otherEnds(before.text, after.text))
    notes.push(`Line ends changed from ${lineEndsOf(before.text)} to ${lineEndsOf(after.text)}.`)
  return notes.length === 0 ? null : notes.join(' ')
}

/** As git quotes a name that would not stand on one line. */
function quotePath(path: string): string {
  if (!/["\\\x00-\x1f\x7f]/.test(path)) return path
  return `"${path.replace(/["\\\x00-\x1f\x7f]/g, (character) => (character === '"' || character === '\\' ? `\\${character}` : `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`))}"`
}
