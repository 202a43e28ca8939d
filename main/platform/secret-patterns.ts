/**
 * What secrets look like (Z-100). A pattern is a row of parts read from left to right, each part taking all it can and
 * never giving back: linear on any input, and able to say "not decided yet" at the end of what has arrived.
 */
import { pairIndex } from './secret-matcher.ts'
import type { Found, Matcher } from './secret-matcher.ts'

type Letters = (code: number) => boolean

type Part =
  /** One of these words, whatever the case where `anyCase`; none may begin another. */
  | { words: readonly string[]; anyCase: boolean }
  /** At least `min` and at most `max` of these letters; `ok` judges the whole of them. */
  | { letters: Letters; min: number; max: number; ok?: (text: string) => boolean }
  /** All up to and with `until`; where it does not come, `max` units or the rest. */
  | { until: string; max: number }

type Pattern = {
  kind: string
  /** Begins only where the unit before is none of these. */
  notAfter?: Letters
  parts: readonly Part[]
  /** Parts before this one stay as they are. */
  secretFrom: number
  /** Parts from this one on stay as they are. */
  secretTo?: number
}

const word = letters('A-Za-z0-9_')
const token = letters('A-Za-z0-9_-')
const base64 = letters('A-Za-z0-9+/=')
const credential = letters('A-Za-z0-9._~+/=-')
const anyCase = (...words: string[]): Part => ({ words, anyCase: true })
const exactly = (...words: string[]): Part => ({ words, anyCase: false })
const some = (set: Letters, min: number, max: number, ok?: (text: string) => boolean): Part => ({
  letters: set,
  min,
  max,
  ...(ok ? { ok } : {}),
})
const assigned = some(letters(` \t"'\\\\:=>`), 1, 12, (text) => /[:=]/.test(text))
const hasDigit = (text: string): boolean => /\d/.test(text)

export const surePatterns: readonly Pattern[] = [
  {
    kind: 'private-key',
    parts: [
      exactly('-----BEGIN '),
      some(letters('A-Z0-9 '), 1, 40, (text) => /PRIVATE KEY(?: BLOCK)?$/.test(text)),
      { until: '-----END ', max: 7_900 },
      some(letters('A-Z0-9 '), 0, 40),
      some(letters('-'), 0, 5),
    ],
    secretFrom: 0,
  },
  {
    kind: 'jwt',
    notAfter: token,
    parts: [exactly('eyJ'), some(token, 8, 2_048), exactly('.eyJ'), some(letters('A-Za-z0-9_.-'), 8, 4_096)],
    secretFrom: 0,
  },
  {
    kind: 'authorization',
    notAfter: word,
    parts: [
      anyCase('authorization'),
      assigned,
      anyCase('bearer', 'basic', 'token', 'apikey', 'digest', 'negotiate'),
      some(letters(' '), 1, 4),
      some(credential, 8, 4_096),
    ],
    secretFrom: 4,
  },
  {
    kind: 'authorization',
    notAfter: word,
    parts: [anyCase('authorization', 'x-api-key', 'x-auth-token'), assigned, some(credential, 16, 4_096, hasDigit)],
    secretFrom: 2,
  },
  {
    kind: 'authorization',
    notAfter: word,
    parts: [anyCase('bearer '), some(credential, 20, 4_096, hasDigit)],
    secretFrom: 1,
  },
  {
    kind: 'cookie',
    notAfter: word,
    parts: [anyCase('cookie'), assigned, some(token, 1, 128), exactly('='), some(letters('^\r\n"\'[]'), 4, 4_096)],
    secretFrom: 2,
  },
  {
    kind: 'url-password',
    parts: [
      exactly('://'),
      some(letters('^\\s/@:?#"\'`<>[]${}'), 0, 256),
      exactly(':'),
      some(letters('^\\s/@"\'`<>[]${}'), 1, 1_024),
      exactly('@'),
    ],
    secretFrom: 3,
    secretTo: 4,
  },
  {
    kind: 'url-password',
    parts: [exactly('://'), some(letters('A-Za-z0-9_.~%+=-'), 20, 512), exactly('@')],
    secretFrom: 1,
    secretTo: 2,
  },
  {
    kind: 'npm-token',
    parts: [exactly('_authToken', '_password', '_auth'), some(letters(' ='), 1, 4), some(credential, 4, 1_024)],
    secretFrom: 2,
  },
  {
    kind: 'aws-secret-key',
    parts: [anyCase('aws_secret_access_key', 'aws_session_token'), assigned, some(base64, 16, 2_048)],
    secretFrom: 2,
  },
  {
    kind: 'aws-key-id',
    notAfter: word,
    parts: [exactly('AKIA', 'ASIA'), some(letters('A-Z0-9'), 16, 16)],
    secretFrom: 0,
  },
  {
    kind: 'github-token',
    notAfter: word,
    parts: [exactly('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'), some(word, 20, 512)],
    secretFrom: 0,
  },
  {
    kind: 'gitlab-token',
    notAfter: word,
    parts: [exactly('glpat-', 'gldt-', 'glrt-'), some(token, 20, 256)],
    secretFrom: 0,
  },
  {
    kind: 'slack-token',
    notAfter: word,
    parts: [exactly('xoxb-', 'xoxa-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'), some(token, 10, 512, hasDigit)],
    secretFrom: 0,
  },
  { kind: 'google-key', notAfter: word, parts: [exactly('AIza'), some(token, 35, 35)], secretFrom: 0 },
  { kind: 'google-token', notAfter: word, parts: [exactly('ya29.'), some(token, 20, 1_024)], secretFrom: 0 },
  {
    kind: 'stripe-key',
    notAfter: word,
    parts: [exactly('sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'whsec_'), some(word, 16, 256)],
    secretFrom: 0,
  },
  { kind: 'api-key', notAfter: token, parts: [exactly('sk-'), some(token, 20, 512, hasDigit)], secretFrom: 0 },
  { kind: 'npm-token', notAfter: word, parts: [exactly('npm_'), some(word, 36, 64)], secretFrom: 0 },
  {
    kind: 'api-key',
    notAfter: word,
    parts: [
      exactly('hf_', 'gsk_', 'xai-', 'pplx-', 'r8_', 'dop_v1_', 'SG.'),
      some(letters('A-Za-z0-9_.-'), 30, 512, hasDigit),
    ],
    secretFrom: 0,
  },
  { kind: 'pypi-token', notAfter: word, parts: [exactly('pypi-'), some(token, 50, 1_024)], secretFrom: 0 },
  {
    kind: 'age-key',
    notAfter: word,
    parts: [exactly('AGE-SECRET-KEY-1'), some(letters('A-Z0-9'), 50, 64)],
    secretFrom: 0,
  },
]

export const loosePatterns: readonly Pattern[] = [
  {
    kind: 'password',
    parts: [
      anyCase('password', 'passwd', 'secret', 'token', 'api_key', 'apikey', 'api-key'),
      some(token, 0, 32),
      assigned,
      some(letters('^\\s"\'`,;&<>[](){}'), 12, 1_024),
    ],
    secretFrom: 3,
  },
]

export function patternMatcher(patterns: readonly Pattern[]): Matcher {
  const pairs = new Uint8Array(0x10000)
  const byFirst = new Map<number, Pattern[]>()
  for (const pattern of patterns) {
    for (const [first, second] of beginnings(pattern)) {
      pairs[pairIndex(first, second)] = 1
      const others = byFirst.get(first) ?? []
      if (!others.includes(pattern)) byFirst.set(first, [...others, pattern])
    }
  }
  return {
    pairs,
    at(text, at, before, ended): Found {
      for (const pattern of byFirst.get(text.charCodeAt(at)) ?? []) {
        if (pattern.notAfter && before >= 0 && pattern.notAfter(before)) continue
        const found = match(pattern, text, at, ended)
        if (found !== null) return found
      }
      return null
    },
  }
}

function match(pattern: Pattern, text: string, start: number, ended: boolean): Found {
  let at = start
  let secretStart = start
  let secretEnd = -1
  let swallow: Letters | undefined
  for (const [index, part] of pattern.parts.entries()) {
    if (index === pattern.secretFrom) secretStart = at
    if (index === pattern.secretTo) secretEnd = at
    const next = take(part, text, at, ended)
    if (next === null || next === 'open') return next
    swallow =
      'letters' in part && next - at === part.max && index === pattern.parts.length - 1 ? part.letters : undefined
    at = next
  }
  if (secretEnd < 0) secretEnd = at
  const shown = `${text.slice(start, secretStart)}[redacted:${pattern.kind}]${text.slice(secretEnd, at)}`
  return { length: at - start, shown, swallow }
}

/** The place after the part, null where it does not stand here. */
function take(part: Part, text: string, at: number, ended: boolean): number | 'open' | null {
  if ('words' in part) return takeWord(part.words, part.anyCase, text, at, ended)
  if ('until' in part) {
    const found = text.slice(at, at + part.max).indexOf(part.until)
    if (found >= 0) return at + found + part.until.length
    if (text.length - at >= part.max) return at + part.max
    return ended ? text.length : 'open'
  }
  let end = at
  const limit = Math.min(text.length, at + part.max)
  while (end < limit && part.letters(text.charCodeAt(end))) end++
  if (end === text.length && end - at < part.max && !ended) return 'open'
  if (end - at < part.min || (part.ok && !part.ok(text.slice(at, end)))) return null
  return end
}

function takeWord(
  words: readonly string[],
  ignoreCase: boolean,
  text: string,
  at: number,
  ended: boolean,
): number | 'open' | null {
  for (const each of words) {
    const there = ignoreCase ? lower(text.slice(at, at + each.length)) : text.slice(at, at + each.length)
    if (there === each) return at + each.length
    if (!ended && at + there.length === text.length && each.startsWith(there)) return 'open'
  }
  return null
}

/** ASCII only: other lower-casing may change the length. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function beginnings(pattern: Pattern): [number, number][] {
  const first = pattern.parts[0]!
  if (!('words' in first)) throw new Error(`${pattern.kind} must begin with a word.`)
  return first.words.flatMap((each) => {
    const cases = (letter: string): string[] => (first.anyCase ? [letter, letter.toUpperCase()] : [letter])
    return cases(each[0]!).flatMap((one) =>
      cases(each[1]!).map((two): [number, number] => [one.charCodeAt(0), two.charCodeAt(0)]),
    )
  })
}

/** Membership by a table of ASCII, the set written as in a regular expression; beyond ASCII only negated sets have members. */
function letters(set: string): Letters {
  const expression = new RegExp(`[${set.replace(/[[\]]/g, '\\$&')}]`)
  const table = Uint8Array.from({ length: 128 }, (_, code) => (expression.test(String.fromCharCode(code)) ? 1 : 0))
  const beyond = set.startsWith('^')
  return (code) => (code < 128 ? table[code] === 1 : beyond)
}
