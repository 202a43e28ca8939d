import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { migrate } from './migrations/migrations.ts'
import { openSearchParts } from './search-parts.ts'
import { parseQuery, trigramExpression, withoutExpression, wordExpression } from './search-query.ts'

const db = new Sqlite(':memory:')
migrate(db)
openSearchParts(db).forDoc(1, null)
afterAll(() => db.close())

const columns = ['title', 'user', 'text']

test.each([
  [
    'fix cart',
    {
      terms: [
        { text: 'fix', prefix: false },
        { text: 'cart', prefix: true },
      ],
    },
  ],
  [
    'fix cart ',
    {
      terms: [
        { text: 'fix', prefix: false },
        { text: 'cart', prefix: false },
      ],
    },
  ],
  ['"a b" -c', { terms: [{ text: 'a b', prefix: false }], without: [{ text: 'c', prefix: false }] }],
  ['-"not this" x', { terms: [{ text: 'x', prefix: false }], without: [{ text: 'not this', prefix: false }] }],
  ['foo"', { terms: [{ text: 'foo"', prefix: true }] }],
  ['NEAR(', { terms: [{ text: 'NEAR(', prefix: true }] }],
  ['* - "" :', { terms: [] }],
  [
    'workspace:shop model:"lab x" kind:tool KIND:User',
    { workspaces: ['shop'], models: ['lab x'], kinds: ['tool', 'user'], terms: [] },
  ],
  ['is:pinned is:odd has:error', { is: ['pinned'], has: ['error'], terms: [{ text: 'is:odd', prefix: false }] }],
  [
    'before:2026-03-09 after:2025',
    { before: new Date(2026, 2, 9).getTime(), after: new Date(2025, 0, 1).getTime(), terms: [] },
  ],
  [
    'before:2026-02-31 http://x',
    {
      before: null,
      terms: [
        { text: 'before:2026-02-31', prefix: false },
        { text: 'http://x', prefix: true },
      ],
    },
  ],
])('S-96 %j', (text, expected) => {
  expect(parseQuery(text)).toMatchObject(expected)
})

test('S-96 SA-23 no query is ever a syntax error of the index', () => {
  const words = db.prepare('SELECT rowid FROM search_words_0 WHERE search_words_0 MATCH ?')
  const trigrams = db.prepare('SELECT rowid FROM search_trigrams_0 WHERE search_trigrams_0 MATCH ?')
  const syntax = fc.constantFrom(
    '"',
    '*',
    '-',
    '(',
    ')',
    'NEAR',
    'AND',
    'OR',
    'NOT',
    ':',
    '{',
    '}',
    '^',
    '+',
    ' ',
    'title',
    '日本',
    'é',
    '\0',
    "'",
    'kind:',
    '😀',
    '\ud800',
    'a',
    'bc',
  )
  expect(() =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.array(syntax, { maxLength: 12 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const query = parseQuery(text)
          const expression = wordExpression(query, columns)
          if (expression !== null) words.all(expression)
          if (query.without.length > 0) words.all(withoutExpression(query))
          const parts = trigramExpression(query, columns)
          if (parts !== null) trigrams.all(parts)
        },
      ),
      { numRuns: 3_000 },
    ),
  ).not.toThrow()
})
