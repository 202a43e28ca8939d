import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PacedWrites } from './paced-writes.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function written(inFront: boolean) {
  const writes: string[] = []
  const output = new PacedWrites(
    async (data) => void writes.push(data),
    () => inFront,
  )
  return { writes, output }
}

test('X-807 output of the terminal with the keyboard is written as it comes', async () => {
  const { writes, output } = written(true)
  for (const key of 'abc') await output.push(key)
  expect(writes).toEqual(['a', 'b', 'c'])
})

test('X-807 a flood beside it is written twenty times a second at most, whole and in order', async () => {
  const { writes, output } = written(false)
  const pieces = Array.from({ length: 500 }, (_, at) => `line ${at}\r\n`)
  for (const piece of pieces) {
    await output.push(piece)
    await vi.advanceTimersByTimeAsync(2)
  }
  await output.flush()
  expect(writes.length).toBeLessThanOrEqual(22)
  expect(writes[0]).toBe(pieces[0])
  expect(writes.join('')).toBe(pieces.join(''))
})

test('X-806 whoever brings more than 64 Ki characters waits until they are written', async () => {
  const { writes, output } = written(false)
  await output.push('first')
  let taken = false
  void output.push('x'.repeat(70_000)).then(() => (taken = true))
  await vi.advanceTimersByTimeAsync(40)
  expect([taken, writes.length]).toEqual([false, 1])
  await vi.advanceTimersByTimeAsync(20)
  expect([taken, writes.length]).toEqual([true, 2])
})
