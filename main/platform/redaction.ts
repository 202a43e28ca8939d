/**
 * Taking secrets out of text (Z-100 to Z-104). Two passes: known values first, then patterns, so what a pattern keeps or
 * leaves is clean of known values. Each pass decides a place in the text only once no further input could change the
 * decision, so however a stream is cut, its output is the same.
 */
import { knownValueMatcher } from './known-values.ts'
import type { KnownValue } from './known-values.ts'
import { pairIndex } from './secret-matcher.ts'
import type { Matcher } from './secret-matcher.ts'
import { loosePatterns, patternMatcher, surePatterns } from './secret-patterns.ts'

/** What the place of a secret looks like: `[redacted:NAME]` (Z-102). */
export const placeholderMark = '[redacted:'

export type Redaction = {
  /** The whole text redacted; 1 MiB takes some milliseconds. */
  text(text: string): string
  /** Every string in a JSON-like value redacted; the same value where nothing was found. */
  value<T>(value: T): T
  stream(): RedactionStream
}

export type RedactionStream = {
  /** What is decided now. At most 8 KiB is held back, and only what may be the beginning of a secret. */
  push(chunk: string): string
  /** The rest; the stream is done. */
  end(): string
}

/** `loose` adds the patterns for logs, errors, titles and exports (Z-101). */
export function createRedaction(options: { known: readonly KnownValue[]; loose: boolean }): Redaction {
  const known = knownValueMatcher(options.known)
  const patterns = patternMatcher(options.loose ? [...surePatterns, ...loosePatterns] : surePatterns)

  function stream(): RedactionStream {
    const first = createPass(known)
    const second = createPass(patterns)
    return {
      push: (chunk) => second.push(first.push(chunk)),
      end: () => second.push(first.end()) + second.end(),
    }
  }

  function text(whole: string): string {
    const once = stream()
    const out = once.push(whole) + once.end()
    return out === whole ? whole : out
  }

  function value(part: unknown): unknown {
    if (typeof part === 'string') return text(part)
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) {
      const parts = part.map(value)
      return parts.every((each, at) => each === part[at]) ? part : parts
    }
    const entries = Object.entries(part).map(([key, each]) => [text(key), value(each)] as const)
    const same = entries.every(([key, each]) => key in part && (part as Record<string, unknown>)[key] === each)
    return same ? part : Object.fromEntries(entries)
  }

  return { text, value: <T>(whole: T) => value(whole) as T, stream }
}

/** Whether writing `after` where `before` stood would write a placeholder as if it were the secret (Z-104). */
export function addsPlaceholder(before: string, after: string): boolean {
  return count(after) > count(before)
}

function count(text: string): number {
  let found = 0
  for (let at = text.indexOf(placeholderMark); at >= 0; at = text.indexOf(placeholderMark, at + 1)) found++
  return found
}

function createPass(matcher: Matcher): RedactionStream {
  let held = ''
  let before = -1
  let swallow: ((code: number) => boolean) | undefined

  function run(text: string, ended: boolean): string {
    let out = ''
    let kept = 0
    let at = 0
    while (at < text.length) {
      if (swallow) {
        while (at < text.length && swallow(text.charCodeAt(at))) before = text.charCodeAt(at++)
        kept = at
        if (at === text.length) break
        swallow = undefined
      }
      const start = nextPossible(matcher.pairs, text, at)
      if (start > at) before = text.charCodeAt(start - 1)
      at = start
      const found = matcher.at(text, at, before, ended)
      if (found === 'open') break
      if (found === null) {
        before = text.charCodeAt(at++)
        continue
      }
      out += text.slice(kept, at) + found.shown
      at += found.length
      before = text.charCodeAt(at - 1)
      kept = at
      swallow = found.swallow
    }
    held = text.slice(at)
    return out + text.slice(kept, at)
  }

  return {
    push: (chunk) => (chunk === '' ? '' : run(held + chunk, false)),
    end: () => run(held, true),
  }
}

/** The first place from `at` on where a secret may begin; at the latest the last place, whose pair is not there yet. */
function nextPossible(pairs: Uint8Array, text: string, at: number): number {
  const last = text.length - 1
  let code = text.charCodeAt(at)
  while (at < last) {
    const next = text.charCodeAt(at + 1)
    if (pairs[pairIndex(code, next)] === 1) break
    code = next
    at++
  }
  return at
}
