import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type LateTick, watchLoop } from './loop-lag.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('S-140 the lag of the loop now, and the worst of the last hour', () => {
  let late = 0
  const lag = watchLoop({ now: () => Date.now() + late, wall: () => Date.now() + late })
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

test('Z-240 a tick that is late by 250 ms or more is told once, with whole milliseconds', () => {
  let late = 0
  const told: LateTick[] = []
  const now = () => Date.now() + late
  const lag = watchLoop({ now, wall: now, late: (tick) => told.push(tick) })
  late = 249.4
  vi.advanceTimersByTime(500)
  expect(told).toEqual([])
  late += 250.4
  vi.advanceTimersByTime(500)
  vi.advanceTimersByTime(5_000)
  expect(told).toEqual([{ operation: 'main loop', lagMs: 250, intervalMs: 500, suspended: false }])
  lag.stop()
})

test('Z-240 ticks over a suspend are marked, and count for nothing; interval and limit can be set', () => {
  let [asleep, late] = [0, 0]
  const told: LateTick[] = []
  const lag = watchLoop({
    now: () => Date.now() + late,
    wall: () => Date.now() + late + asleep,
    intervalMs: 100,
    limitMs: 20,
    late: (tick) => told.push(tick),
  })
  // The monotonic clock stood still with the machine.
  asleep = 3_600_000
  vi.advanceTimersByTime(100)
  expect(told).toEqual([{ operation: 'main loop', lagMs: 0, intervalMs: 100, suspended: true }])
  // Where it goes on, the system's word decides.
  late = 3_600_000
  lag.resumed()
  vi.advanceTimersByTime(100)
  expect(told.at(-1)).toEqual({ operation: 'main loop', lagMs: 3_600_000, intervalMs: 100, suspended: true })
  expect(lag.read().worstMs).toBe(0)
  late += 30
  vi.advanceTimersByTime(100)
  expect(told.at(-1)).toMatchObject({ lagMs: 30, suspended: false })
  expect(lag.read().worstMs).toBe(30)
  lag.stop()
})
