import { expect, test } from 'vitest'
import { noUsage } from '../../preload/contract/fold.ts'
import { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { recover } from './recovery.ts'
import { Driver, followUp, refusedWith } from './test-driver.ts'

function crashed(driver: Driver): Decision {
  const turn = driver.state.view.turns.at(-1)!
  const events = driver.journal.slice(
    driver.journal.findIndex((event) => event.type === 'turn.started' && event.turnId === turn.id),
  )
  const decision = new Decision({ ...driver.state, turn: null }, driver.environment)
  recover(decision, events)
  driver.take(decision)
  return decision
}

test('T-184 T-192 a turn without an open tool is interrupted and waits for the person', () => {
  const driver = new Driver()
  driver.running()
  driver.submit('later', { whenBusy: 'queue' })
  driver.report({ type: 'stream', channel: 'text', add: 'half' })
  crashed(driver)
  expect(driver.state.view.header).toMatchObject({
    recovery: { status: 'awaiting', reason: 'confirm', canContinue: true },
    queue: { paused: 'recovery' },
    automaticHeld: { by: 'recovery' },
    lastOutcome: 'interrupted',
  })
  expect(driver.state.view.items.find((item) => item.kind === 'text')).toMatchObject({
    status: 'partial',
    text: 'half',
  })
  expect(driver.effects.some((effect) => effect.do === 'start')).toBe(false)
})

function endStep(driver: Driver, finish: 'stop' | 'tools' | 'length'): void {
  driver.report({
    type: 'stepEnded',
    stepId: 's',
    finish,
    usage: null,
    turn: noUsage,
    context: { used: null, window: null, compactAt: null, estimated: false, model: null },
    firstTokenMs: null,
    streamedMs: 0,
    servedBy: null,
  })
}

test('T-185 only the settle was lost: completed', () => {
  const driver = new Driver()
  driver.running()
  driver.report({ type: 'stream', channel: 'text', add: 'all' })
  endStep(driver, 'stop')
  crashed(driver)
  expect(driver.state.view.header).toMatchObject({ lastOutcome: 'completed', recovery: null })
  expect(driver.state.view.items.at(-1)).toMatchObject({ kind: 'text', text: 'all', final: true })
})

test.each<[string, (driver: Driver) => void]>([
  [
    'something said to the agent was not read',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: 'all' })
      driver.submit('and also', { whenBusy: 'steer' })
      endStep(driver, 'stop')
    },
  ],
  [
    'what was said to it was read and not answered',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: 'all' })
      driver.submit('and also', { whenBusy: 'steer' })
      endStep(driver, 'stop')
      driver.report({ type: 'mayEnd', ending: 'answer' })
    },
  ],
  [
    'it ended with a call',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: 'first' })
      driver.propose('tool', 'npm test')
      endStep(driver, 'tools')
    },
  ],
  [
    'it only thought',
    (driver) => {
      driver.report({ type: 'stream', channel: 'reasoning', add: 'hm' })
      endStep(driver, 'stop')
    },
  ],
  [
    'its text was blank',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: ' \n' })
      endStep(driver, 'stop')
    },
  ],
  [
    'its text was cut',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: 'half' })
      endStep(driver, 'length')
    },
  ],
  [
    'another step had begun',
    (driver) => {
      driver.report({ type: 'stream', channel: 'text', add: 'all' })
      endStep(driver, 'stop')
      driver.report({ type: 'stepStarted', stepId: 't', step: 2, model: 'lab/scripted' })
    },
  ],
])('T-184 T-185 it was not at its end: %s', (_, happened) => {
  const driver = new Driver()
  driver.running()
  happened(driver)
  crashed(driver)
  expect(driver.state.view.header).toMatchObject({
    lastOutcome: 'interrupted',
    recovery: { reason: 'confirm', canContinue: true },
  })
})

test('T-186 a tool that had started is unknown, and the card names it', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'npm publish')
  crashed(driver)
  expect(driver.item('tool').state).toBe('unknown')
  expect(driver.state.view.header.recovery).toMatchObject({ reason: 'tool_state_unknown', tool: 'npm publish' })
})

test('T-187 K-18 an open approval is interrupted, its tool cancelled', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('tool', 'npm test')
  crashed(driver)
  expect(driver.item('tool').state).toBe('cancelled')
  expect(driver.state.view.items.find((item) => item.kind === 'approval')).toMatchObject({ state: 'interrupted' })
  expect(driver.state.view.approvals).toEqual({ head: null, depth: 0 })
})

test('T-194 T-195 TA-33 Continue twice is one turn; a message instead resolves it', () => {
  const driver = new Driver()
  driver.running()
  crashed(driver)
  const { recoveryId, turnId } = driver.state.view.header.recovery!
  const resume: Command = {
    type: 'recovery.continue',
    recoveryId,
    message: { ...followUp('x'), source: 'person', continues: turnId },
  }
  driver.command(resume)
  expect(refusedWith(() => driver.command(resume))).toBe('recovery.stale')
  expect(driver.state.view.header.recovery).toMatchObject({ status: 'resuming', attempts: 1 })
  crashed(driver)
  expect(driver.state.view.header.recovery).toMatchObject({ reason: 'loop_guard', attempts: 1 })
  driver.submit('something else')
  expect(driver.state.view.header).toMatchObject({ recovery: { status: 'resolved' }, automaticHeld: null })
})
