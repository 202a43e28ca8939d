/** Which entries of a folder ignore files leave out, for whoever looks at folders without the search program (F-802). */
import { lstatSync, readFileSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { neverEntered } from './never-entered.ts'

type Level = { folder: string; rules: Ignore }

export const ignoreFiles = ['.gitignore', '.ignore']

/** The ignore files that hold for the entries of one folder: its own and those above it, up to the repository's root. */
export class IgnoreRules {
  /** Outermost first. */
  readonly #levels: readonly Level[]

  private constructor(levels: readonly Level[]) {
    this.#levels = levels
  }

  static async for(folder: string, globalIgnoreFile: string | null): Promise<IgnoreRules> {
    const levels: Level[] = []
    for (let at = folder; ; at = dirname(at)) {
      const texts = await Promise.all(ignoreFiles.map((name) => readFile(join(at, name), 'utf8').catch(() => '')))
      levels.unshift(levelOf(at, texts))
      const isRoot = await lstat(join(at, '.git')).then(
        () => true,
        () => false,
      )
      if (isRoot || dirname(at) === at) {
        const text = globalIgnoreFile === null ? '' : await readFile(globalIgnoreFile, 'utf8').catch(() => '')
        levels.unshift(levelOf(at, [text]))
        return new IgnoreRules(levels)
      }
    }
  }

  /** The same for a thread that may wait; `known` is kept by the caller for folders that share those above them. */
  static forSync(folder: string, known: Map<string, IgnoreRules>): IgnoreRules {
    let rules = known.get(folder)
    if (!rules) {
      const isRoot = dirname(folder) === folder || isThere(join(folder, '.git'))
      const above = isRoot ? [] : IgnoreRules.forSync(dirname(folder), known).#levels
      rules = new IgnoreRules([
        ...above,
        levelOf(
          folder,
          ignoreFiles.map((name) => textOf(join(folder, name))),
        ),
      ])
      known.set(folder, rules)
    }
    return rules
  }

  /** The innermost file that says anything decides; what lies in an ignored folder is ignored. */
  ignores(path: string, folder: boolean): boolean {
    if (folder && neverEntered.has(basename(path))) return true
    let ignored = false
    for (const level of this.#levels) {
      const below = relative(level.folder, path).replaceAll(sep, '/')
      const result = level.rules.test(folder ? `${below}/` : below)
      if (result.ignored) ignored = true
      else if (result.unignored) ignored = false
    }
    return ignored
  }
}

function levelOf(folder: string, texts: readonly string[]): Level {
  return { folder, rules: ignore().add(texts.join('\n')) }
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

/** The rules for paths anywhere below a folder; what was read is kept until somebody says that it has changed. */
export class IgnoreTree {
  readonly #root: string
  readonly #folders = new Map<string, Promise<boolean>>()
  readonly #rules = new Map<string, Promise<IgnoreRules>>()

  constructor(root: string) {
    this.#root = root
  }

  /** `path` below the root with `/`; what may be either counts as a file. */
  async ignores(path: string): Promise<boolean> {
    if (this.#folders.size > foldersKept) this.forget()
    const folder = parentOf(path)
    if (await this.#ignoresFolder(folder)) return true
    return (await this.#rulesOf(folder)).ignores(join(this.#root, path), false)
  }

  forget(): void {
    this.#folders.clear()
    this.#rules.clear()
  }

  #ignoresFolder(folder: string): Promise<boolean> {
    if (folder === '') return Promise.resolve(false)
    let known = this.#folders.get(folder)
    if (!known) {
      known = this.#ignoresFolder(parentOf(folder)).then(
        async (isInside) => isInside || (await this.#rulesOf(parentOf(folder))).ignores(join(this.#root, folder), true),
      )
      this.#folders.set(folder, known)
    }
    return known
  }

  #rulesOf(folder: string): Promise<IgnoreRules> {
    let known = this.#rules.get(folder)
    if (!known) this.#rules.set(folder, (known = IgnoreRules.for(join(this.#root, folder), null)))
    return known
  }
}

const foldersKept = 10_000

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
