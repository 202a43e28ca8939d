import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ThinkTags } from './think-tags.ts'

/** Text and reasoning that come out, for a text split into these chunks. */
function read(chunks: string[]): { text: string; reasoning: string } {
  const tags = new ThinkTags()
  const pieces = [...chunks.flatMap((chunk) => tags.feed(chunk)), ...tags.flush()]
  const join = (type: string) => pieces.map((piece) => (piece.type === type ? piece.delta : '')).join('')
  return { text: join('text'), reasoning: join('reasoning') }
}

test.each([
  ['<think>a</think>b <think> c', 'a', 'b <think> c'],
  ['\n <thinking>a < b</thinking>\n\nc', 'a < b', '\n\nc'],
  ['<|channel|>analysis<|message|>a<|end|>b', 'a', 'b'],
  ['<think>never closed', 'never closed', ''],
  ['Let me think about it', '', 'Let me think about it'],
  ['`<think>` is a tag', '', '`<think>` is a tag'],
  ['<thin air', '', '<thin air'],
  ['<think', '', '<think'],
])('M-60 %j: only tags that open the text are reasoning, however the stream is split', (whole, reasoning, text) => {
  expect(read([whole])).toEqual({ reasoning, text })
  expect(read([...whole])).toEqual({ reasoning, text })
  for (let at = 1; at < whole.length; at += 1)
    expect(read([whole.slice(0, at), whole.slice(at)])).toEqual({ reasoning, text })
})

test('M-61 text without leading tags comes out unchanged, and at most 32 characters are held back', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (chunks) => {
      const whole = chunks.join('')
      fc.pre(!/^\s*<(think|\|channel)/.test(whole))
      expect(read(chunks)).toEqual({ text: whole, reasoning: '' })
    }),
  )
  const tags = new ThinkTags()
  expect(tags.feed(`${' '.repeat(40)}<thi`)).toEqual([{ type: 'text', delta: `${' '.repeat(40)}<thi` }])
})
