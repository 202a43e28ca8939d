import headless from '@xterm/headless'
import type { IBuffer } from '@xterm/xterm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copiedText, pastedLines, pieces, safePaste } from './paste.ts'
import { fileOfAddress, fromFolder, pathPlaces } from './path-links.ts'
import { shownLine } from './shown-line.ts'
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
  expect(places('  File "app/main.py", line 3, in <module>')).toEqual(['app/main.py:3'])
  expect(places('.env:2: Makefile:12: *** missing; .eslintrc.json is read at 12:30')).toEqual([
    '.env:2',
    'Makefile:12',
    '.eslintrc.json',
  ])
  expect(places('at run (file:///w/my%20app/x.mjs:3:5) or file://host/w/%zz/y.mjs:1')).toEqual(['/w/my app/x.mjs:3:5'])
  const [found] = pathPlaces('at a.ts:3')
  expect('at a.ts:3'.slice(found!.from, found!.to)).toBe('a.ts:3')
})

test('X-811 a file address says path, line and column; one with broken percent signs names nothing', () => {
  expect(fileOfAddress('file:///w/a%20b.ts')).toEqual({ path: '/w/a b.ts' })
  expect(fileOfAddress('file://host/w/a.ts#12:5')).toEqual({ path: '/w/a.ts', line: 12, column: 5 })
  expect(fileOfAddress('file:///w/a.ts#L12')).toEqual({ path: '/w/a.ts', line: 12 })
  for (const none of ['file:///w/%E0%A4', 'file:///w/%zz.ts', 'https://a.test/x.ts', 'w/a.ts', 'file://%/x'])
    expect(fileOfAddress(none)).toBeNull()
})

test('X-811 a path that goes on in the next row is one link, behind wide characters too', async () => {
  const term = new headless.Terminal({ cols: 12, rows: 6, allowProposedApi: true })
  await new Promise<void>((parsed) => term.write('first\r\n日本 src/upload/part.ts:42:7\r\nlast', parsed))
  for (const row of [1, 2, 3]) {
    const { text, cells } = shownLine(term.buffer.active as IBuffer, row)
    const [place] = pathPlaces(text)
    expect(place).toMatchObject({ path: 'src/upload/part.ts', line: 42, column: 7 })
    expect(cells[place!.from]).toEqual({ x: 6, y: 2 })
    expect(cells[place!.to - 1]).toEqual({ x: 4, y: 4 })
  }
  expect(shownLine(term.buffer.active as IBuffer, 0).text.trimEnd()).toBe('first')
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
