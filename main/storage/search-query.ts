/** Lathe's query language (S-96): pure, total, and never a syntax error; what cannot be parsed is words. */
import { queryCharsMax } from '../../preload/contract/limits.ts'
import { searchKinds } from './search-kinds.ts'
import type { SearchKind } from './search-kinds.ts'

export type SearchTerm = {
  text: string
  /** A word that may go on: the last one, while it is being typed. */
  prefix: boolean
}

export type SearchState = (typeof states)[number]
export type SearchContent = (typeof contents)[number]

export type SearchQuery = {
  /** All must stand in one title or item. */
  terms: SearchTerm[]
  /** None may. */
  without: SearchTerm[]
  workspaces: string[]
  /** Empty: titles, user messages and assistant texts; tool calls and reasoning only when asked (S-95). */
  kinds: SearchKind[]
  models: string[]
  /** Milliseconds; `before` is exclusive. */
  before: number | null
  after: number | null
  is: SearchState[]
  has: SearchContent[]
}

const states = ['archived', 'pinned', 'failed', 'running'] as const
const contents = ['attachment', 'changes', 'error'] as const

/** A part of the query: a phrase in quotes, `name:value`, `name:"a value"` or a word, each perhaps after a minus. */
const part =
  /(?<minus>-?)(?:(?<name>[a-z]+):(?:"(?<quoted>[^"]*)"|(?<value>[^\s"]+))|"(?<phrase>[^"]*)"|(?<word>[^\s]+))/giu

export function parseQuery(text: string): SearchQuery {
  const query: SearchQuery = {
    terms: [],
    without: [],
    workspaces: [],
    kinds: [],
    models: [],
    before: null,
    after: null,
    is: [],
    has: [],
  }
  const asked = text.slice(0, queryCharsMax).toWellFormed().replaceAll('\0', ' ')
  for (const found of asked.matchAll(part)) {
    const { minus, name, quoted, value, phrase, word } = found.groups!
    if (name !== undefined && minus === '' && filter(query, name.toLowerCase(), quoted ?? value ?? '')) continue
    const term = phrase ?? (name === undefined ? word! : found[0].slice(minus!.length))
    if (!isFindable(term)) continue
    const atEnd = found.index + found[0].length === asked.length
    const typed = phrase === undefined && quoted === undefined
    const list = minus === '-' ? query.without : query.terms
    list.push({ text: term, prefix: minus === '' && typed && atEnd && lettersIn(term) >= 2 })
  }
  return query
}

/** Whether the query asks for anything at all. */
export function isEmpty(query: SearchQuery): boolean {
  const { terms, workspaces, kinds: asked, models, before, after, is, has } = query
  return (
    [terms, workspaces, asked, models, is, has].every((list) => list.length === 0) && before === null && after === null
  )
}

/**
 * The expression for the word index over `columns`; null where the query has no words. Every term is a quoted string with
 * its quotes doubled, so nothing in it is read as syntax.
 */
export function wordExpression(query: SearchQuery, columns: readonly string[]): string | null {
  if (query.terms.length === 0 || columns.length === 0) return null
  const all = query.terms.map((term) => `${quote(spaced(term.text))}${term.prefix ? ' *' : ''}`).join(' AND ')
  const none = query.without.map((term) => ` NOT ${quote(spaced(term.text))}`).join('')
  return `{${columns.join(' ')}} : (${parenthesised(all, none)})`
}

/** Matches what the query excludes, for a query that has filters and no words. */
export function withoutExpression(query: SearchQuery): string {
  return query.without.map((term) => quote(spaced(term.text))).join(' OR ')
}

/** The same for the trigram index; null where a term is too short for it. */
export function trigramExpression(query: SearchQuery, columns: readonly string[]): string | null {
  if (query.terms.length === 0 || columns.length === 0) return null
  if ([...query.terms, ...query.without].some((term) => [...term.text].length < 3)) return null
  const all = query.terms.map((term) => quote(term.text)).join(' AND ')
  const none = query.without.map((term) => ` NOT ${quote(term.text)}`).join('')
  return `{${columns.join(' ')}} : (${parenthesised(all, none)})`
}

/** Scripts written without spaces get one around each character, in the index and in the query: any stretch is a phrase. */
export function spaced(text: string): string {
  return text.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu, ' $& ')
}

function parenthesised(all: string, none: string): string {
  return none === '' ? all : `(${all})${none}`
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** A term without a letter or digit leaves no token and would match nothing, or everything. */
function isFindable(text: string): boolean {
  return lettersIn(text) > 0
}

function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

/** Takes `name:value` into the query; false where it is no filter and therefore a word. */
function filter(query: SearchQuery, name: string, value: string): boolean {
  switch (name) {
    case 'workspace':
      return value.trim() !== '' && query.workspaces.push(value.trim()) > 0
    case 'model':
      return value.trim() !== '' && query.models.push(value.trim()) > 0
    case 'kind':
      return addOneOf(searchKinds, value, query.kinds)
    case 'is':
      return addOneOf(states, value, query.is)
    case 'has':
      return addOneOf(contents, value, query.has)
    case 'before':
    case 'after': {
      const day = startOfDay(value)
      if (day === null) return false
      query[name] = day
      return true
    }
    default:
      return false
  }
}

function addOneOf<T extends string>(known: readonly T[], value: string, to: T[]): boolean {
  const found = known.find((each) => each === value.toLowerCase())
  return found !== undefined && to.push(found) > 0
}

/** Midnight, here, of `2026`, `2026-03` or `2026-03-09`. */
function startOfDay(text: string): number | null {
  const found = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(text)
  if (!found) return null
  const [year, month, day] = [Number(found[1]), Number(found[2] ?? 1), Number(found[3] ?? 1)]
  const date = new Date(year, month - 1, day)
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : null
}
