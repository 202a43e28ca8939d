import { describe, expect, test } from 'vitest'
import type { StopReason } from './state.ts'
import { Driver } from './test-driver.ts'

const stop = (driver: Driver, turnId: string, reason: StopReason = 'person') =>
  driver.command({ type: 'stop', turnId, reason })

describe('T-94 what a Stop answers', () => {
  test('the running turn: stopped, with the messages given back; a second one gives nothing back', () => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.submit('also', { whenBusy: 'steer' })
    expect(stop(driver, turnId)).toMatchObject({ stopped: true, withdrawn: [{ text: 'also' }] })
    const before = driver.journal.length
    expect(stop(driver, turnId)).toEqual({ stopped: true, withdrawn: [] })
    expect(driver.journal).toHaveLength(before)
  })

  test('T-104 an older turn than the newest: nothing happens, whether the newest runs or has settled', () => {
    const driver = new Driver()
    const first = driver.running()
    driver.report({ type: 'mayEnd', ending: 'answer' })
    const second = driver.running('two')
    driver.submit('later', { whenBusy: 'queue' })
    const before = driver.state
    expect(stop(driver, first)).toEqual({ stopped: false, why: 'not_current' })
    expect(driver.state).toBe(before)
    expect(driver.effects).toEqual([])
    driver.report({ type: 'mayEnd', ending: 'answer' })
    const settled = driver.state
    expect(stop(driver, first)).toEqual({ stopped: false, why: 'not_current' })
    expect(driver.state).toBe(settled)
    expect(stop(driver, second)).toEqual({ stopped: false, why: 'settled' })
    expect(stop(driver, 'nobody')).toEqual({ stopped: false, why: 'unknown' })
  })
})

describe('T-111 only a person holds what would come next', () => {
  test.each<[StopReason, boolean]>([
    ['person', true],
    ['yielded', false],
    ['timeout', false],
    ['session_deleted', false],
    ['withdrawn', false],
  ])('%s', (reason, holds) => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.submit('later', { whenBusy: 'queue' })
    driver.submit('also', { whenBusy: 'steer' })
    stop(driver, turnId, reason)
    driver.report({ type: 'unwound' })
    expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason })
    const { automaticHeld, queue } = driver.state.view.header
    expect(automaticHeld?.by ?? null).toBe(holds ? 'stop' : null)
    expect(queue.paused).toBe(holds ? 'stop' : null)
    // A person's Stop gives what waited for the agent back; every other keeps it for them.
    expect(queue.followUps.map(({ text }) => text)).toEqual(holds ? ['later'] : ['also', 'later'])
  })
})

test('T-31 T-110 a turn that yields may take 30 s to end, but 5 s once a person stops it', () => {
  const driver = new Driver()
  const { turnId } = driver.submit('nightly', { source: 'schedule' })
  driver.report({ type: 'running' })
  driver.submit('now please')
  expect(driver.effects).toContainEqual({ do: 'drain', turnId, ms: 30_000 })
  stop(driver, turnId)
  expect(driver.effects).toContainEqual({ do: 'drain', turnId, ms: 5_000 })
  driver.report({ type: 'drainExpired' })
  expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason: 'yielded' })
  expect(driver.state.view.header.automaticHeld?.by).toBe('stop')
})
