import { expect, test } from 'vitest'
import { drawMarkdown } from './markdown-elements.ts'

const components = {}

test('a settled block is parsed once, however often its row is scrolled into view', () => {
  const drawn = drawMarkdown('**kept** words', components, false)
  expect(drawMarkdown('**kept** words', components, false)).toBe(drawn)
  expect(drawMarkdown('**kept** words', components, true)).not.toBe(drawn)
})

test('what is kept is bounded: the block not seen for longest goes', () => {
  const first = drawMarkdown('the first', components, false)
  const used = drawMarkdown('the used one', components, false)
  for (let at = 0; at < 30; at++) {
    drawMarkdown(`${at} ${'x'.repeat(20_000)}`, components, false)
    expect(drawMarkdown('the used one', components, false)).toBe(used)
  }
  expect(drawMarkdown('the first', components, false)).not.toBe(first)
})
