import { expect, test } from 'vitest'
import type { Command } from './inputs.ts'
import { Driver, refusedWith } from './test-driver.ts'

type Answer = Extract<Command, { type: 'approval.answer' }>

function answerTo(approvalId: string, argsHash: string, decision: Answer['decision']): Answer {
  return { type: 'approval.answer', approvalId, argsHash, decision, scope: 'workspace' }
}

test('T-135 T-144 TA-23 one queue in order; an answer runs its own tool only, a second answer is gone', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('one', 'npm test')
  driver.propose('two', 'npm run build')
  const cards = driver.state.view.items.filter((item) => item.kind === 'approval')
  expect(driver.state.view.approvals).toMatchObject({ depth: 2, head: { id: cards[0]!.id } })
  const answer = answerTo(cards[1]!.id, 'hash-npm run build', 'once')
  driver.command(answer)
  // The decision, with its time and who took it, is stored with the start; the call begins once both are (T-38).
  expect(driver.item(cards[1]!.id)).toMatchObject({
    state: 'allowed',
    decidedBy: 'person',
    decidedAt: driver.journal.at(-1)!.at,
    scope: 'once',
  })
  expect(driver.effects.filter((effect) => effect.do === 'release')).toEqual([
    { do: 'release', ticket: 'two', answer: { run: true } },
  ])
  expect(driver.item('two').state).toBe('running')
  expect(driver.item('one').state).toBe('waiting')
  expect(refusedWith(() => driver.command(answer))).toBe('approval.gone')
})

test('Z-91 an answer to other arguments is gone', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('one', 'npm test')
  const card = driver.state.view.approvals.head!
  expect(refusedWith(() => driver.command(answerTo(card.id, 'other', 'once')))).toBe('approval.gone')
})

test('Z-94 K-22 allowed for the session: the next equal call runs without a card, another command asks', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('one', 'npm test')
  driver.command(answerTo(driver.state.view.approvals.head!.id, 'hash-npm test', 'session'))
  driver.propose('two', 'npm test')
  driver.propose('three', 'npm test --watch')
  expect([driver.item('two').state, driver.item('three').state]).toEqual(['running', 'waiting'])
})

test('Z-96 a denied call is told to the model, and the same call again is denied without a card', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('one', 'npm test')
  driver.command({
    ...answerTo(driver.state.view.approvals.head!.id, 'hash-npm test', 'deny'),
    feedback: 'use vitest',
  })
  expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({
    answer: { run: false, error: { code: 'approval.denied', message: expect.stringContaining('use vitest') } },
  })
  driver.propose('two', 'npm test')
  expect(driver.item('two').state).toBe('denied')
  expect(driver.state.view.approvals.depth).toBe(0)
})

test('Z-96 T-3 T-125 "Deny and stop" has no composer to give steers back to: they wait at the head of the paused queue', () => {
  const driver = new Driver()
  driver.running()
  driver.submit('also this', { whenBusy: 'steer' })
  driver.propose('one', 'npm test')
  const card = driver.state.view.approvals.head!
  driver.command(answerTo(card.id, 'hash-npm test', 'deny_stop'))
  driver.report({ type: 'unwound' })
  expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason: 'person' })
  expect(driver.state.view.header.queue).toMatchObject({ paused: 'stop', followUps: [{ text: 'also this' }] })
})

test('TA-24 a wider mode for a card that is gone changes nothing', () => {
  const driver = new Driver()
  driver.running()
  driver.propose('one', 'npm test')
  expect(refusedWith(() => driver.command({ type: 'settings', approvalMode: 'all', forApproval: 'other' }))).toBe(
    'approval.gone',
  )
  expect(driver.state.view.header.approvalMode).toBe('ask')
  driver.command({ type: 'settings', approvalMode: 'all', forApproval: driver.state.view.approvals.head!.id })
  expect(driver.item('one').state).toBe('running')
})

test('Z-98 where nobody is asked a call is denied and the turn goes on; with "fail" the turn fails', () => {
  const denied = new Driver()
  denied.submit('x', { attendance: 'deny' })
  denied.report({ type: 'running' })
  denied.propose('one', 'npm test')
  expect(denied.item('one')).toMatchObject({ state: 'denied', code: 'approval.unattended' })
  const failing = new Driver()
  const { turnId } = failing.submit('x', { attendance: 'fail' })
  failing.report({ type: 'running' })
  failing.propose('one', 'npm test')
  failing.report({ type: 'unwound' })
  expect(failing.state.view.turns.find((turn) => turn.id === turnId)).toMatchObject({
    outcome: 'failed',
    error: { code: 'person.needed' },
  })
})

test('X-711 the third refusal of one target in a turn is told to the log, the first two are not', () => {
  const driver = new Driver('ask')
  driver.command({ type: 'settings', approvalMode: 'read-only' })
  driver.running()
  const told = [1, 2, 3].map((n) => {
    const itemId = `read-${n}`
    const args = { path: '/etc/hosts' }
    driver.report({ type: 'toolProposed', itemId, callId: itemId, name: 'read_file', title: 'Read', args })
    const effects = [{ kind: 'read' as const, path: '/etc/hosts', inside: false, secret: false }]
    const plan = { effects, preview: { title: '', detail: '', detailKind: 'path' as const } }
    driver.report({
      type: 'toolReady',
      ticket: itemId,
      itemId,
      tool: 'read_file',
      title: 'Read',
      argsHash: itemId,
      plan,
    })
    return driver.effects.filter((effect) => effect.do === 'escalated')
  })
  expect(told).toEqual([[], [], [{ do: 'escalated', tool: 'read_file', code: 'path.outside_workspace' }]])
})
