/** Folders sessions work in: which are known, whether they are there, what branch they are on (S-54). */
import { cp, mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Workspace } from '../../preload/contract/events.ts'
import { isFolderTrusted } from '../../preload/contract/trust.ts'
import { readBeginning } from '../files/read-within.ts'
import { isWithin } from '../files/sensitive-paths.ts'
import type { Storage } from '../storage/storage.ts'

export type WorkspacesPorts = {
  storage: Pick<Storage, 'workspaces' | 'putWorkspace' | 'removeWorkspace' | 'moveWorkspace'>
  /** The demo workspace as shipped, and where copies of it are made. */
  demoSource(): Promise<string>
  demoFolder: string
  changed(workspace: Workspace): void
  /** Folders in which a turn runs. */
  busy(): readonly string[]
  now(): number
}

const foldersMax = 500
/** A link to the folder of a work tree, or the name of a branch. */
const gitFileBytesMax = 8 * 1024

export class Workspaces {
  private readonly ports: WorkspacesPorts
  /** What was said of each known folder, by its real path. */
  private trust = new Map<string, boolean>()

  constructor(ports: WorkspacesPorts) {
    this.ports = ports
  }

  /** To be awaited before anything is asked of a folder. */
  async load(): Promise<void> {
    const known = await this.ports.storage.workspaces()
    this.trust = new Map(known.map(({ path, trusted }) => [path, trusted]))
  }

  /** What was said of the folder, or of the nearest above it; one of which nothing was said is not trusted (Z-4, Z-5). */
  isTrusted(path: string): boolean {
    return isFolderTrusted(path, (folder) => this.trust.get(folder))
  }

  /** Throws as `open`. */
  async setTrust(path: string, trusted: boolean): Promise<Workspace> {
    const real = await folderAt(path)
    // What was said of folders below before is said anew.
    for (const below of await this.ports.storage.workspaces())
      if (isWithin(below.path, real) && below.path !== real) await this.put({ ...below, trusted })
    return this.open(real, { trusted })
  }

  async list(): Promise<Workspace[]> {
    const known = await this.ports.storage.workspaces()
    return Promise.all(known.map(async (workspace) => ({ ...workspace, ...(await stateOf(workspace.path)) })))
  }

  /** Throws `workspace.missing` or `path.invalid` where the folder cannot be opened. */
  async open(path: string, said: { demo?: boolean; trusted?: boolean | undefined } = {}): Promise<Workspace> {
    const real = await folderAt(path)
    const before = (await this.ports.storage.workspaces()).find((one) => one.path === real)
    const workspace: Workspace = {
      path: real,
      name: basename(real) || real,
      ...(await stateOf(real)),
      trusted: said.trusted ?? this.isTrusted(real),
      openedAt: this.ports.now(),
      demo: before?.demo ?? said.demo ?? false,
    }
    await this.put(workspace)
    return workspace
  }

  /** Real path of a folder that is there and can be read. Throws as `open`. */
  folder(path: string): Promise<string> {
    return folderAt(path)
  }

  private async put(workspace: Workspace): Promise<void> {
    await this.ports.storage.putWorkspace(workspace)
    this.trust.set(workspace.path, workspace.trusted)
    this.ports.changed(workspace)
  }

  /** A fresh copy of the demo workspace; an earlier copy is left as the person has it. */
  async openDemo(): Promise<Workspace> {
    await mkdir(this.ports.demoFolder, { recursive: true })
    const taken = new Set(await readdir(this.ports.demoFolder))
    let name = 'demo'
    for (let count = 2; taken.has(name); count++) name = `demo-${count}`
    const path = join(this.ports.demoFolder, name)
    await cp(await this.ports.demoSource(), path, { recursive: true })
    return this.open(path, { demo: true, trusted: true })
  }

  async forget(path: string): Promise<void> {
    await this.ports.storage.removeWorkspace(path)
    this.trust.delete(path)
  }

  /** Re-points every session of a folder that moved; resolves with their ids (S-54). Throws `turn.busy` while one runs (S-9). */
  async locate(path: string, to: string): Promise<{ workspace: Workspace; sessionIds: string[] }> {
    if (this.ports.busy().includes(path))
      throw new LatheError('turn.busy', 'A turn still runs in that folder.', { hint: 'Stop it first.' })
    const workspace = await this.open(to)
    const sessionIds = await this.ports.storage.moveWorkspace(path, workspace.path)
    return { workspace, sessionIds }
  }

  /** Folders below `path` (the home folder where null), for choosing one in a browser. */
  async browse(
    path: string | null,
  ): Promise<{ path: string; parent: string | null; folders: { name: string; path: string; git: boolean }[] }> {
    const real = await folderAt(path ?? homedir())
    const entries = await readdir(real, { withFileTypes: true }).catch(() => {
      throw new LatheError('path.invalid', `The folder ${real} cannot be read.`)
    })
    const names = entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort((one, other) => one.localeCompare(other))
      .slice(0, foldersMax)
    const folders = await Promise.all(
      names.map(async (name) => ({ name, path: join(real, name), git: await exists(join(real, name, '.git')) })),
    )
    const parent = dirname(real)
    return { path: real, parent: parent === real ? null : parent, folders }
  }
}

async function folderAt(path: string): Promise<string> {
  const spelled = path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
  if (!isAbsolute(spelled)) throw new LatheError('path.invalid', 'Give the whole path of the folder.')
  const real = await realpath(resolve(spelled)).catch(() => null)
  const found = real === null ? null : await stat(real).catch(() => null)
  if (real === null || found === null) throw new LatheError('workspace.missing', `The folder ${spelled} is not there.`)
  if (!found.isDirectory()) throw new LatheError('path.invalid', `${spelled} is not a folder.`)
  const readable = await readdir(real).then(
    () => true,
    () => false,
  )
  if (!readable)
    throw new LatheError('path.invalid', `The folder ${spelled} cannot be read.`, { hint: 'Check its permissions.' })
  return real
}

async function stateOf(path: string): Promise<Pick<Workspace, 'state' | 'branch'>> {
  const there = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return { state: there ? 'present' : 'missing', branch: there ? await branchOf(path) : null }
}

/** The branch a folder is on, read from git's own files: no process for a label. */
async function branchOf(path: string): Promise<string | null> {
  let folder = path
  for (let depth = 0; depth < 12; depth++) {
    const head = await headOf(join(folder, '.git'))
    if (head !== null) return /^ref: refs\/heads\/(.+)$/.exec(head.trim())?.[1] ?? head.trim().slice(0, 7)
    const parent = dirname(folder)
    if (parent === folder) return null
    folder = parent
  }
  return null
}

async function headOf(git: string): Promise<string | null> {
  // A folder nobody trusts may hold a pipe or a device there, or a file without an end.
  const text = (file: string) =>
    readBeginning(file, gitFileBytesMax).then(
      ({ bytes }) => new TextDecoder().decode(bytes),
      () => null,
    )
  const head = await text(join(git, 'HEAD'))
  if (head !== null) return head
  const link = /^gitdir: (.+)$/m.exec((await text(git)) ?? '')?.[1]
  return link === undefined ? null : text(join(isAbsolute(link) ? link : resolve(dirname(git), link), 'HEAD'))
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
