import { expect, test } from 'vitest'
import { fileLines, withoutNumbers } from './file-lines.ts'

test('a reading shows the file’s own lines beside their numbers', () => {
  expect(fileLines('9| const a = 1\n10|   b| c\n11| \nLines 12 to 40 are left.')).toEqual([
    { number: '9', text: 'const a = 1' },
    { number: '10', text: '  b| c' },
    { number: '11', text: '' },
    { number: null, text: 'Lines 12 to 40 are left.' },
  ])
  expect(withoutNumbers('1| a\n2|  b')).toBe('a\n b')
})

test('what is no reading stays as it is', () => {
  expect(fileLines('The file is empty.')).toBeNull()
  expect(withoutNumbers('a | b\n1| c')).toBe('a | b\n1| c')
})
