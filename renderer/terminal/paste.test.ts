import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copiedText, pastedLines, pieces, safePaste } from './paste.ts'
import { fromFolder, pathPlaces } from './path-links.ts'
import { spoken } from './spoken-output.ts'

test('X-810 a paste can neither end bracketed paste nor send sequences', () => {
  expect(safePaste('a\u001b[201~rm -rf\u0007\u009b31m\tb\r\nc')).toBe('a[201~rm -rf31m\tb\r\nc')
})

test('X-810 lines are counted without the last line end', () => {
  expect(['one', 'one\n', 'one\r\ntwo', 'a\nb\nc\n'].map(pastedLines)).toEqual([1, 1, 2, 3])
})

test('X-809 trailing blanks of the screen are not copied', () => {
  expect(copiedText('ls   \n  indented\t\n')).toBe('ls\n  indented\n')
})

test('X-810 a long paste is whole and in order again, no character split', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 9 }), (text, most) => {
      const parts = pieces(text, most)
      expect(parts.join('')).toBe(text)
      for (const part of parts) expect(part.isWellFormed()).toBe(true)
    }),
  )
})

test('X-811 places in files are found with line and column, web addresses are not', () => {
  const places = (line: string) =>
    pathPlaces(line).map(({ path, ...at }) => [path, at.line, at.column].filter((part) => part !== undefined).join(':'))
  expect(places(' ✗ src/upload/part.test.ts:42:7 (4 tests)')).toEqual(['src/upload/part.test.ts:42:7'])
  expect(places('src/app.ts(12,5): error TS1005')).toEqual(['src/app.ts:12:5'])
  expect(places('see https://vitest.dev/guide/index.html and ./README.md')).toEqual(['./README.md'])
  const [found] = pathPlaces('at a.ts:3')
  expect('at a.ts:3'.slice(found!.from, found!.to)).toBe('a.ts:3')
})

test('X-811 a path is meant from the folder its program runs in', () => {
  expect(['a.ts', './a.ts', '../b/a.ts', '/abs/a.ts'].map((path) => fromFolder('/w/src', path))).toEqual([
    '/w/src/a.ts',
    '/w/src/a.ts',
    '/w/b/a.ts',
    '/abs/a.ts',
  ])
})

test('X-816 of many new lines the last are said and the others counted', () => {
  expect(spoken(['', '  built in 2 s ', ''])).toBe('built in 2 s')
  const flood = spoken(Array.from({ length: 500 }, (_, at) => `line ${at}`))
  expect(flood).toMatch(/^480 more lines\.\nline 480\n/)
  expect(flood.length).toBeLessThan(1_600)
})
