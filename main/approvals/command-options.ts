/** Reading the words of a simple command: its program, its options, the code it is given. */
import { basename } from 'node:path'
import { type Interpreter, meaningChanging, type Options } from './command-kinds.ts'
import type { Word } from './shell-words.ts'

/** The name of a program, however it is reached. */
export function programName(word: string): string {
  return basename(word.replaceAll('\\', '/')).replace(/\.(exe|cmd|bat)$/i, '')
}

export function literalWord(literal: string): Word {
  return { raw: literal, literal, path: literal, glob: false }
}

export function dynamicWord(): Word {
  return { raw: '{}', literal: null, path: null, glob: false }
}

/** `--file=PATH` as the path. */
export function afterEquals(word: Word): Word | null {
  const at = word.path!.indexOf('=')
  return at < 0 ? null : { ...word, path: word.path!.slice(at + 1) }
}

/**
 * Takes options and operands apart; null where an option is not one of the known, or a word may turn out to be one.
 * `leading`: options end at the first operand, as they do for wrappers.
 */
export function readOptions(
  words: Word[],
  options: Options,
  leading = false,
): { operands: Word[]; seen: Set<string> } | null {
  const known = { long: new Set(options.long?.split(' ')), valued: new Set(options.longValued?.split(' ')) }
  const operands: Word[] = []
  const seen = new Set<string>()
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!
    const text = word.literal
    // Words from `~` and `$HOME` on are paths; of others nobody knows what they will be.
    if (text === null && (word.path === null || !/^[/~]/.test(word.path))) {
      if (!leading) return null
      return { operands: [...operands, ...words.slice(at)], seen }
    }
    if (text === '--') return { operands: [...operands, ...words.slice(at + 1)], seen }
    if (text === null || !text.startsWith('-') || text === '-') {
      if (leading) return { operands: words.slice(at), seen }
      operands.push(word)
      continue
    }
    if (text.startsWith('--')) {
      const [name, value] = text.slice(2).split(/=(.*)/s) as [string, string | undefined]
      if (!known.long.has(name) && !known.valued.has(name)) return null
      seen.add(name)
      if (known.valued.has(name) && value === undefined && words[(at += 1)]?.literal === null) return null
      continue
    }
    if (options.numeric && /^-\d+$/.test(text)) continue
    for (let letter = 1; letter < text.length; letter += 1) {
      const option = text[letter]!
      seen.add(option)
      if (options.flags?.includes(option)) continue
      if (options.attached?.includes(option)) break
      if (!options.valued?.includes(option)) return null
      // A value that is not known may turn out to be several words.
      if (letter === text.length - 1 && words[(at += 1)]?.literal === null) return null
      break
    }
  }
  return { operands, seen }
}

/** Builtins after which words and names no longer mean what they say, or that evaluate their arguments. */
export function changesMeaning(name: string, words: Word[]): boolean {
  const given = words.slice(1).map((word) => word.literal ?? '')
  if (name === 'set') return !given.every((word) => /^[-+][euxo]+$|^pipefail$/.test(word))
  if (name === 'printf') return given[0] === '-v'
  if (/^(test|\[|\[\[)$/.test(name)) return given.includes('-v')
  return meaningChanging.has(name)
}

/** Code an interpreter is given by option, or by its input where it has no script; null where it runs a script file. */
export function givenCode(words: Word[], interpreter: Interpreter, fed: boolean): { text?: Word | undefined } | null {
  for (let at = 1; at < words.length; at += 1) {
    const text = words[at]!.literal
    if (text === null || text === '-') return {}
    if (text === '--') return at + 1 < words.length ? null : {}
    if (!text.startsWith('-')) return null
    if (interpreter.long?.test(text)) return {}
    if (interpreter.longValued?.test(text)) at += 1
    if (text.startsWith('--')) continue
    if ([...interpreter.code].some((letter) => text.includes(letter)))
      return { text: words.slice(at + 1).find((word) => !/^[-+]/.test(word.literal ?? '')) }
    if (interpreter.valued?.includes(text.at(-1)!)) at += 1
  }
  if (!fed && words.some((word) => interpreter.ownFiles?.test(word.literal ?? ''))) return null
  return fed || !words.some((word) => /^--?(v|version|h|help|V)$/.test(word.literal ?? '')) ? {} : null
}
