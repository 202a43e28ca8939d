import { expect, test } from 'vitest'
import type { Command } from './inputs.ts'
import { Driver, refusedWith } from './test-driver.ts'

function steer(driver: Driver, text: string, more: Partial<Extract<Command, { type: 'steer.add' }>> = {}): string {
  const turnId = driver.state.turn!.id
  return driver.command({
    type: 'steer.add',
    turnId,
    requestId: text,
    fingerprint: text,
    text,
    attachments: [],
    ...more,
  }).steerId
}

const waiting = (driver: Driver) => driver.state.view.turn?.steers ?? []

test('T-116 each change of what waits says which message it was and what became of it', () => {
  const driver = new Driver()
  const turnId = driver.running()
  const causes = () => driver.journal.flatMap((event) => (event.type === 'steers.changed' ? [event.cause] : []))
  const one = steer(driver, 'one')
  driver.command({ type: 'steer.edit', steerId: one, text: 'one, better', attachments: [] })
  driver.command({ type: 'steer.sendNow', steerId: one })
  driver.report({ type: 'boundary' })
  const two = steer(driver, 'two')
  driver.command({ type: 'steer.withdraw', steerId: two })
  const three = steer(driver, 'three')
  driver.command({ type: 'stop', turnId, reason: 'person' })
  expect(causes()).toEqual([
    { steerId: one, kind: 'added' },
    { steerId: one, kind: 'edited' },
    { steerId: one, kind: 'sending' },
    { steerId: one, kind: 'consumed' },
    { steerId: two, kind: 'added' },
    { steerId: two, kind: 'withdrawn', reason: 'person' },
    { steerId: three, kind: 'added' },
    { steerId: three, kind: 'withdrawn', reason: 'stopped' },
  ])

  const failing = new Driver()
  failing.running()
  const left = steer(failing, 'left')
  failing.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
  expect(failing.journal.findLast((event) => event.type === 'steers.changed')).toMatchObject({
    steers: [],
    cause: { steerId: left, kind: 'leftover' },
  })
})

test('T-119 an edit keeps the place; a withdrawal gives text and attachments back', () => {
  const driver = new Driver()
  driver.running()
  const file = { name: 'a.txt', mediaType: 'text/plain', bytes: 1, hash: '0'.repeat(64) }
  steer(driver, 'one')
  const two = steer(driver, 'two', { attachments: [file] })
  steer(driver, 'three')
  driver.command({ type: 'steer.edit', steerId: two, text: 'two, better', attachments: [file] })
  expect(waiting(driver).map(({ text }) => text)).toEqual(['one', 'two, better', 'three'])
  expect(driver.command({ type: 'steer.withdraw', steerId: two })).toMatchObject({
    done: true,
    steer: { text: 'two, better', attachments: [file] },
  })
  expect(waiting(driver).map(({ text }) => text)).toEqual(['one', 'three'])
})

test('T-122 what may be done with a message is said with it: all three while it waits, nothing once it is on its way', () => {
  const driver = new Driver()
  driver.running()
  const one = steer(driver, 'one')
  steer(driver, 'two')
  expect(waiting(driver).map(({ actions }) => actions)).toEqual([
    ['edit', 'withdraw', 'sendNow'],
    ['edit', 'withdraw', 'sendNow'],
  ])
  driver.command({ type: 'steer.sendNow', steerId: one })
  expect(waiting(driver)).toMatchObject([
    { state: 'sending', actions: [] },
    { state: 'pending', actions: ['edit', 'withdraw', 'sendNow'] },
  ])
})

test('T-115 T-117 at most 20 wait, and 10 are handed over at a time, the oldest first', () => {
  const driver = new Driver()
  driver.running()
  for (let at = 0; at < 20; at++) steer(driver, `message ${at}`)
  expect(() => steer(driver, 'too many')).toThrow(expect.objectContaining({ code: 'steer.full' }))
  const { steers } = driver.report({ type: 'boundary' }) as unknown as { steers: { text: string }[] }
  expect(steers.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, at) => `message ${at}`))
  expect(waiting(driver).map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, at) => `message ${at + 10}`))
})

test('T-36 TA-17 a steer during the last text makes another step; after mayEnd it is refused', () => {
  const driver = new Driver()
  const turnId = driver.running()
  driver.report({ type: 'stream', channel: 'text', add: 'done' })
  driver.command({ type: 'steer.add', turnId, requestId: 's', fingerprint: 's', text: 'also this', attachments: [] })
  const answer = driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(answer).toMatchObject({ ended: false, steers: [{ text: 'also this' }] })
  expect(driver.state.view.items.at(-1)).toMatchObject({ kind: 'user', steer: true, text: 'also this' })
  expect(driver.report({ type: 'mayEnd', ending: 'answer' })).toMatchObject({ ended: true })
  expect(
    refusedWith(() =>
      driver.command({ type: 'steer.add', turnId, requestId: 't', fingerprint: 't', text: 'late', attachments: [] }),
    ),
  ).toBe('steer.not_running')
})

test('T-125 TA-20 unread steers return on Stop and head the queue on failure', () => {
  const stopped = new Driver()
  const turnId = stopped.running()
  stopped.command({ type: 'steer.add', turnId, requestId: 'a', fingerprint: 'a', text: 's1', attachments: [] })
  stopped.command({ type: 'steer.add', turnId, requestId: 'b', fingerprint: 'b', text: 's2', attachments: [] })
  expect(stopped.command({ type: 'stop', turnId, reason: 'person' }).withdrawn.map((steer: any) => steer.text)).toEqual(
    ['s1', 's2'],
  )

  const failed = new Driver()
  const failing = failed.running()
  failed.command({
    type: 'steer.add',
    turnId: failing,
    requestId: 'a',
    fingerprint: 'a',
    text: 's1',
    attachments: [],
  })
  failed.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
  expect(failed.state.view.header.queue).toMatchObject({ paused: 'failure', followUps: [{ text: 's1' }] })
})

test('T-14 T-115 T-128 what waits says something and is no file in disguise, also once edited', () => {
  const driver = new Driver()
  const turnId = driver.running()
  const steer = (text: string): Command => ({
    type: 'steer.add',
    turnId,
    requestId: text.slice(0, 9),
    fingerprint: '',
    text,
    attachments: [],
  })
  expect(refusedWith(() => driver.command(steer(' ')))).toBe('message.empty')
  expect(refusedWith(() => driver.command(steer('x'.repeat(1024 * 1024 + 1))))).toBe('message.too_large')
  expect(refusedWith(() => driver.command({ type: 'followUp.add', text: '\n', attachments: [] }))).toBe('message.empty')
  const { steerId } = driver.command(steer('also'))
  expect(refusedWith(() => driver.command({ type: 'steer.edit', steerId, text: '', attachments: [] }))).toBe(
    'message.empty',
  )
  driver.command({ type: 'followUp.add', text: 'later', attachments: [] })
  const { id, revision } = driver.state.view.header.queue.followUps[0]!
  expect(refusedWith(() => driver.command({ type: 'followUp.edit', id, revision, text: ' ', attachments: [] }))).toBe(
    'message.empty',
  )
})

test('T-118 a taken steer can be neither edited nor withdrawn', () => {
  const driver = new Driver()
  const turnId = driver.running()
  const { steerId } = driver.command({
    type: 'steer.add',
    turnId,
    requestId: 'a',
    fingerprint: 'a',
    text: 's1',
    attachments: [],
  })
  driver.report({ type: 'boundary' })
  const before = driver.journal.length
  expect(driver.command({ type: 'steer.withdraw', steerId })).toEqual({ done: false, why: 'taken' })
  expect(driver.command({ type: 'steer.edit', steerId, text: 'x', attachments: [] })).toEqual({
    done: false,
    why: 'taken',
  })
  expect(driver.journal).toHaveLength(before)
})
