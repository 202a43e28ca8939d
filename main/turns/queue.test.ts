import { describe, expect, test } from 'vitest'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { nextFollowUp } from './queue.ts'
import { Driver, followUp } from './test-driver.ts'

const queue = (driver: Driver) => driver.state.view.header.queue.followUps

/** A driver with a running turn and these messages behind it. */
function queued(...texts: string[]): Driver {
  const driver = new Driver()
  driver.running()
  for (const text of texts) driver.submit(text, { whenBusy: 'queue' })
  return driver
}

test('T-127 a follow-up has its text, model, time and revision; new ones go last, and the 51st is refused', () => {
  const driver = queued()
  driver.submit('first', { whenBusy: 'queue', asked: { model: 'lab/other' } })
  driver.command({ type: 'followUp.add', text: 'second', attachments: [] })
  expect(queue(driver)).toEqual([
    {
      id: expect.any(String),
      text: 'first',
      attachments: [],
      model: 'lab/other',
      createdAt: expect.any(Number),
      revision: 1,
    },
    { id: expect.any(String), text: 'second', attachments: [], createdAt: expect.any(Number), revision: 1 },
  ])
  for (let at = 3; at <= 50; at++) driver.submit(`number ${at}`, { whenBusy: 'queue' })
  const before = driver.state
  expect(() => driver.submit('one too many', { whenBusy: 'queue' })).toThrow(
    expect.objectContaining({ code: 'queue.full' }),
  )
  expect(driver.state).toBe(before)
  expect(queue(driver)).toHaveLength(50)
  expect(queue(driver).at(-1)?.text).toBe('number 50')
})

test('T-127 T-128 the order is the person’s: moved before another, or to the end', () => {
  const driver = queued('one', 'two', 'three')
  const [one, , three] = queue(driver)
  driver.command({ type: 'followUp.move', id: three!.id, before: one!.id })
  expect(queue(driver).map(({ text }) => text)).toEqual(['three', 'one', 'two'])
  driver.command({ type: 'followUp.move', id: three!.id, before: null })
  expect(queue(driver).map(({ text }) => text)).toEqual(['one', 'two', 'three'])
})

test('T-46 K-25 what was next when it was looked for, and is no longer, does not start by itself', () => {
  const driver = queued('one', 'two')
  const [one, two] = queue(driver)
  const turnId = driver.state.turn!.id
  driver.report({ type: 'mayEnd', ending: 'answer' })
  const start = (id: string, byPerson = false) =>
    driver.command({ type: 'followUp.start', id, byPerson, message: followUp(id) })
  // Another one stands first by then.
  driver.command({ type: 'followUp.move', id: two!.id, before: one!.id })
  expect(start(one!.id)).toBeNull()
  // A Stop came in between.
  driver.command({ type: 'stop', turnId, reason: 'person' })
  expect(start(two!.id)).toBeNull()
  expect(driver.state.turn).toBeNull()
  expect(driver.state.view.header.queue).toMatchObject({
    paused: 'stop',
    followUps: [{ text: 'two' }, { text: 'one' }],
  })
  // A person says which.
  expect(start(one!.id, true)).toMatchObject({ accepted: 'started' })
})

describe('T-130 what pauses the queue, and what ends the pause', () => {
  const pauses: Record<'stop' | 'failure' | 'recovery' | 'refused' | 'person', (driver: Driver) => void> = {
    stop: (driver) => {
      driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'person' })
      driver.report({ type: 'unwound' })
    },
    failure: (driver) => driver.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } }),
    recovery: (driver) => {
      driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'shutdown' })
      driver.report({ type: 'unwound' })
    },
    refused: (driver) => {
      driver.report({ type: 'mayEnd', ending: 'answer' })
      const error = { code: 'workspace.missing' as const, message: 'gone' }
      driver.command({ type: 'queue.refused', id: queue(driver)[0]!.id, error })
    },
    person: (driver) => {
      driver.command({ type: 'queue.pause' })
      driver.report({ type: 'mayEnd', ending: 'answer' })
    },
  }
  const paused = (driver: Driver) => driver.state.view.header.queue.paused
  const all = Object.keys(pauses) as (keyof typeof pauses)[]

  const acts: Record<string, (driver: Driver) => unknown> = {
    'a message': (driver) => driver.submit('new'),
    retry: (driver) => driver.submit('do it', { retryOf: driver.state.view.header.lastTurnId! }),
    continue: (driver) => driver.submit('Continue', { continues: driver.state.view.header.lastTurnId! }),
    'start now': (driver) => {
      const { id } = queue(driver)[1]!
      driver.command({ type: 'followUp.start', id, byPerson: true, message: followUp(id) })
    },
  }

  test.each(all)('%s pauses it, and nothing starts by itself', (why) => {
    const driver = queued('one', 'two')
    pauses[why](driver)
    expect(paused(driver)).toBe(why)
    expect(nextFollowUp(driver)).toBeNull()
    driver.command({ type: 'queue.resume' })
    expect(paused(driver)).toBeNull()
    expect(nextFollowUp(driver)).toMatchObject({ text: 'one' })
  })

  test.each(Object.keys(acts))('%s ends every pause but the person’s own', (act) => {
    for (const why of all) {
      const driver = queued('one', 'two')
      pauses[why](driver)
      acts[act]!(driver)
      expect(driver.state.turn).not.toBeNull()
      expect(paused(driver)).toBe(why === 'person' ? 'person' : null)
    }
  })

  test('no other reason takes the place of the person’s, and a failure pauses only where it is set to', () => {
    const driver = queued('one')
    driver.command({ type: 'queue.pause' })
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'person' })
    driver.report({ type: 'unwound' })
    expect(paused(driver)).toBe('person')

    const going = new Driver('ask', { ...defaultSettings, 'queue.pauseOnFailure': false })
    going.running()
    going.submit('unread', { whenBusy: 'steer' })
    pauses.failure(going)
    expect(paused(going)).toBeNull()
    expect(nextFollowUp(going)).toMatchObject({ text: 'unread' })
  })
})

test('TA-22 T-128 edited with an old revision: the value as it is now; started or removed already: gone', () => {
  const driver = queued('later', 'removed')
  const [later, removed] = queue(driver)
  const edit = (id: string, revision: number, text: string) =>
    driver.command({ type: 'followUp.edit', id, revision, text, attachments: [] })
  expect(edit(later!.id, 1, 'later, better')).toMatchObject({ text: 'later, better', revision: 2 })
  const before = driver.journal.length
  expect(() => edit(later!.id, 1, 'mine')).toThrow(
    expect.objectContaining({
      code: 'follow_up.stale',
      data: { followUp: expect.objectContaining({ text: 'later, better', revision: 2 }) },
    }),
  )
  driver.command({ type: 'followUp.remove', id: removed!.id })
  expect(() => edit(removed!.id, 1, 'mine')).toThrow(expect.objectContaining({ code: 'follow_up.gone' }))
  driver.report({ type: 'mayEnd', ending: 'answer' })
  driver.command({ type: 'followUp.start', id: later!.id, byPerson: false, message: followUp(later!.id) })
  expect(() => edit(later!.id, 2, 'mine')).toThrow(expect.objectContaining({ code: 'follow_up.gone' }))
  expect(driver.journal.slice(before).some((event) => event.type === 'queue.changed' && event.cause === 'edited')).toBe(
    false,
  )
})

test('T-52 what changes nothing makes no event: neither twice the same nor to where it stands', () => {
  const driver = queued('one', 'two')
  const turnId = driver.state.turn!.id
  const [one, two] = queue(driver)
  driver.submit('steer', { whenBusy: 'steer' })
  const [steer] = driver.state.view.turn!.steers
  const plan = { entries: [{ id: '1', text: 'Look', state: 'active' as const }], settled: false }
  driver.report({ type: 'planned', plan })
  driver.report({ type: 'notice', level: 'info', text: 'Said', key: 'k' })
  driver.command({ type: 'queue.pause' })
  driver.command({ type: 'pin', pinned: true })
  const changes = [
    {
      id: 'c',
      turnId,
      path: 'a',
      kind: 'edited' as const,
      before: 'b',
      after: 'a',
      added: 1,
      removed: 1,
      by: 'tool' as const,
    },
  ]
  driver.command({ type: 'changes.record', turnId, changes })
  const kept = { type: 'changes.review', changeId: 'c', hunkId: null, state: 'accepted' } as const
  driver.command(kept)
  const before = driver.journal.length
  driver.command({ type: 'queue.pause' })
  driver.command({ type: 'pin', pinned: true })
  driver.command({ type: 'followUp.move', id: one!.id, before: two!.id })
  driver.command({ type: 'steer.edit', steerId: steer!.id, text: 'steer', attachments: [] })
  driver.report({ type: 'planned', plan })
  driver.report({ type: 'slot', waiting: false })
  driver.report({ type: 'running' })
  driver.command({ type: 'settings', approvalMode: driver.state.view.header.approvalMode })
  driver.command({ type: 'notices.expire' })
  driver.command({ type: 'rename', title: 'Mine' })
  driver.command({ type: 'rename', title: 'Mine' })
  driver.command(kept)
  expect(driver.journal.slice(before).map(({ type }) => type)).toEqual(['session.changed'])
})
