import { expect, test } from 'vitest'
import type { Comment } from '../../preload/contract/change-routes.ts'
import { withComments } from './comments.ts'

const comment = (more: Partial<Comment>): Comment => ({
  id: 'c',
  changeId: 'x',
  path: 'src/a.ts',
  side: 'after',
  from: 3,
  to: 4,
  quoted: 'one\ntwo',
  text: 'Why both?',
  ...more,
})

test('F-912 comments go as one message with file, lines, the quoted text and what was said, in the order of places', () => {
  const comments = [
    comment({}),
    comment({ from: 1, to: 1, side: 'before', quoted: 'zero', text: 'Keep this.' }),
    comment({ path: 'a.md', quoted: '', text: 'Empty?' }),
  ]
  expect(withComments('Please look again.  ', comments)).toBe(
    [
      'Please look again.',
      'On the changes:',
      'a.md:3-4\n> \nEmpty?',
      'src/a.ts:1 (before the change)\n> zero\nKeep this.',
      'src/a.ts:3-4\n> one\n> two\nWhy both?',
    ].join('\n\n'),
  )
  expect(withComments('', [comment({})])).toMatch(/^On the changes:\n\nsrc/)
  expect(withComments(' as it is ', [])).toBe(' as it is ')
})
