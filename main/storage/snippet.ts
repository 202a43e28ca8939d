import { snippetChars } from '../../preload/contract/limits.ts'
import type { SearchTerm } from './search-query.ts'

/** Characters before the first match that lead up to it. */
const leadChars = 40
const rangesMax = 20

export type Snippet = { snippet: string; ranges: [number, number][] }

/** 160 characters of `text` around the first match, and where the matches in them are, in UTF-16 units (S-98). */
export function makeSnippet(text: string, terms: readonly SearchTerm[]): Snippet {
  const { plain, places } = foldWithPlaces(text)
  const matches = findAll(plain, terms).map(([from, to]): [number, number] => [places[from]!, places[to]!])
  const first = matches[0]?.[0] ?? 0
  const start = wordStart(text, charStart(text, first <= leadChars ? 0 : first - leadChars), first)
  const end = charStart(text, Math.min(text.length, start + snippetChars))
  const before = start > 0 ? '…' : ''
  const snippet = before + text.slice(start, end).replace(/\s/g, ' ') + (end < text.length ? '…' : '')
  const ranges = matches
    .filter(([from, to]) => from >= start && to <= end)
    .slice(0, rangesMax)
    .map(([from, to]): [number, number] => [from - start + before.length, to - start + before.length])
  return { snippet, ranges }
}

/** `places[i]` is where the i-th unit of the folded text stands in the original. */
function foldWithPlaces(text: string): { plain: string; places: number[] } {
  const places: number[] = []
  let plain = ''
  let at = 0
  for (const character of text) {
    const folded =
      character < '\x80' ? character.toLowerCase() : character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
    for (let unit = 0; unit < folded.length; unit++) places.push(at)
    plain += folded
    at += character.length
  }
  places.push(at)
  return { plain, places }
}

/** Matches as whole words, or where there are none, anywhere. */
function findAll(plain: string, terms: readonly SearchTerm[]): [number, number][] {
  for (const whole of [true, false]) {
    const found = terms.flatMap((term) => {
      const expression = termExpression(term, whole)
      return expression
        ? [...plain.matchAll(expression)].map((match): [number, number] => [match.index, match.index + match[0].length])
        : []
    })
    if (found.length > 0) return withoutOverlap(found.sort((a, b) => a[0] - b[0] || b[1] - a[1]))
  }
  return []
}

function withoutOverlap(ranges: [number, number][]): [number, number][] {
  let end = 0
  return ranges.filter(([from, to]) => {
    if (from < end) return false
    end = to
    return true
  })
}

function termExpression(term: SearchTerm, whole: boolean): RegExp | null {
  const words = foldWithPlaces(term.text).plain.match(/[\p{L}\p{N}]+/gu)
  if (!words) return null
  const phrase = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('[^\\p{L}\\p{N}]+')
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(term.text)
  if (!whole || unspaced) return new RegExp(phrase, 'gu')
  return new RegExp(`(?<![\\p{L}\\p{N}])${phrase}${term.prefix ? '' : '(?![\\p{L}\\p{N}])'}`, 'gu')
}

/** The first word that begins at or after `at` and before `limit`; `at` where none does. */
function wordStart(text: string, at: number, limit: number): number {
  if (at === 0 || /\s/.test(text[at - 1]!)) return at
  const gap = text.slice(at, limit).search(/\s\S/)
  return gap < 0 ? at : at + gap + 1
}

/** `at`, or the start of the surrogate pair that would be cut there. */
function charStart(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
