/**
 * Workspace paths and their boundary (F-101 to F-113). One function resolves for all tools; only what it resolved is
 * opened, and opening compares what is there with what was checked.
 */
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, opendir, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import type { ExtraFolder } from '../../preload/contract/session.ts'
import { closeNames } from './similarity.ts'
import { checkSpelling, pathKey } from './path-spelling.ts'
import { credentialStores, isCredentialStore, isProtected, isSecretName, isWithin } from './sensitive-paths.ts'

/** Where a call works: the workspace its turn was admitted with, and the folders the person added (F-104). */
export type Place = {
  sessionId: string
  workspace: string
  extraFolders: readonly ExtraFolder[]
}

export type Root = { real: string; writable: boolean; ignoresCase: boolean }

/** A path as it was checked. Nothing but `real` is ever opened. */
export type FilePath = {
  given: string
  /** `given` made absolute, `..` folded in the text, links not followed. */
  absolute: string
  real: string
  /** One key for all spellings: of locks, file states and changes (F-107). */
  key: string
  /** Relative to the workspace with `/`, absolute outside (F-112). */
  shown: string
  inside: boolean
  /** The deepest root around it may be written. */
  writable: boolean
  secret: boolean
  protected: boolean
  /** `link` only of an entry that was resolved without following it. */
  kind: 'file' | 'folder' | 'link' | 'other' | 'missing'
  /** The entry of that name itself is meant, not where it leads. */
  isEntry: boolean
  stats: BigIntStats | null
}

export type PathsOptions = {
  dataFolder: string
  /** Lathe's own program files: never written (Z-46). */
  programFolder?: string
  home?: string
  /** Finds out whether a folder ignores case; the default probes it. */
  ignoresCase?: (folder: string) => Promise<boolean>
}

const linksFollowedMax = 40
const namesComparedMax = 10_000

export class Paths {
  readonly #options: PathsOptions
  readonly #home: string
  readonly #caseOf = new Map<string, Promise<boolean>>()
  #data: Promise<string> | undefined

  constructor(options: PathsOptions) {
    this.#options = options
    this.#home = options.home ?? homedir()
  }

  /**
   * Where a path really leads, and what it is. Throws `path.invalid`, `path.unresolvable`, `workspace.missing`, and
   * `path.protected` for Lathe's own data, which no mode allows (Z-46). Never opens anything. With `isEntry` a link of
   * that name is what is meant, not where it leads; the folders above it are followed all the same.
   */
  async resolve(place: Place, given: string, { isEntry = false } = {}): Promise<FilePath> {
    checkSpelling(given)
    const [workspace, ...others] = await this.roots(place)
    const absolute = resolve(workspace!.real, this.#expandHome(given))
    const real = isEntry ? join(await realPathOf(dirname(absolute)), basename(absolute)) : await realPathOf(absolute)
    // A folder that may only be read stays so within one that may be written, and the other way round.
    const root = [workspace!, ...others]
      .filter((root) => contains(root, real))
      .reduce<Root | undefined>(
        (deepest, root) => (deepest && deepest.real.length >= root.real.length ? deepest : root),
        undefined,
      )
    await this.#checkData(real, root)

    const stats = await statsOf(real)
    const ignoresCase = root?.ignoresCase ?? (process.platform === 'win32' || process.platform === 'darwin')
    return {
      given,
      absolute,
      real,
      key: pathKey(real, ignoresCase),
      shown: shownPath(workspace!, real),
      inside: root !== undefined,
      writable: root?.writable ?? false,
      secret:
        isSecretName(basename(real)) ||
        isSecretName(basename(absolute)) ||
        (!root && isCredentialStore(real, this.#home)),
      protected: isProtected(root ? relative(root.real, real) : real),
      kind: isEntry && stats?.isSymbolicLink() ? 'link' : kindOf(stats),
      isEntry,
      stats,
    }
  }

  /** The workspace first, then added folders and the session's scratch folder, where they exist. Throws `workspace.missing` (F-113). */
  async roots(place: Place): Promise<Root[]> {
    const scratch = join(await this.#dataFolder(), 'tmp', place.sessionId)
    const wanted = [{ path: place.workspace, writable: true }, ...place.extraFolders, { path: scratch, writable: true }]
    const roots = await Promise.all(
      wanted.map(async ({ path, writable }) => {
        const real = await realpath(path).catch(() => null)
        return real === null ? null : { real, writable, ignoresCase: await this.#ignoresCase(real) }
      }),
    )
    if (!roots[0])
      throw new LatheError('workspace.missing', `The workspace folder ${place.workspace} is not there.`, {
        hint: 'It was moved, deleted or unmounted. When it is back, everything works again.',
      })
    return roots.filter((root) => root !== null)
  }

  /** Paths below `folder` that a search of it leaves out: Lathe's data (Z-46) and stores of credentials (Z-47). */
  async outOfReach(folder: string): Promise<string[]> {
    const closed = [await this.#dataFolder(), ...credentialStores(this.#home)]
    return closed.filter((path) => path !== folder && isWithin(path, folder))
  }

  /** Throws `path.protected` for a folder of Lathe's own data, which is no root of a session (Z-46). */
  async checkAddable(real: string): Promise<void> {
    await this.#checkData(real, undefined)
  }

  /** Throws unless the path can be a file to write: not a folder, a device, or Lathe's own program. */
  checkWritable(path: FilePath): void {
    if (path.kind === 'folder') throw new LatheError('file.is_directory', `${path.shown} is a folder.`)
    if (path.kind === 'other') throw notRegular(path)
    const program = this.#options.programFolder
    if (program && isWithin(path.real, program))
      throw new LatheError('path.protected', `${path.shown} belongs to Lathe itself and is never changed.`)
  }

  #expandHome(given: string): string {
    const name = /^~([^/\\]*)/.exec(given)?.[1]
    if (name === undefined) return given
    if (name !== '' && name !== userInfo().username) {
      throw new LatheError('path.unresolvable', `The home folder of "${name}" is not known.`, {
        hint: `For a file of that name write ./${given}`,
      })
    }
    return join(this.#home, given.slice(name.length + 1))
  }

  async #checkData(real: string, root: Root | undefined): Promise<void> {
    const data = await this.#dataFolder()
    if (!isWithin(real, data)) return
    const ours = root !== undefined && ['tmp', 'worktrees'].some((name) => isWithin(root.real, join(data, name)))
    if (!ours)
      throw new LatheError('path.protected', 'This path leads into the data of Lathe, which no tool may touch.', {
        hint: 'Stored output and attachments are read by their reference.',
      })
  }

  #dataFolder(): Promise<string> {
    return (this.#data ??= realPathOf(resolve(this.#options.dataFolder)))
  }

  #ignoresCase(folder: string): Promise<boolean> {
    let known = this.#caseOf.get(folder)
    if (!known) this.#caseOf.set(folder, (known = (this.#options.ignoresCase ?? probeIgnoresCase)(folder)))
    return known
  }
}

/**
 * Opens what was checked, to read: a final link is not followed, a pipe does not block, and another file than the one
 * checked is `path.swapped` (F-106, F-108).
 */
export async function openChecked(path: FilePath): Promise<FileHandle> {
  if (path.kind === 'missing') throw await notFound(path)
  if (path.kind === 'folder')
    throw new LatheError('file.is_directory', `${path.shown} is a folder.`, {
      hint: 'Use list_dir to see what is in it.',
    })
  if (path.kind === 'other') throw notRegular(path)
  const handle = await open(
    path.real,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  ).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ELOOP') throw swapped(path)
    if (error.code === 'EACCES' || error.code === 'EPERM')
      throw new LatheError('access.denied', `${path.shown} may not be read by this user.`)
    throw error
  })
  try {
    const now = await handle.stat({ bigint: true })
    if (now.dev !== path.stats!.dev || now.ino !== path.stats!.ino) throw swapped(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** All of it, for what is known to be small enough. */
export async function bytesOfFile(file: FilePath): Promise<Uint8Array> {
  const handle = await openChecked(file)
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** `path.swapped`: between check and use another file took the place (F-106). */
export function swapped(path: FilePath): LatheError {
  return new LatheError(
    'path.swapped',
    `${path.shown} was replaced by something else while it was being opened; nothing was read or written.`,
  )
}

/** `file.not_found` with up to 3 close names of the nearest folder that exists (F-304). */
export async function notFound(path: FilePath): Promise<LatheError> {
  let folder = dirname(path.real)
  let wanted = basename(path.real)
  let names = await namesIn(folder)
  while (names === null && dirname(folder) !== folder) {
    wanted = basename(folder)
    folder = dirname(folder)
    names = await namesIn(folder)
  }
  const close = path.inside ? closeNames(wanted, names ?? [], 3) : []
  const base = path.shown.slice(0, Math.max(0, path.shown.length - (path.real.length - folder.length - 1)))
  return new LatheError(
    'file.not_found',
    `There is no file ${path.shown}.`,
    close.length === 0 ? {} : { hint: `Close names: ${close.map((name) => base + name).join(', ')}` },
  )
}

function notRegular(path: FilePath): LatheError {
  return new LatheError('file.not_regular', `${path.shown} is a device, pipe or socket, not a file.`)
}

/**
 * The real path of the deepest existing ancestor, joined with the rest (F-103). A link to nothing counts as where a
 * write through it would land.
 */
async function realPathOf(absolute: string, links = 0): Promise<string> {
  const rest: string[] = []
  for (let at = absolute; ; at = dirname(at)) {
    const real = await realpath(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      if (error.code === 'ENAMETOOLONG')
        throw new LatheError('path.invalid', 'A name in this path is longer than the disk allows.')
      throw new LatheError(
        'path.unresolvable',
        `Where ${absolute} leads cannot be found out (${error.code ?? error.message}).`,
      )
    })
    if (real !== null) {
      const twin = rest[0] === undefined ? null : await composedTwin(real, rest[0])
      return twin === null ? join(real, ...rest) : realPathOf(join(real, twin, ...rest.slice(1)), links)
    }
    const target = await readlink(at).catch(() => null)
    if (target !== null) {
      if (links >= linksFollowedMax) throw new LatheError('path.unresolvable', `${absolute} goes in a circle of links.`)
      return realPathOf(resolve(await realpath(dirname(at)), target, ...rest), links + 1)
    }
    if (dirname(at) === at) return absolute
    rest.unshift(basename(at))
  }
}

/** A name on disk that is the same text in another Unicode form (F-107). */
async function composedTwin(folder: string, name: string): Promise<string | null> {
  if (/^[\x20-\x7e]*$/.test(name)) return null
  const wanted = name.normalize('NFC')
  return (await namesIn(folder))?.find((entry) => entry !== name && entry.normalize('NFC') === wanted) ?? null
}

async function namesIn(folder: string): Promise<string[] | null> {
  const names: string[] = []
  try {
    for await (const entry of await opendir(folder)) if (names.push(entry.name) >= namesComparedMax) break
    return names
  } catch {
    return null
  }
}

/** Looks for an entry under its name in the other case: the same file there means the disk ignores case. */
async function probeIgnoresCase(folder: string): Promise<boolean> {
  const names = [...((await namesIn(folder)) ?? []).map((name) => join(folder, name)), folder]
  for (const path of names) {
    const name = basename(path)
    const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase()
    if (other === name) continue
    const [here, there] = await Promise.all([statsOf(path), statsOf(join(dirname(path), other))])
    if (here) return there !== null && there.ino === here.ino && there.dev === here.dev
  }
  return process.platform === 'win32'
}

function contains(root: Root, real: string): boolean {
  return isWithin(pathKey(real, root.ignoresCase), pathKey(root.real, root.ignoresCase))
}

function shownPath(workspace: Root, real: string): string {
  const shown = contains(workspace, real) ? relative(workspace.real, real) || '.' : real
  return sep === '/' ? shown : shown.replaceAll(sep, '/')
}

function statsOf(real: string): Promise<BigIntStats | null> {
  return lstat(real, { bigint: true }).catch(() => null)
}

function kindOf(stats: BigIntStats | null): FilePath['kind'] {
  if (stats === null) return 'missing'
  if (stats.isFile()) return 'file'
  // A link here took the place of what was resolved a moment ago; opening it will say so.
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'file' : 'other'
}
