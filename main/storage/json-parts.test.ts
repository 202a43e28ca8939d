import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type JsonPart, JsonParts } from './json-parts.ts'

function read(text: string, cuts: number[] = []): JsonPart[] {
  const parts = new JsonParts(10_000)
  const found: JsonPart[] = []
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  for (let at = 1; at < places.length; at++) found.push(...parts.feed(text.slice(places[at - 1], places[at])))
  parts.end()
  return found
}

test('S-92 the values of any object come one by one, wherever the text is cut and however it is laid out', () => {
  const object = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())))
  fc.assert(
    fc.property(object, fc.array(fc.nat(), { maxLength: 8 }), fc.constantFrom(0, 2), (value, cuts, indent) => {
      const whole = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
      // Without a prototype: any key may stand in a file.
      const rebuilt = Object.create(null) as Record<string, unknown>
      for (const { key, index, text } of read(` ${JSON.stringify(whole, null, indent)}\n`, cuts)) {
        if (index === null) Object.defineProperty(rebuilt, key, { value: JSON.parse(text), enumerable: true })
        else ((rebuilt[key] ??= []) as unknown[]).push(JSON.parse(text))
      }
      const expected = Object.entries(whole).filter(([, one]) => !Array.isArray(one) || one.length > 0)
      expect(Object.entries(rebuilt)).toEqual(expected)
    }),
    { numRuns: 500, examples: [[{ ['__proto__']: [[]] }, [], 0]] },
  )
})

test.each(['', '[', '[1]', '{"a": 1', '{"a" 1}', '{"a": [1, 2', '{} {}', 'null'])('no object: %s', (text) => {
  expect(() => read(text)).toThrow(SyntaxError)
})

test('a value nested deeper than allowed is refused', () => {
  const nested = (depth: number) => `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`
  // The outermost list is taken apart.
  expect(read(nested(257))).toHaveLength(1)
  expect(() => read(nested(258))).toThrow('too deep')
})

test('a value longer than allowed is refused before it is held whole', () => {
  const parts = new JsonParts(100)
  expect(() => [...parts.feed(`{"a": "${'x'.repeat(200)}`)]).toThrow('too long')
})
