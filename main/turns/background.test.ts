import { describe, expect, test } from 'vitest'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { nextFollowUp } from './queue.ts'
import { Driver, followUp } from './test-driver.ts'
import { ends, later, wake } from './test-wakes.ts'

describe('yielding', () => {
  function woken(): Driver {
    const driver = new Driver('ask')
    ends(driver)
    wake(driver)
    driver.report({ type: 'preparing' })
    driver.report({ type: 'running' })
    driver.report({ type: 'boundary' })
    driver.report({ type: 'stepStarted', stepId: 'step', step: 1, model: 'lab/scripted' })
    return driver
  }

  test('T-32 a notice it had not answered goes to the person’s turn, and its key with it', () => {
    const driver = woken()
    driver.submit('now please')
    driver.report({ type: 'unwound' })
    const next = later(driver)
    if (next?.start !== 'followUp') throw new Error('The person does not come first.')
    const { id } = next.followUp
    const { turnId } = driver.command({ type: 'followUp.start', id, byPerson: false, message: followUp(id) })
    driver.report({ type: 'running' })
    expect(driver.report({ type: 'boundary' }).notices).toEqual(['The process x1 ended'])
    expect(driver.command({ type: 'delivered', completionKeys: ['exec:x1'] })).toMatchObject({ turnId })
  })

  test('T-32 its approvals are withdrawn, their tools do not run', () => {
    const driver = woken()
    driver.propose('tool', 'npm test')
    expect(driver.state.view.approvals.depth).toBe(1)
    driver.submit('now please')
    expect(driver.state.view.approvals.depth).toBe(0)
    expect(driver.item('tool').state).toBe('cancelled')
  })

  test('T-31 steering it does not stop it', () => {
    const driver = woken()
    expect(driver.submit('also this', { whenBusy: 'steer' })).toMatchObject({ accepted: 'steered' })
    expect(driver.state.turn?.stop).toBeNull()
  })
})

test('T-31 T-32 TA-7 a person’s message makes a background turn yield, without a hold, and is next whatever is paused', () => {
  const driver = new Driver('all')
  driver.submit('later', { whenBusy: 'queue', source: 'schedule' })
  driver.report({ type: 'running' })
  driver.submit('queued before', { whenBusy: 'steer' })
  driver.propose('tool', 'npm test')
  driver.command({ type: 'followUp.add', text: 'waits', attachments: [] })
  driver.command({ type: 'queue.pause' })
  expect(driver.submit('now please')).toMatchObject({ accepted: 'queued' })
  expect(driver.effects).toContainEqual({ do: 'drain', turnId: driver.state.turn!.id, ms: 30_000 })
  driver.report({
    type: 'toolEnded',
    itemId: 'tool',
    end: { state: 'ok', summary: '', view: null, durationMs: 1 },
    changes: [],
  })
  driver.report({ type: 'unwound' })
  expect(driver.item('tool').state).toBe('ok')
  expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason: 'yielded' })
  expect(driver.state.view.header).toMatchObject({ automaticHeld: null, queue: { paused: 'person' } })
  expect(nextFollowUp(driver)).toMatchObject({ text: 'now please', ignoresPause: true })
})

describe('limits of a background turn', () => {
  const nightly = (minutes: number): Driver => {
    const driver = new Driver('ask', { ...defaultSettings, 'automations.answerMinutes': minutes })
    driver.submit('nightly', { source: 'schedule' })
    driver.report({ type: 'preparing' })
    driver.report({ type: 'running' })
    return driver
  }

  test('A-96 it gets half an hour', () => {
    const driver = new Driver()
    const { turnId } = driver.submit('nightly', { source: 'schedule' })
    expect(driver.effects).toContainEqual({ do: 'limit', turnId, ms: 1_800_000 })
    driver.submit('person')
    expect(driver.effects.some((effect) => effect.do === 'limit')).toBe(false)
  })

  test('A-95 T-139 an approval nobody answers is denied after the time set, and the turn goes on', () => {
    const driver = nightly(30)
    driver.propose('tool', 'npm test')
    const approvalId = driver.state.view.approvals.head!.id
    expect(driver.effects).toContainEqual({ do: 'expireApproval', approvalId, ms: 1_800_000 })
    driver.command({ type: 'approval.expired', approvalId })
    expect(driver.state.view.items.find((item) => item.id === approvalId)).toMatchObject({
      state: 'nobody_answered',
      decidedBy: 'timeout',
    })
    expect(driver.item('tool')).toMatchObject({ state: 'denied', code: 'approval.nobody_answered' })
    expect(driver.state.turn?.phase).toBe('running')
    expect(driver.state.view.approvals).toEqual({ head: null, depth: 0 })
    driver.command({ type: 'approval.expired', approvalId })
  })

  test('A-95 with 0 nothing is asked', () => {
    const driver = nightly(0)
    driver.propose('tool', 'npm test')
    expect(driver.item('tool')).toMatchObject({ state: 'denied', code: 'approval.nobody_answered' })
    driver.report({
      type: 'asked',
      ticket: 'q',
      itemId: 'tool',
      question: { ask: 'text', text: '?', choices: [], multiple: false, allowText: true },
    })
    expect(driver.effects).toContainEqual({ do: 'release', ticket: 'q', answer: { noAnswer: 'expired' } })
  })

  test('T-139 in a person’s turn nothing is waited for with a limit', () => {
    const driver = new Driver()
    driver.running()
    driver.propose('tool', 'npm test')
    expect(driver.effects.some((effect) => effect.do === 'expireApproval')).toBe(false)
  })
})
