import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { heavyReplies } from './fixtures.ts'
import { growingBlocks, hasOpenFence, isHeavy, readFence } from './markdown-blocks.ts'
import { blocksOf } from './markdown-lexer.ts'

vi.mock(import('./markdown-lexer.ts'), async (original) => {
  const module = await original()
  return { blocksOf: vi.fn<typeof module.blocksOf>(module.blocksOf) }
})

const pieces = fc.constantFrom(
  'a word ',
  '**bold** ',
  '\n',
  '\n\n',
  '- item\n',
  '  - nested\n',
  '1. one\n',
  '> quote\n',
  '# title\n',
  '```ts\n',
  'const a = 1\n',
  '```\n',
  '| a | b |\n|---|---|\n',
  '| 1 | 2 |\n',
  '`code` ',
  '---\n',
  '    indented\n',
)

describe('a growing text', () => {
  test('K-03 however it is cut, it ends in the blocks of the whole text', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const split = growingBlocks()
        let text = ''
        let blocks: string[] = []
        for (const part of parts) blocks = split((text += part))
        expect(blocks.join('')).toBe(blocksOf(text).join(''))
        expect(blocks.filter((block) => readFence(block))).toEqual(blocksOf(text).filter((block) => readFence(block)))
      }),
    )
  })

  test('K-03 blocks that are settled are the same strings again', () => {
    const split = growingBlocks()
    const first = split('one\n\ntwo\n\nthree\n\nfour\n\n')
    const next = split('one\n\ntwo\n\nthree\n\nfour\n\nfive')
    expect(next.slice(0, 4)).toEqual(first.slice(0, 4))
    expect(next.at(-1)).toBe('five')
  })

  test('a text that is replaced is read anew', () => {
    const split = growingBlocks()
    split('one\n\ntwo\n\nthree')
    expect(split('other').join('')).toBe('other')
  })

  test('K-03 inside an open fence nothing is parsed again', () => {
    const split = growingBlocks()
    let text = '```ts\n'
    split(text)
    const parse = vi.mocked(blocksOf)
    parse.mockClear()
    for (let line = 0; line < 1_000; line++) split((text += `const value = ${line}\n`))
    expect(parse).not.toHaveBeenCalled()
    const blocks = split((text += '```\n'))
    expect(blocks).toHaveLength(1)
    expect(readFence(blocks[0]!)).toMatchObject({ language: 'ts', closed: true })
  })

  test('K-17 text after a heavy stretch is Markdown again', () => {
    const blocks = growingBlocks()(`${'>'.repeat(100)} deep\n\nA plain paragraph.\n\n- a list\n`)
    expect(isHeavy(blocks[0]!)).toBe(true)
    expect(blocks.slice(1).some((block) => isHeavy(block))).toBe(false)
    expect(blocks.slice(1).join('')).toContain('A plain paragraph.')
  })
})

test.each(['lists in lists', 'quotes in quotes', 'a row of 10,000 columns', 'emphasis', 'brackets'])(
  'K-17 %s are too much to lay out',
  (name) => {
    expect(isHeavy(heavyReplies[name]!)).toBe(true)
  },
)

test.each([
  ['a paragraph of 5,000 characters', heavyReplies['one line of 5,000 characters']!],
  ['a code block', heavyReplies['code of 2,000 lines']!],
  ['an ordinary list', '- a\n  - b\n    - c\n      - d\n'],
  ['a table', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(100)}`],
  ['a rule', '-'.repeat(400)],
  ['indented code', ' '.repeat(60) + 'x'],
])('%s is not', (_, text) => {
  expect(isHeavy(text)).toBe(false)
})

test.each([
  ['```ts\na\n```', { language: 'ts', code: 'a\n', closed: true }],
  ['```ts\na\n', { language: 'ts', code: 'a\n', closed: false }],
  ['```', { language: '', code: '', closed: false }],
  ['~~~~\n~~~\n~~~~\n', { language: '', code: '~~~\n', closed: true }],
  ['```\n```', { language: '', code: '', closed: true }],
  ['text', null],
  ['``inline``', null],
])('the fence %j', (block, fence) => {
  expect(readFence(block)).toEqual(fence)
})

test.each([
  ['- one\n\n  ```ts\n  const a', true],
  ['- one\n\n  ```ts\n  const a\n  ```\n', false],
  ['> ~~~~\n> ```\n', true],
  ['> ~~~~\n> ```\n> ~~~~\n', false],
  ['a ```b``` c', false],
])('whether %j stops within a fence', (text, open) => {
  expect(hasOpenFence(text)).toBe(open)
})

test.each([
  ['footnotes', 'A[^1] b.\n\nMore.\n\n[^1]: The note.'],
  ['a link defined elsewhere', 'See [it].\n\nMore.\n\n[it]: https://example.com'],
])('a text with %s is one block', (_, text) => {
  expect(blocksOf(text)).toEqual([text])
})
