import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../preload/contract/errors.ts'
import { completionKeysMax, wakeGatherMs } from '../../preload/contract/limits.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import type { TurnSource } from '../../preload/contract/session.ts'
import { type AutomaticRequest, nextStart } from './automatic.ts'
import { decide } from './decide.ts'
import type { Command } from './inputs.ts'
import { Driver, followUp, refusedWith, type Reply } from './test-driver.ts'
import { nextFollowUp } from './queue.ts'

/** A process that ran in the background and ended by itself. */
function ends(driver: Driver, more: { wakes?: boolean; reason?: 'exited' | 'stopped' | 'shutdown' } = {}): string {
  const { wakes = true, reason = 'exited' } = more
  const session = {
    owner: 'agent' as const,
    preview: 'npm run build',
    folder: '.',
    startedAt: 1,
    tty: false,
    itemId: 'tool',
    ...(wakes ? { wakes } : {}),
  }
  const { id } = driver.command({ type: 'exec.started', session })
  driver.command({
    type: 'exec.ended',
    id,
    end: { at: 2, reason, exitCode: 1, signal: null },
    notice: { text: `${id} ended`, prompt: `The process ${id} ended` },
  })
  return id
}

const later = (driver: Driver) => nextStart(driver.state, driver.environment.now + wakeGatherMs)

function wake(driver: Driver): Reply {
  const next = later(driver)
  if (next?.start !== 'automatic') throw new Error('Nothing would start.')
  return automatic(driver, next.request)
}

function automatic(driver: Driver, request: AutomaticRequest): Reply {
  const { text, ...more } = request
  return driver.submit(text, more)
}

function answers(driver: Driver): void {
  driver.report({ type: 'running' })
  driver.report({ type: 'boundary' })
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
}

const started = (driver: Driver) => driver.types().filter((type) => type === 'turn.started').length

describe('completion keys', () => {
  test('T-27 TA-6 keys that all have a turn answer it, also while it runs; where some have none, all are bound to a new one', () => {
    const driver = new Driver()
    const first = driver.submit('a and b', { source: 'trigger', completionKeys: ['a', 'b'] })
    expect(driver.submit('again', { source: 'trigger', completionKeys: ['b', 'a'] })).toEqual(first)
    expect(started(driver)).toBe(1)
    answers(driver)
    const second = driver.submit('a and c', { source: 'trigger', completionKeys: ['a', 'c'] })
    expect(second.turnId).not.toBe(first.turnId)
    for (const key of ['a', 'c']) expect(driver.command({ type: 'delivered', completionKeys: [key] })).toEqual(second)
    expect(driver.command({ type: 'delivered', completionKeys: ['b'] })).toEqual(first)
    expect(driver.command({ type: 'delivered', completionKeys: ['a', 'd'] })).toBeNull()
  })

  test('T-27 the answer to a delivered key comes before every refusal', () => {
    const driver = new Driver()
    const first = driver.submit('a', { source: 'trigger', completionKeys: ['a'] })
    driver.command({ type: 'stop', turnId: first.turnId, reason: 'person' })
    driver.command({ type: 'delete' })
    expect(driver.submit('a', { source: 'trigger', completionKeys: ['a'] })).toEqual(first)
    expect(refusedWith(() => driver.submit('b', { source: 'trigger', completionKeys: ['b'] }))).toBe('session.deleted')
  })

  test('T-27 the newest 1,000 are kept', () => {
    const driver = new Driver()
    const keys = Array.from({ length: completionKeysMax + 5 }, (_, at) => `k${at}`)
    driver.submit('many', { source: 'trigger', completionKeys: keys })
    expect(driver.state.hidden.completionKeys.map((one) => one.key)).toEqual(keys.slice(5))
  })
})

describe('sources', () => {
  test.each<[TurnSource, 'foreground' | 'background']>([
    ['schedule', 'background'],
    ['trigger', 'background'],
    ['process', 'background'],
    ['subagent', 'background'],
    ['session', 'background'],
    ['goal', 'foreground'],
  ])('T-26 T-20 A-2 %s is automatic and %s: shown as what asked, never as the person’s words', (source, origin) => {
    const driver = new Driver()
    driver.submit('shown', { source, prompt: 'told to the model', automation: { name: 'Nightly check' } })
    const [turn] = driver.state.view.turns
    expect(turn).toMatchObject({ source, origin, automation: { name: 'Nightly check' } })
    expect(driver.journal[0]).toMatchObject({ type: 'turn.started', source, automation: { name: 'Nightly check' } })
    expect(driver.state.view.items[0]).toMatchObject({
      kind: 'user',
      source: 'automation',
      automation: { name: 'Nightly check' },
      text: 'shown',
      prompt: 'told to the model',
    })
  })

  test('T-26 A-4 beside a running turn it is refused whatever it says, and leaves nothing', () => {
    const driver = new Driver()
    driver.running()
    const before = driver.state
    for (const whenBusy of ['refuse', 'queue', 'steer'] as const)
      expect(refusedWith(() => driver.submit('nightly', { source: 'schedule', whenBusy }))).toBe('turn.busy')
    expect(driver.state).toBe(before)
  })

  test('S-6 T-26 it does not move the session in the list, nor out of the archive; its end moves it unless it is quiet', () => {
    const driver = new Driver()
    driver.submit('first')
    answers(driver)
    const { updatedAt, notableSeq } = driver.state.view.header
    driver.submit('nightly', { source: 'schedule' })
    expect(driver.state.view.header.updatedAt).toBe(updatedAt)
    driver.report({ type: 'running' })
    driver.report({ type: 'mayEnd', ending: 'quiet' })
    expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'completed', ending: 'quiet' })
    expect(driver.state.view.header).toMatchObject({ updatedAt, notableSeq })
    driver.submit('nightly', { source: 'schedule' })
    answers(driver)
    expect(driver.state.view.header.updatedAt).toBeGreaterThan(updatedAt)
    driver.command({ type: 'archive', archived: true })
    expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
  })
})

describe('hold', () => {
  test('T-29 T-30 A-106 a Stop holds what would start, says how much waits, and only a person’s turn or Resume ends it', () => {
    const driver = new Driver('all')
    driver.command({ type: 'stop', turnId: driver.running(), reason: 'person' })
    driver.report({ type: 'unwound' })
    ends(driver)
    ends(driver, { wakes: false })
    ends(driver)
    expect(driver.state.view.header.automaticHeld).toMatchObject({ by: 'stop', waiting: 2 })
    expect(later(driver)).toBeNull()
    driver.command({ type: 'hold.release' })
    expect(driver.effects).toContainEqual({ do: 'next' })
    expect(later(driver)).toMatchObject({ start: 'automatic' })
  })

  test('T-30 a person’s turn that is refused leaves the hold', () => {
    const driver = new Driver()
    driver.command({ type: 'stop', turnId: driver.running(), reason: 'person' })
    driver.report({ type: 'unwound' })
    const held = driver.state.view.header.automaticHeld
    driver.submit('one', { requestId: 'r' })
    expect(driver.state.view.header.automaticHeld).toBeNull()
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'person' })
    expect(refusedWith(() => driver.submit('other', { requestId: 'r' }))).toBe('request.conflict')
    expect(driver.state.view.header.automaticHeld?.by).toBe(held!.by)
  })

  test('T-29 T-192 an interrupted turn that waits for the person holds too; dismissing it does not release', () => {
    const driver = new Driver()
    driver.running()
    driver.command({ type: 'stop', turnId: driver.state.turn!.id, reason: 'shutdown' })
    driver.report({ type: 'unwound' })
    expect(driver.state.view.header.automaticHeld?.by).toBe('recovery')
    const { recoveryId } = driver.state.view.header.recovery!
    driver.command({ type: 'recovery.dismiss', recoveryId })
    expect(refusedWith(() => driver.submit('nightly', { source: 'schedule' }))).toBe('automatic.held')
  })

  test('A-105 giving way, a time limit and an error set none', () => {
    for (const reason of ['yielded', 'time_limit'] as const) {
      const driver = new Driver()
      driver.command({ type: 'stop', turnId: driver.running(), reason })
      driver.report({ type: 'unwound' })
      expect(driver.state.view.header.automaticHeld).toBeNull()
      expect(driver.state.view.turns.at(-1)).toMatchObject({ outcome: 'stopped', reason })
    }
    const failed = new Driver()
    failed.running()
    failed.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
    expect(failed.state.view.header.automaticHeld).toBeNull()
  })
})

describe('woken by processes', () => {
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
})

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

describe('a provider that refuses', () => {
  const failedWith = (code: ErrorCode, source: TurnSource) => {
    const driver = new Driver()
    driver.submit('go', { source, completionKeys: ['k'], automation: { name: 'Nightly' } })
    driver.report({ type: 'running' })
    driver.report({ type: 'failed', error: { code, message: 'No.', provider: 'far', retryAt: 9_000 } })
    return driver.effects.flatMap((effect) => (effect.do === 'providerRefused' ? [effect.refused] : []))
  }

  test('A-110 A-112 only what a person mends pauses it, and only a turn that started by itself does; limits, time-outs and the network do not', () => {
    for (const code of [
      'provider.auth_missing',
      'provider.auth_invalid',
      'provider.credentials_exhausted',
      'provider.quota_exhausted',
    ] as const) {
      expect(failedWith(code, 'schedule')).toEqual([{ provider: 'far', code, retryAt: 9_000 }])
      expect(failedWith(code, 'person')).toEqual([])
    }
    for (const code of [
      'provider.rate_limited',
      'provider.unavailable',
      'provider.unreachable',
      'provider.stream_stalled',
      'provider.local_server_off',
      'provider.no_response',
    ] as const)
      expect(failedWith(code, 'schedule')).toEqual([])
  })

  test('A-111 whichever turn completes, who served it is named', () => {
    const driver = new Driver()
    driver.running()
    driver.report({ type: 'mayEnd', ending: 'answer' })
    expect(driver.effects).toContainEqual({ do: 'providerAnswered', provider: 'lab' })
  })
})
