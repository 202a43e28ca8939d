import { describe, expect, test, vi } from 'vitest'
import type { Step } from '../../e2e/model-server/server.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import type { Storage } from '../storage/storage.ts'
import type { Command } from '../turns/inputs.ts'
import { asks, calls, hangs, heldDisk, says, testScene } from './test-scene.ts'
import type { Follower, TestWorkbench } from './test-workbench.ts'

const scene = testScene()

/** Timers can be moved on; otherwise time runs as it does. */
function movableTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], shouldAdvanceTime: true })
}

async function stop(bench: TestWorkbench, sessionId: string, turnId: string): Promise<unknown> {
  return bench.sessions.command(sessionId, { type: 'stop', turnId, reason: 'person' })
}

const lastOf = (view: SessionView) => view.items.at(-1)
const question: Step = { emit: [{ call: { name: 'ask_person', args: { question: 'Which?' } } }] }

describe('TA-8 T-109 a Stop in any state ends the turn once, as stopped by the person', () => {
  const preparing: { hold: PromiseWithResolvers<void> | null } = { hold: null }
  const states: { state: string; script: Step[]; reached: (view: SessionView) => unknown; requests: number }[] = [
    { state: 'T-99 while it is prepared', script: [], reached: () => preparing.hold, requests: 0 },
    {
      state: 'T-101 before the first token',
      script: [hangs('')],
      reached: () => scene.server.asked().length > 0,
      requests: 1,
    },
    {
      state: 'T-101 in reasoning',
      script: [{ emit: [{ reasoning: 'abc' }, { hang: true }] }],
      reached: (view) => lastOf(view)?.kind === 'reasoning',
      requests: 1,
    },
    {
      state: 'T-101 in text',
      script: [hangs('Hello wor')],
      reached: (view) => lastOf(view)?.kind === 'text',
      requests: 1,
    },
    {
      state: 'T-102 in a tool',
      script: [calls('tool')],
      reached: (view) => lastOf(view)?.kind === 'tool' && view.turn?.status?.kind === 'tool',
      requests: 1,
    },
    {
      state: 'T-105 waiting for an approval',
      script: [asks('tool')],
      reached: (view) => view.approvals.depth === 1,
      requests: 1,
    },
    {
      state: 'T-105 waiting for an answer',
      script: [question],
      reached: (view) => view.questions.depth === 1,
      requests: 1,
    },
    {
      state: 'T-101 waiting to try again',
      script: [{ error: { status: 503, headers: { 'retry-after': '30' } } }],
      reached: (view) => view.turn?.status?.kind === 'retrying',
      requests: 1,
    },
    {
      state: 'T-101 asking once more for an answer',
      script: [says(''), hangs('')],
      reached: () => scene.server.asked().length > 1,
      requests: 2,
    },
  ]

  test.each(states)('$state', async ({ state, script, reached, requests }) => {
    const bench = await scene.workbench(script, {
      preparing: async () => {
        if (!state.includes('prepared')) return
        preparing.hold = Promise.withResolvers()
        await preparing.hold.promise
      },
    })
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await vi.waitFor(() => expect(reached(window.view)).toBeTruthy(), { interval: 5, timeout: 10_000 })
    expect(await stop(bench, actor.id, turnId)).toEqual({ stopped: true, withdrawn: [] })
    const settled = await window.settled(turnId)
    expect(settled).toMatchObject({ outcome: 'stopped', reason: 'person' })
    // What came is kept as a part of what was to come (T-101).
    const said = window.items.filter(({ kind }) => kind === 'text' || kind === 'reasoning')
    expect(said.map(({ status }) => status)).toEqual(said.map(() => 'partial'))
    // What the worker still says after the end changes nothing (T-109).
    preparing.hold?.resolve()
    preparing.hold = null
    await actor.idle()
    expect(window.of('turn.settled')).toHaveLength(1)
    expect(window.itemsOf('error')).toHaveLength(0)
    expect(window.itemsOf('user')).toHaveLength(1)
    expect(window.view).toMatchObject({
      turn: null,
      header: { automaticHeld: { by: 'stop' } },
      approvals: { depth: 0 },
      questions: { depth: 0 },
    })
    expect(window.items.every((item) => item.endedAt !== null)).toBe(true)
    expect(window.itemsOf('tool').every((tool) => tool.state === 'cancelled')).toBe(true)
    expect(scene.server.asked()).toHaveLength(requests)
    expect(await stop(bench, actor.id, turnId)).toEqual({ stopped: false, why: 'settled' })
  })

  test('T-99 waiting for a place, and reading what is attached: no request, the words are kept', async () => {
    const read = Promise.withResolvers<void>()
    let times = 0
    const storage = (real: Storage): Partial<Storage> => ({
      blobs: {
        ...real.blobs,
        // It was looked at before it was admitted; this is the turn that reads it.
        get: async (hash) => {
          if (++times > 1) await read.promise
          return real.blobs.get(hash)
        },
      },
    })
    const bench = await scene.workbench([], { storage })
    const file = { name: 'a.txt', mediaType: 'text/plain', bytes: 4, hash: await bench.storage.blobs.put('text') }
    bench.settings['turns.maxConcurrent'] = 1
    const [reading, waiting] = [bench.create(), bench.create()]
    const windows = [await bench.follow(reading), await bench.follow(waiting)]
    const turns = [
      await bench.start(reading, 'with a file', { attachments: [file] }),
      await bench.start(waiting, 'after it'),
    ]
    await vi.waitFor(() => expect(times).toBe(2), { timeout: 10_000 })
    await windows[1]!.until((view) => view.turn?.status?.kind === 'waiting_slot')
    for (const at of [1, 0]) {
      const actor = at === 0 ? reading : waiting
      await stop(bench, actor.id, turns[at]!)
      expect(await windows[at]!.settled(turns[at]!)).toMatchObject({ outcome: 'stopped', reason: 'person' })
      expect(windows[at]!.items).toMatchObject([{ kind: 'user' }])
    }
    read.resolve()
    await reading.idle()
    expect(scene.server.asked()).toHaveLength(0)
  })

  test('T-98 before its admission is durable: no request, the words are kept', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    disk.hold()
    const reply = bench.submit(actor, 'do it')
    await disk.written()
    const turnId = actor.peek().turn!.id
    const stopped = stop(bench, actor.id, turnId)
    disk.release()
    expect(await reply).toMatchObject({ accepted: 'started', turnId })
    expect(await stopped).toMatchObject({ stopped: true })
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'stopped' })
    expect(window.itemsOf('user')).toMatchObject([{ text: 'do it' }])
    await actor.idle()
    expect(scene.server.asked()).toHaveLength(0)
  })
})

test('T-37 T-103 TA-10 a Stop after the commit point: the answer stands, the queue waits', async () => {
  const disk = heldDisk()
  const isHeld = Promise.withResolvers<void>()
  const step = { emit: [{ text: 'All of it.' }, { until: isHeld.promise }] }
  const bench = await scene.workbench([step], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await bench.submit(actor, 'next', { whenBusy: 'queue' })
  disk.hold((write) => write.events.some((event) => event.type === 'turn.settled'))
  isHeld.resolve()
  await disk.written()
  const stopped = stop(bench, actor.id, turnId)
  disk.release()
  expect(await stopped).toEqual({ stopped: false, why: 'settled' })
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  await actor.idle()
  // The window reads events one by one.
  await window.until(({ header }) => header.queue.paused !== null)
  expect(window.view.header).toMatchObject({
    automaticHeld: { by: 'stop' },
    queue: { paused: 'stop', followUps: [{ text: 'next' }] },
  })
  expect(scene.server.asked()).toHaveLength(1)
})

test('T-95 TA-12 a Stop aborts the request though the disk stands still; it settles once when the disk goes on', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([hangs('Hello wor')], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.until((view) => lastOf(view)?.kind === 'text')
  disk.hold()
  const renamed = actor.command({ type: 'rename', title: 'Mine' })
  const stopped = stop(bench, actor.id, turnId)
  await vi.waitFor(() => expect(scene.server.asked()[0]?.aborted).toBe(true), { interval: 5, timeout: 5_000 })
  expect(window.of('turn.settled')).toHaveLength(0)
  disk.release()
  await renamed
  expect(await stopped).toMatchObject({ stopped: true })
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'stopped' })
  expect(window.itemsOf('text')).toMatchObject([{ text: 'Hello wor', status: 'partial', final: false }])
})

describe('draining', () => {
  const change = {
    id: 'change-1',
    path: 'a.txt',
    kind: 'edited',
    before: '0'.repeat(64),
    after: '1'.repeat(64),
    added: 1,
    removed: 0,
    by: 'tool',
  } as const

  test('T-102 T-110 TA-13 what was being written when Stop came is finished and recorded', async () => {
    const bench = await scene.workbench([{ emit: [{ call: { name: 'hold_deaf', args: { name: 'write' } } }] }])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'write it')
    const write = await bench.tools.running('write')
    await stop(bench, actor.id, turnId)
    expect(window.of('turn.settled')).toHaveLength(0)
    write.finish({ changes: [change as never] })
    await window.settled(turnId)
    expect(window.itemsOf('tool')).toMatchObject([{ state: 'ok', changeIds: ['change-1'] }])
    expect(window.view.changes).toMatchObject([{ path: 'a.txt', turnId }])
    expect(window.of('changes.changed')[0]!.seq).toBeLessThan(window.of('turn.settled')[0]!.seq)
  })

  test('T-5 T-110 TA-11 TA-13 SA-9 a deaf tool is unknown after 5 s; late it touches neither transcript nor the next turn', async () => {
    movableTime()
    try {
      const bench = await scene.workbench([
        { emit: [{ call: { name: 'hold_deaf', args: { name: 'deaf' } } }] },
        hangs('Two.'),
      ])
      bench.settings['turns.maxConcurrent'] = 1
      const actor = bench.create()
      const window = await bench.follow(actor)
      const first = await bench.start(actor, 'one')
      const deaf = await bench.tools.running('deaf')
      await stop(bench, actor.id, first)
      await vi.advanceTimersByTimeAsync(4_500)
      expect(window.of('turn.settled')).toHaveLength(0)
      await vi.advanceTimersByTimeAsync(600)
      await window.settled(first)
      expect(window.itemsOf('tool')).toMatchObject([{ state: 'unknown', summary: 'It did not stop in time.' }])

      const second = await bench.start(actor, 'two')
      await window.until((view) => lastOf(view)?.kind === 'text')
      const before = window.view
      deaf.finish({ text: 'late', changes: [change as never] })
      await window.until((view) => view.changes.length > 0)
      await actor.idle()
      expect(window.view.items).toEqual(before.items)
      expect(window.view.turns).toEqual(before.turns)
      expect(window.events.filter((event) => 'turnId' in event && event.turnId === first).at(-1)?.type).toBe(
        'turn.settled',
      )
      expect(await stop(bench, actor.id, first)).toEqual({ stopped: false, why: 'not_current' })
      expect(window.view.header).toMatchObject({ automaticHeld: null, currentTurnId: second })
      await stop(bench, actor.id, second)
      await window.settled(second)
    } finally {
      vi.useRealTimers()
    }
  })

  test('X-718 a tool that takes too long is ended, and its turn goes on', async () => {
    movableTime()
    try {
      const bench = await scene.workbench([calls('slow'), says('Then not.')])
      bench.tools.tools[0]!.timeLimitMs = 60_000
      const actor = bench.create()
      const window = await bench.follow(actor)
      const turnId = await bench.start(actor, 'do it')
      const slow = await bench.tools.running('slow')
      await vi.advanceTimersByTimeAsync(60_100)
      expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
      expect(window.itemsOf('tool')).toMatchObject([{ state: 'error', code: 'tool.timed_out' }])
      expect(slow.context.signal.aborted).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('steering and queue', () => {
  async function steered(bench: TestWorkbench, window: Follower, turnId: string, text: string): Promise<string> {
    const command: Command = { type: 'steer.add', turnId, requestId: text, fingerprint: text, text, attachments: [] }
    return (await bench.sessions.command<{ steerId: string }>(window.view.header.id, command)).steerId
  }

  test('T-120 T-124 TA-19 "send now" ends the request that streams; the next one ends with the steer', async () => {
    const bench = await scene.workbench([hangs('One two'), says('Three.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'count')
    await window.until((view) => lastOf(view)?.kind === 'text')
    const steerId = await steered(bench, window, turnId, 'faster')
    expect(await bench.sessions.command(actor.id, { type: 'steer.sendNow', steerId })).toEqual({ sent: 'delivered' })
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
    const shown = window.items.map((item) =>
      item.kind === 'text' || item.kind === 'user' ? [item.kind, item.text, item.status] : [],
    )
    expect(shown).toEqual([
      ['user', 'count', 'final'],
      ['text', 'One two', 'partial'],
      ['user', 'faster', 'final'],
      ['text', 'Three.', 'final'],
    ])
    const { messages } = scene.server.asked()[1]!.body
    expect(messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'One two' },
      { role: 'user', content: 'faster' },
    ])
  })

  test('T-120 TA-19 "send now" beside a tool waits for it', async () => {
    const bench = await scene.workbench([calls('tool'), says('Done.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'count')
    const tool = await bench.tools.running('tool')
    const steerId = await steered(bench, window, turnId, 'faster')
    expect(await bench.sessions.command(actor.id, { type: 'steer.sendNow', steerId })).toEqual({ sent: 'next_step' })
    expect(tool.context.signal.aborted).toBe(false)
    tool.finish()
    await window.settled(turnId)
    expect(scene.server.asked()[1]!.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'faster' })
  })

  test('T-46 T-131 K-25 TA-21 after Stop three follow-ups wait; a new message runs first, then they do, in order', async () => {
    const bench = await scene.workbench([hangs('Hello wor'), says('zero'), says('one'), says('two'), says('three')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'first')
    for (const text of ['f1', 'f2', 'f3']) await bench.submit(actor, text, { whenBusy: 'queue' })
    await window.until((view) => lastOf(view)?.kind === 'text')
    await stop(bench, actor.id, turnId)
    await window.settled(turnId)
    await actor.idle()
    expect(window.view.header.queue).toMatchObject({
      paused: 'stop',
      followUps: [{ text: 'f1' }, { text: 'f2' }, { text: 'f3' }],
    })
    expect(scene.server.asked()).toHaveLength(1)
    await bench.start(actor, 'new')
    await window.until((view) => view.header.queue.followUps.length === 0 && view.turn === null)
    expect(window.itemsOf('user').map((item) => item.text)).toEqual(['first', 'new', 'f1', 'f2', 'f3'])
    expect(window.view.turns.map((turn) => turn.outcome)).toEqual([
      'stopped',
      'completed',
      'completed',
      'completed',
      'completed',
    ])
  })

  test('T-129 a follow-up that cannot start stays first and says why; a person may then start it', async () => {
    const bench = await scene.workbench([says('one'), says('two')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    bench.settings['queue.pauseOnFailure'] = true
    const blob = await bench.storage.blobs.put('text')
    let gone = false
    const { get } = bench.storage.blobs
    bench.storage.blobs.get = async (hash) => (gone ? Promise.reject(new Error('gone')) : get(hash))
    await bench.sessions.command(actor.id, { type: 'queue.pause' })
    const turnId = await bench.start(actor, 'first')
    await bench.submit(actor, 'with file', {
      whenBusy: 'queue',
      attachments: [{ name: 'a.txt', mediaType: 'text/plain', bytes: 4, hash: blob }],
    })
    gone = true
    await window.settled(turnId)
    await window.until((view) => view.header.queue.paused === 'refused')
    expect(window.view.header.queue).toMatchObject({
      followUps: [{ text: 'with file' }],
      pausedBy: { code: 'attachment.rejected' },
    })
    gone = false
    const { id } = window.view.header.queue.followUps[0]!
    expect(await bench.sessions.turns.startFollowUp(actor.id, id, true, 'attended')).toMatchObject({
      accepted: 'started',
    })
    await window.until((view) => view.turns.at(-1)?.outcome === 'completed' && view.turns.length === 2)
    expect(window.view.header.queue).toEqual({ followUps: [], paused: null })
  })

  test('Z-96 "Deny and stop" is one step: nothing of the turn runs after it', async () => {
    const bench = await scene.workbench([asks('tool')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await window.until((view) => view.approvals.head)
    const { id, request } = window.view.approvals.head!
    await bench.sessions.command(actor.id, {
      type: 'approval.answer',
      approvalId: id,
      argsHash: request.argsHash,
      decision: 'deny_stop',
      scope: 'workspace',
    })
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'stopped', reason: 'person' })
    expect(window.itemsOf('tool')).toMatchObject([{ state: 'denied' }])
    expect(scene.server.asked()).toHaveLength(1)
  })

  test('T-149 TA-25 a question closes by itself after its time; the agent goes on', async () => {
    movableTime()
    try {
      const bench = await scene.workbench([question, says('I assumed one.')])
      bench.settings['questions.timeoutSeconds'] = 120
      const actor = bench.create()
      const window = await bench.follow(actor)
      const turnId = await bench.start(actor, 'ask')
      const { head } = (await window.until((view) => view.questions.head)).questions
      await vi.advanceTimersByTimeAsync(119_000)
      await bench.sessions.command(actor.id, { type: 'question.touched', questionId: head!.id })
      await vi.advanceTimersByTimeAsync(119_000)
      expect(window.view.questions.depth).toBe(1)
      await vi.advanceTimersByTimeAsync(1_500)
      expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
      expect(window.itemsOf('question')).toMatchObject([{ state: 'expired' }])
      expect(window.itemsOf('tool')).toMatchObject([{ state: 'error', code: 'question.no_answer' }])
      expect(scene.server.asked()[1]!.body.messages.at(-1)).toMatchObject({
        role: 'tool',
        content: expect.stringContaining('say what you assumed'),
      })

      scene.server.enqueue(question, says('I assumed two.'))
      const blank = await bench.start(actor, 'ask again')
      const again = (await window.until((view) => view.questions.head)).questions.head!
      const answer = { choices: [], text: '  ', secret: null, declined: false }
      await bench.sessions.command(actor.id, { type: 'question.answer', questionId: again.id, ...answer })
      await window.settled(blank)
      expect(window.itemsOf('question')[1]).toMatchObject({ state: 'blank' })
      expect(window.itemsOf('tool')[1]).toMatchObject({ code: 'question.no_answer' })
    } finally {
      vi.useRealTimers()
    }
  })

  test('T-75 T-92 TA-15 what a call took and what it waited for a person are told apart', async () => {
    movableTime()
    try {
      const disk = heldDisk()
      const bench = await scene.workbench([asks('tool'), says('Done.')], { storage: disk.over })
      const actor = bench.create()
      const window = await bench.follow(actor)
      const turnId = await bench.start(actor, 'do it')
      await window.until((view) => view.approvals.head)
      const { id, request } = window.view.approvals.head!
      await vi.advanceTimersByTimeAsync(10_000)
      await bench.sessions.command(actor.id, {
        type: 'approval.answer',
        approvalId: id,
        argsHash: request.argsHash,
        decision: 'once',
        scope: 'workspace',
      })
      const tool = await bench.tools.running('tool')
      await vi.advanceTimersByTimeAsync(1_500)
      disk.hold()
      tool.finish()
      await disk.written()
      await vi.advanceTimersByTimeAsync(3_000)
      disk.release()
      await window.settled(turnId)
      const [item] = window.itemsOf('tool')
      expect(Math.round(item!.waitedMs / 1_000)).toBe(10)
      expect(Math.floor(item!.durationMs! / 1_000)).toBe(1)
      expect(Math.round(window.view.turns[0]!.waitedMs / 1_000)).toBe(10)
      expect(await bench.storage.item(actor.id, item!.id)).toEqual(item)
    } finally {
      vi.useRealTimers()
    }
  })
})
