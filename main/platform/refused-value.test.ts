import { expect, test } from 'vitest'
import { z } from 'zod'
import { refusedValue } from './refused-value.ts'

const Schema = z.strictObject({
  description: z.string().min(1).max(5),
  mode: z.enum(['ask', 'none']).optional(),
  tools: z.array(z.string()).max(2).optional(),
  seconds: z.number().int().min(1).max(9).optional(),
  model: z.union([z.string(), z.strictObject({ id: z.string() })]).optional(),
})

test('what a schema refused is a plain sentence', () => {
  const good = { description: 'fine' }
  for (const [value, said] of [
    [{}, 'description is missing.'],
    [{ description: '' }, 'description is empty.'],
    [{ description: 'too long' }, 'description is longer than 5 characters.'],
    [{ ...good, mode: 'wild' }, 'mode is not one of ask, none.'],
    [{ ...good, tools: 'grep' }, 'tools is not a list.'],
    [{ ...good, tools: ['a', 1] }, 'tools.1 is not a text.'],
    [{ ...good, tools: ['a', 'b', 'c'] }, 'tools has more than 2 entries.'],
    [{ ...good, seconds: 0 }, 'seconds is less than 1.'],
    [{ ...good, seconds: 10 }, 'seconds is more than 9.'],
    [{ ...good, seconds: 1.5 }, 'seconds is not a whole number.'],
    [{ ...good, model: 1 }, 'model is of another kind than it must be.'],
    [{ ...good, other: 1 }, 'It has "other", which is not known.'],
    [{ ...good, other: 1, more: 2 }, 'It has "other", "more", which are not known.'],
    [{ mode: 'wild', seconds: 0 }, 'description is missing. mode is not one of ask, none. seconds is less than 1.'],
    ['text', 'It is not a group of settings.'],
  ] as const)
    expect([value, refusedValue(Schema.safeParse(value).error!)]).toEqual([value, said])
  const many = z.array(z.string()).safeParse(Array.from({ length: 300 }, () => 1))
  expect(refusedValue(many.error!)).toMatch(/^0 is not a text\. .*7 is not a text\. And 292 more\.$/)
})
