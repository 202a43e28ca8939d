import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../preload/contract/errors.ts'
import { completionKeysMax } from '../../preload/contract/limits.ts'
import type { TurnSource } from '../../preload/contract/session.ts'
import { Driver, refusedWith } from './test-driver.ts'
import { answers, ends, later } from './test-wakes.ts'

const started = (driver: Driver) => driver.types().filter((type) => type === 'turn.started').length

describe('completion keys', () => {
  test('T-27 TA-6 keys that all have a turn answer it, also while it runs; where some have none, all are bound to a new one', () => {
    const driver = new Driver()
    const first = driver.submit('a and b', { source: 'trigger', completionKeys: ['a', 'b'] })
    expect(driver.submit('again', { source: 'trigger', completionKeys: ['b', 'a'] })).toEqual(first)
    expect(started(driver)).toBe(1)
    answers(driver)
    const second = driver.submit('a and c', { source: 'trigger', completionKeys: ['a', 'c'] })
    expect(second.turnId).not.toBe(first.turnId)
    for (const key of ['a', 'c']) expect(driver.command({ type: 'delivered', completionKeys: [key] })).toEqual(second)
    expect(driver.command({ type: 'delivered', completionKeys: ['b'] })).toEqual(first)
    expect(driver.command({ type: 'delivered', completionKeys: ['a', 'd'] })).toBeNull()
  })

  test('T-27 the answer to a delivered key comes before every refusal', () => {
    const driver = new Driver()
    const first = driver.submit('a', { source: 'trigger', completionKeys: ['a'] })
    driver.command({ type: 'stop', turnId: first.turnId, reason: 'person' })
    driver.command({ type: 'delete' })
    expect(driver.submit('a', { source: 'trigger', completionKeys: ['a'] })).toEqual(first)
    expect(refusedWith(() => driver.submit('b', { source: 'trigger', completionKeys: ['b'] }))).toBe('session.deleted')
  })

  test('T-27 the newest 1,000 are kept', () => {
    const driver = new Driver()
    const keys = Array.from({ length: completionKeysMax + 5 }, (_, at) => `k${at}`)
    driver.submit('many', { source: 'trigger', completionKeys: keys })
    expect(driver.state.hidden.completionKeys.map((one) => one.key)).toEqual(keys.slice(5))
  })
})

describe('sources', () => {
  test.each<[TurnSource, 'foreground' | 'background']>([
    ['schedule', 'background'],
    ['trigger', 'background'],
    ['process', 'background'],
    ['subagent', 'background'],
    ['session', 'background'],
    ['goal', 'foreground'],
  ])('T-26 T-20 A-2 %s is automatic and %s: shown as what asked, never as the person’s words', (source, origin) => {
    const driver = new Driver()
    driver.submit('shown', { source, prompt: 'told to the model', automation: { name: 'Nightly check' } })
    const [turn] = driver.state.view.turns
    expect(turn).toMatchObject({ source, origin, automation: { name: 'Nightly check' } })
    expect(driver.journal[0]).toMatchObject({ type: 'turn.started', source, automation: { name: 'Nightly check' } })
    expect(driver.state.view.items[0]).toMatchObject({
      kind: 'user',
      source: 'automation',
      automation: { name: 'Nightly check' },
      text: 'shown',
      prompt: 'told to the model',
    })
  })

  test('T-26 A-4 beside a running turn it is refused whatever it says, and leaves nothing', () => {
    const driver = new Driver()
    driver.running()
    const before = driver.state
    for (const whenBusy of ['refuse', 'queue', 'steer'] as const)
      expect(refusedWith(() => driver.submit('nightly', { source: 'schedule', whenBusy }))).toBe('turn.busy')
    expect(driver.state).toBe(before)
  })

  test('S-6 T-26 it does not move the session in the list, nor out of the archive; its end moves it unless it is quiet', () => {
    const driver = new Driver()
    driver.submit('first')
    answers(driver)
    const { updatedAt, notableSeq } = driver.state.view.header
    driver.submit('nightly', { source: 'schedule' })
    expect(driver.state.view.header.updatedAt).toBe(updatedAt)
    driver.report({ type: 'running' })
    driver.report({ type: 'mayEnd', ending: 'quiet' })
    expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'completed', ending: 'quiet' })
    expect(driver.state.view.header).toMatchObject({ updatedAt, notableSeq })
    driver.submit('nightly', { source: 'schedule' })
    answers(driver)
    expect(driver.state.view.header.updatedAt).toBeGreaterThan(updatedAt)
    driver.command({ type: 'archive', archived: true })
    expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
  })
})

describe('hold', () => {
  test('T-29 T-30 A-106 a Stop holds what would start, says how much waits, and only a person’s turn or Resume ends it', () => {
    const driver = new Driver('all')
    driver.command({ type: 'stop', turnId: driver.running(), reason: 'person' })
    driver.report({ type: 'unwound' })
    ends(driver)
    ends(driver, { wakes: false })
    ends(driver)
    expect(driver.state.view.header.automaticHeld).toMatchObject({ by: 'stop', waiting: 2 })
    expect(later(driver)).toBeNull()
    driver.command({ type: 'hold.release' })
    expect(driver.effects).toContainEqual({ do: 'next' })
    expect(later(driver)).toMatchObject({ start: 'automatic' })
  })

  test('T-30 a person’s turn that is refused leaves the hold', () => {
    const driver = new Driver()
    driver.command({ type: 'stop', turnId: driver.running(), reason: 'person' })
    driver.report({ type: 'unwound' })
    const held = driver.state.view.header.automaticHeld
    driver.submit('one', { requestId: 'r' })
    expect(driver.state.view.header.automaticHeld).toBeNull()
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'person' })
    expect(refusedWith(() => driver.submit('other', { requestId: 'r' }))).toBe('request.conflict')
    expect(driver.state.view.header.automaticHeld?.by).toBe(held!.by)
  })

  test('T-29 T-192 an interrupted turn that waits for the person holds too; dismissing it does not release', () => {
    const driver = new Driver()
    driver.running()
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'shutdown' })
    driver.report({ type: 'unwound' })
    expect(driver.state.view.header.automaticHeld?.by).toBe('recovery')
    const { recoveryId } = driver.state.view.header.recovery!
    driver.command({ type: 'recovery.dismiss', recoveryId })
    expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
  })

  test('A-105 giving way, a time limit and an error set none', () => {
    for (const reason of ['yielded', 'time_limit'] as const) {
      const driver = new Driver()
      driver.command({ type: 'stop', turnId: driver.running(), reason })
      driver.report({ type: 'unwound' })
      expect(driver.state.view.header.automaticHeld).toBeNull()
      expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason })
    }
    const failed = new Driver()
    failed.running()
    failed.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
    expect(failed.state.view.header.automaticHeld).toBeNull()
  })
})

test('T-29 T-30 TA-5 after a Stop nothing starts by itself until a person starts something', () => {
  const driver = new Driver()
  driver.command({ type: 'stop', turnId: driver.submit('one').turnId, reason: 'person' })
  expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
  driver.submit('two')
  expect(driver.state.view.header.automaticHeld).toBeNull()
})

describe('a provider that refuses', () => {
  const failedWith = (code: ErrorCode, source: TurnSource) => {
    const driver = new Driver()
    driver.submit('go', { source, completionKeys: ['k'], automation: { name: 'Nightly' } })
    driver.report({ type: 'running' })
    driver.report({ type: 'failed', error: { code, message: 'No.', provider: 'far', retryAt: 9_000 } })
    return driver.effects.flatMap((effect) => (effect.do === 'providerRefused' ? [effect.refused] : []))
  }

  test('A-110 A-112 only what a person mends pauses it, and only a turn that started by itself does; limits, time-outs and the network do not', () => {
    for (const code of [
      'provider.auth_missing',
      'provider.auth_invalid',
      'provider.credentials_exhausted',
      'provider.quota_exhausted',
    ] as const) {
      expect(failedWith(code, 'schedule')).toEqual([{ provider: 'far', code, retryAt: 9_000 }])
      expect(failedWith(code, 'person')).toEqual([])
    }
    for (const code of [
      'provider.rate_limited',
      'provider.unavailable',
      'provider.unreachable',
      'provider.stream_stalled',
      'provider.local_server_off',
      'provider.no_response',
    ] as const)
      expect(failedWith(code, 'schedule')).toEqual([])
  })

  test('A-111 whichever turn completes, who served it is named', () => {
    const driver = new Driver()
    driver.running()
    driver.report({ type: 'mayEnd', ending: 'answer' })
    expect(driver.effects).toContainEqual({ do: 'providerAnswered', provider: 'lab' })
  })
})
