import { describe, expect, test } from 'vitest'
import type { StopReason } from './state.ts'
import { Driver, followUp } from './test-driver.ts'

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

test('T-95 T-98 a Stop before any worker ran settles at once', () => {
  const driver = new Driver()
  const { turnId } = driver.submit('one')
  expect(driver.command({ type: 'stop', turnId, reason: 'person' })).toMatchObject({ stopped: true })
  expect(driver.state.turn).toBeNull()
  expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason: 'person' })
  expect(driver.state.view.header.automaticHeld?.by).toBe('stop')
})

test('TA-9 T-107 partial text is kept, nothing follows it', () => {
  const driver = new Driver()
  const turnId = driver.running()
  driver.report({ type: 'stream', channel: 'text', add: 'Hello wor' })
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.report({ type: 'stream', channel: 'text', add: 'ld' })
  driver.report({ type: 'unwound' })
  const texts = driver.state.view.items.filter((item) => item.kind === 'text')
  expect(texts).toMatchObject([{ text: 'Hello wor', status: 'partial' }])
  expect(driver.state.view.items.some((item) => item.kind === 'error')).toBe(false)
  expect(driver.types().filter((type) => type === 'turn.settled')).toHaveLength(1)
})

test('K-25 TA-21 a Stop keeps the queue, paused; nothing starts by itself', () => {
  const driver = new Driver()
  const turnId = driver.running()
  driver.submit('later one', { whenBusy: 'queue' })
  driver.submit('later two', { whenBusy: 'queue' })
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.report({ type: 'unwound' })
  expect(driver.state.view.header.queue).toMatchObject({ paused: 'stop' })
  const [first] = driver.state.view.header.queue.followUps
  expect(
    driver.command({ type: 'followUp.start', id: first!.id, byPerson: false, message: followUp(first!.id) }),
  ).toBeNull()
  expect(driver.state.view.header.queue.followUps).toHaveLength(2)
})

test('T-105 a Stop withdraws an open approval; its tool never runs', () => {
  const driver = new Driver()
  const turnId = driver.running()
  driver.propose('tool', 'npm test')
  expect(driver.state.view.approvals.depth).toBe(1)
  driver.command({ type: 'stop', turnId, reason: 'person' })
  expect(driver.state.view.approvals.depth).toBe(0)
  expect(driver.item('tool').state).toBe('cancelled')
  expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({ answer: { run: false } })
})

test('T-110 a tool that did not stop in time is unknown', () => {
  const driver = new Driver('all')
  const turnId = driver.running()
  driver.propose('tool', 'sleep 99')
  driver.command({ type: 'stop', turnId, reason: 'person' })
  expect(driver.effects).toContainEqual({ do: 'drain', turnId, ms: 5_000 })
  driver.report({ type: 'drainExpired' })
  expect(driver.item('tool').state).toBe('unknown')
})

test('T-37 TA-10 a Stop after the commit point changes nothing of the turn', () => {
  const driver = new Driver()
  const turnId = driver.running()
  driver.submit('next', { whenBusy: 'queue' })
  driver.report({ type: 'stream', channel: 'text', add: 'All of it' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(driver.command({ type: 'stop', turnId, reason: 'person' })).toEqual({ stopped: false, why: 'settled' })
  expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'completed' })
  expect(driver.state.view.header).toMatchObject({ automaticHeld: { by: 'stop' }, queue: { paused: 'stop' } })
})
