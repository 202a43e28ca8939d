import { beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import { Rewinds } from './rewinds.ts'
import { calls, hangs, refusal, says, testScene } from './test-scene.ts'
import type { Follower, TestWorkbench } from './test-workbench.ts'
import { wholeItems } from './test-exports.ts'
import type { SessionActor } from './actor.ts'

const scene = testScene()

function rewindsOf(bench: TestWorkbench, now = Date.now): Rewinds {
  return new Rewinds({ sessions: bench.sessions, storage: bench.storage, now })
}

let edits = 0
const edited = (text: string) => ({
  requestId: `edit-${++edits}`,
  text,
  attachments: [],
  attendance: 'attended' as const,
})

const said = (items: readonly Item[]) =>
  items.flatMap((item) => (item.visible && (item.kind === 'user' || item.kind === 'text') ? [item.text] : []))

/** Four settled turns, asked one to four. */
async function fourTurns(bench: TestWorkbench): Promise<{ actor: SessionActor; window: Follower; asked: string[] }> {
  const actor = bench.create()
  const window = await bench.follow(actor)
  for (const text of ['ask one', 'ask two', 'ask three', 'ask four'])
    await window.settled(await bench.start(actor, text))
  return { actor, window, asked: window.itemsOf('user').map((item) => item.id) }
}

const answers = [says('answer one'), says('answer two'), says('answer three'), says('answer four')]

describe('going back', () => {
  let bench: TestWorkbench
  let rewinds: Rewinds
  let actor: SessionActor
  let window: Follower
  let asked: string[]

  beforeEach(async () => {
    bench = await scene.workbench([...answers, says('answer new'), says('answer last')])
    rewinds = rewindsOf(bench)
    ;({ actor, window, asked } = await fourTurns(bench))
  })

  test('SA-19 T-180 S-79 S-81 an edited message replaces what came after it in context, search, export and counts', async () => {
    const { submitted } = await rewinds.rewind(actor.id, asked[2]!, edited('ask new'))
    expect(submitted?.accepted).toBe('started')
    await window.settled(submitted!.accepted === 'started' ? submitted!.turnId : '')

    const remaining = ['ask one', 'answer one', 'ask two', 'answer two', 'ask new', 'answer new']
    expect(said(window.items)).toEqual(remaining)
    expect(said(await wholeItems(bench.storage, actor.id))).toEqual(remaining)
    const [mark] = window.itemsOf('rewind')
    expect(mark).toMatchObject({ items: 4, turns: 2, withFiles: false })
    expect(window.view.header.itemCount).toBe(remaining.length + 1)
    expect(window.view.turns).toHaveLength(3)

    const body = JSON.stringify(scene.server.asked().at(-1)?.body)
    expect(body).toContain('ask two')
    expect(body).not.toContain('ask three')
    expect(body).not.toContain('answer four')

    for (const [query, hits] of [
      ['three', 0],
      ['four', 0],
      ['two', 2],
    ] as const) {
      const found = await indexed(bench, query)
      expect([query, found.length]).toEqual([query, hits])
    }
  })

  test('T-201 a window that opens afterwards, and one after a restart, see what the live one sees', async () => {
    await rewinds.rewind(actor.id, asked[2]!, null)
    await window.event('session.rewound')
    await window.until((view) => view.items.some((item) => item.kind === 'rewind'))
    const live = window.view
    expect(await bench.sessions.open(actor.id)).toEqual(live)
    const again = await scene.restarted(bench)
    const { items, turns, header, changes } = await again.sessions.open(actor.id)
    expect({ items, turns, header, changes }).toEqual({
      items: live.items,
      turns: live.turns,
      header: live.header,
      changes: live.changes,
    })
  })

  test('S-81 what was set aside can be seen, comes back as it was, and is found again', async () => {
    const before = window.view
    const { markItemId } = await rewinds.rewind(actor.id, asked[1]!, null)
    expect(said(await window.until((view) => view.header.itemCount === 3).then((view) => view.items))).toEqual([
      'ask one',
      'answer one',
    ])
    const shown = await rewinds.items(actor.id, markItemId!, null)
    expect(said(shown.items)).toEqual(['ask two', 'answer two', 'ask three', 'answer three', 'ask four', 'answer four'])
    expect(shown.turns).toHaveLength(3)

    await rewinds.restore(actor.id, markItemId!)
    const back = await window.until((view) => view.header.itemCount === before.header.itemCount)
    expect(back.items.filter((item) => item.visible)).toEqual(before.items)
    expect(back.turns).toEqual(before.turns)
    expect(back.header.lastTurnId).toBe(before.header.lastTurnId)
    expect(await indexed(bench, 'three')).toHaveLength(2)
    expect(await refusal(rewinds.restore(actor.id, markItemId!))).toBe('request.invalid')
  })

  test('S-81 it comes back only until something is sent after it', async () => {
    const { markItemId, submitted } = await rewinds.rewind(actor.id, asked[3]!, edited('ask new'))
    await window.settled(submitted!.accepted === 'started' ? submitted!.turnId : '')
    expect(await refusal(rewinds.restore(actor.id, markItemId!))).toBe('request.invalid')
    // Gone back to before that message, it can.
    await rewinds.rewind(actor.id, window.itemsOf('user').at(-1)!.id, null)
    await rewinds.restore(actor.id, markItemId!)
    const view = await window.until(({ items }) => said(items).includes('ask four'))
    expect(said(view.items).slice(-2)).toEqual(['ask four', 'answer four'])
  })

  test('S-81 deleted for good, rows and journal hold none of it', async () => {
    const { markItemId } = await rewinds.rewind(actor.id, asked[2]!, null)
    await rewinds.delete(actor.id, markItemId!)
    await window.until((view) => view.header.itemCount === 4)
    expect((await rewinds.items(actor.id, markItemId!, null)).items).toEqual([])
    const { events, pruned } = await bench.storage.events(actor.id, 0, 1_000)
    expect(pruned).toBe(true)
    expect(JSON.stringify(events)).not.toContain('ask three')
    expect(said(await wholeItems(bench.storage, actor.id))).toEqual(['ask one', 'answer one', 'ask two', 'answer two'])
  })

  test('S-81 after 30 days what was set aside goes', async () => {
    const { markItemId } = await rewinds.rewind(actor.id, asked[2]!, null)
    const day = 24 * 3_600_000
    await rewindsOf(bench, () => Date.now() + 29 * day).expire()
    expect((await rewinds.items(actor.id, markItemId!, null)).items).not.toEqual([])
    await rewindsOf(bench, () => Date.now() + 31 * day).expire()
    expect((await rewinds.items(actor.id, markItemId!, null)).items).toEqual([])
  })

  test('S-16 a rewind that cannot be saved leaves everything as it was', async () => {
    const before = await bench.sessions.open(actor.id)
    scene.faults.failCommits(1)
    expect(await refusal(rewinds.rewind(actor.id, asked[1]!, edited('ask new')))).toBe('storage.failed')
    expect(await bench.sessions.open(actor.id)).toEqual(before)
    expect(said(await wholeItems(bench.storage, actor.id))).toHaveLength(8)
  })

  test('T-13 the same edit sent twice is one turn', async () => {
    const once = edited('ask new')
    const first = await rewinds.rewind(actor.id, asked[2]!, once)
    await window.settled(first.submitted!.accepted === 'started' ? first.submitted!.turnId : '')
    expect((await rewinds.rewind(actor.id, asked[2]!, once)).submitted).toEqual(first.submitted)
    expect(window.itemsOf('rewind')).toHaveLength(1)
  })

  test('a point that is no message of the person, or not there, is refused', async () => {
    const answer = window.itemsOf('text')[0]!
    expect(await refusal(rewinds.rewind(actor.id, answer.id, null))).toBe('request.invalid')
    expect(await refusal(rewinds.rewind(actor.id, 'nowhere', null))).toBe('request.invalid')
  })
})

test('S-82 later plans, recovery and context figures go with what is set aside; queue and grants stay', async () => {
  const plan = (text: string) => ({
    emit: [{ call: { name: 'update_plan', args: { entries: [{ id: 'a', text, state: 'active' }] } } }],
  })
  const bench = await scene.workbench([plan('first plan'), says('one'), plan('later plan'), hangs('two')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'first'))
  await bench.start(actor, 'second')
  await window.until(
    ({ header, items }) => header.plan?.entries[0]?.text === 'later plan' && items.at(-1)?.kind === 'text',
  )
  await bench.submit(actor, 'later', { whenBusy: 'queue' })
  // The host dies in mid turn.
  const again = await scene.restarted(bench, [], true)
  await again.sessions.recoverAll()
  const late = await again.follow(await again.sessions.actor(actor.id))
  expect(late.view.header).toMatchObject({
    recovery: { status: 'awaiting' },
    plan: { entries: [{ text: 'later plan' }] },
  })
  await rewindsOf(again).rewind(actor.id, late.itemsOf('user')[1]!.id, null)
  const { header } = await late.until(({ items }) => items.some((item) => item.kind === 'rewind'))
  expect(header).toMatchObject({
    recovery: null,
    plan: { entries: [{ text: 'first plan' }] },
    context: { used: null },
    queue: { followUps: [{ text: 'later' }] },
    lastOutcome: 'completed',
  })
})

test('T-23 T-178 while a turn runs the transcript is not rewound', async () => {
  const bench = await scene.workbench([says('one'), hangs('two')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'first'))
  const turnId = await bench.start(actor, 'second')
  const first = window.itemsOf('user')[0]!
  expect(await refusal(rewindsOf(bench).rewind(actor.id, first.id, null))).toBe('turn.busy')
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
})

test('T-178 an edit is a person’s act: hold and pause of the queue are released by it', async () => {
  const bench = await scene.workbench([hangs('one'), says('two'), says('three')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'first')
  await window.until(({ items }) => items.some((item) => item.kind === 'text'))
  await bench.submit(actor, 'later', { whenBusy: 'queue' })
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
  expect(window.view.header).toMatchObject({ automaticHeld: { by: 'stop' }, queue: { paused: 'stop' } })
  await rewindsOf(bench).rewind(actor.id, window.itemsOf('user')[0]!.id, edited('first, said better'))
  const view = await window.until(({ turns }) => turns.filter((turn) => turn.outcome === 'completed').length === 2)
  expect(view.header).toMatchObject({ automaticHeld: null, queue: { paused: null, followUps: [] } })
  expect(said(view.items)).toEqual(['first, said better', 'two', 'later', 'three'])
})

test('S-81 a long session whose window and memory hold none of what remains shows it nevertheless', async () => {
  const bench = await scene.workbench([
    says('one'),
    calls(...Array.from({ length: 100 }, (_, at) => `call ${at}`)),
    says('done'),
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'first'))
  const turnId = await bench.start(actor, 'second')
  for (let at = 0; at < 100; at++) (await bench.tools.running(`call ${at}`)).finish()
  await window.settled(turnId)
  const again = await scene.restarted(bench)
  const late = await again.follow(await again.sessions.actor(actor.id))
  expect(late.itemsOf('user')).toEqual([])
  const point = window.itemsOf('user')[1]!.id
  const { markItemId } = await rewindsOf(again).rewind(actor.id, point, null)
  const view = await late.until(({ items }) => items.some((item) => item.kind === 'rewind'))
  expect(said(view.items)).toEqual(['first', 'one'])
  expect(view.itemsBefore).toBe(0)
  await rewindsOf(again).restore(actor.id, markItemId!)
  const back = await late.until(({ header }) => header.itemCount === 104)
  expect(back.itemsBefore + back.items.filter((item) => item.visible).length).toBe(104)
})

/** What is found once everything is indexed. */
async function indexed(bench: TestWorkbench, query: string) {
  for (;;) {
    const { hits, partial } = await bench.storage.search(query, 20)
    if (!partial) return hits.filter((hit) => hit.itemId !== null)
  }
}
