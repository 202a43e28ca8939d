/**
 * What one word of a shell command means, found by reading its characters once more, not by trusting the grammar: a word
 * that holds a character which would end it in a real shell is a fault of the parse (Z-58, Z-59).
 */

/** Thrown inside the parse: the command cannot be understood for sure. The message is for people. */
export class Opaque extends Error {}

/** A part of the word that the shell replaces when it runs, by its place in the word's text. */
export type Hole = { start: number; end: number }

export type Word = {
  raw: string
  /** The word after quote removal; null where it is only known when it runs (Z-59). */
  literal: string | null
  /** The word as a path: `~` and `$HOME` known, else as `literal`. Null where it cannot be known. */
  path: string | null
  /** Unquoted `*`, `?` or `[`: `path` is a pattern. */
  glob: boolean
}

const ending = /[\s;&|<>()]/

/** Reads a word's text; `holes` lie in it in order and do not overlap. Throws `Opaque`. */
export function readWord(raw: string, holes: readonly Hole[], home: string): Word {
  let literal: string | null = ''
  let path: string | null = ''
  let glob = false
  let quoted = false
  let nextHole = 0
  const add = (text: string): void => {
    if (literal !== null) literal += text
    if (path !== null) path += text
  }
  const unknown = (known?: string): void => {
    literal = null
    path = known === undefined || path === null ? null : path + known
  }

  let at = 0
  while (at < raw.length) {
    const hole = holes[nextHole]
    if (hole && at === hole.start) {
      unknown(/^\$(HOME|\{HOME\})$/.test(raw.slice(hole.start, hole.end)) ? home : undefined)
      at = hole.end
      nextHole += 1
      continue
    }
    const character = raw[at]!
    if (quoted) {
      if (character === '"') quoted = false
      else if (character === '\\' && /[$`"\\\n]/.test(raw[at + 1] ?? '')) {
        if (raw[at + 1] !== '\n') add(raw[at + 1]!)
        at += 1
      } else if (character === '`') throw new Opaque('a quoted command was not understood')
      else if (character === '$') unknown()
      else add(character)
    } else if (character === '"') quoted = true
    else if (character === "'") {
      const end = raw.indexOf("'", at + 1)
      if (end < 0) throw new Opaque('a quote does not end')
      add(raw.slice(at + 1, end))
      at = end
    } else if (character === '\\') {
      if (at + 1 >= raw.length) throw new Opaque('it ends in a backslash')
      if (raw[at + 1] !== '\n') add(raw[at + 1]!)
      at += 1
    } else if (ending.test(character) || character === '`' || (character === '#' && at === 0)) {
      throw new Opaque('a word was not understood')
    } else if (character === '~' && at === 0) {
      // `~name` stays as it is: no such home is known here, and a path that begins so is outside.
      unknown(raw.length === 1 || raw[1] === '/' ? home : '~')
    } else if (character === '~' && /[=:]/.test(raw[at - 1]!)) unknown()
    else if (character === '$') unknown()
    else if (/[*?[]/.test(character)) {
      glob = true
      unknown(character)
    } else if (character === '{' && /^\{.*(,|\.\.).*\}/s.test(raw.slice(at))) unknown()
    else add(character)
    at += 1
  }
  if (quoted) throw new Opaque('a quote does not end')
  return { raw, literal, path, glob }
}
