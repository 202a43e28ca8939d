/** ripgrep as this room runs it: rules of F-802, argv only, NUL-separated names, limits on time and output (F-818, Z-51). */
import { basename, dirname, relative, sep } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { runCommand, runLines } from '../exec/command.ts'
import { historyFolders, neverEntered } from './never-entered.ts'
import type { FilePath, Paths } from './paths.ts'
import { closeNames } from './similarity.ts'

export type SearchOptions = {
  paths: Paths
  /** The environment the program runs with: `HOME` and `XDG_CONFIG_HOME` for the person's global ignore file. */
  env: Record<string, string>
  /** Another program than the one in the package, for tests. */
  program?: string
}

export type ProgramRun = {
  /** Searched from here: the folder itself, or the folder of the file. */
  root: FilePath
  args: string[]
  noIgnore: boolean
  /** `performance.now()` to end at. */
  deadline: number
  separator: '\n' | '\0'
  maxLineBytes: number
  onLine(line: string): boolean | void
  signal: AbortSignal
}

export type ProgramEnd = {
  /** Why the output is not all there is: time, or `onLine` said enough. */
  cut: 'no' | 'time' | 'enough'
  /** Files and folders that could not be read. */
  unreadable: number
}

/** Longer than any path of a system. */
const nameBytesMax = 16 * 1024
/** Paths of a quarter of a million files. */
const listBytesMax = 64 * 1024 * 1024

export class SearchProgram {
  readonly paths: Paths
  readonly #env: Record<string, string>
  readonly #program: string | undefined
  #types: Promise<string[]> | undefined

  constructor(options: SearchOptions) {
    this.paths = options.paths
    this.#env = options.env
    this.#program = options.program
  }

  /** Throws `search.invalid_pattern`, `tool.failed`, or the signal's reason; running out of time is a result. */
  async run(run: ProgramRun): Promise<ProgramEnd> {
    const { root, args, noIgnore, deadline, ...lines } = run
    const folder = root.kind === 'folder'
    const left = deadline - performance.now()
    if (left <= 0) return { cut: 'time', unreadable: 0 }
    try {
      const { code, stderr, stopped } = await runLines({
        ...lines,
        file: this.#program ?? (await programPath()),
        args: [
          '--no-config',
          '--color',
          'never',
          ...(await this.#rules(root, noIgnore)),
          ...args,
          '--',
          folder ? '.' : `./${basename(root.real)}`,
        ],
        cwd: folder ? root.real : dirname(root.real),
        env: this.#env,
        timeoutMs: left,
      })
      const unreadable = countUnreadable(stderr)
      if (code === 2 && unreadable === 0) throw programFault(stderr)
      return { cut: stopped ? 'enough' : 'no', unreadable }
    } catch (error) {
      if (error instanceof LatheError && error.code === 'exec.timed_out') return { cut: 'time', unreadable: 0 }
      throw error
    }
  }

  /** The names of files, `args` saying which, one after another to `onName` as the program prints them. Throws as `run` does. */
  names(
    listing: Omit<ProgramRun, 'separator' | 'maxLineBytes' | 'onLine'> & { onName: ProgramRun['onLine'] },
  ): Promise<ProgramEnd> {
    const { onName, args, ...run } = listing
    return this.run({
      ...run,
      args: ['--files', '--null', ...args],
      separator: '\0',
      maxLineBytes: nameBytesMax,
      onLine: onName,
    })
  }

  /**
   * Every path of F-802 below a folder as the program prints it, NUL-separated and unsorted: for a thread that reads it
   * there. Throws as `run` does.
   */
  async list(root: FilePath, ms: number): Promise<{ paths: Uint8Array<ArrayBuffer>; cut: ProgramEnd['cut'] }> {
    try {
      const { code, stdout, stderr, truncated } = await runCommand({
        file: this.#program ?? (await programPath()),
        args: ['--no-config', '--color', 'never', ...(await this.#rules(root, false)), '--files', '--null', '--', '.'],
        cwd: root.real,
        env: this.#env,
        timeoutMs: ms,
        maxBytes: listBytesMax,
      })
      if (code === 2 && countUnreadable(stderr) === 0) throw programFault(stderr)
      // A copy of its own can be handed over to a thread.
      return { paths: new Uint8Array(stdout), cut: truncated ? 'enough' : 'no' }
    } catch (error) {
      if (error instanceof LatheError && error.code === 'exec.timed_out')
        return { paths: new Uint8Array(), cut: 'time' }
      throw error
    }
  }

  /** Throws `tool.invalid_arguments` with close names where the program knows no such type (F-801). */
  async checkType(type: string, signal: AbortSignal): Promise<void> {
    this.#types ??= this.#readTypes(signal)
    this.#types.catch(() => (this.#types = undefined))
    const types = await this.#types
    if (types.includes(type)) return
    const close = closeNames(type, types, 5)
    throw new LatheError(
      'tool.invalid_arguments',
      `"${type}" is no file type.${close.length > 0 ? ` Close names: ${close.join(', ')}.` : ''}`,
    )
  }

  async #readTypes(signal: AbortSignal): Promise<string[]> {
    const types: string[] = []
    await runLines({
      file: this.#program ?? (await programPath()),
      args: ['--no-config', '--type-list'],
      cwd: process.cwd(),
      env: this.#env,
      timeoutMs: 10_000,
      separator: '\n',
      maxLineBytes: 10_000,
      onLine: (line) => void types.push(line.split(':')[0]!),
      signal,
    })
    return types
  }

  async #rules(root: FilePath, noIgnore: boolean): Promise<string[]> {
    const outOfReach = root.kind === 'folder' ? await this.paths.outOfReach(root.real) : []
    const never = [
      ...[...(noIgnore ? historyFolders : neverEntered)].map((name) => `!${name}/`),
      // A worktree has a file of that name.
      '!.git',
      ...outOfReach.map((path) => `!/${escapeGlob(relative(root.real, path))}`),
    ]
    return [
      '--hidden',
      '--no-require-git',
      ...(noIgnore ? ['--no-ignore'] : []),
      ...never.flatMap((glob) => ['--glob', glob]),
    ]
  }
}

/** As it is shown: relative to the workspace, absolute outside (F-112). */
export function shownBelow(root: FilePath, below: string): string {
  if (root.kind !== 'folder' || below === '.') return root.shown
  return root.shown === '.' ? below : `${root.shown.replace(/\/$/, '')}/${below}`
}

/** One line of `stderr` for each file or folder the system refused (F-803, F-811). */
export function countUnreadable(stderr: string): number {
  return stderr.match(/^.+: .+\(os error \d+\)$/gm)?.length ?? 0
}

function programFault(stderr: string): LatheError {
  const reason = stderr.replace(/^rg: /gm, '').trim()
  const pattern = /regex parse error|not allowed in a regex|regex|pattern/i.test(reason)
  if (!pattern) return new LatheError('tool.failed', `The search program failed: ${reason || 'no reason given'}`)
  return new LatheError('search.invalid_pattern', `The pattern cannot be searched for: ${reason}`, {
    hint: 'With fixed_strings it is taken letter for letter.',
  })
}

function escapeGlob(path: string): string {
  return path.replaceAll(sep, '/').replace(/[\\*?[\]{}!]/g, '\\$&')
}

/** In a packed app the program stands beside the archive, where it can be executed. */
async function programPath(): Promise<string> {
  const { rgPath } = await import('@vscode/ripgrep')
  return rgPath.replace(/\bapp\.asar\b(?!\.unpacked)/, 'app.asar.unpacked')
}
