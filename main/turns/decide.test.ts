import { describe, expect, test } from 'vitest'
import type { Command } from './inputs.ts'
import { Driver, refusedWith } from './test-driver.ts'

describe('admission', () => {
  test('T-12 T-16 a message starts a turn: started, user item, title and status in one decision', () => {
    const driver = new Driver()
    const reply = driver.submit('Fix the failing test\nplease')
    expect(reply).toMatchObject({ accepted: 'started' })
    expect(driver.types()).toEqual(['turn.started', 'item.put', 'session.changed', 'turn.status'])
    expect(driver.state.view.header).toMatchObject({
      title: 'Fix the failing test',
      titleSource: 'provisional',
      currentTurnId: reply.turnId,
    })
    expect(driver.effects).toContainEqual({ do: 'start', turnId: reply.turnId })
  })

  test('T-13 the same request id answers the same, other content is a conflict', () => {
    const driver = new Driver()
    const first = driver.submit('one', { requestId: 'r' })
    expect(driver.submit('one', { requestId: 'r' })).toEqual(first)
    expect(refusedWith(() => driver.submit('two', { requestId: 'r' }))).toBe('request.conflict')
    expect(driver.types().filter((type) => type === 'turn.started')).toHaveLength(1)
  })

  test('TA-1 T-133 the second of two submits is refused, queued or steered by its own whenBusy', () => {
    const driver = new Driver()
    const { turnId } = driver.submit('one')
    expect(refusedWith(() => driver.submit('two'))).toBe('turn.busy')
    expect(driver.submit('three', { whenBusy: 'queue' })).toMatchObject({ accepted: 'queued' })
    expect(driver.submit('four', { whenBusy: 'steer' })).toMatchObject({ accepted: 'steered' })
    expect(driver.state.turn?.id).toBe(turnId)
  })

  test('T-5 TA-11 a report of another turn changes nothing', () => {
    const driver = new Driver()
    const first = driver.running()
    driver.command({ type: 'stop', turnId: first, reason: 'person' })
    driver.report({ type: 'unwound' })
    driver.submit('two')
    const before = driver.state
    driver.report({ type: 'stream', channel: 'text', add: 'late' }, first)
    driver.report({ type: 'failed', error: { code: 'app.internal', message: 'late' } }, first)
    expect(driver.state).toBe(before)
    expect(driver.command({ type: 'stop', turnId: first, reason: 'person' })).toEqual({
      stopped: false,
      why: 'not_current',
    })
  })
})

describe('text and tools', () => {
  test('T-67 TA-14 text, a tool, text: three items in order, only the last text final', () => {
    const driver = new Driver('all')
    driver.running()
    driver.report({ type: 'stream', channel: 'text', add: 'A' })
    driver.propose('tool', 'npm test')
    driver.report({
      type: 'toolEnded',
      itemId: 'tool',
      end: { state: 'ok', summary: 'fine', view: null, durationMs: 5 },
      changes: [],
    })
    driver.report({ type: 'stream', channel: 'text', add: 'B' })
    driver.report({ type: 'mayEnd', ending: 'answer' })
    const items = driver.state.view.items.filter((item) => item.kind !== 'user')
    expect(items.map((item) => item.kind)).toEqual(['text', 'tool', 'text'])
    expect(items.map((item) => (item.kind === 'text' ? item.final : null))).toEqual([false, null, true])
  })

  test('T-69 reasoning is its own item, named by its first bold line', () => {
    const driver = new Driver()
    driver.running()
    driver.report({ type: 'stream', channel: 'reasoning', add: '**Look first**\nthen think' })
    driver.report({ type: 'stream', channel: 'text', add: 'ok' })
    const reasoning = driver.state.view.items.find((item) => item.kind === 'reasoning')
    expect(reasoning).toMatchObject({ title: 'Look first', status: 'final', text: '**Look first**\nthen think' })
  })

  test('T-74 a second end of a call is ignored', () => {
    const driver = new Driver('all')
    driver.running()
    driver.propose('tool', 'npm test')
    const end = { state: 'ok' as const, summary: 'first', view: null, durationMs: 1 }
    driver.report({ type: 'toolEnded', itemId: 'tool', end, changes: [] })
    driver.report({
      type: 'toolEnded',
      itemId: 'tool',
      end: { ...end, state: 'error', summary: 'second' },
      changes: [],
    })
    expect(driver.item('tool')).toMatchObject({ state: 'ok', summary: 'first' })
  })

  test('T-62 text closes an open wait even if the provider never says "resumed"', () => {
    const driver = new Driver()
    driver.running()
    driver.report({
      type: 'wait',
      wait: {
        code: 'provider.rate_limited',
        provider: 'lab',
        label: 'Lab',
        until: 9_000,
        untilKind: 'reset',
        attempt: 1,
        of: 3,
      },
    })
    expect(driver.state.view.turn?.status?.kind).toBe('rate_limited')
    driver.report({ type: 'stream', channel: 'text', add: 'x' })
    expect(driver.state.view.turn?.status?.kind).toBe('working')
    const types = driver.types()
    expect(types.lastIndexOf('turn.status')).toBeLessThan(types.lastIndexOf('item.put'))
  })

  test('TA-16 how far a prompt was read is a whole percent from 0 to 100, or unknown', () => {
    const driver = new Driver()
    driver.running()
    const shown = [140, -3, 33.4, Number.NaN, null].map((percent) => {
      driver.report({ type: 'reading', percent })
      return driver.state.view.turn?.status
    })
    expect(shown.map((status) => status?.kind === 'prompt_reading' && status.percent)).toEqual([100, 0, 33, null, null])
  })
})

test('S-32 a change that rests on an older record is refused with the record as it is', () => {
  const driver = new Driver()
  driver.running()
  const { rev } = driver.state.view.header
  const renamed = driver.command({ type: 'rename', title: '  Mine \n too ', ifRev: rev })
  expect(renamed).toMatchObject({ title: 'Mine too', titleSource: 'manual' })
  expect(refusedWith(() => driver.command({ type: 'rename', title: 'Other', ifRev: rev }))).toBe('session.conflict')
  driver.command({ type: 'title', title: 'By a model', source: 'generated', rev })
  expect(driver.state.view.header.title).toBe('Mine too')
})

test('X-717 X-708 a call whose turn is over reports nothing more, but what it changed is still recorded', () => {
  const driver = new Driver('all')
  const turnId = driver.running()
  driver.propose('tool', 'sleep 99')
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.report({ type: 'drainExpired' })
  const item = driver.item('tool')
  expect(item.state).toBe('unknown')
  driver.submit('next')
  const before = driver.state
  driver.report({ type: 'toolOutput', itemId: 'tool', add: 'late' }, turnId)
  driver.report({ type: 'toolProgress', itemId: 'tool', progress: { message: 'late' } }, turnId)
  expect(driver.state).toBe(before)
  const change = {
    id: 'change',
    turnId,
    path: 'a.txt',
    kind: 'edited' as const,
    before: null,
    after: 'new-content',
    added: 1,
    removed: 0,
    by: 'tool' as const,
  }
  const end = { state: 'ok' as const, summary: 'late', view: null, durationMs: 1 }
  driver.report({ type: 'toolEnded', itemId: 'tool', end, changes: [change] }, turnId)
  expect(driver.item('tool')).toEqual(item)
  expect(driver.state.view.changes).toMatchObject([{ id: 'change', turnId }])
})

test('S-6 SA-13 a session moves in the list with a message and the end of a turn, and with nothing else', () => {
  const driver = new Driver()
  const moved = () => driver.state.view.header.updatedAt
  const at = () => driver.journal.at(-1)!.at
  const first = driver.running('one')
  const admitted = driver.journal[0]!.at
  expect(moved()).toBe(admitted)
  driver.report({ type: 'stream', channel: 'text', add: 'Hm.' })
  driver.propose('asks', 'npm test')
  driver.submit('also', { whenBusy: 'steer' })
  driver.submit('later', { whenBusy: 'queue' })
  expect(moved()).toBe(admitted)
  driver.command({ type: 'stop', turnId: first, reason: 'person' })
  driver.report({ type: 'unwound' })
  expect(moved()).toBe(at())

  const before = moved()
  const { header } = driver.state.view
  const commands: Command[] = [
    { type: 'title', title: 'Made', source: 'generated', rev: 0 },
    { type: 'rename', title: 'Mine' },
    { type: 'pin', pinned: true },
    { type: 'archive', archived: true },
    { type: 'archive', archived: false },
    { type: 'markRead', seq: header.lastSeq, unread: false },
    { type: 'markRead', seq: 0, unread: true },
    { type: 'settings', model: 'lab/other', approvalMode: 'edits' },
    { type: 'hold.release' },
    { type: 'stop', turnId: first, reason: 'person' },
    { type: 'queue.resume' },
    { type: 'queue.pause' },
    { type: 'side.answered', line: '/status', answer: 'Fine.' },
    { type: 'workspace.moved', to: '/moved' },
    { type: 'delete' },
    { type: 'restore' },
  ]
  for (const command of commands) {
    const events = driver.journal.length
    driver.command(command)
    expect([command.type, driver.journal.length > events]).toEqual([command.type, true])
    expect([command.type, moved()]).toEqual([command.type, before])
  }
  driver.submit('two')
  expect(moved()).toBe(at())
})
