import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { Forks } from './forks.ts'
import { Rewinds } from './rewinds.ts'
import { asks, calls, hangs, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

function forksOf(bench: TestWorkbench, entries: Entry[] = []): Forks {
  return new Forks({
    sessions: bench.sessions,
    storage: bench.storage,
    entryChanged: (entry) => entries.push(entry),
    environment: () => ({ now: Date.now(), newId, settings: bench.settings, rules: [] }),
  })
}

const plan = (text: string) => ({
  emit: [{ call: { name: 'update_plan', args: { entries: [{ id: 'a', text, state: 'active' }] } } }],
})

async function twoTurns(bench: TestWorkbench) {
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'ask one'))
  await window.settled(await bench.start(actor, 'ask two'))
  return { actor, window }
}

const script = [plan('first plan'), says('answer one'), plan('later plan'), says('answer two'), says('answer three')]
const said = (items: readonly { kind: string; text?: string }[]) => items.flatMap((item) => item.text ?? [])

describe('a fork', () => {
  test('S-73 S-74 S-77 holds what led to an entry, under new ids, with a mark and nothing that belongs to its source', async () => {
    const bench = await scene.workbench(script)
    const { actor, window } = await twoTurns(bench)
    await bench.sessions.command(actor.id, { type: 'pin', pinned: true })
    await bench.sessions.command(actor.id, { type: 'rename', title: 'Cart' })
    await bench.sessions.command(actor.id, { type: 'followUp.add', text: 'later', attachments: [] })
    const answer = window.itemsOf('text')[0]!
    const entries: Entry[] = []
    const { id } = await forksOf(bench, entries).fork(actor.id, { at: answer.id })
    const fork = await bench.sessions.open(id)

    expect(said(fork.items)).toEqual(['ask one', 'answer one'])
    expect(fork.items.at(-1)).toMatchObject({
      kind: 'fork',
      from: { sessionId: actor.id, itemId: answer.id, title: 'Cart' },
    })
    const source = window.items
    for (const item of fork.items.slice(0, -1)) {
      expect(source.some((one) => one.id === item.copiedFrom)).toBe(true)
      expect(source.some((one) => one.id === item.id)).toBe(false)
    }
    expect(fork.turns).toHaveLength(1)
    expect(fork.turns[0]).toMatchObject({ userItemId: fork.items[0]!.id, outcome: 'completed', usage: { total: null } })
    expect(fork.header).toMatchObject({
      title: 'Cart (fork)',
      titleSource: 'generated',
      forkOf: { sessionId: actor.id, itemId: answer.id },
      plan: { entries: [{ text: 'first plan' }] },
      itemCount: fork.items.filter((item) => item.visible).length,
      lastTurnId: fork.turns[0]!.id,
      pinnedAt: null,
      automaticHeld: null,
      queue: { followUps: [], paused: null },
    })
    expect(fork.header.usage.total).toBeNull()
    expect(entries).toMatchObject([{ id, preview: 'answer one', title: 'Cart (fork)' }])
    expect((await forksOf(bench).fork(actor.id, { title: ' Another  way ' })).title).toBe('Another way')
  })

  test('SA-17 S-75 the first request of a fork holds nothing of what came after its point', async () => {
    const bench = await scene.workbench(script)
    const { actor, window } = await twoTurns(bench)
    const { id } = await forksOf(bench).fork(actor.id, { at: window.itemsOf('user')[1]!.id, side: 'before' })
    const fork = await bench.sessions.actor(id)
    const other = await bench.follow(fork)
    await other.settled(await bench.start(fork, 'ask otherwise'))
    const body = JSON.stringify(scene.server.asked().at(-1)?.body)
    expect(body).toContain('answer one')
    expect(body).toContain('ask otherwise')
    expect(body).not.toContain('ask two')
    expect(body).not.toContain('later plan')
    expect(said((await bench.sessions.open(actor.id)).items)).not.toContain('ask otherwise')
  })

  test('SA-18 S-76 inside a step only calls with results are sent; what had not ended is cancelled', async () => {
    const bench = await scene.workbench([calls('a', 'b', 'c'), says('done'), says('answer')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'ask')
    for (const name of ['a', 'b', 'c']) await bench.tools.running(name)
    ;(await bench.tools.running('a')).finish()
    ;(await bench.tools.running('c')).finish()
    const ended = (name: string) => window.itemsOf('tool').find((item) => item.title === name && item.endedAt !== null)
    await window.until(() => ended('a') && ended('c'))
    const running = window.itemsOf('tool').find((item) => item.title === 'b')!
    expect(await refusal(forksOf(bench).fork(actor.id, { at: running.id }))).toBe('fork.not_settled')

    const { id } = await forksOf(bench).fork(actor.id, { at: ended('c')!.id })
    ;(await bench.tools.running('b')).finish()
    await window.settled(turnId)
    const fork = await bench.sessions.actor(id)
    const other = await bench.follow(fork)
    expect(other.view.turn).toBeNull()
    expect(other.itemsOf('tool').map(({ title, state }) => [title, state])).toEqual([
      ['a', 'ok'],
      ['b', 'cancelled'],
      ['c', 'ok'],
    ])
    await other.settled(await bench.start(fork, 'go on'))
    const { messages } = scene.server.asked().at(-1)!.body as { messages: { role: string; tool_calls?: unknown[] }[] }
    expect(messages.flatMap((message) => message.tool_calls ?? [])).toHaveLength(2)
    expect(messages.filter((message) => message.role === 'tool')).toHaveLength(2)
  })

  test('SA-18 S-77 is whole or not at all', async () => {
    const bench = await scene.workbench(script)
    const { actor } = await twoTurns(bench)
    const before = await bench.storage.entries({ limit: 10 })
    scene.faults.failCommits(1)
    expect(await refusal(forksOf(bench).fork(actor.id, {}))).toBe('storage.failed')
    expect(await bench.storage.entries({ limit: 10 })).toEqual(before)
  })

  test('S-78 T-143 touches no file and starts without the grants of its source', async () => {
    const bench = await scene.workbench([asks('guarded'), says('done'), asks('guarded'), says('done')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'go')
    const { head } = (await window.until(({ approvals }) => approvals.head)).approvals
    await bench.sessions.command(actor.id, {
      type: 'approval.answer',
      approvalId: head!.id,
      argsHash: head!.request.argsHash,
      decision: 'session',
      scope: 'workspace',
    })
    ;(await bench.tools.running('guarded')).finish()
    await window.settled(turnId)
    const before = await readdir(bench.workspace)
    const { id } = await forksOf(bench).fork(actor.id, {})
    expect(await readdir(bench.workspace)).toEqual(before)
    const fork = await bench.sessions.actor(id)
    const other = await bench.follow(fork)
    const forkTurn = await bench.start(fork, 'again')
    expect((await other.until(({ approvals }) => approvals.head)).approvals.depth).toBe(1)
    await bench.sessions.command(id, { type: 'stop', turnId: forkTurn, reason: 'person' })
    await other.settled(forkTurn)
  })

  test('S-73 a foreign entry is no point, and an unsent session has none', async () => {
    const bench = await scene.workbench(script)
    const { actor } = await twoTurns(bench)
    expect(await refusal(forksOf(bench).fork(actor.id, { at: 'nowhere' }))).toBe('fork.bad_point')
    expect(await refusal(forksOf(bench).fork(bench.create().id, {}))).toBe('fork.bad_point')
  })

  test('S-81 what was set aside can be forked as it was', async () => {
    const bench = await scene.workbench(script)
    const { actor, window } = await twoTurns(bench)
    const rewinds = new Rewinds({ ...bench, now: Date.now })
    const [, second] = window.itemsOf('user')
    const last = window.itemsOf('text').at(-1)!
    await rewinds.rewind(actor.id, second!.id, null)
    const { id } = await forksOf(bench).fork(actor.id, { at: last.id })
    const fork = await bench.sessions.open(id)
    expect(said(fork.items)).toEqual(['ask one', 'answer one', 'ask two', 'answer two'])
    expect(fork.items.every((item) => item.visible)).toBe(true)
  })

  test('S-99 is found by what it holds', async () => {
    const bench = await scene.workbench(script)
    const { actor } = await twoTurns(bench)
    const { id } = await forksOf(bench).fork(actor.id, {})
    for (;;) {
      const { hits, partial } = await bench.storage.search('answer', 20)
      if (partial) continue
      expect(hits.filter((hit) => hit.sessionId === id)).toHaveLength(2)
      break
    }
  })
})

test('a turn that still runs goes on in its own session alone', async () => {
  const bench = await scene.workbench([says('answer'), hangs('half')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'ask'))
  const turnId = await bench.start(actor, 'again')
  await window.until(({ items }) => items.some((item) => item.kind === 'text' && item.text === 'half'))
  const { id } = await forksOf(bench).fork(actor.id, { at: window.itemsOf('user')[1]!.id })
  const fork = await bench.sessions.open(id)
  expect(fork.header.currentTurnId).toBeNull()
  expect(fork.turns.map((turn) => turn.outcome)).toEqual(['completed', 'interrupted'])
  expect(window.view.header.currentTurnId).toBe(turnId)
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
})
