/** What a turn shows while it works, against the scripted model server: turns.md 1, 6, 7, 8, 14, 19. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import { ToolItem, ToolState } from '../../preload/contract/items.ts'
import { asks, calls, hangs, heldDisk, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

async function stop(bench: TestWorkbench, sessionId: string, turnId: string): Promise<unknown> {
  return bench.sessions.command(sessionId, { type: 'stop', turnId, reason: 'person' })
}

test('T-7 two turns know nothing of one another, and nothing of the process changes', async () => {
  const bench = await scene.workbench([], { lab: { models: ['scripted', 'other'] } })
  const ask = (name: string) => ({ ...calls(name), when: { lastUserContains: name, afterTool: false } })
  scene.server.script([ask('north'), ask('south'), { ...says('Done.'), repeat: 2 }])
  const before = { cwd: process.cwd(), env: { ...process.env } }
  const turns = await Promise.all(
    ['north', 'south'].map(async (name) => {
      const workspace = join(bench.home, name)
      await mkdir(workspace)
      const actor = bench.sessions.create({ workspace, model: name === 'north' ? 'lab/scripted' : 'lab/other' })
      const window = await bench.follow(actor)
      return { name, workspace, actor, window, turnId: await bench.start(actor, `go ${name}`) }
    }),
  )
  for (const { name, workspace, actor, turnId } of turns) {
    const { context } = await bench.tools.running(name)
    expect(context).toMatchObject({ workspace, sessionId: actor.id, turnId })
  }
  for (const name of ['south', 'north']) (await bench.tools.running(name)).finish()
  for (const { window, turnId } of turns) expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  for (const { name, workspace } of turns) {
    const mine = scene.server.asked().filter(({ body }) => JSON.stringify(body).includes(`go ${name}`))
    expect(mine.map(({ body }) => body.model)).toEqual(Array(2).fill(name === 'north' ? 'scripted' : 'other'))
    const other = name === 'north' ? 'south' : 'north'
    expect(mine.every(({ body }) => JSON.stringify(body).includes(workspace))).toBe(true)
    expect(mine.some(({ body }) => JSON.stringify(body).includes(other))).toBe(false)
  }
  expect({ cwd: process.cwd(), env: { ...process.env } }).toEqual(before)
})

test('T-65 a window opened in the middle shows the same status, since the same moment', async () => {
  const bench = await scene.workbench([calls('one', 'two'), says('Done.')])
  const actor = bench.create()
  const first = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  const held = [await bench.tools.running('one'), await bench.tools.running('two')]
  await first.until((view) => view.turn?.status?.kind === 'tool' && view.turn.status.others === 1)
  const opened = await bench.sessions.open(actor.id)
  expect(opened.turn).toEqual(first.view.turn)
  const [one] = first.itemsOf('tool')
  expect(opened.turn?.status).toEqual({ kind: 'tool', itemId: one!.id, title: 'one', since: one!.startedAt, others: 1 })
  for (const each of held) each.finish()
  await first.settled(turnId)
})

test('T-66 what came before a Stop is kept, though the disk stood still; an empty piece is no event', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([hangs('One ')], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'count')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const says = (add: string) => actor.stream(turnId, { type: 'stream', channel: 'text', add })
  disk.hold()
  const renamed = actor.command({ type: 'rename', title: 'Mine' })
  await disk.written()
  says('two ')
  says('')
  says('three')
  const stopped = actor.command({ type: 'stop', turnId, reason: 'person' })
  says(' four, too late')
  disk.release()
  await Promise.all([renamed, stopped])
  await window.settled(turnId)
  expect(window.itemsOf('text')).toMatchObject([{ text: 'One two three', status: 'partial' }])
  expect(window.of('item.delta').map(({ add }) => add)).toEqual(['two three'])
})

describe('T-70 thinking that a model writes as text', () => {
  test('TA-9 is reasoning when it opens the answer, also where a Stop comes before its end; no text is made of it', async () => {
    const bench = await scene.workbench([hangs('<think>abc')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'think')
    await window.until((view) => view.items.at(-1)?.kind === 'reasoning')
    await stop(bench, actor.id, turnId)
    await window.settled(turnId)
    expect(window.itemsOf('reasoning')).toMatchObject([{ text: 'abc', status: 'partial' }])
    expect(window.itemsOf('text')).toHaveLength(0)
    // Nothing of it goes to a model as an answer.
    scene.server.enqueue(says('Fine.'))
    await window.settled(await bench.start(actor, 'and now'))
    const { messages } = scene.server.asked()[1]!.body
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'think' },
      { role: 'user', content: 'and now' },
    ])
  })

  test('is text where it is quoted or stands in code, and swallows nothing', async () => {
    const quoted = 'Write `<think>` to open, as in\n```\n<think>x\n```\nand go on. <think> is a tag.'
    const bench = await scene.workbench([says(`<think>Hm.</think>${quoted}`)])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'explain'))
    expect(window.itemsOf('reasoning')).toMatchObject([{ text: 'Hm.' }])
    expect(window.itemsOf('text')).toMatchObject([{ text: quoted, final: true }])
  })
})

test('TA-9 T-107 T-108 T-121 what was said before a Stop goes along as said, without a word about the Stop or a call without result', async () => {
  const bench = await scene.workbench([
    {
      emit: [
        { text: 'Hello wor' },
        { callFragment: { index: 0, id: 'x', type: 'function', function: { name: 'hold', arguments: '{"na' } } },
        { hang: true },
      ],
    },
    says('Fine.'),
  ])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'greet')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  await stop(bench, actor.id, turnId)
  await window.settled(turnId)
  expect(window.itemsOf('text')).toMatchObject([{ text: 'Hello wor', status: 'partial' }])
  // The call that was not whole neither shows nor runs.
  expect(window.itemsOf('tool')).toHaveLength(0)
  await window.settled(await bench.start(actor, 'and now'))
  const { messages } = scene.server.asked()[1]!.body
  expect(messages.slice(1)).toEqual([
    { role: 'user', content: 'greet' },
    { role: 'assistant', content: 'Hello wor' },
    { role: 'user', content: 'and now' },
  ])
  expect(bench.tools.held).toHaveLength(0)
})

test('T-73 T-76 a card has what the rule names and nothing else; its state is the tool’s word, not its text', async () => {
  const bench = await scene.workbench([
    { emit: [{ call: { name: 'hold', args: { name: `long ${'x'.repeat(200)}` } } }] },
    says('Done.'),
  ])
  bench.tools.onHeld = (held) =>
    held.finish({
      text: `error: failed\n${'y'.repeat(10_000)}`,
      isError: false,
      view: { stdout: 'out', stderr: 'err', exitCode: 0 },
      rawResult: 'private',
      rawDiff: 'private',
    } as never)
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'do it'))
  const [card] = window.itemsOf('tool')
  expect(card).toMatchObject({
    callId: expect.any(String),
    name: 'hold',
    args: { name: `long ${'x'.repeat(200)}` },
    state: 'ok',
    startedAt: expect.any(Number),
    durationMs: expect.any(Number),
    waitedMs: 0,
    view: { stdout: 'out', stderr: 'err', exitCode: 0 },
    changeIds: [],
    progress: null,
  })
  expect(card!.title).toHaveLength(80)
  expect(card!.summary).toHaveLength(4_000)
  expect(Object.keys(ToolItem.shape)).toEqual(expect.arrayContaining(Object.keys(card!)))
  expect(JSON.stringify(await bench.storage.events(actor.id, 0, 500))).not.toContain('private')
  expect(ToolState.options).toEqual(['proposed', 'waiting', 'running', 'ok', 'error', 'denied', 'cancelled', 'unknown'])
})

test('T-139 an approval in a person’s turn waits as long as the person takes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], shouldAdvanceTime: true })
  try {
    const bench = await scene.workbench([asks('tool'), says('Done.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await window.until((view) => view.approvals.head)
    await vi.advanceTimersByTimeAsync(7 * 24 * 3_600_000)
    expect(window.view.approvals.depth).toBe(1)
    const { id, request } = window.view.approvals.head!
    bench.tools.onHeld = (held) => held.finish()
    await bench.sessions.command(actor.id, {
      type: 'approval.answer',
      approvalId: id,
      argsHash: request.argsHash,
      decision: 'once',
      scope: 'workspace',
    })
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  } finally {
    vi.useRealTimers()
  }
})

test('T-31 T-110 a turn that yields has 30 s, and 5 s from a person’s Stop on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], shouldAdvanceTime: true })
  try {
    const bench = await scene.workbench([
      { emit: [{ call: { name: 'hold_deaf', args: { name: 'deaf' } } }] },
      says('Here.'),
    ])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const nightly = await bench.sessions.turns.submitAutomatic(actor.id, {
      source: 'schedule',
      automation: { name: 'Nightly' },
      text: 'Nightly',
      prompt: 'Look.',
      completionKeys: ['k'],
    })
    if (nightly.accepted !== 'started') throw new Error(nightly.accepted)
    await bench.tools.running('deaf')
    await bench.submit(actor, 'now please')
    await vi.advanceTimersByTimeAsync(6_000)
    expect(window.of('turn.settled')).toHaveLength(0)
    await stop(bench, actor.id, nightly.turnId)
    await vi.advanceTimersByTimeAsync(5_100)
    expect(await window.settled(nightly.turnId)).toMatchObject({ outcome: 'stopped', reason: 'yielded' })
    await window.until((view) => view.turns[1]?.outcome === 'completed')
  } finally {
    vi.useRealTimers()
  }
})

test('T-162 M-3 a turn goes on with what it began with, whatever is configured meanwhile; the next one has it', async () => {
  const bench = await scene.workbench([calls('tool'), says('Done.'), says('Next.')], {
    lab: { models: ['scripted'], headers: { 'x-lab': 'first' } },
  })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  const tool = await bench.tools.running('tool')
  bench.configure({ models: ['scripted'], headers: { 'x-lab': 'second' } })
  tool.finish()
  await window.settled(turnId)
  await window.settled(await bench.start(actor, 'next'))
  expect(scene.server.asked().map(({ headers }) => headers['x-lab'])).toEqual(['first', 'first', 'second'])
})

test('T-197 a turn goes on when every window that watched it is gone', async () => {
  const bench = await scene.workbench([calls('tool'), says('Done.')])
  const actor = bench.create()
  const windows = [await bench.follow(actor), await bench.follow(actor)]
  const turnId = await bench.start(actor, 'do it')
  const tool = await bench.tools.running('tool')
  for (const window of windows) window.stop()
  expect(actor.handle!.controller.signal.aborted).toBe(false)
  tool.finish()
  await vi.waitFor(() => expect(actor.published.turn).toBeNull(), { timeout: 10_000 })
  const late = await bench.follow(actor)
  expect(late.view.turns).toMatchObject([{ id: turnId, outcome: 'completed' }])
})

test('T-193 what recovery found is stored with the settle, told as an event, and part of what a window opens with', async () => {
  const bench = await scene.workbench([hangs('Half')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const again = await scene.restarted(bench, [], true)
  await again.sessions.recoverAll()
  const { header } = await again.sessions.open(actor.id)
  const recovery = {
    recoveryId: expect.any(String),
    turnId,
    status: 'awaiting',
    reason: 'confirm',
    canContinue: true,
    attempts: 0,
  }
  expect(header.recovery).toEqual(recovery)
  expect((await again.storage.loadSession(actor.id))!.header.recovery).toEqual(header.recovery)
  const { events } = await again.storage.events(actor.id, 0, 500)
  const told = events.findIndex((event) => event.type === 'session.recovery')
  const settled = events.findIndex((event) => event.type === 'turn.settled')
  expect(events[told]).toMatchObject({ recovery: header.recovery })
  expect(events[settled]).toMatchObject({ session: { recovery: header.recovery } })
  expect(told).toBeLessThan(settled)
  expect(events[told]!.at).toBe(events[settled]!.at)
  const next = await again.follow(await again.sessions.actor(actor.id))
  scene.server.enqueue(says('All.'))
  await again.sessions.turns.continueRecovery(actor.id, newId(), header.recovery!.recoveryId, 'attended')
  await next.until((view) => view.turns[1]?.outcome)
  const states = next.of('session.recovery').map((event) => event.recovery?.status)
  expect(states).toEqual(['resuming', 'resolved'])
})

test('T-55 X-716 F-1211 long arguments and results outlive a sweep: the model has all of them in the next turn, a window on demand', async () => {
  const name = 'n'.repeat(60_000)
  const result = 'r'.repeat(12_000)
  const bench = await scene.workbench([calls(name), says('Done.'), says('Next.')])
  bench.tools.onHeld = (held) => held.finish({ text: result })
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'do it'))
  const [card] = window.itemsOf('tool')
  expect(card).toMatchObject({
    args: { name: `${name.slice(0, 1_000)}…` },
    argsRef: expect.any(String),
    resultRef: expect.any(String),
  })
  expect(await bench.storage.sweepBlobs(Date.now() + 60_000)).toMatchObject({ removed: 0 })
  expect(await bench.storage.item(actor.id, card!.id)).toMatchObject({ args: { name } })
  const first = scene.server.asked()[1]!.body.messages
  await window.settled(await bench.start(actor, 'and now'))
  // Byte for byte what the model made and was told: what it has cached stays good.
  expect(scene.server.asked()[2]!.body.messages.slice(0, first.length)).toEqual(first)
  expect(JSON.stringify(first)).toContain(name)
  expect(JSON.stringify(first)).toContain(result)
})

test('T-55 T-14 a message of a megabyte is whole for the model, also after a crash, and bounded in every event', async () => {
  const text = 'many words '.repeat(90_000)
  const bench = await scene.workbench([hangs('Half')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await bench.start(actor, text)
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const again = await scene.restarted(bench, [says('Fine.')], true)
  const next = await again.follow(await again.sessions.actor(actor.id))
  const { events } = await again.storage.events(actor.id, 0, 500)
  expect(Math.max(...events.map((event) => Buffer.byteLength(JSON.stringify(event))))).toBeLessThanOrEqual(256 * 1024)
  await again.sessions.turns.retry(actor.id, newId(), next.view.turns[0]!.id, undefined, 'attended')
  await next.until((view) => view.turns[1]?.outcome)
  expect(scene.server.asked()[1]!.body.messages.at(-1)).toEqual({ role: 'user', content: text })
  expect(await again.storage.item(actor.id, next.view.items[0]!.id)).toMatchObject({ text })
})
