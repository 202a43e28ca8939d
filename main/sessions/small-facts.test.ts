import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Step } from '../../e2e/model-server/server.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { Decision } from '../turns/decision.ts'
import { clearNotice, expireNotices, setNotice } from '../turns/notices.ts'
import { newSession } from '../turns/state.ts'
import { SessionClock } from './session-clock.ts'
import { refusal, says, testScene } from './test-scene.ts'
import { modelOfTurn } from './turn-choice.ts'

const scene = testScene()

afterEach(() => void vi.useRealTimers())

function decisionAt(now: number, before?: Decision): Decision {
  const unsent = {
    id: 's',
    journalId: 'j',
    workspace: '/w',
    model: null,
    effort: null,
    approvalMode: 'ask' as const,
    now,
  }
  return new Decision(before?.state ?? newSession(unsent), { now, newId, settings: defaultSettings, rules: [] })
}

describe('notices', () => {
  test('T-84 the same key replaces, the newest 20 stay, texts are cut, and no change is no event', () => {
    const decision = decisionAt(1_000)
    for (let at = 0; at < 25; at++) setNotice(decision, { key: `key ${at}`, level: 'info', text: 'x'.repeat(600) })
    expect(decision.header.notices).toHaveLength(20)
    expect(decision.header.notices[0]).toMatchObject({ key: 'key 5', text: 'x'.repeat(500) })
    setNotice(decision, { key: 'key 24', level: 'warning', text: 'other' })
    expect(decision.header.notices.at(-1)).toMatchObject({ key: 'key 24', level: 'warning', text: 'other' })
    expect(decision.header.notices).toHaveLength(20)
    const told = decision.events.length
    setNotice(decision, { key: 'key 24', level: 'warning', text: 'other' })
    clearNotice(decision, 'unknown')
    expect(decision.events).toHaveLength(told)
    clearNotice(decision, 'key 24')
    expect(decision.events.at(-1)).toMatchObject({ type: 'notices.changed' })
    expect(decision.header.notices).toHaveLength(19)
  })

  test('T-85 an expiry that comes too early changes nothing and says when to look again', () => {
    const set = decisionAt(1_000)
    setNotice(set, { key: 'a', level: 'info', text: 'a', expiresAt: 5_000 })
    setNotice(set, { key: 'b', level: 'info', text: 'b', expiresAt: 9_000 })
    expect(set.effects.at(-1)).toEqual({ do: 'noticesExpire', at: 5_000 })
    const early = decisionAt(4_999, set)
    expireNotices(early)
    expect(early.events).toEqual([])
    expect(early.effects).toEqual([{ do: 'noticesExpire', at: 5_000 }])
    const due = decisionAt(5_000, set)
    expireNotices(due)
    expect(due.header.notices.map(({ key }) => key)).toEqual(['b'])
    expect(due.effects).toContainEqual({ do: 'noticesExpire', at: 9_000 })
  })

  test('T-85 a wait longer than a timer is cut, a newer end replaces the older one, and nothing keeps the process alive', () => {
    vi.useFakeTimers()
    const expired: string[] = []
    const clock = new SessionClock((id) => expired.push(id), Date.now)
    clock.arm('far', Date.now() + 2 ** 32)
    clock.arm('near', Date.now() + 10_000)
    clock.arm('near', Date.now() + 1_000)
    vi.advanceTimersByTime(1_000)
    expect(expired).toEqual(['near'])
    vi.advanceTimersByTime(2 ** 31 - 1 - 1_000)
    expect(expired).toEqual(['near', 'far'])
    clock.stop()
    vi.useRealTimers()
    const set = vi.spyOn(globalThis, 'setTimeout')
    clock.arm('real', Date.now() + 60_000)
    expect((set.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef()).toBe(false)
    set.mockRestore()
    clock.stop()
  })
})

describe('M-25 T-86 a chosen model that is no longer configured', () => {
  const choose = (name: string | null) => {
    if (name === 'gone') throw new LatheError('model.unknown', 'There is no such model.')
    if (name === 'broken') throw new LatheError('config.invalid', 'Its preset is damaged.')
    return name ?? 'default'
  }
  test.each([
    [undefined, null, { model: 'default' }],
    [undefined, 'chosen', { model: 'chosen' }],
    ['asked', 'gone', { model: 'asked' }],
    [undefined, 'gone', { model: 'default', replaced: 'gone' }],
  ])('asked %s, chosen %s', (asked, chosen, model) => {
    expect(modelOfTurn(choose, asked, chosen)).toEqual(model)
  })
  test('a wish that fails, and any other fault, is an error', () => {
    expect(() => modelOfTurn(choose, 'gone', null)).toThrow('no such model')
    expect(() => modelOfTurn(choose, undefined, 'broken')).toThrow('damaged')
  })

  test('MA-8 the default answers, the choice is cleared in that admission, one notice names both', async () => {
    const bench = await scene.workbench([says('hello'), says('again')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'first'))
    await bench.sessions.command(actor.id, { type: 'settings', model: 'gone/model' })
    await window.settled(await bench.start(actor, 'second'))
    expect(window.view.header.model).toBeNull()
    expect(window.itemsOf('notice')).toMatchObject([
      { text: 'gone/model is no longer configured; lab/scripted answers instead.' },
    ])
    expect(window.view.turns.at(-1)).toMatchObject({ model: 'lab/scripted', outcome: 'completed' })
  })
})

test('T-149 typing restarts the count of a question, told at most once a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], shouldAdvanceTime: true })
  const asks: Step = { emit: [{ call: { name: 'ask_person', args: { question: 'Which?' } } }] }
  const bench = await scene.workbench([asks, says('done')])
  bench.settings['questions.timeoutSeconds'] = 120
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'go')
  const first = (await window.until(({ questions }) => questions.head)).questions.head!
  await vi.advanceTimersByTimeAsync(119_000)
  const touch = () => bench.sessions.command(actor.id, { type: 'question.touched', questionId: first.id })
  await touch()
  const again = (await window.until(({ questions }) => questions.head!.expiresAt !== first.expiresAt)).questions.head!
  expect(again.expiresAt! - first.expiresAt!).toBeGreaterThanOrEqual(119_000)
  const told = window.of('item.patch').length
  await touch()
  expect(window.of('item.patch')).toHaveLength(told)
  await vi.advanceTimersByTimeAsync(119_000)
  expect(window.itemsOf('question')[0]!.state).toBe('open')
  await vi.advanceTimersByTimeAsync(2_000)
  await window.settled(turnId)
  expect(window.itemsOf('question')[0]!.state).toBe('expired')
})

describe('S-21 deletion', () => {
  test('SA-16 what was deleted is listed and comes back; for good it is gone, and nothing brings it back', async () => {
    const bench = await scene.workbench([says('hello'), says('hello')])
    const made = []
    for (const text of ['first', 'second']) {
      const actor = bench.create()
      const window = await bench.follow(actor)
      await window.settled(await bench.start(actor, text))
      window.stop()
      made.push(actor)
    }
    const [one, two] = made as [(typeof made)[0], (typeof made)[0]]
    for (const { id } of made) await bench.sessions.delete(id)
    expect((await bench.storage.deletedEntries(10)).map(({ entry }) => entry.title)).toEqual(['second', 'first'])
    await bench.sessions.command(one.id, { type: 'restore' })
    expect((await bench.storage.entries({ limit: 10 })).entries.map(({ id }) => id)).toEqual([one.id])
    await bench.sessions.purge(two.id)
    expect(await bench.storage.deletedEntries(10)).toEqual([])
    expect(await refusal(bench.sessions.open(two.id))).toBe('session.deleted')
    // S-22: a late writer is refused.
    expect(await refusal(two.command({ type: 'restore' }))).toBe('session.deleted')
    expect(await refusal(bench.sessions.open(two.id))).toBe('session.deleted')
  })
})

test('S-10 the numbers of a provider are kept as it gave them, each session has its own, and a restart shows them', async () => {
  const usage = { input: 120, output: 8, total: 175 }
  const first = await scene.workbench([
    { emit: [{ text: 'One.' }], usage },
    { emit: [{ text: 'Two.' }], usage: { input: 3, output: 4, total: 7 } },
  ])
  const actors = [first.create(), first.create()]
  for (const actor of actors) {
    const window = await first.follow(actor)
    await window.settled(await first.start(actor, 'count'))
  }
  const second = await scene.restarted(first)
  const [one, two] = await Promise.all(actors.map(({ id }) => second.sessions.open(id)))
  expect(one!.header.lastUsage).toMatchObject(usage)
  expect(one!.header.usage).toMatchObject(usage)
  expect(two!.header.lastUsage).toMatchObject({ input: 3, output: 4, total: 7 })
})
