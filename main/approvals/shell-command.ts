/**
 * What a shell command would touch, as effects for the policy (section 4 of the security rules). Every simple command is
 * judged by itself, also inside wrappers and code given to a shell, so nothing rides on an allowance for its neighbour.
 * Judging decides what to ask; it is no sandbox.
 */
import { isAbsolute, resolve } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import type { FilePath } from '../files/paths.ts'
import type { Effect } from '../tools/tool.ts'
import {
  gitPrintsContents,
  harmlessVariable,
  interpreters,
  looseWrappers,
  neverAutomaticCommands,
  posixShells,
  readOnlyCommands,
  readOnlyGit,
  wrappers,
} from './command-kinds.ts'
import {
  afterEquals,
  changesMeaning,
  dynamicWord,
  givenCode,
  literalWord,
  programName,
  readOptions,
} from './command-options.ts'
import { deviceReason, forbiddenReason } from './forbidden-commands.ts'
import { parseInThread } from './shell-parser.ts'
import { ForkBomb, type Part, type Redirect, type SimpleCommand } from './shell-grammar.ts'
import { Opaque, type Word } from './shell-words.ts'

export type ResolvedPath = Pick<FilePath, 'real' | 'inside' | 'writable' | 'secret' | 'protected' | 'kind'>

export type CommandSetting = {
  /** Name of the shell that will run it. Only `bash` and `sh` are understood; all else is opaque. */
  shell: string
  /** Absolute. */
  folder: string
  workspace: string
  home: string
  dataFolder: string
  /** Whether git run in that folder starts no program of a repository's (Z-65). */
  gitOnlyReads(folder: string): Promise<boolean>
  /** Whether the repository of that folder knows a file with the name of a secret, now or in its history (Z-47). */
  gitKnowsSecrets(folder: string): Promise<boolean>
  /** Where an absolute path leads; throws `path.protected`, `path.unresolvable`, `path.invalid`. */
  resolve(absolute: string): Promise<ResolvedPath>
}

type CommandEffect = Extract<Effect, { kind: 'command' }>

/** How deep code in code (`sh -c "sh -c ..."`, wrappers of wrappers) is followed. */
const depthMax = 5
/** Look-ups of paths for one command; far above what anybody writes. */
const lookupsMax = 400
const foldersMax = 8

const devices = /^\/dev\/(null|stdin|stdout|stderr|tty|fd\/\d+)$/
const inputDevices = /^\/dev\/(zero|random|urandom)$/

/**
 * The effects of a command, in the order of its parts. What cannot be understood is one opaque command, which asks each
 * time (Z-58). Throws `tool.failed` where a check itself broke.
 */
export async function commandEffects(command: string, setting: CommandSetting): Promise<Effect[]> {
  if (setting.shell !== 'bash' && setting.shell !== 'sh')
    return [opaqueCommand(command, `commands of ${setting.shell} are not taken apart`)]
  try {
    return gitAlone(await new Judge(setting).script(command, 0))
  } catch (error) {
    if (error instanceof ForkBomb)
      return [{ kind: 'forbidden', reason: 'It starts itself over and over until the machine stands still.' }]
    if (error instanceof Opaque) return [opaqueCommand(command, error.message)]
    // A check that breaks is a refusal (X-321, Z-5): nobody knows what it would have found.
    throw new LatheError('tool.failed', 'This command could not be checked, so it did not run.', { cause: error })
  }
}

/** Nothing but reading in it: what it runs with keeps git from starting anything (Z-65). */
export function onlyReads(effects: readonly Effect[]): boolean {
  return effects.every((effect) => effect.kind === 'read' || (effect.kind === 'command' && effect.readOnly))
}

/** What else the command does could give git something to run, and keeps it from running as it must. */
function gitAlone(effects: Effect[]): Effect[] {
  if (onlyReads(effects)) return effects
  return effects.map((effect) =>
    effect.kind === 'command' && effect.words[0] === 'git' ? { ...effect, readOnly: false } : effect,
  )
}

/** `http` and `https` addresses in a command, each to be admitted before it starts (Z-63). */
export function commandAddresses(command: string): string[] {
  return [...new Set(command.match(/https?:\/\/[^\s'"`;|<>]+/gi) ?? [])]
}

/** What is always asked is looked for even in text that was not understood. */
function opaqueCommand(text: string, reason: string): CommandEffect {
  const elevated = [...neverAutomaticCommands].find((name) => new RegExp(`(^|[^\\w.-])${name}(?![\\w-])`).test(text))
  return {
    kind: 'command',
    words: [],
    text,
    readOnly: false,
    opaque: reason,
    ...(elevated ? { neverAutomatic: elevationReason(elevated) } : {}),
  }
}

function elevationReason(name: string): string {
  return name === 'lathe' ? 'It starts Lathe itself.' : `"${name}" runs with other rights than yours.`
}

/** How a command is reached: deeper inside another, with input or arguments it does not show. */
type Reached = { depth: number; fed: boolean; /** Why nothing may be remembered for it. */ opaque?: string | undefined }

class Judge {
  readonly #setting: CommandSetting
  /** Where the shell may be standing; null where that is not known any more. */
  #folders: string[] | null
  #lookups = 0

  constructor(setting: CommandSetting) {
    this.#setting = setting
    this.#folders = [setting.folder]
  }

  async script(text: string, depth: number): Promise<Effect[]> {
    if (depth > depthMax) throw new Opaque('it is nested too deep')
    const parts = await parseInThread(text, this.#setting.home)
    if (parts.length === 0) throw new Opaque('it holds no command')
    const effects: Effect[] = []
    for (const part of parts) effects.push(...(await this.#part(part, depth)))
    return effects
  }

  async #part(part: Part, depth: number): Promise<Effect[]> {
    if (part.kind === 'redirect') return this.#redirect(part)
    const risky = part.assigned.find((name) => !harmlessVariable.test(name))
    const opaque = part.words.length === 0 ? `it sets ${part.assigned[0]}` : risky && `it sets ${risky}`
    const reached: Reached = { depth, fed: part.fed, opaque: opaque || undefined }
    const effects = await this.#command(part.words, part.text, reached)
    this.#changeFolder(part)
    return effects
  }

  /** One program with its arguments, and what it starts in turn. */
  async #command(words: Word[], text: string, reached: Reached): Promise<Effect[]> {
    const program = words[0]
    const own = (more: Partial<CommandEffect> = {}): CommandEffect => ({
      kind: 'command',
      words: words.map((word) => word.literal),
      text,
      readOnly: false,
      ...(reached.opaque ? { opaque: reached.opaque } : {}),
      ...more,
    })
    if (!program) return [own()]
    if (program.literal === null || program.literal === '')
      return [own({ opaque: 'which program it runs is only known when it runs' })]
    const name = programName(program.literal)
    const folders = this.#folders ?? [this.#setting.folder]
    const forbidden = await forbiddenReason(name, words, { ...this.#setting, folders })
    if (forbidden) return [{ kind: 'forbidden', reason: forbidden }]

    const operands = await this.#secretOperands(words.slice(1))
    const never =
      this.#neverAutomatic(name, words) ??
      (operands.some((effect) => effect.kind === 'read' && !effect.inside && effect.secret)
        ? 'It names a store of credentials.'
        : undefined)
    const flags = never ? { neverAutomatic: never } : {}
    if (changesMeaning(name, words)) {
      const code = name === 'eval' ? await this.#code(words.slice(1), reached) : []
      return [...operands, ...code, own({ opaque: reached.opaque ?? `"${name}" changes what commands mean`, ...flags })]
    }
    if (name === 'find') return [...operands, own(flags), ...(await this.#find(words, text, reached))]
    if (name === 'watch') return [...operands, own(flags), ...(await this.#watch(words, reached))]
    if (Object.hasOwn(wrappers, name))
      return [...operands, own(flags), ...(await this.#wrapped(name, words, text, reached))]

    const language = name.replace(/[\d.]+$/, '')
    const interpreter = Object.hasOwn(interpreters, language) ? interpreters[language] : undefined
    if (interpreter) {
      const code = givenCode(words, interpreter, reached.fed)
      const inner = code?.text && posixShells.has(name) ? await this.#code([code.text], reached) : []
      return [
        ...operands,
        ...inner,
        own({ ...(code ? { opaque: reached.opaque ?? `"${name}" is given code` } : {}), ...flags }),
      ]
    }
    if (name === 'cd')
      return [...(await this.#folderRead(words[1])), ...(words.length > 2 || reached.opaque ? [own(flags)] : [])]
    const reads = program.literal === name && !reached.opaque ? await this.#readOnly(name, words) : null
    if (reads) return [...reads, own({ readOnly: !never && reads.length === 0, ...flags })]
    return [...operands, own(flags)]
  }

  // --- what it starts in turn ---

  /** The command behind a wrapper's own options (Z-60). */
  async #wrapped(name: string, words: Word[], text: string, reached: Reached): Promise<Effect[]> {
    if (name === 'command' && /^-[vV]+$/.test(words[1]?.literal ?? '')) return []
    const read = readOptions(words.slice(1), wrappers[name]!, true)
    if (read === null) return [this.#innerOpaque(text, `the options of "${name}" are not understood`)]
    let inner = read.operands.slice(wrappers[name]!.operands ?? 0)
    let opaque = reached.opaque
    if (name === 'env') {
      while (/^[A-Za-z_]\w*=/.test(inner[0]?.raw ?? '')) {
        const variable = inner.shift()!.raw.split('=')[0]!
        if (!harmlessVariable.test(variable)) opaque = `it sets ${variable}`
      }
    }
    if (inner.length === 0 && name !== 'xargs') return []
    // What xargs reads becomes arguments nobody has seen, and may begin with a dash.
    if (name === 'xargs') inner = [...(inner.length > 0 ? inner : [literalWord('echo')]), dynamicWord()]
    return this.#nested(inner, { ...reached, opaque, fed: reached.fed || name === 'xargs' })
  }

  async #find(words: Word[], text: string, reached: Reached): Promise<Effect[]> {
    const effects: Effect[] = []
    const from = words.slice(1).findIndex((word) => /^[-(!]/.test(word.literal ?? ''))
    const starts = words.slice(1, from < 0 ? undefined : from + 1)
    for (let at = 1; at < words.length; at += 1) {
      const option = words[at]!.literal
      if (option === null) effects.push(this.#innerOpaque(text, 'what "find" does is only known when it runs'))
      if (option === '-delete')
        for (const start of starts.length > 0 ? starts : [literalWord('.')])
          effects.push(...(await this.#write(start, 'delete')))
      if (/^-f(print|print0|printf|ls)$/.test(option ?? '') && words[at + 1])
        effects.push(...(await this.#write(words[at + 1]!, 'create')))
      if (/^-(exec|execdir|ok|okdir)$/.test(option ?? '')) {
        const end = words.findIndex((word, index) => index > at && (word.literal === ';' || word.literal === '+'))
        const inner = words
          .slice(at + 1, end < 0 ? undefined : end)
          .map((word) => (word.literal?.includes('{}') ? dynamicWord() : word))
        effects.push(...(await this.#nested(inner, reached)))
      }
    }
    return effects
  }

  /** `watch` hands its operands, joined, to a shell. */
  async #watch(words: Word[], reached: Reached): Promise<Effect[]> {
    const read = readOptions(
      words.slice(1),
      {
        flags: 'bcdegprtwx',
        valued: 'nq',
        long: 'beep color differences errexit chgexit precise no-title exec',
        longValued: 'interval equexit',
      },
      true,
    )
    return read === null
      ? [this.#innerOpaque('watch', 'the options of "watch" are not understood')]
      : this.#code(read.operands, reached)
  }

  async #nested(words: Word[], reached: Reached): Promise<Effect[]> {
    if (reached.depth >= depthMax) throw new Opaque('it is nested too deep')
    return this.#command(words, words.map((word) => word.raw).join(' '), { ...reached, depth: reached.depth + 1 })
  }

  /** Words that a shell reads once more. Where they are not known, nothing can be said of them. */
  async #code(words: Word[], reached: Reached): Promise<Effect[]> {
    const text = words.map((word) => word.literal)
    if (text.includes(null))
      return [this.#innerOpaque(words.map((word) => word.raw).join(' '), 'its code is only known when it runs')]
    const code = text.join(' ')
    return code.trim() === '' ? [] : this.script(code, reached.depth + 1)
  }

  #innerOpaque(text: string, reason: string): CommandEffect {
    return opaqueCommand(text, reason)
  }

  #neverAutomatic(name: string, words: Word[]): string | undefined {
    const elevated = looseWrappers.has(name)
      ? words.map((word) => programName(word.literal ?? '')).find((word) => neverAutomaticCommands.has(word))
      : name
    return elevated !== undefined && neverAutomaticCommands.has(elevated) ? elevationReason(elevated) : undefined
  }

  // --- paths ---

  /** Z-62, Z-50. */
  async #redirect(redirect: Redirect): Promise<Effect[]> {
    const { target, access } = redirect
    const literal = target.literal
    if (literal !== null && (devices.test(literal) || (process.platform === 'win32' && /^nul$/i.test(literal))))
      return []
    if (access === 'read' && literal !== null && inputDevices.test(literal)) return []
    const device = access === 'read' || literal === null ? null : deviceReason(literal)
    if (device !== null) return [{ kind: 'forbidden', reason: device }]
    const reads = access === 'read' || access === 'both' ? await this.#read(target) : []
    const writes = access === 'read' ? [] : await this.#write(target, access === 'append' ? 'edit' : 'create')
    return [...reads, ...writes]
  }

  async #read(word: Word): Promise<Effect[]> {
    const found = await this.#resolve(word)
    if (found === null) return [{ kind: 'read', path: word.raw, inside: false, secret: false }]
    return found.map((path): Effect =>
      'forbidden' in path
        ? { kind: 'forbidden', reason: path.forbidden }
        : { kind: 'read', path: path.real, inside: path.inside, secret: path.secret },
    )
  }

  async #write(word: Word, change: 'create' | 'edit' | 'delete'): Promise<Effect[]> {
    const found = await this.#resolve(word)
    if (found === null)
      return [{ kind: 'write', path: word.raw, inside: false, change, protected: false, secret: false }]
    return found.map((path): Effect => {
      if ('forbidden' in path) return { kind: 'forbidden', reason: path.forbidden }
      const { real, secret, kind } = path
      return {
        kind: 'write',
        path: real,
        inside: path.inside && path.writable,
        change: change === 'create' && kind !== 'missing' ? 'edit' : change,
        protected: path.protected,
        secret,
      }
    })
  }

  /** A folder the shell changes to is only looked at. */
  async #folderRead(word: Word | undefined): Promise<Effect[]> {
    return word?.literal === '-' ? [] : this.#read(word ?? { ...literalWord(this.#setting.home), literal: null })
  }

  /** Every place a word may lead to, one for each folder the shell may stand in; null where that is not known. */
  async #resolve(word: Word): Promise<(ResolvedPath | { forbidden: string })[] | null> {
    if (word.path === null || word.path === '' || word.glob || word.path.startsWith('~')) return null
    const folders = isAbsolute(word.path) ? ['/'] : this.#folders
    if (folders === null) return null
    const found = await Promise.all(folders.map((folder) => this.#lookUp(resolve(folder, word.path!))))
    return found.some((path) => path === null) ? null : (found as (ResolvedPath | { forbidden: string })[])
  }

  async #lookUp(absolute: string): Promise<ResolvedPath | { forbidden: string } | null> {
    this.#lookups += 1
    if (this.#lookups > lookupsMax) throw new Opaque('it names too many files')
    try {
      return await this.#setting.resolve(absolute)
    } catch (error) {
      if (!(error instanceof LatheError)) throw error
      return error.code === 'path.protected' ? { forbidden: error.message } : null
    }
  }

  /**
   * Operands of any command that need consent of their own, whatever rule fits the command: secret files, Lathe's data,
   * and `~name`. Everything else of an ordinary command is covered by the consent to it.
   */
  async #secretOperands(words: Word[]): Promise<Effect[]> {
    const effects: Effect[] = []
    for (const word of words) {
      const value = word.path?.startsWith('-') ? afterEquals(word) : word
      if (!value || value.path === null || value.path === '' || value.glob) continue
      if (value.path.startsWith('~')) effects.push({ kind: 'read', path: value.path, inside: false, secret: false })
      for (const path of (await this.#resolve(value)) ?? []) {
        if ('forbidden' in path) effects.push({ kind: 'forbidden', reason: path.forbidden })
        else if (path.secret) effects.push({ kind: 'read', path: path.real, inside: path.inside, secret: true })
      }
    }
    return effects
  }

  // --- reading only ---

  /** Z-65: null where the command is not known to only read; else the reads that need consent, usually none. */
  async #readOnly(name: string, words: Word[]): Promise<Effect[] | null> {
    let options = Object.hasOwn(readOnlyCommands, name) ? readOnlyCommands[name] : undefined
    let rest = words.slice(1)
    if (name === 'git') {
      if (rest[0]?.literal === '--no-pager') rest = rest.slice(1)
      const subcommand = rest[0]?.literal ?? ''
      options = Object.hasOwn(readOnlyGit, subcommand) ? readOnlyGit[subcommand] : undefined
      rest = rest.slice(1)
      // A signature is checked by another program; a pattern of git's own is no path that could be judged.
      if (rest.some(({ literal }) => literal === null || /%G|%\(signature|^:[(!^/]|[*?[]/.test(literal))) return null
    }
    if (!options || this.#folders === null) return null
    const read = readOptions(rest, options)
    if (read === null) return null
    if (name === 'git' && !(await this.#gitReads(words, read))) return null
    // It goes through whole folders, and an ignore file of the workspace decides which secrets it prints (Z-47).
    if (name === 'rg' && !read.seen.has('files')) return null
    const searches = name === 'grep' && !read.seen.has('e') && !read.seen.has('regexp')
    const operands = searches ? read.operands.slice(1) : read.operands
    const effects: Effect[] = []
    for (const word of [...operands, ...(name === 'git' ? rest.flatMap(behindColons) : [])]) {
      if (word.path === null || word.glob) return null
      if (word.path !== '')
        effects.push(
          ...(await this.#read(word)).filter((effect) => effect.kind !== 'read' || !effect.inside || effect.secret),
        )
    }
    // Without operands it looks at the folder it stands in.
    if (operands.length === 0)
      effects.push(...(await this.#read(literalWord('.'))).filter((effect) => effect.kind !== 'read' || !effect.inside))
    return effects
  }

  async #gitReads(words: Word[], { operands, seen }: { operands: Word[]; seen: Set<string> }): Promise<boolean> {
    const subcommand = words.find(({ literal }) => literal !== null && Object.hasOwn(readOnlyGit, literal))?.literal
    // With a name, they make one or ask another host.
    if (subcommand === 'branch' && operands.length > 0 && !seen.has('list')) return false
    if (subcommand === 'remote' && operands.length > 0) return false
    const answers = await Promise.all((this.#folders ?? []).map((folder) => this.#setting.gitOnlyReads(folder)))
    if (answers.length === 0 || answers.includes(false)) return false
    if (!gitPrintsContents(subcommand ?? '', seen)) return true
    // `git show HEAD:path` prints just what it names, which is judged by its name.
    if (subcommand === 'show' && operands.length > 0 && operands.every(({ literal }) => oneFile.test(literal ?? '')))
      return true
    const secrets = await Promise.all((this.#folders ?? []).map((folder) => this.#setting.gitKnowsSecrets(folder)))
    return !secrets.includes(true)
  }

  /** Later relative paths may lead on from the folder changed to, or from the old one if that failed. */
  #changeFolder(part: SimpleCommand): void {
    const name = part.words[0]?.literal ?? ''
    const changes = (word: string | null | undefined): boolean => /^(cd|pushd|popd)$/.test(word ?? '')
    if (!changes(name) && !(Object.hasOwn(wrappers, name) && part.words.some((word) => changes(word.literal)))) return
    const target = part.words.length === 1 ? this.#setting.home : part.words[1]!.path
    const known =
      name === 'cd' &&
      part.words.length <= 2 &&
      !part.repeated &&
      target !== null &&
      !part.words[1]?.glob &&
      !/^[-~]/.test(target)
    if (!known || this.#folders === null) this.#folders = null
    else {
      this.#folders = [...new Set([...this.#folders.map((folder) => resolve(folder, target)), ...this.#folders])]
      if (this.#folders.length > foldersMax) this.#folders = null
    }
  }
}

/** `HEAD:path` and `:0:path`, but no commit by its message. */
const oneFile = /^[\w./~^-]*:[\w.]/

/** `HEAD:path`, `:0:path`, `HEAD^{/a:b}:path`, `-L1,2:path`: whatever stands behind a colon may be what git shows. */
function behindColons(word: Word): Word[] {
  const parts = word.path?.split(':') ?? []
  return parts.slice(1).map((_, at) => ({ ...word, path: parts.slice(at + 1).join(':') }))
}
