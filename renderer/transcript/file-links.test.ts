import { expect, test } from 'vitest'
import { filePlace, linkTarget, namesOtherHost } from './file-links.ts'

test.each([
  ['https://example.com/a', { kind: 'web', host: 'example.com' }],
  ['mailto:a@example.com', { kind: 'web', host: 'a@example.com' }],
  ['javascript:alert(1)', { kind: 'none' }],
  ['JaVaScRiPt:alert(1)', { kind: 'none' }],
  ['data:text/html,x', { kind: 'none' }],
  ['vbscript:x', { kind: 'none' }],
  ['//evil.test/x', { kind: 'none' }],
  ['#part', { kind: 'none' }],
  ['src/app.ts', { kind: 'file', path: 'src/app.ts', at: {} }],
  ['./src/app.ts:12', { kind: 'file', path: 'src/app.ts', at: { line: 12 } }],
  ['app.ts:12:3', { kind: 'file', path: 'app.ts', at: { line: 12, column: 3 } }],
  ['src/app.ts#L4-L9', { kind: 'file', path: 'src/app.ts', at: { line: 4 } }],
  ['file:///home/a/b%20c.ts', { kind: 'file', path: '/home/a/b c.ts', at: {} }],
  ['C:\\Users\\a.ts', { kind: 'file', path: 'C:\\Users\\a.ts', at: {} }],
])('Z-191 a link to %s', (href, target) => {
  expect(linkTarget(href)).toMatchObject(target)
})

test.each([
  ['src/upload/session.ts:42', { path: 'src/upload/session.ts', at: { line: 42 } }],
  ['package.json:3', { path: 'package.json', at: { line: 3 } }],
  ['../x/y.md', { path: '../x/y.md', at: {} }],
  ['Math.max', null],
  ['npm run build', null],
  ['a/b', null],
  ['https://example.com/a.ts', null],
])('S-66 inline code %s', (code, place) => {
  const found = filePlace(code)
  expect(found && { path: found.path, at: found.at }).toEqual(place)
})

test.each([
  ['example.com', 'evil.test', true],
  ['https://example.com/login', 'evil.test', true],
  ['www.example.com', 'example.com', false],
  ['the documentation', 'evil.test', false],
  ['version 1.2', 'evil.test', false],
])('Z-191 the text %s of a link to %s is marked: %s', (text, host, marked) => {
  expect(namesOtherHost(text, host)).toBe(marked)
})
