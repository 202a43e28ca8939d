import { expect, test } from 'vitest'
import { foldEvent } from '../../preload/contract/fold.ts'
import { Decision } from './decision.ts'
import { endLostExecSessions } from './exec-sessions.ts'
import { Driver } from './test-driver.ts'

const session = {
  owner: 'agent' as const,
  preview: 'npm run dev',
  folder: '.',
  startedAt: 1,
  tty: true,
  itemId: 'tool',
}

function start(
  driver: Driver,
  more: Partial<Omit<typeof session, 'owner'>> & { owner?: 'agent' | 'person' } = {},
): string {
  return driver.command({ type: 'exec.started', session: { ...session, ...more } }).id
}

function end(driver: Driver, id: string, told = true): void {
  driver.command({
    type: 'exec.ended',
    id,
    end: { at: 2, reason: 'exited', exitCode: 3, signal: null },
    notice: told ? { text: `${id} ended`, prompt: `The process ${id} ended with exit code 3` } : null,
  })
}

const sessions = (driver: Driver) => driver.state.view.execSessions
const notices = (driver: Driver) => driver.state.view.items.filter((item) => item.kind === 'notice')

/** The first request of a new turn: what it is given besides the message. */
function asked(driver: Driver, text: string): string[] {
  driver.submit(text)
  driver.report({ type: 'running' })
  return driver.report({ type: 'boundary' }).notices ?? []
}

function fails(driver: Driver): void {
  driver.report({ type: 'failed', error: { code: 'provider.unreachable', message: 'gone' } })
}

function answers(driver: Driver): void {
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
}

test('X-401 numbers count up, are never given again, and windows see each change whole', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'npm run dev')
  expect(start(driver)).toBe('x1')
  end(driver, 'x1')
  expect(start(driver)).toBe('x2')
  expect(sessions(driver)).toMatchObject([
    { id: 'x1', state: 'ended', end: { exitCode: 3 } },
    { id: 'x2', state: 'running', turnId: driver.state.turn!.id },
  ])
})

test('X-401 a number is not given again when those that ended are forgotten', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'npm run dev')
  for (let count = 1; count <= 70; count++) {
    expect(start(driver)).toBe(`x${count}`)
    end(driver, `x${count}`)
  }
  expect(sessions(driver).length).toBeLessThan(70)
})

test('X-601 X-602 X-604 X-605 XA-26 CA-9 an end is told with the next request, again where that failed, then never more', () => {
  const driver = new Driver('all')
  start(driver)
  end(driver, 'x1')
  expect(asked(driver, 'one')).toEqual(['The process x1 ended with exit code 3'])
  fails(driver)
  expect(notices(driver).map((item) => item.contextual)).toEqual([false])
  expect(asked(driver, 'two')).toEqual(['The process x1 ended with exit code 3'])
  answers(driver)
  expect(asked(driver, 'three')).toEqual([])
  // In the second turn's place, and there only.
  const held = notices(driver).filter((item) => item.contextual)
  expect(held).toMatchObject([
    { turnId: driver.state.view.turns[1]!.id, prompt: 'The process x1 ended with exit code 3' },
  ])
})

test('X-602 an end that a recorded result told makes no notice, nor does one of a person’s command', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'exec_session')
  start(driver)
  end(driver, 'x1')
  driver.report({
    type: 'toolEnded',
    itemId: 'tool',
    end: { state: 'ok', summary: 'ended', view: null, durationMs: 1, toldEndOf: 'x1' },
    changes: [],
  })
  start(driver, { owner: 'person' })
  end(driver, 'x2', false)
  expect(driver.report({ type: 'boundary' }).notices).toEqual([])
})

test('X-606 at most twenty are given in a turn, the oldest first', () => {
  const driver = new Driver('all')
  for (let at = 1; at <= 25; at++) end(driver, start(driver))
  const first = asked(driver, 'one')
  expect(first).toHaveLength(20)
  expect(first[0]).toContain('x1 ')
  driver.report({ type: 'stream', channel: 'text', add: 'Well.' })
  expect(driver.report({ type: 'boundary' }).notices).toEqual([])
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(asked(driver, 'two')).toHaveLength(5)
})

test('X-428 T-152 a process asks outside of any turn; the answer goes to it alone and is stored nowhere', () => {
  const driver = new Driver('all')
  start(driver)
  driver.command({ type: 'exec.asks', id: 'x1', prompt: 'Password:' })
  const { head } = driver.state.view.questions
  expect(head).toMatchObject({ ask: 'secret', execId: 'x1', turnId: null, state: 'open' })
  expect(sessions(driver)[0]!.questionId).toBe(head!.id)
  driver.command({
    type: 'question.answer',
    questionId: head!.id,
    choices: [],
    text: null,
    secret: 's3cr',
    declined: false,
  })
  expect(driver.effects).toContainEqual({ do: 'execSecret', execId: 'x1', secret: 's3cr' })
  expect(driver.state.view.questions).toEqual({ head: null, depth: 0 })
  expect(JSON.stringify([driver.journal, driver.state.view, driver.state.hidden])).not.toContain('s3cr')
})

test('X-428 T-152 a question of a process outlives the turn it came in, and goes with the process', () => {
  const driver = new Driver('all')
  driver.running()
  start(driver)
  driver.command({ type: 'exec.asks', id: 'x1', prompt: 'PIN:' })
  answers(driver)
  expect(driver.state.view.questions.depth).toBe(1)
  end(driver, 'x1')
  expect(driver.state.view.questions).toEqual({ head: null, depth: 0 })
})

test('X-215 what a crash left on record is lost: named once to the person, told to the agent', () => {
  const driver = new Driver('all')
  start(driver)
  start(driver, { owner: 'person', preview: 'htop' })
  const decision = new Decision(driver.state, driver.environment)
  endLostExecSessions(decision)
  expect(decision.state.view.execSessions.map((one) => one.end?.reason)).toEqual(['lost', 'lost'])
  expect(decision.state.hidden.notices.map((one) => one.id)).toEqual(['x1'])
  expect(decision.state.view.items.at(-1)).toMatchObject({ kind: 'notice', text: expect.stringContaining('x2 (htop)') })
})

test('X-208 what could not be ended is named to the person in a warning', () => {
  const driver = new Driver('all')
  driver.running()
  driver.command({ type: 'exec.unreaped', preview: 'npm run dev', pids: [17, 4_711] })
  expect(notices(driver)).toMatchObject([
    { level: 'warning', text: expect.stringContaining('Processes 17, 4711 could not be ended (npm run dev)') },
  ])
})

test('T-48 T-201 exec.changed folds to what was decided', () => {
  const driver = new Driver('all')
  const before = driver.state.view
  start(driver)
  driver.command({ type: 'exec.changed', id: 'x1', set: { held: true } })
  const folded = driver.journal.reduce(foldEvent, before)
  expect(folded.execSessions).toEqual(sessions(driver))
  expect(folded.execSessions[0]!.held).toBe(true)
})
