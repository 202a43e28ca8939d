/** What a session is beside its transcript, and that its items stay what they are from the first word to the last reading. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blankHeader, foldEvent } from '../../preload/contract/fold.ts'
import { entryOf } from './entry.ts'
import { asks, calls, hangs, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'
import { Workspaces } from './workspaces.ts'

const scene = testScene()

const indicator = async (bench: TestWorkbench) => (await bench.storage.entries({ limit: 1 })).entries[0]!.indicator

test('S-39 a turn that nobody watches is journaled and ends as one that is watched', async () => {
  const bench = await scene.workbench([calls('tool'), says('All of it.'), hangs('Half')])
  const actor = bench.create()
  await bench.start(actor, 'do it')
  ;(await bench.tools.running('tool')).finish()
  await expect.poll(() => actor.published.header.lastOutcome).toBe('completed')
  const { events, pruned } = await bench.storage.events(actor.id, 0, 500)
  expect(pruned).toBe(false)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  const { journalId, header } = actor.published
  const blank = { ...actor.published, header: { ...header, rev: 0, lastSeq: 0, itemCount: 0 }, items: [], turns: [] }
  const replayed = events.reduce(foldEvent, { ...blank, journalId })
  expect(replayed.items).toEqual(actor.published.items)
  expect(replayed.turns).toEqual(actor.published.turns)

  // A reader that breaks off in the middle takes nothing with it.
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'again')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  window.stop()
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await expect.poll(() => actor.published.turns.at(-1)!.outcome).toBe('stopped')
})

test('S-56 K-13 an item keeps its id and its place from the first delta over the settle to a restart', async () => {
  const bench = await scene.workbench([
    {
      emit: [
        { reasoning: 'Let me think.' },
        { text: 'First I look. ' },
        { call: { name: 'hold', args: { name: 'one' } } },
      ],
    },
    { emit: [{ text: 'Then I say ' }, { delayMs: 40 }, { text: 'what I saw.' }] },
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'look')
  const known: string[] = []
  void bench.tools.running('one').then((tool) => tool.finish())
  await window.until((view) => {
    const ids = view.items.map(({ id }) => id)
    // Nothing that was shown goes away or changes its order; new ones only come behind.
    expect(ids.slice(0, known.length)).toEqual(known)
    known.splice(0, known.length, ...ids)
    return view.turns[0]?.outcome
  })
  await window.settled(turnId)
  expect(window.view.items.map(({ kind }) => kind)).toEqual(['user', 'reasoning', 'text', 'tool', 'text'])
  const again = await scene.restarted(bench)
  expect((await again.sessions.open(actor.id)).items).toEqual(window.view.items)
})

test('S-48 the first indicator that applies: needs you, interrupted, running, waiting, failed, unread, none', async () => {
  const bench = await scene.workbench([
    asks('one'),
    says('Done.'),
    { error: { status: 401 } },
    hangs('Half'),
    hangs('More'),
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const first = await bench.start(actor, 'do it')
  const { head } = (await window.until(({ approvals }) => approvals.head)).approvals
  // A follow-up waits too, and the turn runs: what needs the person comes first.
  await bench.submit(actor, 'later', { whenBusy: 'queue' })
  expect(await indicator(bench)).toBe('needs_you')
  await bench.sessions.command(actor.id, {
    type: 'approval.answer',
    approvalId: head!.id,
    argsHash: head!.request.argsHash,
    decision: 'once',
    scope: 'workspace',
  })
  const tool = await bench.tools.running('one')
  expect(await indicator(bench)).toBe('running')
  await actor.command({ type: 'queue.pause' })
  tool.finish()
  await window.settled(first)
  expect(await indicator(bench)).toBe('waiting')
  await actor.command({ type: 'followUp.clear' })
  expect(await indicator(bench)).toBe('unread')
  const read = () => actor.command({ type: 'markRead', seq: actor.published.header.lastSeq, unread: false })
  await read()
  expect(await indicator(bench)).toBe('none')
  await window.settled(await bench.start(actor, 'fail'))
  expect(await indicator(bench)).toBe('failed')
  await read()
  expect(await indicator(bench)).toBe('none')
  await bench.start(actor, 'half')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const again = await scene.restarted(bench, [], true)
  await again.sessions.recoverAll()
  expect(await indicator(again)).toBe('interrupted')
})

test('S-48 automatic turns that are held show as waiting, a hold with nothing behind it does not', () => {
  const held = (waiting: number) => {
    const header = { ...blankHeader, automaticHeld: { since: 1, by: 'stop' as const, waiting } }
    const none = { head: null, depth: 0 }
    const rest = { items: [], itemsBefore: 0, itemsAfter: 0, turns: [], turn: null, changes: [], execSessions: [] }
    return entryOf({ journalId: 'j', header, approvals: none, questions: none, ...rest }).indicator
  }
  expect([held(0), held(2)]).toEqual(['none', 'waiting'])
})

test('S-59 arguments and result of a call are there in full when asked for, also after its turn was stopped', async () => {
  const long = 'x'.repeat(200_000)
  const bench = await scene.workbench([
    { emit: ['big', 'left'].map((name) => ({ call: { name: 'hold', args: { name, note: long } } })) },
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'go')
  ;(await bench.tools.running('big')).finish({ text: long })
  await bench.tools.running('left')
  await window.until(({ items }) => items.some((item) => item.kind === 'tool' && item.state === 'ok'))
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
  const again = await scene.restarted(bench)
  const tools = (await again.sessions.open(actor.id)).items.flatMap((item) => (item.kind === 'tool' ? [item] : []))
  expect(tools.map(({ state }) => state)).toEqual(['ok', 'cancelled'])
  const whole = (await again.storage.item(actor.id, tools[0]!.id))!
  expect(whole).toMatchObject({ kind: 'tool', args: { name: 'big', note: long } })
})

test('S-9 a folder with a running turn is not moved from under it, its approval mode may change at any time', async () => {
  const bench = await scene.workbench([hangs('Half')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'go')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const workspaces = new Workspaces({
    storage: bench.storage,
    demoSource: async () => bench.workspace,
    demoFolder: join(bench.home, 'demo'),
    changed: () => {},
    busy: () => bench.sessions.running().map(({ published }) => published.header.workspace),
    now: Date.now,
  })
  const elsewhere = join(bench.home, 'elsewhere')
  await mkdir(elsewhere)
  expect(await refusal(workspaces.locate(bench.workspace, elsewhere))).toBe('turn.busy')
  expect((await bench.storage.loadSession(actor.id))!.header.workspace).toBe(bench.workspace)
  expect(await actor.command({ type: 'settings', approvalMode: 'all' })).toMatchObject({ approvalMode: 'all' })
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
  expect((await workspaces.locate(bench.workspace, elsewhere)).sessionIds).toEqual([actor.id])
})
