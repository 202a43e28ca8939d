/**
 * Globs over paths (F-801): `*` and `?` within a segment, `**` over segments, `[a-z]`, `{a,b}`. Matched in steps that
 * grow with path times glob, never with a power of them, because the glob is the model's (Z-214).
 */
import { LatheError } from '../../preload/contract/errors.ts'

type Piece =
  | { kind: 'text'; character: string }
  | { kind: 'any' }
  | { kind: 'star' }
  | { kind: 'set'; negated: boolean; ranges: [string, string][] }

const alternativesMax = 64

export type Glob = {
  /** Whether a path below the search root, or its bare name, fits. */
  matches(path: string): boolean
  /** A glob every matching name fits, for a search program; null where none is simpler than the whole. */
  name: string | null
}

/** `\` is read as `/`, blanks at the ends are trimmed. Throws `tool.invalid_arguments` where brackets do not close. */
export function parseGlob(given: string): Glob {
  const text = given
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+|\/+$/g, '')
  const alternatives = expandBraces(text).map((alternative) => alternative.split('/').map(parseSegment))
  return {
    matches(path) {
      const segments = path.replace(/\/$/, '').split('/')
      return alternatives.some((glob) => fits(glob, segments) || (glob.length === 1 && fits(glob, segments.slice(-1))))
    },
    name: nameGlob(text),
  }
}

function nameGlob(text: string): string | null {
  const name = text.slice(text.lastIndexOf('/') + 1)
  const simple =
    /^[\w.*?{},@ -]+$/.test(name) &&
    !name.includes('**') &&
    (name.match(/\{/g)?.length ?? 0) === (name.match(/\}/g)?.length ?? 0)
  return simple && name !== '*' ? name : null
}

function expandBraces(text: string): string[] {
  const done: string[] = []
  for (const open = [text]; open.length > 0;) {
    const next = open.pop()!
    const inner = /\{([^{}]*)\}/.exec(next)
    if (!inner) {
      if (/[{}]/.test(next)) throw invalid(text, 'a brace does not close')
      done.push(next)
    } else
      open.push(
        ...inner[1]!
          .split(',')
          .map((choice) => next.slice(0, inner.index) + choice + next.slice(inner.index + inner[0].length)),
      )
    if (done.length + open.length > alternativesMax) throw invalid(text, `it has over ${alternativesMax} alternatives`)
  }
  return done
}

type Segment = Piece[] | 'any segments'

function parseSegment(segment: string): Segment {
  if (segment === '**') return 'any segments'
  const pieces: Piece[] = []
  const characters = [...segment]
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    if (character === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' })
    } else if (character === '?') pieces.push({ kind: 'any' })
    else if (character === '[') {
      const close = characters.indexOf(']', at + (/[!^]/.test(characters[at + 1] ?? '') ? 3 : 2))
      if (close === -1) throw invalid(segment, 'a bracket does not close')
      pieces.push(parseSet(characters.slice(at + 1, close)))
      at = close
    } else pieces.push({ kind: 'text', character })
  }
  return pieces
}

function parseSet(characters: string[]): Piece {
  const negated = characters[0] === '!' || characters[0] === '^'
  const ranges: [string, string][] = []
  for (let at = negated ? 1 : 0; at < characters.length; at++) {
    const from = characters[at]!
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length
    ranges.push([from, isRange ? characters[at + 2]! : from])
    if (isRange) at += 2
  }
  return { kind: 'set', negated, ranges }
}

function fits(glob: readonly Segment[], path: readonly string[]): boolean {
  return matchWithStars(
    glob,
    path,
    (segment) => segment === 'any segments',
    (segment, text) => segment !== 'any segments' && fitsSegment(segment, text),
  )
}

function fitsSegment(pieces: readonly Piece[], text: string): boolean {
  return matchWithStars(pieces, [...text], (piece) => piece.kind === 'star', fitsCharacter)
}

function fitsCharacter(piece: Piece, character: string): boolean {
  if (piece.kind === 'text') return piece.character === character
  if (piece.kind === 'set')
    return piece.negated !== piece.ranges.some(([from, to]) => character >= from && character <= to)
  return piece.kind === 'any'
}

/** Parts one after another, where a star takes any number; on a mismatch only the last star takes one more. */
function matchWithStars<Part, Unit>(
  parts: readonly Part[],
  units: readonly Unit[],
  isStar: (part: Part) => boolean,
  fit: (part: Part, unit: Unit) => boolean,
): boolean {
  let [part, unit, star, taken] = [0, 0, -1, 0]
  while (unit < units.length) {
    if (part < parts.length && isStar(parts[part]!)) {
      star = part++
      taken = unit
    } else if (part < parts.length && fit(parts[part]!, units[unit]!)) {
      part++
      unit++
    } else if (star !== -1) {
      part = star + 1
      unit = ++taken
    } else return false
  }
  while (part < parts.length && isStar(parts[part]!)) part++
  return part === parts.length
}

function invalid(glob: string, reason: string): LatheError {
  return new LatheError('tool.invalid_arguments', `The glob "${glob}" cannot be read: ${reason}.`)
}
