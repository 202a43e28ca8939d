import { describe, expect, test } from 'vitest'
import { type CodeToken, joinTokens } from './code-tokens.ts'

describe('tokens of a line', () => {
  test('that look alike are one, and blanks go with what stands before them', () => {
    const line: CodeToken[] = [
      ['  ', '#111', 0],
      ['const', '#aaa', 0],
      [' ', '', 0],
      ['a', '#bbb', 0],
      ['.', '#bbb', 0],
      ['b', '#bbb', 1],
      [' ', '#ccc', 0],
      ['=', '', 0],
      [' 1', '', 0],
    ]
    expect(joinTokens(line)).toEqual([
      ['  ', '', 0],
      ['const ', '#aaa', 0],
      ['a.', '#bbb', 0],
      ['b ', '#bbb', 1],
      ['= 1', '', 0],
    ])
    expect(line[0]).toEqual(['  ', '#111', 0])
  })
})
