/** The secrets Lathe holds or was given, in every spelling they may take in a text (Z-100). */
import { pairIndex } from './secret-matcher.ts'
import type { Found, Matcher } from './secret-matcher.ts'

/** `name` is what stands in the placeholder. */
export type KnownValue = { name: string; value: string }

/** Shorter ones would take ordinary words out of every text. */
const heldCharsMin = 4
const variableCharsMin = 8
/** A longer value is known by its pieces, so that no more than this is ever held back. */
const pieceChars = 4_096

/** Values of the person's environment variables that look like secrets by their names. */
export function secretVariables(env: NodeJS.ProcessEnv): KnownValue[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= variableCharsMin && /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i.test(name)
      ? [{ name, value }]
      : [],
  )
}

type Literal = { text: string; shown: string }

export function knownValueMatcher(known: readonly KnownValue[]): Matcher {
  const literals = known.flatMap(({ name, value }) =>
    spellings(value).map((text) => ({ text, shown: `[redacted:${name}]` })),
  )
  const pairs = new Uint8Array(0x10000)
  const byFirst = new Map<number, Literal[]>()
  // Longest first: of two that begin alike the longer one is the secret.
  for (const literal of literals.sort((a, b) => b.text.length - a.text.length)) {
    pairs[pairIndex(literal.text.charCodeAt(0), literal.text.charCodeAt(1))] = 1
    const first = literal.text.charCodeAt(0)
    byFirst.set(first, [...(byFirst.get(first) ?? []), literal])
  }

  function literalAt(text: string, at: number, ended: boolean): Literal | 'open' | null {
    for (const literal of byFirst.get(text.charCodeAt(at)) ?? []) {
      if (text.startsWith(literal.text, at)) return literal
      const left = text.length - at
      if (!ended && left < literal.text.length && literal.text.startsWith(text.slice(at))) return 'open'
    }
    return null
  }

  return {
    pairs,
    at(text, at, _before, ended): Found {
      const literal = literalAt(text, at, ended)
      if (literal === null || literal === 'open') return literal
      // A secret that begins inside this one and ends after it goes with it, else its end would stay.
      let end = at + literal.text.length
      for (let inside = at + 1; inside < end; inside++) {
        const other = literalAt(text, inside, ended)
        if (other === 'open') return 'open'
        if (other) end = Math.max(end, inside + other.text.length)
      }
      return { length: end - at, shown: literal.shown }
    },
  }
}

/** The value as it is, URL-encoded, in both base64 alphabets, and as it stands inside a JSON string. */
function spellings(value: string): string[] {
  if (value.trim().length < heldCharsMin) return []
  const bytes = Buffer.from(value)
  const all = [
    value,
    encodeURIComponent(value.toWellFormed()),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    JSON.stringify(value).slice(1, -1),
  ]
  return [...new Set(all)].flatMap(pieces)
}

function pieces(text: string): string[] {
  const count = Math.ceil(text.length / pieceChars)
  const size = Math.ceil(text.length / count)
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size))
}
