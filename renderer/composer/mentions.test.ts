import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinMessages, mentionText } from '../../preload/contract/mentions.ts'
import { editWritten, insertMention, mentionQuery, standing, withoutMention, type Written } from './mentions.ts'

const file = (path: string) => ({ kind: 'file' as const, ref: path, label: path })
const written = insertMention({ text: 'see @sr now', mentions: [] }, { query: 'sr', from: 4, to: 7 }, file('src/a.ts'))

test('S-111 the word at the caret, wherever it may begin', () => {
  expect(mentionQuery('see @src/a', 10)).toEqual({ query: 'src/a', from: 4, to: 10 })
  expect(mentionQuery('@', 1)).toEqual({ query: '', from: 0, to: 1 })
  expect(mentionQuery('(@a', 3)).toMatchObject({ query: 'a' })
  expect(mentionQuery('a@b.test', 8)).toBeNull()
  expect(mentionQuery('@a b', 4)).toBeNull()
})

test('S-112 a mention is kind, ref and label at a place in the text, in the place of what was typed', () => {
  expect(written).toEqual({
    text: 'see @src/a.ts now',
    mentions: [{ kind: 'file', ref: 'src/a.ts', label: 'src/a.ts', at: 4 }],
    caret: 14,
  })
  const named = { kind: 'session' as const, ref: 's1', label: 'Fix the "parser"' }
  const second = insertMention(written, { query: '', from: 0, to: 0 }, named)
  expect(second.text).toBe(`@"Fix the 'parser'" see @src/a.ts now`)
  expect(second.mentions.map(({ ref, at }) => [ref, at])).toEqual([
    ['s1', 0],
    ['src/a.ts', 24],
  ])
})

test('S-112 deleting into a mention removes all of it; what is written into one leaves plain text', () => {
  // Backspace at its end, Delete at its start, a selection that begins before it.
  expect(editWritten(written, 'see @src/a.t now', 12)).toEqual({ text: 'see  now', mentions: [], caret: 4 })
  expect(editWritten(written, 'see src/a.ts now', 4)).toEqual({ text: 'see  now', mentions: [], caret: 4 })
  expect(editWritten(written, 's.ts now', 1)).toEqual({ text: 's now', mentions: [], caret: 1 })
  expect(editWritten(written, 'see @src/xa.ts now', 10)).toEqual({
    text: 'see @src/xa.ts now',
    mentions: [],
    caret: null,
  })
  // Beside it nothing of it goes.
  expect(editWritten(written, 'see it: @src/a.ts now', 8)).toMatchObject({ mentions: [{ at: 8 }], caret: null })
  expect(editWritten(written, 'see @src/a.tsnow', 13)).toMatchObject({
    text: 'see @src/a.tsnow',
    mentions: [{ at: 4 }],
  })
  expect(withoutMention(written, written.mentions[0]!)).toMatchObject({ text: 'see  now', mentions: [] })
})

test('S-112 whatever is typed, deleted or pasted where, a mention stands whole in the text or is none', () => {
  const label = fc.constantFrom('a', 'aa', 'src/a.ts', 'with space', 'a@a')
  const word = fc.stringMatching(/^[a@ ]{0,4}$/)
  const edit = fc.record({ from: fc.nat(60), length: fc.nat(8), add: word })
  fc.assert(
    fc.property(
      word,
      fc.array(fc.tuple(label, word), { maxLength: 4 }),
      fc.array(edit, { maxLength: 6 }),
      (first, rest, edits) => {
        let now: Written = { text: first, mentions: [] }
        for (const [name, after] of rest) {
          const at = now.text.length
          const put = insertMention(now, { query: '', from: at, to: at }, file(name))
          now = { text: put.text + after, mentions: put.mentions }
        }
        for (const { from, length, add } of edits) {
          const at = Math.min(from, now.text.length)
          const before = now
          const next = now.text.slice(0, at) + add + now.text.slice(at + length)
          now = editWritten(now, next, at + add.length)
          expect(standing(now.text, now.mentions)).toEqual(now.mentions)
          // One that was deleted into left nothing of itself.
          const hit = before.mentions.filter(
            (one) => length > 0 && add === '' && at < one.at + mentionText(one.label).length && at + length > one.at,
          )
          expect(now.mentions.length).toBeLessThanOrEqual(before.mentions.length - hit.length)
        }
      },
    ),
  )
})

test('S-112 messages that come back as one keep their mentions in place', () => {
  const one = { text: 'see @a', attachments: [], mentions: [{ ...file('a'), at: 4 }] }
  const joined = joinMessages([one, { text: ' ', attachments: [] }, one])
  expect(joined.text).toBe('see @a\n\nsee @a')
  expect(standing(joined.text, joined.mentions ?? []).map(({ at }) => at)).toEqual([4, 12])
})
