import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchLoop } from './loop-lag.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('S-140 the lag of the loop now, and the worst of the last hour', () => {
  let late = 0
  const lag = watchLoop(() => Date.now() + late)
  vi.advanceTimersByTime(5_000)
  expect(lag.read()).toEqual({ nowMs: 0, worstMs: 0 })
  // A tick comes 700 ms after its time; the next ones are punctual again.
  late = 700
  expect(lag.read().nowMs).toBe(200)
  vi.advanceTimersByTime(500)
  expect(lag.read()).toEqual({ nowMs: 700, worstMs: 700 })
  vi.advanceTimersByTime(1_000)
  expect(lag.read()).toEqual({ nowMs: 0, worstMs: 700 })
  vi.advanceTimersByTime(58 * 60_000)
  expect(lag.read().worstMs).toBe(700)
  vi.advanceTimersByTime(3 * 60_000)
  expect(lag.read().worstMs).toBe(0)
  lag.stop()
  expect(vi.getTimerCount()).toBe(0)
})
