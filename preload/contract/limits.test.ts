import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as limits from './limits.ts'

const minuteMs = 60_000

/** The table of the specification, as far as Lathe has what it limits. */
const listed = {
  idCharsMax: 64,
  requestIdCharsMax: 128,
  idleActorsMax: 64,
  repliesKeptMs: 5 * minuteMs,
  repliesKeptMax: 256,
  sliceItems: 80,
  sliceItemsMax: 400,
  itemTextBytesMax: 64 * 1024,
  listPage: 100,
  listPageMax: 500,
  titleCharsMax: 200,
  draftQuietMs: 500,
  promptsOfSessionMax: 100,
  promptsOfWorkspaceMax: 200,
  queryCharsMax: 500,
  searchHits: 20,
  hitsPerSessionMax: 3,
  snippetChars: 160,
  compactionExcerptChars: 320,
  deletedKeptDays: 7,
  rewoundKeptDays: 30,
  hostWaitMs: 20_000,
  hostPollMs: 100,
}

const files = globSync('{main,preload,renderer}/**/*.{ts,tsx}').filter(
  (path) => !/\.test\.|\/test-|(^|\/)limits\.ts$/.test(path),
)

test('S-1 the limits of sessions are constants with their unit in the name, each said in one place', () => {
  expect(limits).toMatchObject(listed)
  // What is counted names what it counts, everything else its unit.
  for (const name of Object.keys(listed)) expect(name).toMatch(/Ms|Days|Bytes|Chars|Max$|Items$|Page$|Hits$/)
  expect(files.length).toBeGreaterThan(300)
  for (const path of files) {
    const source = readFileSync(path, 'utf8')
    // Another constant of the same name, or a page, query, slice or default whose size is a literal.
    const declared = [...source.matchAll(/^(?:export )?const (\w+) = [\d_* ]+$/gm)].map(([, name]) => name!)
    expect([path, declared.filter((name) => name in listed)]).toEqual([path, []])
    const repeated = [
      ...source.matchAll(/\bLIMIT (?:80|100|200|400|500)\b/g),
      ...source.matchAll(/\b(?:limit|page) \?\? (?:80|100|400|500|20)\b/g),
      ...source.matchAll(/-\]\{1,128\}\$\//g),
    ].map(([text]) => text)
    expect([path, repeated]).toEqual([path, []])
  }
})
