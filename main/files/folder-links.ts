/** Symbolic links beside the files that the search program lists: it lists none itself. For a thread that may wait. */
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { ignoreFiles, IgnoreRules } from './ignore-rules.ts'
import { neverEntered } from './never-entered.ts'

/** What a folder held when it had these times. */
type Folder = { mtimeMs: number; ctimeMs: number; links: string[]; folders: string[] }

/** More folders are not gone through. */
const foldersMax = 100_000

export class FolderLinks {
  readonly #root: string
  /** By path below the root; the root itself is ''. */
  #folders = new Map<string, Folder>()

  constructor(root: string) {
    this.#root = root
  }

  /** Links in the workspace that no ignore file leaves out (F-802), by path below its root; none is followed. */
  below(files: readonly string[]): string[] {
    const listed = foldersOf(files)
    const rules = new Map<string, IgnoreRules>()
    const links: string[] = []
    const before = this.#folders
    const now = new Map<string, Folder>()
    const waiting = ['']
    for (let path = waiting.pop(); path !== undefined && now.size < foldersMax; path = waiting.pop()) {
      const folder = this.#look(path, before.get(path))
      if (!folder) continue
      now.set(path, folder)
      const ignores = (name: string, isFolder: boolean): boolean =>
        rulesOf(join(this.#root, path), rules).ignores(join(this.#root, path, name), isFolder)
      for (const name of folder.links) {
        if (!neverEntered.has(name) && !ignores(name, false)) links.push(below(path, name))
      }
      for (const name of folder.folders) {
        // A folder without files is in no list, and may hold links all the same.
        if (listed.has(below(path, name)) || !ignores(name, true)) waiting.push(below(path, name))
      }
    }
    this.#folders = now
    return links
  }

  #look(path: string, known: Folder | undefined): Folder | null {
    const absolute = join(this.#root, path)
    try {
      const { mtimeMs, ctimeMs } = lstatSync(absolute) as Stats
      // Times are counted in ticks: what was changed a moment ago is read again.
      if (known?.mtimeMs === mtimeMs && known.ctimeMs === ctimeMs && Date.now() - ctimeMs > 1_000) return known
      const folder: Folder = { mtimeMs, ctimeMs, links: [], folders: [] }
      for (const entry of readdirSync(absolute, { withFileTypes: true })) {
        if (entry.isSymbolicLink()) folder.links.push(entry.name)
        else if (entry.isDirectory() && !neverEntered.has(entry.name)) folder.folders.push(entry.name)
      }
      return folder
    } catch {
      return null
    }
  }
}

/** The rules of a folder; `known` keeps those of the folders above it for the next one. */
function rulesOf(folder: string, known: Map<string, IgnoreRules>): IgnoreRules {
  let rules = known.get(folder)
  if (!rules) {
    const isRoot = dirname(folder) === folder || isThere(join(folder, '.git'))
    const above = isRoot ? null : rulesOf(dirname(folder), known)
    const texts = ignoreFiles.map((name) => textOf(join(folder, name)))
    rules = new IgnoreRules(above, folder, texts)
    known.set(folder, rules)
  }
  return rules
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** Every folder above one of the files. */
function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>()
  let last = ''
  for (const file of files) {
    let folder = file.slice(0, Math.max(0, file.lastIndexOf('/')))
    if (folder === last) continue
    last = folder
    for (; folder !== '' && !folders.has(folder); folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/'))))
      folders.add(folder)
  }
  return folders
}
