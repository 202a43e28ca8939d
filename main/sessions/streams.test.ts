import { describe, expect, test } from 'vitest'
import type { SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { asks, calls, hangs, heldDisk, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

/** All events a reader gets until the turn has settled, or until a resync. */
async function read(bench: TestWorkbench, id: string, after: number, journalId: string): Promise<SessionEvent[]> {
  const ended = new AbortController()
  const events: SessionEvent[] = []
  for await (const event of bench.sessions.events(id, after, journalId, ended.signal)) {
    events.push(event)
    if (event.type === 'turn.settled') ended.abort()
  }
  return events
}

const stored = (events: SessionEvent[]) => events.filter((event): event is StoredEvent => event.seq !== null)

describe('reload and resume', () => {
  test('T-50 T-200 T-201 TA-34 a window that reloads at random moments shows what the first one shows', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => ({ text: `word${at} `, everyMs: 1 }))
    const bench = await scene.workbench([
      { emit: [...words(1_000), { call: { name: 'hold', args: { name: 'tool' } } }] },
      { emit: words(1_000) },
    ])
    const actor = bench.create()
    const live = await bench.follow(actor)
    const views = new Map<number, SessionView>([[0, live.view]])
    const turnId = await bench.start(actor, 'write a lot')
    void bench.tools.running('tool').then((tool) => tool.finish())
    const reloads: Promise<{ opened: SessionView; end: SessionView }>[] = []
    const reload = async () => {
      const opened = await bench.sessions.open(actor.id)
      const events = stored(await read(bench, actor.id, opened.header.lastSeq, opened.journalId))
      return { opened, end: events.reduce(foldEvent, opened) }
    }
    // The moments are of the stream itself: every so many events, anew each time.
    let next = 1
    await live.until((view) => {
      views.set(view.header.lastSeq, view)
      if (view.header.lastSeq >= next && reloads.length < 20) {
        reloads.push(reload())
        next = view.header.lastSeq + 1 + Math.floor(Math.random() * 6)
      }
      return view.turns[0]?.outcome
    })
    await live.settled(turnId)
    expect(reloads.length).toBeGreaterThan(10)
    for (const { opened, end } of await Promise.all(reloads)) {
      expect(end).toEqual(live.view)
      const then = views.get(opened.header.lastSeq)
      if (then) expect(opened).toEqual(then)
    }
    // Any earlier place can be gone on from, from memory or from the journal.
    for (const seq of [0, 1, Math.floor(live.view.header.lastSeq / 2)]) {
      const events = stored(await read(bench, actor.id, seq, live.view.journalId))
      expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => seq + 1 + at))
      expect(events.reduce(foldEvent, views.get(seq) ?? live.view)).toEqual(live.view)
    }
    const text = live.itemsOf('text').map((item) => item.text)
    expect(text).toEqual(
      Array.from({ length: 2 }, () =>
        words(1_000)
          .map((word) => word.text)
          .join(''),
      ),
    )
  })

  test('T-57 T-200 TA-34 a pruned place, a foreign journal, a place beyond the head: one resync each', async () => {
    const seen = Promise.withResolvers<void>()
    const bench = await scene.workbench([
      { emit: [{ text: 'Hello ' }, { until: seen.promise }, { text: 'there, my friend.' }] },
    ])
    const actor = bench.create()
    const live = await bench.follow(actor)
    const turnId = await bench.start(actor, 'hello')
    await live.until((view) => view.items.at(-1)?.kind === 'text')
    seen.resolve()
    await live.settled(turnId)
    const { journalId, header } = live.view
    expect((await bench.storage.events(actor.id, 0, 500)).events.some((event) => event.type === 'item.delta')).toBe(
      true,
    )
    live.stop()
    await bench.storage.pruneDeltas(Date.now() + 1_000)
    const restarted = await scene.restarted(bench)
    const all = async (after: number, journal: string) => {
      const events: SessionEvent[] = []
      for await (const event of restarted.sessions.events(actor.id, after, journal, AbortSignal.timeout(5_000)))
        events.push(event)
      return events
    }
    expect(await all(1, journalId)).toMatchObject([{ type: 'stream.resync', reason: 'pruned' }])
    expect(await all(1, 'another')).toMatchObject([{ type: 'stream.resync', reason: 'journal' }])
    expect(await all(header.lastSeq + 1, journalId)).toMatchObject([{ type: 'stream.resync', reason: 'ahead' }])
    expect((await restarted.sessions.open(actor.id)).items).toEqual(live.view.items)
  })

  test('T-49 K-15 two windows see one order of durable events, also of what the other one did', async () => {
    const bench = await scene.workbench([says('Hello.')])
    const actor = bench.create()
    const [one, two] = [await bench.follow(actor), await bench.follow(actor)]
    const durable = new Set<number>()
    const commit = bench.storage.commit
    bench.storage.commit = async (write) => {
      await commit(write)
      for (const event of write.events) durable.add(event.seq)
    }
    actor.listen(() => expect(durable.has(actor.published.header.lastSeq)).toBe(true))
    const turnId = await bench.start(actor, 'hello')
    await Promise.all([one.settled(turnId), two.settled(turnId)])
    await bench.sessions.command(actor.id, { type: 'rename', title: 'Mine' })
    await Promise.all([one, two].map((window) => window.until((view) => view.header.title === 'Mine')))
    expect(one.events).toEqual(two.events)
    expect(one.view).toEqual(two.view)
  })

  test('K-19 T-135 a card is there after a reload, in any window, and can be answered once', async () => {
    const bench = await scene.workbench([asks('first', 'second'), says('Done.')])
    const actor = bench.create()
    const one = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await one.until((view) => view.approvals.depth === 2)
    one.stop()
    const two = await bench.follow(actor)
    const cards = two.itemsOf('approval')
    expect(two.view.approvals).toMatchObject({ depth: 2, head: { id: cards[0]!.id } })
    expect(two.view.turn?.status).toEqual({ kind: 'approval', depth: 2 })
    const answer = (at: number) =>
      ({
        type: 'approval.answer',
        approvalId: cards[at]!.id,
        argsHash: cards[at]!.request.argsHash,
        decision: 'once',
        scope: 'workspace',
      }) as const
    await bench.sessions.command(actor.id, answer(1))
    const second = await bench.tools.running('second')
    expect(bench.tools.held.map((held) => held.name)).toEqual(['second'])
    await expect(bench.sessions.command(actor.id, answer(1))).rejects.toMatchObject({
      code: 'approval.gone',
      data: { state: 'allowed' },
    })
    await bench.sessions.command(actor.id, answer(0))
    second.finish()
    ;(await bench.tools.running('first')).finish()
    expect(await two.settled(turnId)).toMatchObject({ outcome: 'completed' })
    expect(scene.server.asked()[1]!.body.messages.slice(-2)).toMatchObject([
      { content: 'first done' },
      { content: 'second done' },
    ])
  })

  test('T-199 a long turn opens with its newest 80 items, and counts the rest', async () => {
    const steps = Array.from({ length: 15 }, (_, step) =>
      calls(...Array.from({ length: 6 }, (__, at) => `tool-${step}-${at}`)),
    )
    const bench = await scene.workbench([says('First.'), ...steps, hangs('Nearly there')])
    const actor = bench.create()
    const live = await bench.follow(actor)
    await live.settled(await bench.start(actor, 'first'))
    await bench.start(actor, 'many')
    for (let step = 0; step < 15; step++)
      for (let at = 0; at < 6; at++) (await bench.tools.running(`tool-${step}-${at}`)).finish()
    await live.until((view) => view.items.at(-1)?.kind === 'text' && view.items.length > 90)
    const opened = await bench.sessions.open(actor.id)
    expect(opened.items).toEqual(live.view.items.slice(-80))
    expect(opened.itemsBefore).toBe(live.view.items.length - 80)
    expect(opened.turns.map((turn) => turn.outcome)).toEqual(['completed', null])

    // A kill here, and all of it is found again, counted right (K-13).
    const again = await scene.restarted(bench, [], true)
    const view = await again.sessions.open(actor.id)
    expect(view.itemsBefore + view.items.filter((item) => item.visible).length).toBe(live.view.items.length)
    expect(view.header.itemCount).toBe(live.view.items.length)
    expect(view.items.slice(0, -1)).toEqual(live.view.items.slice(-80, -1))
  })
})

describe('the journal', () => {
  test('T-14 T-67 TA-14 text, a tool, text: in order, the last one final, equal after a restart', async () => {
    const bench = await scene.workbench([
      { emit: [{ text: 'First I look.' }, { call: { name: 'hold', args: { name: 'tool' } } }] },
      says('Then I say.'),
    ])
    const actor = bench.create()
    const live = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    ;(await bench.tools.running('tool')).finish()
    await live.settled(turnId)
    const shown = live.items.map((item) => [item.kind, item.kind === 'text' ? item.final : null])
    expect(shown).toEqual([
      ['user', null],
      ['text', false],
      ['tool', null],
      ['text', true],
    ])
    const again = await scene.restarted(bench)
    expect(await again.sessions.open(actor.id)).toEqual(live.view)
  })

  test('T-38 a tool begins only once its start is durable, and is answered only once its end is', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([calls('tool'), says('Done.')], { storage: disk.over })
    const actor = bench.create()
    const live = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    const tool = await bench.tools.running('tool')
    const states = async () =>
      (await bench.storage.events(actor.id, 0, 500)).events.flatMap((event) =>
        event.type === 'item.patch' && event.set.state
          ? [event.set.state]
          : event.type === 'item.put' && event.item.kind === 'tool'
            ? [event.item.state]
            : [],
      )
    expect(await states()).toEqual(['proposed', 'running'])
    disk.hold()
    tool.finish()
    await disk.written()
    // The next request would be there by now.
    await bench.storage.rules()
    expect(scene.server.asked()).toHaveLength(1)
    disk.release()
    await live.settled(turnId)
    expect(await states()).toEqual(['proposed', 'running', 'ok'])
    const ended = live.of('item.put').find((event) => event.item.kind === 'tool' && event.item.state === 'ok')
    const second = live.of('step.started')[1]
    expect(ended!.seq).toBeLessThan(second!.seq)
  })

  test('T-45 what is done after a settle cannot delay or undo it', async () => {
    const after: string[] = []
    const bench = await scene.workbench([says('One.'), says('Two.')], {
      afterSettle: (actor, turnId) => {
        after.push(turnId)
        expect(actor.published.header.currentTurnId).toBeNull()
        throw new Error('a title could not be made')
      },
    })
    const actor = bench.create()
    const live = await bench.follow(actor)
    const first = await bench.start(actor, 'one')
    await bench.submit(actor, 'two', { whenBusy: 'queue' })
    await live.until((view) => view.turns[1]?.outcome)
    expect(live.view.turns.map((turn) => turn.outcome)).toEqual(['completed', 'completed'])
    expect(after[0]).toBe(first)
    expect(bench.log.filter((line) => line.level === 'error').length).toBe(2)
  })

  test('K-26 T-62 TA-16 a stream that goes silent is tried again; text ends the wait, and what was shown is replaced', async () => {
    const bench = await scene.workbench([hangs('Half of it'), says('All of it.')], {
      lab: { timeouts: { idle: 1, firstToken: 1 } },
    })
    const actor = bench.create()
    const live = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    expect(await live.settled(turnId)).toMatchObject({ outcome: 'completed' })
    const visible = live.items.filter((item) => item.visible && item.kind === 'text')
    expect(visible).toMatchObject([{ text: 'All of it.', final: true }])
    expect(live.view.header.itemCount).toBe(live.items.filter((item) => item.visible).length)
    const kinds = live.of('turn.status').map((event) => event.status?.kind)
    expect(kinds).toContain('retrying')
    const last = live.events.findLastIndex((event) => event.type === 'turn.status' && event.status?.kind === 'working')
    expect(live.events.slice(last + 1)[0]).toMatchObject({ type: 'item.put', item: { kind: 'text' } })
  })
})

test('T-200 a reader at the edge of what memory keeps has every event once', async () => {
  const bench = await scene.workbench([says('Fine.')])
  const actor = bench.create()
  const live = await bench.follow(actor)
  await live.settled(await bench.start(actor, 'do it'))
  for (let batch = 0; batch < 3; batch++)
    await Promise.all(
      Array.from({ length: 400 }, (_, at) => actor.command({ type: 'rename', title: `${batch} ${at}` })),
    )
  const { lastSeq } = actor.published.header
  const kept = Array.from({ length: lastSeq + 1 }, (_, seq) => seq).find((seq) => actor.recentAfter(seq) !== null)!
  expect(kept).toBeGreaterThan(2)
  const signal = AbortSignal.timeout(15_000)
  for (const after of [kept - 2, kept - 1, kept, kept + 1]) {
    const seqs: (number | null)[] = []
    for await (const { seq } of bench.sessions.events(actor.id, after, live.view.journalId, signal))
      if (seqs.push(seq) === lastSeq - after) break
    expect(seqs).toEqual(Array.from({ length: lastSeq - after }, (_, at) => after + 1 + at))
  }
})

test('T-199 S-58 what is still being written is opened whole, however long, and goes on from there', async () => {
  const long = 'many words '.repeat(10_000)
  const bench = await scene.workbench([{ emit: [{ text: long }, { hang: true }] }])
  const actor = bench.create()
  const live = await bench.follow(actor)
  const turnId = await bench.start(actor, 'write a lot')
  await live.until((view) => view.items.some((item) => item.kind === 'text' && item.text.length === long.length))
  const late = await bench.follow(actor)
  actor.stream(turnId, { type: 'stream', channel: 'text', add: 'and more' })
  for (const window of [live, late])
    await window.until((view) => view.items.some((item) => item.kind === 'text' && item.text.endsWith('and more')))
  expect(late.itemsOf('text')[0]!.text).toBe(`${long}and more`)
  expect(late.view).toEqual(live.view)
})

test('T-50 text before a call stays before it, though all of it came within 16 ms', async () => {
  const bench = await scene.workbench([hangs('')])
  const actor = bench.create()
  const live = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await live.event('step.started')
  const says = (add: string) => actor.stream(turnId, { type: 'stream', channel: 'text', add })
  says('before ')
  says('it')
  const call = { itemId: 'tool', callId: 'c', name: 'hold', title: 'tool', args: {} }
  void actor.report(turnId, { type: 'toolProposed', ...call }, 'soon')
  says('after ')
  says('it')
  await actor.idle()
  await live.until((view) => view.items.length === 4)
  expect(live.items.slice(1).map((item) => (item.kind === 'text' ? item.text : item.kind))).toEqual([
    'before it',
    'tool',
    'after it',
  ])
})

test('T-50 S-154 a flood of deltas is journaled once in 16 ms and item, however fast the disk is', async () => {
  const bench = await scene.workbench([hangs('Hello there')])
  const actor = bench.create()
  const live = await bench.follow(actor)
  const turnId = await bench.start(actor, 'flood')
  await live.until((view) => view.items.at(-1)?.kind === 'text')
  const plan = { effects: [], preview: { title: '', detail: '', detailKind: 'text' as const } }
  await actor.report(turnId, {
    type: 'toolProposed',
    itemId: 'tool',
    callId: 'c',
    name: 'hold',
    title: 'tool',
    args: {},
  })
  await actor.report(turnId, {
    type: 'toolReady',
    ticket: 'tool',
    itemId: 'tool',
    tool: 'hold',
    title: 'tool',
    plan,
    argsHash: '',
  })
  const before = live.of('item.delta').length
  const from = performance.now()
  for (let burst = 0; burst < 1_000; burst++) {
    for (let at = 0; at < 50; at++) {
      actor.stream(turnId, { type: 'stream', channel: 'text', add: 'w' })
      actor.stream(turnId, { type: 'toolOutput', itemId: 'tool', add: 'o' })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await actor.idle()
  const most = Math.ceil((performance.now() - from) / 16) + 1
  const grown = { text: 'w'.repeat(50_000), output: 'o'.repeat(50_000) }
  await live.until(
    () => live.itemsOf('text')[1]?.text === grown.text && live.itemsOf('tool')[0]?.output === grown.output,
  )
  const deltas = live.of('item.delta').slice(before)
  for (const kind of ['text', 'output'])
    expect(deltas.filter((event) => event.field === kind).length).toBeLessThanOrEqual(most)
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await live.settled(turnId)
})
