import { expect, test } from 'vitest'
import { ProtocolFault, Reply } from './reply.ts'

const reply = () => new Reply({ thinkTags: true, nameOf: (name) => name })
const ofType = (events: { type: string }[], type: string) => events.filter((event) => event.type === type)

test('M-46 M-47 fragments become calls with ids of their own, in order, and none before the end', () => {
  const r = reply()
  r.call({ index: 0, id: 'x', name: 'a', args: '{"n":' })
  r.call({ index: 0, args: '1}' })
  r.call({ index: 1, id: 'x', name: 'b' })
  r.call({ index: 2, name: 'c', args: '' })
  r.call({ index: 3, id: 'nameless', args: '{}' })
  r.call({ index: 4, id: 'y', name: 'd', args: { n: 5 } })
  expect(ofType(r.take(), 'callDone')).toEqual([])
  r.finish = 'stop'
  r.close()
  const done = r.take()
  expect(ofType(done, 'callDone')).toMatchObject([
    { id: 'x', name: 'a', args: { n: 1 } },
    { name: 'b', args: {} },
    { name: 'c', args: {} },
    { id: 'y', name: 'd', args: { n: 5 } },
  ])
  expect(new Set(ofType(done, 'callDone').map((event) => (event as unknown as { id: string }).id)).size).toBe(4)
  expect(ofType(done, 'warning')).toMatchObject([{ kind: 'dropped_call' }])
})

test('M-46 a late name, fragments joined by id, and servers that number every call 0', () => {
  const r = reply()
  r.call({ index: 0, id: 'one', args: '{"a"' })
  r.call({ index: 0, name: 'late', args: ':1}' })
  r.call({ index: 0, id: 'two', name: 'other', args: '{}' })
  r.call({ id: 'three', name: 'third', args: '{"b"' })
  r.call({ id: 'three', args: ':2}' })
  r.finish = 'tools'
  r.close()
  expect(ofType(r.take(), 'callDone')).toMatchObject([
    { name: 'late', args: { a: 1 } },
    { name: 'other' },
    { name: 'third', args: { b: 2 } },
  ])
})

test('M-45 more than 128 calls, or one over 4 MiB, is not the protocol', () => {
  const many = reply()
  const flood = () => Array.from({ length: 129 }, (_, index) => many.call({ index, name: 'a' }))
  expect(flood).toThrow(ProtocolFault)
  const long = reply()
  long.call({ index: 0, name: 'a', args: 'x'.repeat(4 * 1024 * 1024) })
  expect(() => long.call({ index: 0, args: 'x' })).toThrow(ProtocolFault)
})

test('M-47 a call cut by the output limit does not run', () => {
  const r = reply()
  r.call({ index: 0, id: 'x', name: 'write_file', args: '{"path":"a"}' })
  r.finish = 'length'
  r.close()
  expect(ofType(r.take(), 'callDone')).toMatchObject([{ invalid: expect.stringContaining('smaller arguments') }])
})

test('M-49 percents are clamped, nonsense is unknown, and content ends the phase', () => {
  const r = reply()
  for (const percent of [10, 60, 'x', 140]) r.promptRead(percent)
  r.text('a')
  r.promptRead(50)
  expect(ofType(r.take(), 'phase').map((event) => (event as unknown as { percent: unknown }).percent)).toEqual([
    10,
    60,
    null,
    100,
  ])
})

test('M-53 only visible text and calls are an answer', () => {
  const r = reply()
  r.reasoning('long thoughts', 'reasoning')
  r.text(' \n')
  expect(r.empty).toBe(true)
  r.text('x')
  expect(r.empty).toBe(false)
})

test('M-59 a response that fills several reasoning fields is shown once', () => {
  const r = reply()
  for (const delta of ['a', 'b']) {
    r.reasoning(delta, 'reasoning_content')
    r.reasoning(delta, 'reasoning')
  }
  r.text('<think>ab</think>c')
  expect(r.take()).toEqual([
    { type: 'reasoning', delta: 'ab', deltas: 2 },
    { type: 'text', delta: 'c', deltas: 1 },
  ])
})

test('M-56 M-108 missing usage is estimated and marked; negatives and fractions are dropped', () => {
  const r = reply()
  r.text('1234567')
  expect(r.usageEvent(() => 70)).toMatchObject({ usage: { input: 20, output: 2, estimated: true } })
  r.usage({ input: 100, output: -1, total: 175, reasoning: 1.5 })
  r.usage({ output: 10, input: undefined })
  expect(r.usageEvent(() => 70)).toMatchObject({
    usage: { input: 100, output: 10, total: 175, reasoning: null, estimated: false },
  })
})
