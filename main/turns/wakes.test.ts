import { expect, test } from 'vitest'
import { wakeGatherMs } from '../../preload/contract/limits.ts'
import { nextStart } from './automatic.ts'
import { decide } from './decide.ts'
import type { Command } from './inputs.ts'
import { Driver, followUp, refusedWith } from './test-driver.ts'
import { answers, ends, later, wake } from './test-wakes.ts'

test('X-608 A-69 the ends that came within 2 s start one turn, which is told of all of them once', () => {
  const driver = new Driver('all')
  const ids = [ends(driver), ends(driver)]
  expect(driver.effects).toContainEqual({ do: 'next' })
  const first = driver.state.hidden.notices[0]!.wakesAt!
  expect(nextStart(driver.state, first + wakeGatherMs - 1)).toEqual({ start: 'later', at: first + wakeGatherMs })
  const { turnId } = wake(driver)
  expect(driver.state.view.turns.at(-1)).toMatchObject({
    source: 'process',
    origin: 'background',
    automation: { name: 'x1 (npm run build) and x2 (npm run build)' },
  })
  expect(later(driver)).toBeNull()
  driver.report({ type: 'running' })
  expect(driver.report({ type: 'boundary' }).notices).toEqual(['The process x1 ended', 'The process x2 ended'])
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(later(driver)).toBeNull()
  const keys = ids.map((id) => `exec:${id}`)
  expect(driver.command({ type: 'delivered', completionKeys: keys })).toMatchObject({ turnId })
})

test('X-608 an end by Stop, terminate or shutdown wakes nobody; nor does one that did not ask for it', () => {
  const driver = new Driver('all')
  ends(driver, { reason: 'stopped' })
  ends(driver, { reason: 'shutdown' })
  ends(driver, { wakes: false })
  expect(later(driver)).toBeNull()
  expect(driver.state.hidden.notices).toHaveLength(3)
})

test('X-608 an end while a turn runs is told to it; one that came too late for it starts the next', () => {
  const driver = new Driver('all')
  driver.running()
  ends(driver)
  expect(later(driver)).toBeNull()
  expect(driver.report({ type: 'boundary' }).notices).toEqual(['The process x1 ended'])
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  ends(driver)
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(later(driver)).toMatchObject({ start: 'automatic', request: { completionKeys: ['exec:x2'] } })
})

test('X-605 T-28 a woken turn that fails before its answer gives the notice to the next turn, and wakes nobody again', () => {
  const driver = new Driver('all')
  ends(driver)
  wake(driver)
  driver.report({ type: 'running' })
  driver.report({ type: 'boundary' })
  driver.report({ type: 'failed', error: { code: 'provider.unreachable', message: 'gone' } })
  expect(later(driver)).toBeNull()
  driver.submit('and now?')
  driver.report({ type: 'running' })
  expect(driver.report({ type: 'boundary' }).notices).toEqual(['The process x1 ended'])
})

test('T-46 A-90 what the person queued comes first, and at most one thing starts', () => {
  const driver = new Driver('all')
  const turnId = driver.running()
  driver.submit('later', { whenBusy: 'queue' })
  ends(driver)
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(driver.effects.filter((effect) => effect.do === 'next')).toHaveLength(1)
  const next = later(driver)
  expect(next).toMatchObject({ start: 'followUp', followUp: { text: 'later' } })
  const { id } = driver.state.view.header.queue.followUps[0]!
  driver.command({ type: 'followUp.start', id, byPerson: false, message: followUp(id) })
  expect(driver.state.turn?.id).not.toBe(turnId)
  expect(later(driver)).toBeNull()
  // The queue's turn was told of the end: no other turn is due for it.
  answers(driver)
  expect(later(driver)).toBeNull()
})

test('A-90 a queue the person paused holds its messages, not the wake', () => {
  const driver = new Driver('all')
  driver.running()
  driver.submit('later', { whenBusy: 'queue' })
  driver.command({ type: 'queue.pause' })
  answers(driver)
  ends(driver)
  expect(later(driver)).toMatchObject({ start: 'automatic' })
})

test('A-70 after ten in a row without a person’s turn ends stay pending, and the session says so', () => {
  const driver = new Driver('all')
  for (let at = 0; at < 10; at++) {
    ends(driver)
    wake(driver)
    answers(driver)
  }
  expect(driver.state.view.header.notices).toMatchObject([{ key: 'wake_limit' }])
  ends(driver)
  expect(later(driver)).toBeNull()
  expect(refusedWith(() => driver.submit('go on', { source: 'process' }))).toBe('automatic.held')
  driver.submit('and now?')
  expect(driver.state.view.header.notices).toEqual([])
  driver.report({ type: 'running' })
  expect(driver.report({ type: 'boundary' }).notices).toEqual(['The process x11 ended'])
})

test('X-607 nothing else about a process makes a notice', () => {
  const driver = new Driver('all')
  const { id } = driver.command({
    type: 'exec.started',
    session: { owner: 'agent', preview: 'p', folder: '.', startedAt: 1, tty: true, itemId: 't', wakes: true },
  })
  const others: Command[] = [
    { type: 'exec.changed', id, set: { state: 'stopping' } },
    { type: 'exec.changed', id, set: { held: true } },
    { type: 'exec.asks', id, prompt: 'Password:' },
    { type: 'exec.answered', id },
  ]
  for (const command of others) driver.command(command)
  expect(driver.state.hidden.notices).toEqual([])
  expect(later(driver)).toBeNull()
})

test('T-15 A-91 the step that would start it looks at hold, deletion and running turn as they are then', () => {
  const driver = new Driver('all')
  ends(driver)
  const next = later(driver)
  if (next?.start !== 'automatic') throw new Error('Nothing would start.')
  const { state } = driver
  const { text, completionKeys, ...more } = next.request
  const submit = (from: typeof state) =>
    decide(
      from,
      {
        kind: 'command',
        command: {
          type: 'submit',
          whenBusy: 'refuse',
          message: {
            ...followUp('x'),
            ...more,
            text,
            completionKeys,
          },
        },
      },
      driver.environment,
    )
  const stopped = decide(
    driver.state,
    { kind: 'command', command: { type: 'submit', whenBusy: 'refuse', message: followUp('y') } },
    driver.environment,
  ).decision.state
  expect(refusedWith(() => submit(stopped))).toBe('turn.busy')
  const held = { ...state.view.header, automaticHeld: { since: 1, by: 'stop' as const, waiting: 0 } }
  expect(refusedWith(() => submit({ ...state, view: { ...state.view, header: held } }))).toBe('automatic.held')
  const deleted = { ...state.view.header, deletedAt: 1 }
  expect(refusedWith(() => submit({ ...state, view: { ...state.view, header: deleted } }))).toBe('session.deleted')
})
