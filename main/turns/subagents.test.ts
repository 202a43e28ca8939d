import { expect, test } from 'vitest'
import type { ItemOf } from '../../preload/contract/items.ts'
import { foldEvent, noUsage } from '../../preload/contract/fold.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { nextStart } from './automatic.ts'
import { Decision } from './decision.ts'
import { endLostSubagents, type SubagentEnd } from './subagents.ts'
import { askOf, Driver, refusedWith } from './test-driver.ts'

const card = (driver: Driver, id: string) =>
  driver.state.view.items.find((item) => item.id === id) as ItemOf<'subagent'>

function spawn(driver: Driver, itemId: string, background = false, turnId = driver.state.turn?.id ?? 'none'): void {
  driver.command({
    type: 'subagent.spawn',
    itemId,
    turnId,
    toolItemId: `call-${itemId}`,
    task: 'look',
    label: itemId,
    background,
    model: 'lab/scripted',
  })
}
const done = (more: Partial<SubagentEnd> = {}): SubagentEnd => ({
  phase: 'done',
  steps: 1,
  usage: noUsage,
  actions: [],
  told: 'All is well.',
  ...more,
})
const used = (input: number) => ({ ...noUsage, input })
const context = { used: null, window: null, compactAt: null, estimated: false, model: null }

/** A session whose subagent in the background outlives the turn that asked for it. */
function outlived(driver: Driver): string {
  const turnId = driver.running()
  spawn(driver, 'a', true)
  driver.report({ type: 'mayEnd', ending: 'answer' })
  driver.command({ type: 'subagent.waited', turnId })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  return turnId
}

test('T-42 the wait of a turn that would end is 300 s in all, counted from the first; after it the turn ends', () => {
  const driver = new Driver()
  const turnId = driver.running()
  spawn(driver, 'a', true)
  spawn(driver, 'b', true)
  expect(driver.report({ type: 'mayEnd', ending: 'answer' })).toMatchObject({ ended: false, waits: true })
  expect(driver.effects).toContainEqual({ do: 'endWait', turnId, ms: 300_000 })
  expect(driver.state.view.turn?.status).toEqual({ kind: 'subagents', count: 2 })
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done() })
  expect(driver.effects).toContainEqual({ do: 'release', ticket: 'end', answer: { run: true } })
  expect(driver.report({ type: 'mayEnd', ending: 'answer' }).notices).toHaveLength(1)
  // A second wait has what the first left.
  expect(driver.report({ type: 'mayEnd', ending: 'answer' })).toMatchObject({ waits: true })
  expect(driver.effects.map((effect) => effect.do)).not.toContain('endWait')
  driver.command({ type: 'subagent.waited', turnId })
  expect(driver.effects).toContainEqual({ do: 'release', ticket: 'end', answer: { run: true } })
  expect(driver.report({ type: 'mayEnd', ending: 'answer' })).toMatchObject({ ended: true })
  expect(driver.state.view.turns[0]).toMatchObject({ outcome: 'completed' })
  expect(card(driver, 'b')).toMatchObject({ phase: 'starting', endedAt: null })
})

test('C-100 A-69 what comes after the turn waits two seconds for its like, and starts one turn under the ids of the cards', () => {
  const driver = new Driver()
  outlived(driver)
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done() })
  expect(driver.effects).toContainEqual({ do: 'next' })
  expect(driver.state.hidden.notices).toMatchObject([{ about: 'subagent', id: 'a', itemId: null }])
  const { wakesAt } = driver.state.hidden.notices[0]!
  expect(nextStart(driver.state, wakesAt! + 1_999)).toEqual({ start: 'later', at: wakesAt! + 2_000 })
  expect(nextStart(driver.state, wakesAt! + 2_000)).toMatchObject({
    start: 'automatic',
    request: { source: 'subagent', automation: { name: 'subagent “a”' }, completionKeys: ['subagent:a'] },
  })
  // Stopped by a person it wakes nobody, and is still told.
  driver.running('again')
  driver.report({ type: 'boundary' })
  driver.report({ type: 'stream', channel: 'text', add: 'I see.' })
  spawn(driver, 'b', true)
  driver.command({ type: 'subagent.ended', itemId: 'b', end: done({ phase: 'stopped' }) })
  expect(driver.state.hidden.notices).toMatchObject([{ id: 'b' }])
  expect(driver.state.hidden.notices[0]).not.toHaveProperty('wakesAt')
})

test('T-42 X-606 a turn tells of no more than twenty results; it ends, and the others start the next one', () => {
  const driver = new Driver()
  driver.running()
  for (let n = 1; n <= 21; n++) {
    spawn(driver, `card-${n}`, true)
    driver.command({ type: 'subagent.ended', itemId: `card-${n}`, end: done() })
  }
  expect(driver.report({ type: 'mayEnd', ending: 'answer' }).notices).toHaveLength(20)
  driver.report({ type: 'stream', channel: 'text', add: 'I see.' })
  expect(driver.report({ type: 'mayEnd', ending: 'answer' })).toMatchObject({ ended: true })
  expect(nextStart(driver.state, Number.MAX_SAFE_INTEGER)).toMatchObject({
    request: { completionKeys: ['subagent:card-21'] },
  })
})

test('C-96 a card passes through its phases one by one, and its end is final', () => {
  const driver = new Driver()
  driver.running()
  spawn(driver, 'a')
  const progress = { steps: 1, usage: noUsage, actions: ['Read a.ts'], phase: 'tools' as const }
  driver.command({ type: 'subagent.changed', itemId: 'a', progress })
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done() })
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done({ phase: 'failed' }) })
  driver.command({ type: 'subagent.changed', itemId: 'a', progress })
  const seen = driver.journal.flatMap((event) => {
    if (event.type === 'item.put' && event.item.id === 'a' && event.item.kind === 'subagent') return [event.item.phase]
    return event.type === 'item.patch' && event.itemId === 'a' && event.set.phase ? [event.set.phase] : []
  })
  expect(seen).toEqual(['starting', 'model', 'tools', 'model', 'done'])
  expect(driver.journal.reduce(foldEvent, driver.empty).items).toEqual(driver.state.view.items)
})

test('C-96 those that wait start in the order they were asked for, each as a place is free', () => {
  const driver = new Driver('ask', { ...defaultSettings, 'subagents.max': 1 })
  driver.running()
  for (const id of ['a', 'b', 'c']) spawn(driver, id)
  expect(['a', 'b', 'c'].map((id) => card(driver, id).phase)).toEqual(['starting', 'queued', 'queued'])
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done() })
  expect(driver.effects).toContainEqual({ do: 'startSubagent', itemId: 'b' })
  expect(['b', 'c'].map((id) => card(driver, id).phase)).toEqual(['starting', 'queued'])
})

test('C-96 a subagent that waits is nowhere yet, whatever is said of it', () => {
  const driver = new Driver('ask', { ...defaultSettings, 'subagents.max': 1 })
  driver.running()
  for (const id of ['a', 'b']) spawn(driver, id)
  driver.command({
    type: 'subagent.changed',
    itemId: 'b',
    progress: { steps: 1, usage: noUsage, actions: [], phase: 'model' },
  })
  expect(card(driver, 'b').phase).toBe('queued')
})

test('C-102 T-96 a stopped turn settles once its worker and each of its subagents have come to rest', () => {
  const driver = new Driver()
  const turnId = driver.running()
  spawn(driver, 'a')
  spawn(driver, 'b', true)
  driver.command({ type: 'stop', turnId, reason: 'person' })
  const stopped = driver.effects.flatMap((effect) => (effect.do === 'stopSubagent' ? [effect.itemId] : []))
  expect(stopped).toEqual(['a', 'b'])
  driver.report({ type: 'unwound' }, turnId)
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done({ phase: 'stopped' }) })
  expect(driver.state.turn).not.toBeNull()
  driver.command({ type: 'subagent.ended', itemId: 'b', end: done({ phase: 'stopped' }) })
  expect(driver.state.view.turns[0]).toMatchObject({ outcome: 'stopped', reason: 'person' })
  expect(refusedWith(() => spawn(driver, 'late'))).toBe('tool.failed')
})

test('C-102 T-110 a subagent that does not come to rest holds its parent no longer than its own time, and ends with it', () => {
  const driver = new Driver()
  const turnId = driver.running()
  spawn(driver, 'deaf')
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.report({ type: 'drainExpired' }, turnId)
  expect(driver.effects).toContainEqual({ do: 'drain', turnId, ms: 5_000 })
  driver.report({ type: 'unwound' }, turnId)
  expect(driver.state.turn).not.toBeNull()
  driver.report({ type: 'drainExpired' }, turnId)
  expect(driver.state.view.turns[0]).toMatchObject({ outcome: 'stopped' })
  expect(card(driver, 'deaf')).toMatchObject({ phase: 'stopped', status: 'final' })
})

test('C-105 its usage is in the turn’s and the session’s sums whoever reports last, and after the turn in the session’s', () => {
  const driver = new Driver()
  const turnId = driver.running()
  spawn(driver, 'a', true)
  const progress = { steps: 1, actions: [], phase: 'model' as const }
  driver.report({ type: 'usage', turn: used(10), context, rate: null })
  driver.command({ type: 'subagent.changed', itemId: 'a', progress: { ...progress, usage: used(100) } })
  expect(driver.state.view.turn?.usage.input).toBe(110)
  driver.report({ type: 'usage', turn: used(20), context, rate: null })
  expect(driver.state.view.turn?.usage.input).toBe(120)
  driver.report({ type: 'mayEnd', ending: 'answer' })
  driver.command({ type: 'subagent.waited', turnId })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(driver.state.view.turns[0]!.usage.input).toBe(120)
  driver.command({ type: 'subagent.changed', itemId: 'a', progress: { ...progress, usage: used(150) } })
  expect(driver.state.view.header.usage.input).toBe(170)
  // Not twice where another turn runs by then.
  driver.running('again')
  driver.report({ type: 'usage', turn: used(5), context, rate: null })
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done({ usage: used(160) }) })
  expect(driver.state.view.turn?.usage.input).toBe(5)
  expect(driver.state.view.header.usage.input).toBe(185)
  expect(driver.state.view.header.context.used).toBeNull()
})

/** The person takes the session back to before its first message. */
function goBack(driver: Driver): void {
  const { pos } = driver.state.view.items[0]!
  driver.command({
    type: 'rewind',
    seq: driver.state.view.header.lastSeq,
    point: { kind: 'user', pos, live: false, before: 0, items: 2, turns: 1, lastTurn: null, plan: null },
    ending: { items: [], before: 0, after: 0, turns: [], changes: [] },
    message: null,
    withFiles: false,
  })
}

test('S-81 A-106 what came of a subagent that is set aside waits for nobody any more', () => {
  const driver = new Driver()
  const turnId = outlived(driver)
  driver.command({ type: 'stop', turnId, reason: 'person' })
  driver.command({ type: 'subagent.ended', itemId: 'a', end: done() })
  expect(driver.state.view.header.automaticHeld).toMatchObject({ waiting: 1 })
  goBack(driver)
  expect(driver.state.view.header.automaticHeld).toMatchObject({ waiting: 0 })
})

test('S-81 going back to before it ends a subagent in the background, and nothing of it is told', () => {
  const driver = new Driver()
  outlived(driver)
  goBack(driver)
  expect(driver.effects).toContainEqual({ do: 'stopSubagent', itemId: 'a', reason: 'withdrawn' })
  expect(driver.state.hidden.notices).toEqual([])
  expect(driver.state.view.items.map(({ kind }) => kind)).toEqual(['rewind'])
})

test('T-5 a call of an earlier turn that has not noticed its end asks for no subagent in the turn that runs now', () => {
  const driver = new Driver()
  const earlier = driver.running()
  driver.report({ type: 'mayEnd', ending: 'answer' })
  driver.running('again')
  expect(refusedWith(() => spawn(driver, 'late', true, earlier))).toBe('tool.failed')
  expect(card(driver, 'late')).toBeUndefined()
})

test('C-104 C-102 while a turn yields, a subagent of an earlier one may still ask', () => {
  const driver = new Driver()
  outlived(driver)
  const turnId = driver.running('again')
  driver.command({ type: 'stop', turnId, reason: 'yielded' })
  driver.command({ type: 'subagent.asks', itemId: 'a', ask: askOf('question', 'asked') })
  expect(driver.state.view.questions).toMatchObject({ depth: 1, head: { id: 'asked', origin: 'a' } })
  driver.report({ type: 'unwound' }, turnId)
  // Of a person's Stop it is one of those that are stopped.
  const next = driver.running('once more')
  driver.command({ type: 'stop', turnId: next, reason: 'person' })
  driver.command({ type: 'subagent.asks', itemId: 'a', ask: askOf('question', 'later') })
  expect(driver.state.view.questions.depth).toBe(0)
})

test('C-106 C-100 what was lost with its host starts no turn by itself, and is told in the next one', () => {
  const driver = new Driver()
  outlived(driver)
  const decision = new Decision(driver.state, driver.environment)
  endLostSubagents(decision)
  driver.take(decision)
  expect(card(driver, 'a')).toMatchObject({ phase: 'failed', reason: 'interrupted' })
  expect(nextStart(driver.state, Number.MAX_SAFE_INTEGER)).toBeNull()
  driver.running('go on')
  expect(driver.report({ type: 'boundary' }).notices).toHaveLength(1)
})

test('C-95 C-100 a subagent takes no further turn, so its own subagents in the background end with the one it has', () => {
  const driver = new Driver()
  const { view } = driver.state
  const parent = {
    sessionId: 's',
    itemId: 'c',
    turnId: 't',
    label: 'outer',
    depth: 1,
    top: { sessionId: 's', itemId: 'c' },
  }
  driver.state = { ...driver.state, view: { ...view, header: { ...view.header, parent } } }
  driver.submit('task', { source: 'session' })
  driver.report({ type: 'running' })
  spawn(driver, 'inner', true)
  driver.report({ type: 'mayEnd', ending: 'answer' })
  driver.command({ type: 'subagent.waited', turnId: driver.state.turn!.id })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(driver.effects).toContainEqual({ do: 'stopSubagent', itemId: 'inner', reason: 'withdrawn' })
  expect(card(driver, 'inner')).toMatchObject({ phase: 'stopped', status: 'final' })
})
