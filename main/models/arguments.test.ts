import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('M-63 trailing commas, single quotes and raw line breaks are repaired', () => {
  expect(readArguments('{"path": "a",}')).toEqual({ args: { path: 'a' } })
  expect(readArguments("{'path': 'it'}")).toEqual({ args: { path: 'it' } })
  expect(readArguments('{"content": "a\nb"}')).toEqual({ args: { content: 'a\nb' } })
  expect(readArguments(' ')).toEqual({ args: {} })
})

test('M-63 what is not an object is refused with its place and at most 200 characters', () => {
  expect(readArguments('[1]')).toMatchObject({ invalid: 'The arguments are not an object.', raw: '[1]' })
  const long = readArguments(`{"a" "${'x'.repeat(500)}`)
  expect(long).toMatchObject({ invalid: expect.stringContaining('position') })
  expect('raw' in long && long.raw.length).toBe(200)
})

test('M-63 arguments nested so deep that nothing could go over them again are refused', () => {
  const nested = (depth: number) => `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect(readArguments(nested(120))).toHaveProperty('args')
  expect(readArguments(nested(20_000))).toMatchObject({ invalid: 'They are nested too deep.' })
})

test('M-63 no cut of valid arguments is ever taken for a call', () => {
  const args = fc.dictionary(
    fc.string(),
    fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.string())),
    { minKeys: 1 },
  )
  fc.assert(
    fc.property(args, fc.double({ min: 0, max: 1, noNaN: true }), (value, share) => {
      const json = JSON.stringify(value)
      const cut = json.slice(0, 1 + Math.floor(share * (json.length - 2)))
      expect(readArguments(cut)).toHaveProperty('invalid')
      expect(readArguments(json)).toEqual({ args: JSON.parse(json) })
    }),
  )
})
