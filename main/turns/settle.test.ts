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

test('T-60 of all that happens at once the status line says what comes first', () => {
  const driver = new Driver()
  const turnId = driver.running()
  const status = () => driver.state.view.turn!.status
  const plan = { effects: [], preview: { title: 'look', detail: '', detailKind: 'text' as const } }
  for (const itemId of ['first', 'second']) {
    driver.report({ type: 'toolProposed', itemId, callId: itemId, name: 'look', title: itemId, args: {} })
    driver.report({ type: 'toolReady', ticket: itemId, itemId, tool: 'look', title: itemId, plan, argsHash: itemId })
  }
  driver.propose('asks', 'npm test')
  const question = { ask: 'text' as const, text: '?', choices: [], multiple: false, allowText: true }
  driver.report({ type: 'asked', ticket: 'question', itemId: 'first', question })
  driver.report({ type: 'slot', waiting: true })
  driver.report({ type: 'compacting', since: 7 })
  const wait = { provider: 'lab', label: 'Lab', until: 9_000, untilKind: 'reset' as const, attempt: 1, of: 3 }
  driver.report({ type: 'wait', wait: { ...wait, code: 'provider.rate_limited' } })
  driver.report({ type: 'reading', percent: 12.4 })

  // Each is said once what goes before it is over.
  expect(status()).toEqual({ kind: 'approval', depth: 1 })
  const [approval] = driver.state.turn!.approvals.keys()
  driver.command({
    type: 'approval.answer',
    approvalId: approval!,
    argsHash: 'hash-npm test',
    decision: 'once',
    scope: 'workspace',
  })
  expect(status()).toEqual({ kind: 'question', depth: 1 })
  const answer = { choices: [], text: 'yes', secret: null, declined: false }
  driver.command({ type: 'question.answer', questionId: 'question', ...answer })
  expect(status()).toEqual({ kind: 'waiting_slot' })
  driver.report({ type: 'slot', waiting: false })
  expect(status()).toEqual({ kind: 'compacting', since: 7 })
  driver.report({ type: 'compacting', since: null })
  expect(status()).toEqual({
    kind: 'rate_limited',
    provider: 'lab',
    providerLabel: 'Lab',
    until: 9_000,
    untilKind: 'reset',
  })
  driver.report({ type: 'wait', wait: { ...wait, code: 'provider.unavailable' } })
  expect(status()).toEqual({ kind: 'retrying', attempt: 1, of: 3, until: 9_000, code: 'provider.unavailable' })
  driver.report({ type: 'wait', wait: null })
  driver.report({ type: 'reading', percent: 140 })
  expect(status()).toEqual({ kind: 'prompt_reading', percent: 100 })
  driver.report({ type: 'stream', channel: 'text', add: 'On.' })
  expect(status()).toMatchObject({ kind: 'tool', itemId: 'first', title: 'first', others: 2 })
  for (const itemId of ['first', 'second', 'asks'])
    driver.report({
      type: 'toolEnded',
      itemId,
      end: { state: 'ok', summary: '', view: null, durationMs: 1 },
      changes: [],
    })
  expect(status()).toEqual({ kind: 'working' })
  driver.propose('asks again', 'npm run lint')
  expect(status()).toEqual({ kind: 'approval', depth: 1 })
  driver.command({ type: 'stop', turnId, reason: 'person' })
  expect(status()).toEqual({ kind: 'stopping' })
})

test('T-43 one decision holds all of the end', () => {
  const driver = new Driver()
  const turnId = driver.running()
  const exec = {
    owner: 'agent' as const,
    preview: 'npm run dev',
    folder: '/work',
    startedAt: 1,
    tty: false,
    itemId: 'i',
  }
  const { id } = driver.command({ type: 'exec.started', session: exec })
  driver.command({
    type: 'exec.ended',
    id,
    end: { at: 1, reason: 'exited', exitCode: 0, signal: null },
    notice: { text: 'It ended.', prompt: 'It ended.' },
  })
  expect(driver.report({ type: 'boundary' }).notices).toEqual(['It ended.'])
  driver.report({ type: 'stream', channel: 'text', add: 'Half of it' })
  const usage = { ...noUsage, input: 10, output: 5 }
  const context = { used: 15, window: 100, compactAt: null, estimated: false, model: 'lab/scripted' }
  driver.report({
    type: 'stepEnded',
    stepId: driver.state.turn!.stepId!,
    finish: 'tools',
    usage,
    turn: usage,
    context,
    firstTokenMs: 3,
    streamedMs: 100,
    servedBy: 'lab/served',
  })
  driver.propose('asks', 'npm test')
  const question = { ask: 'text' as const, text: '?', choices: [], multiple: false, allowText: true }
  driver.report({ type: 'asked', ticket: 'question', itemId: 'asks', question })
  driver.submit('unread', { whenBusy: 'steer' })
  driver.submit('later', { whenBusy: 'queue' })
  const before = { journal: driver.journal.length, updatedAt: driver.state.view.header.updatedAt }

  driver.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
  const { view, hidden } = driver.state
  const last = driver.journal.slice(before.journal)
  expect(last.filter(({ type }) => type === 'turn.settled')).toEqual([last.at(-1)])
  expect(view.items.filter(({ turnId: of, endedAt }) => of === turnId && endedAt === null)).toEqual([])
  expect([driver.item('asks').state, driver.item('question').state]).toEqual(['cancelled', 'cancelled'])
  expect(view).toMatchObject({ approvals: { depth: 0 }, questions: { depth: 0 }, turn: null })
  expect(view.turns).toMatchObject([
    {
      id: turnId,
      outcome: 'failed',
      error: { code: 'provider.unavailable' },
      usage,
      steps: 1,
      servedBy: 'lab/served',
      rate: 50,
      settledAt: last.at(-1)!.at,
    },
  ])
  expect(view.turns[0]!.durationMs).toBeGreaterThan(0)
  expect(view.header).toMatchObject({ currentTurnId: null, lastTurnId: turnId, lastOutcome: 'failed', usage, context })
  expect(view.header.updatedAt).toBeGreaterThan(before.updatedAt)
  expect(view.header.queue).toMatchObject({ paused: 'failure', followUps: [{ text: 'unread' }, { text: 'later' }] })
  // Text came after the notice, so it has been told.
  expect(hidden.notices).toEqual([])
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

test.each([
  ['completed', 'settled'],
  ['failed', 'failed'],
  ['interrupted', 'interrupted'],
  ['stopped', undefined],
] as const)('S-119 a turn that %s calls the person with %s', (outcome, kind) => {
  const driver = midTurn()
  ends[outcome](driver)
  const calls = driver.effects.filter((effect) => effect.do === 'notify')
  expect(calls).toEqual(kind === undefined ? [] : [{ do: 'notify', kind }])
})
