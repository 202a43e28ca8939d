import { describe, expect, test } from 'vitest'
import { foldEvent, noUsage } from '../../preload/contract/fold.ts'
import type { Outcome } from '../../preload/contract/session.ts'
import { Decision } from './decision.ts'
import { recover } from './recovery.ts'
import { Driver } from './test-driver.ts'

const plan = {
  entries: [
    { id: '1', text: 'Look', state: 'done' as const },
    { id: '2', text: 'Mend', state: 'active' as const },
  ],
  settled: false,
}

/** What ends a turn that has text, an open tool, an open approval, a plan, usage and a steer, in each of the four ways. */
const ends: Record<Outcome, (driver: Driver) => void> = {
  completed: (driver) => {
    driver.report({ type: 'boundary' })
    driver.report({ type: 'mayEnd', ending: 'answer' })
  },
  stopped: (driver) => {
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'timeout' })
    driver.report({ type: 'unwound' })
  },
  failed: (driver) => driver.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } }),
  interrupted: (driver) => {
    const decision = new Decision({ ...driver.state, turn: null }, driver.environment)
    recover(decision, driver.journal)
    driver.take(decision)
  },
}

function midTurn(): Driver {
  const driver = new Driver()
  driver.running()
  driver.report({ type: 'planned', plan })
  driver.report({ type: 'stream', channel: 'text', add: 'First I look.' })
  driver.report({
    type: 'usage',
    turn: { ...noUsage, input: 10, output: 5 },
    context: { used: 15, window: 100, compactAt: null, estimated: false, model: null },
    rate: null,
  })
  driver.propose('tool', 'npm test')
  driver.submit('also', { whenBusy: 'steer' })
  return driver
}

describe('T-44 every outcome is one settle with all that belongs to the end', () => {
  test.each(Object.keys(ends) as Outcome[])('%s', (outcome) => {
    const driver = midTurn()
    const turnId = driver.state.turn!.id
    ends[outcome](driver)
    const settled = driver.journal.filter((event) => event.type === 'turn.settled')
    expect(settled).toHaveLength(1)
    const [end] = settled
    expect(driver.journal.at(-1)).toBe(end)
    const { view } = driver.state
    expect(end).toMatchObject({
      turnId,
      outcome,
      turn: { id: turnId, outcome, steps: 1, usage: { input: 10, output: 5 } },
      session: { currentTurnId: null, lastTurnId: turnId, lastOutcome: outcome, usage: { input: 10, output: 5 } },
    })
    expect(end!.session).toEqual(view.header)
    expect(end!.turn).toEqual(view.turns.at(-1))
    expect(end!.items).toEqual(view.items.filter((item) => item.turnId === turnId))
    expect(view.items.every((item) => item.endedAt !== null)).toBe(true)
    expect(view).toMatchObject({ turn: null, approvals: { head: null, depth: 0 }, questions: { depth: 0 } })
    // What was said to the agent and not read waits in the queue; what it read stands in the transcript.
    const waits = view.header.queue.followUps.map(({ text }) => text)
    const read = view.items.filter((item) => item.kind === 'user').map(({ text }) => text)
    expect([...read, ...waits]).toEqual(['do it', 'also'])
  })
})

test('T-198 the end of a turn is drawn from turn.settled alone', () => {
  const driver = new Driver('all')
  driver.running()
  const opened = driver.state.view
  for (let at = 0; at < 100; at++) {
    driver.propose(`tool-${at}`, `cmd ${at}`)
    driver.report({
      type: 'toolEnded',
      itemId: `tool-${at}`,
      end: { state: 'ok', summary: 'x'.repeat(2_000), view: null, durationMs: 1 },
      changes: [],
    })
  }
  driver.report({ type: 'stream', channel: 'text', add: 'Done.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  const end = driver.journal.at(-1)!
  if (end.type !== 'turn.settled') throw new Error(end.type)
  const { view } = driver.state
  expect(end.items).toEqual(view.items.slice(-80))
  expect(end.itemsOmitted).toBe(view.items.length - 80)
  const drawn = foldEvent(opened, end)
  expect(drawn.items.slice(-80)).toEqual(view.items.slice(-80))
  expect({ header: drawn.header, turn: drawn.turn, turns: drawn.turns }).toEqual({
    header: view.header,
    turn: null,
    turns: view.turns,
  })
})

describe('T-83 the plan', () => {
  test.each(Object.keys(ends) as Outcome[])('is kept when the turn is %s, and is unfinished', (outcome) => {
    const driver = midTurn()
    ends[outcome](driver)
    expect(driver.state.view.header.plan).toEqual(plan)
  })

  test('is finished by a completed turn in which nothing of it is left', () => {
    const driver = new Driver()
    driver.running()
    const entries = plan.entries.map((entry) => ({ ...entry, state: 'done' as const }))
    driver.report({ type: 'planned', plan: { entries, settled: false } })
    driver.report({ type: 'mayEnd', ending: 'answer' })
    expect(driver.state.view.header.plan).toEqual({ entries, settled: true })
  })
})

test('T-157 the person’s words stand since admission and stay where they are, also equal ones and after failures', () => {
  const driver = new Driver()
  for (let at = 0; at < 3; at++) {
    driver.running('again')
    driver.report({ type: 'stream', channel: 'text', add: 'Hm.' })
    driver.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
  }
  const shown = driver.state.view.items.map((item) => item.kind)
  expect(shown).toEqual(['user', 'text', 'error', 'user', 'text', 'error', 'user', 'text', 'error'])
  const [first, second] = driver.state.view.items.filter((item) => item.kind === 'user')
  expect([first!.text, second!.text]).toEqual(['again', 'again'])
  expect(driver.state.view.items.filter((item) => item.kind === 'error').every((item) => !item.contextual)).toBe(true)
  const puts = driver.journal.filter((event) => event.type === 'item.put' && event.item.kind === 'user')
  expect(puts).toHaveLength(3)
})

test('T-61 the status is told only when it differs, before what caused it, and as null before the end', () => {
  const driver = new Driver('all')
  const turnId = driver.running()
  driver.report({ type: 'running' })
  driver.report({ type: 'reading', percent: 10 })
  driver.report({ type: 'reading', percent: 10.2 })
  driver.report({ type: 'stream', channel: 'text', add: 'a' })
  driver.report({ type: 'stream', channel: 'text', add: 'b' })
  driver.propose('tool', 'npm test')
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.report({ type: 'unwound' })
  const told = driver.journal.flatMap((event) =>
    event.type === 'turn.status'
      ? [event.status?.kind ?? null]
      : event.type === 'item.put'
        ? [`put ${event.item.kind}`]
        : event.type === 'item.patch' || event.type === 'turn.settled'
          ? [event.type]
          : [],
  )
  expect(told).toEqual([
    'put user',
    'working',
    'prompt_reading',
    'working',
    'put text',
    'item.patch',
    'put tool',
    'tool',
    'item.patch',
    'stopping',
    'item.patch',
    null,
    'turn.settled',
  ])
})
