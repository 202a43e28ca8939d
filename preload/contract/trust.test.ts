import { expect, test } from 'vitest'
import { isFolderTrusted } from './trust.ts'

test('Z-4 trust covers the folders below, the nearer word counts, and where nothing was said there is none', () => {
  const said = new Map([
    ['/w', true],
    ['/w/foreign', false],
    ['C:\\work', true],
  ])
  const trusted = (path: string) => isFolderTrusted(path, (folder) => said.get(folder))
  expect(['/w', '/w/a/b', 'C:\\work\\a', 'C:\\work'].map(trusted)).toEqual([true, true, true, true])
  expect(['/w/foreign', '/w/foreign/a', '/wide', '/', '', 'C:\\', 'relative/w'].map(trusted)).toEqual(
    Array.from({ length: 7 }, () => false),
  )
  expect(['/w/../foreign', '/w/a/../../foreign', 'C:\\work\\..\\foreign'].map(trusted)).toEqual([false, false, false])
  expect(isFolderTrusted('/anything', (folder) => (folder === '/' ? true : undefined))).toBe(true)
})
