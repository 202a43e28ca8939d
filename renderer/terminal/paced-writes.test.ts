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

test('X-807 where a write takes long, the next one comes later: keys have four fifths of the page', async () => {
  let writes = 0
  const slow = async () => {
    writes++
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  const output = new PacedWrites(slow, () => false)
  const flooding = (async () => {
    for (let piece = 0; piece < 20; piece++) await output.push('x'.repeat(40_000))
  })()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(writes).toBeGreaterThan(8)
  expect(writes).toBeLessThanOrEqual(11)
  await vi.advanceTimersByTimeAsync(10_000)
  await flooding
  expect(writes).toBe(25)
})

test('X-806 whoever brings more than 32 Ki characters waits until they are written', async () => {
  const { writes, output } = written(false)
  await output.push('first')
  let taken = false
  void output.push('x'.repeat(60_000)).then(() => (taken = true))
  await vi.advanceTimersByTimeAsync(40)
  expect([taken, writes.length]).toEqual([false, 1])
  await vi.advanceTimersByTimeAsync(20)
  expect([taken, writes.length]).toEqual([true, 2])
})

test('X-807 what waits is written at once when the keyboard comes, and who waited brings more', async () => {
  let inFront = false
  const writes: string[] = []
  const output = new PacedWrites(
    async (data) => void writes.push(data),
    () => inFront,
  )
  await output.push('first')
  let taken = false
  void output.push('x'.repeat(200_000)).then(() => (taken = true))
  await vi.advanceTimersByTimeAsync(10)
  expect(taken).toBe(false)
  inFront = true
  await output.flush()
  await vi.advanceTimersByTimeAsync(0)
  expect([taken, writes.join('').length]).toEqual([true, 200_005])
})

test('X-807 one large piece is written in parts, between which the page has time for a key', async () => {
  const { writes, output } = written(false)
  const text = Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`).join('')
  const pushed = output.push(text)
  await vi.advanceTimersByTimeAsync(2_000)
  await pushed
  expect(Math.max(...writes.map(({ length }) => length))).toBeLessThanOrEqual(32 * 1024)
  expect(writes.join('')).toBe(text)
})
