import { describe, expect, test } from 'vitest'
import { noUsage } from '../../preload/contract/fold.ts'
import { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { nextFollowUp } from './queue.ts'
import { recover } from './recovery.ts'
import { Driver, followUp, refusedWith } from './test-driver.ts'

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

describe('automatic turns', () => {
  test('T-29 T-30 TA-5 after a Stop nothing starts by itself until a person starts something', () => {
    const driver = new Driver()
    driver.command({ type: 'stop', turnId: driver.submit('one').turnId, reason: 'person' })
    expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
    driver.submit('two')
    expect(driver.state.view.header.automaticHeld).toBeNull()
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

describe('stop', () => {
  test('T-95 T-98 a Stop before any worker ran settles at once', () => {
    const driver = new Driver()
    const { turnId } = driver.submit('one')
    expect(driver.command({ type: 'stop', turnId, reason: 'person' })).toMatchObject({ stopped: true })
    expect(driver.state.turn).toBeNull()
    expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason: 'person' })
    expect(driver.state.view.header.automaticHeld?.by).toBe('stop')
  })

  test('TA-9 T-107 partial text is kept, nothing follows it', () => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.report({ type: 'stream', channel: 'text', add: 'Hello wor' })
    driver.command({ type: 'stop', turnId, reason: 'person' })
    driver.report({ type: 'stream', channel: 'text', add: 'ld' })
    driver.report({ type: 'unwound' })
    const texts = driver.state.view.items.filter((item) => item.kind === 'text')
    expect(texts).toMatchObject([{ text: 'Hello wor', status: 'partial' }])
    expect(driver.state.view.items.some((item) => item.kind === 'error')).toBe(false)
    expect(driver.types().filter((type) => type === 'turn.settled')).toHaveLength(1)
  })

  test('K-25 TA-21 a Stop keeps the queue, paused; nothing starts by itself', () => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.submit('later one', { whenBusy: 'queue' })
    driver.submit('later two', { whenBusy: 'queue' })
    driver.command({ type: 'stop', turnId, reason: 'person' })
    driver.report({ type: 'unwound' })
    expect(driver.state.view.header.queue).toMatchObject({ paused: 'stop' })
    const [first] = driver.state.view.header.queue.followUps
    expect(
      driver.command({ type: 'followUp.start', id: first!.id, byPerson: false, message: followUp(first!.id) }),
    ).toBeNull()
    expect(driver.state.view.header.queue.followUps).toHaveLength(2)
  })

  test('T-105 a Stop withdraws an open approval; its tool never runs', () => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.propose('tool', 'npm test')
    expect(driver.state.view.approvals.depth).toBe(1)
    driver.command({ type: 'stop', turnId, reason: 'person' })
    expect(driver.state.view.approvals.depth).toBe(0)
    expect(driver.item('tool').state).toBe('cancelled')
    expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({ answer: { run: false } })
  })

  test('T-110 a tool that did not stop in time is unknown', () => {
    const driver = new Driver('all')
    const turnId = driver.running()
    driver.propose('tool', 'sleep 99')
    driver.command({ type: 'stop', turnId, reason: 'person' })
    expect(driver.effects).toContainEqual({ do: 'drain', turnId, ms: 5_000 })
    driver.report({ type: 'drainExpired' })
    expect(driver.item('tool').state).toBe('unknown')
  })

  test('T-37 TA-10 a Stop after the commit point changes nothing of the turn', () => {
    const driver = new Driver()
    const turnId = driver.running()
    driver.submit('next', { whenBusy: 'queue' })
    driver.report({ type: 'stream', channel: 'text', add: 'All of it' })
    driver.report({ type: 'mayEnd', ending: 'answer' })
    expect(driver.command({ type: 'stop', turnId, reason: 'person' })).toEqual({ stopped: false, why: 'settled' })
    expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'completed' })
    expect(driver.state.view.header).toMatchObject({ automaticHeld: { by: 'stop' }, queue: { paused: 'stop' } })
  })
})

describe('steering', () => {
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
    expect(
      stopped.command({ type: 'stop', turnId, reason: 'person' }).withdrawn.map((steer: any) => steer.text),
    ).toEqual(['s1', 's2'])

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
    expect(refusedWith(() => driver.command({ type: 'followUp.add', text: '\n', attachments: [] }))).toBe(
      'message.empty',
    )
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
})

describe('approvals', () => {
  test('T-135 T-144 TA-23 one queue in order; an answer runs its own tool only, a second answer is gone', () => {
    const driver = new Driver()
    driver.running()
    driver.propose('one', 'npm test')
    driver.propose('two', 'npm run build')
    const cards = driver.state.view.items.filter((item) => item.kind === 'approval')
    expect(driver.state.view.approvals).toMatchObject({ depth: 2, head: { id: cards[0]!.id } })
    const answer: Command = {
      type: 'approval.answer',
      approvalId: cards[1]!.id,
      argsHash: 'hash-npm run build',
      decision: 'once',
      scope: 'workspace',
    }
    driver.command(answer)
    expect(driver.item('two').state).toBe('running')
    expect(driver.item('one').state).toBe('waiting')
    expect(refusedWith(() => driver.command(answer))).toBe('approval.gone')
  })

  test('Z-91 an answer to other arguments is gone', () => {
    const driver = new Driver()
    driver.running()
    driver.propose('one', 'npm test')
    const card = driver.state.view.approvals.head!
    expect(
      refusedWith(() =>
        driver.command({
          type: 'approval.answer',
          approvalId: card.id,
          argsHash: 'other',
          decision: 'once',
          scope: 'workspace',
        }),
      ),
    ).toBe('approval.gone')
  })

  test('Z-94 K-22 allowed for the session: the next equal call runs without a card, another command asks', () => {
    const driver = new Driver()
    driver.running()
    driver.propose('one', 'npm test')
    driver.command({
      type: 'approval.answer',
      approvalId: driver.state.view.approvals.head!.id,
      argsHash: 'hash-npm test',
      decision: 'session',
      scope: 'workspace',
    })
    driver.propose('two', 'npm test')
    driver.propose('three', 'npm test --watch')
    expect([driver.item('two').state, driver.item('three').state]).toEqual(['running', 'waiting'])
  })

  test('Z-96 a denied call is told to the model, and the same call again is denied without a card', () => {
    const driver = new Driver()
    driver.running()
    driver.propose('one', 'npm test')
    driver.command({
      type: 'approval.answer',
      approvalId: driver.state.view.approvals.head!.id,
      argsHash: 'hash-npm test',
      decision: 'deny',
      scope: 'workspace',
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
    driver.command({
      type: 'approval.answer',
      approvalId: card.id,
      argsHash: 'hash-npm test',
      decision: 'deny_stop',
      scope: 'workspace',
    })
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

describe('questions', () => {
  const question = {
    ask: 'choice' as const,
    text: 'Which?',
    choices: [{ id: '1', label: 'One' }],
    multiple: false,
    allowText: false,
  }

  test('T-148 an answer that does not fit leaves it open, a closed one is gone', () => {
    const driver = new Driver('all')
    driver.running()
    driver.propose('tool', 'x')
    driver.report({ type: 'asked', ticket: 'q', itemId: 'tool', question })
    const answer = (choices: string[]): Command => ({
      type: 'question.answer',
      questionId: 'q',
      choices,
      text: null,
      secret: null,
      declined: false,
    })
    expect(refusedWith(() => driver.command(answer(['9'])))).toBe('question.invalid')
    expect(driver.state.view.questions.depth).toBe(1)
    driver.command(answer(['1']))
    expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({
      answer: { answer: { choices: ['One'] } },
    })
    expect(refusedWith(() => driver.command(answer(['1'])))).toBe('question.gone')
  })

  test('T-151 TA-26 a secret answer is in no event', () => {
    const driver = new Driver('all')
    driver.running()
    driver.propose('tool', 'x')
    driver.report({
      type: 'asked',
      ticket: 'q',
      itemId: 'tool',
      question: { ...question, ask: 'secret', choices: [], allowText: true },
    })
    driver.command({
      type: 'question.answer',
      questionId: 'q',
      choices: [],
      text: null,
      secret: 's3cr3t-42',
      declined: false,
    })
    expect(JSON.stringify(driver.journal)).not.toContain('s3cr3t-42')
    expect(driver.item('q')).toMatchObject({ state: 'answered', answer: 'answered (hidden)' })
  })
})

describe('recovery', () => {
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

  test('T-185 only the settle was lost: completed', () => {
    const driver = new Driver()
    driver.running()
    driver.report({ type: 'stream', channel: 'text', add: 'all' })
    driver.report({
      type: 'stepEnded',
      stepId: 's',
      finish: 'stop',
      usage: null,
      turn: noUsage,
      context: { used: null, window: null, compactAt: null, estimated: false, model: null },
      firstTokenMs: null,
      streamedMs: 0,
      servedBy: null,
    })
    crashed(driver)
    expect(driver.state.view.header).toMatchObject({ lastOutcome: 'completed', recovery: null })
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
