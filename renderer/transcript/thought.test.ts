import { expect, test } from 'vitest'
import { thought } from './thought.ts'

const long = 'word '.repeat(40).trim()

test.each([
  [
    'a title in bold names it and is not said again',
    { text: '**Looking at the cart**\n\nIt adds up.' },
    'Looking at the cart',
    'It adds up.',
  ],
  ['a heading does too', { text: '## The plan\nFirst this.' }, 'The plan', 'First this.'],
  ['a short first line names it', { text: 'I read the file.\nThen I edit it.' }, 'I read the file.', 'Then I edit it.'],
  ['one line has nothing beside it', { text: 'Only this.' }, 'Only this.', ''],
  ['a long line is cut for the title and kept whole', { text: long }, `${long.slice(0, 120)}…`, long],
  [
    'a given title that is its first line is not repeated',
    { title: 'Cart', text: '**Cart**\n\nIt adds up.' },
    'Cart',
    'It adds up.',
  ],
  ['a given title of its own leaves the text whole', { title: 'Cart', text: 'It adds up.' }, 'Cart', 'It adds up.'],
])('S-60 %s', (_, item, title, body) => {
  expect(thought(item, false)).toEqual({ title, body })
})

test('while it is being thought it has no title yet', () => {
  expect(thought({ text: 'I read' }, true)).toEqual({ title: '', body: 'I read' })
})
