/** Which entries of a folder ignore files leave out, for whoever looks at folders without the search program (F-802). */
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

  /** What `above` says holds too; `texts` are those of the folder's own ignore files. */
  constructor(above: IgnoreRules | null, folder: string, texts: readonly string[]) {
    this.#levels = [...(above === null ? [] : above.#levels), { folder, rules: ignore().add(texts.join('\n')) }]
  }

  static async for(folder: string, globalIgnoreFile: string | null): Promise<IgnoreRules> {
    const texts = await Promise.all(ignoreFiles.map((name) => textOf(join(folder, name))))
    const isRoot = dirname(folder) === folder || (await isThere(join(folder, '.git')))
    const above = isRoot
      ? new IgnoreRules(null, folder, globalIgnoreFile === null ? [] : [await textOf(globalIgnoreFile)])
      : await IgnoreRules.for(dirname(folder), globalIgnoreFile)
    return new IgnoreRules(above, folder, texts)
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

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
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
