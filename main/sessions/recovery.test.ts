import { mkdir } from 'node:fs/promises'
import { describe, expect, test, vi } from 'vitest'
import type { Step } from '../../e2e/model-server/server.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { Recovery } from '../../preload/contract/session.ts'
import { runCommand } from '../exec/command.ts'
import type { StoredSession } from '../storage/storage.ts'
import type { Moment } from './test-killed.ts'
import { hangs, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()
// Each of these starts a host of its own.
vi.setConfig({ testTimeout: 60_000 })

/** Runs a host until it ends itself by SIGKILL at `moment`; resolves with the session it left, in a host started again. */
async function killedAt(moment: Moment, script: Step[]): Promise<{ bench: TestWorkbench; id: string }> {
  scene.server.enqueue(...script)
  await mkdir(scene.home, { recursive: true })
  const { code, stderr } = await runCommand({
    file: process.execPath,
    args: [new URL('./test-killed.ts', import.meta.url).pathname, scene.home, scene.server.baseUrl, moment],
    cwd: scene.home,
    env: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 20_000,
    maxBytes: 10_000,
  })
  expect({ code, stderr }).toEqual({ code: null, stderr: '' })
  const bench = await scene.workbench()
  const { entries } = await bench.storage.entries({ limit: 10 })
  expect(entries).toHaveLength(1)
  return { bench, id: entries[0]!.id }
}

const tool = (more: object): Step => ({
  emit: [{ text: 'I look. ' }, { call: { name: 'hold', args: { name: 'tool', ...more } } }],
})

describe('T-182 T-183 TA-32 killed at any step, the session tells what became of it and does nothing by itself', () => {
  type Case = {
    moment: Moment
    script: Step[]
    outcome: 'interrupted' | 'completed'
    reason: Recovery['reason'] | null
    items: unknown[]
  }
  const cases: Case[] = [
    { moment: 'admission', script: [hangs('')], outcome: 'interrupted', reason: 'confirm', items: [] },
    {
      moment: 'text',
      script: [{ emit: [{ text: 'Only half', everyMs: 20 }, { hang: true }] }],
      outcome: 'interrupted',
      reason: 'confirm',
      items: [{ kind: 'text', status: 'partial' }],
    },
    {
      moment: 'proposed',
      script: [tool({ unplanned: true })],
      outcome: 'interrupted',
      reason: 'confirm',
      items: [
        { kind: 'text', status: 'final' },
        { kind: 'tool', state: 'cancelled' },
      ],
    },
    {
      moment: 'started',
      script: [tool({})],
      outcome: 'interrupted',
      reason: 'tool_state_unknown',
      items: [{ kind: 'text' }, { kind: 'tool', state: 'unknown' }],
    },
    {
      moment: 'approval',
      script: [tool({ asks: true })],
      outcome: 'interrupted',
      reason: 'confirm',
      items: [{ kind: 'text' }, { kind: 'tool', state: 'cancelled' }, { kind: 'approval', state: 'interrupted' }],
    },
    {
      moment: 'stepEnded',
      script: [says('All of it.')],
      outcome: 'completed',
      reason: null,
      items: [{ kind: 'text', text: 'All of it.', final: true }],
    },
    {
      moment: 'settled',
      script: [says('All of it.')],
      outcome: 'completed',
      reason: null,
      items: [{ kind: 'text', text: 'All of it.', final: true }],
    },
  ]

  test.each(cases)('$moment: $outcome $reason', async ({ moment, script, outcome, reason, items }) => {
    const { bench, id } = await killedAt(moment, script)
    const before = scene.server.asked().length
    await bench.sessions.recoverAll()
    const { header, ...view } = await bench.sessions.open(id)
    expect(view.turns).toMatchObject([{ outcome, ...(reason ? { reason } : {}) }])
    expect(header).toMatchObject({
      currentTurnId: null,
      lastOutcome: outcome,
      queue: { followUps: [{ text: 'later' }] },
    })
    expect(header.queue.paused).toBe(reason ? 'recovery' : null)
    expect(header.automaticHeld?.by ?? null).toBe(reason ? 'recovery' : null)
    expect(header.recovery).toEqual(
      reason ? expect.objectContaining({ status: 'awaiting', reason, canContinue: true, attempts: 0 }) : null,
    )
    expect(view.items.filter((item) => item.visible && item.kind !== 'user' && item.kind !== 'notice')).toMatchObject(
      items,
    )
    expect(view.items.every((item) => item.endedAt !== null)).toBe(true)
    expect(view.approvals).toEqual({ head: null, depth: 0 })
    expect(scene.server.asked()).toHaveLength(before)
    // Again from disk: the same, and nothing is settled twice (K-13).
    const again = await scene.workbench()
    expect(await again.sessions.open(id)).toEqual({ header, ...view })
    const { events } = await again.storage.events(id, 0, 500)
    expect(events.filter((event) => event.type === 'turn.settled')).toHaveLength(1)
  })

  test('T-3 T-125 messages that waited for the agent head the queue', async () => {
    const { bench, id } = await killedAt('steered', [hangs('Hello there')])
    const { header } = await bench.sessions.open(id)
    expect(header.queue).toMatchObject({ paused: 'recovery', followUps: [{ text: 'also this' }, { text: 'later' }] })
  })
})

describe('after it', () => {
  test('T-3 T-125 a Stop that was accepted before the kill stays one: stopped, nothing to continue, what it gave back in the draft', async () => {
    const call = { emit: [{ call: { name: 'hold_deaf', args: { name: 'deaf' } } }] }
    const first = await scene.workbench([call])
    const actor = first.create()
    const window = await first.follow(actor)
    const turnId = await first.start(actor, 'do it')
    await first.tools.running('deaf')
    for (const text of ['one', 'two']) await first.submit(actor, text, { whenBusy: 'steer' })
    await first.submit(actor, 'later', { whenBusy: 'queue' })
    await first.storage.setDraft(actor.id, { text: 'typed meanwhile', attachments: [], revision: 4 })
    expect(await actor.command({ type: 'stop', turnId, reason: 'person' })).toMatchObject({ stopped: true })
    expect(window.view.turns.at(-1)?.outcome).toBeNull()

    const second = await scene.restarted(first, [], true)
    const { header, turns, items } = await second.sessions.open(actor.id)
    expect(turns).toMatchObject([{ outcome: 'stopped', reason: 'person' }])
    expect(items.find((item) => item.kind === 'tool')).toMatchObject({ state: 'unknown' })
    expect(header).toMatchObject({
      recovery: null,
      automaticHeld: { by: 'stop' },
      queue: { paused: 'stop', followUps: [{ text: 'later' }] },
    })
    expect(await second.storage.draft(actor.id)).toMatchObject({ text: 'one\n\ntwo\n\ntyped meanwhile', revision: 5 })
  })

  test('T-188 T-194 T-195 TA-33 SA-10 Continue clicked twice is one turn; killed again it asks again; a message instead resolves it', async () => {
    const { bench: first, id } = await killedAt('text', [
      { emit: [{ text: 'Only half', everyMs: 20 }, { hang: true }] },
    ])
    scene.server.enqueue(hangs('Going on'))
    const { header } = await first.sessions.open(id)
    const { recoveryId, turnId } = header.recovery!
    const clicks = ['a', 'b'].map((request) =>
      first.sessions.turns.continueRecovery(id, request, recoveryId, 'attended'),
    )
    const replies = await Promise.allSettled(clicks)
    expect(replies.map((reply) => reply.status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(replies.find((reply) => reply.status === 'rejected')).toMatchObject({ reason: { code: 'recovery.stale' } })
    const window = await first.follow(await first.sessions.actor(id))
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    expect(window.view.turns.at(-1)).toMatchObject({ continues: turnId })
    expect(window.view.header.recovery).toMatchObject({ status: 'resuming', attempts: 1 })
    expect(scene.server.asked().at(-1)!.body.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: expect.stringContaining('half') },
      { role: 'user' },
    ])

    const second = await scene.restarted(first, [says('Fine.')], true)
    const again = (await second.sessions.open(id)).header.recovery!
    expect(again).toMatchObject({ status: 'awaiting', reason: 'loop_guard', attempts: 1, canContinue: true })
    expect(await refusal(second.sessions.turns.continueRecovery(id, 'c', recoveryId, 'attended'))).toBe(
      'recovery.stale',
    )
    const actor = await second.sessions.actor(id)
    const other = await second.follow(actor)
    await other.settled(await second.start(actor, 'something else'))
    expect(other.of('session.recovery')).toMatchObject([
      { recovery: { recoveryId: again.recoveryId, status: 'resolved' } },
    ])
    expect(await refusal(second.sessions.command(id, { type: 'recovery.dismiss', recoveryId: again.recoveryId }))).toBe(
      'recovery.stale',
    )
  })

  test('T-188 a continuation is continued three times and then no more', async () => {
    let bench = await scene.workbench([hangs('One moment')])
    const actor = bench.create()
    const started = await bench.follow(actor)
    await bench.start(actor, 'do it')
    await started.until((view) => view.items.at(-1)?.kind === 'text')
    for (let attempt = 0; attempt < 3; attempt++) {
      bench = await scene.restarted(bench, [hangs('Once more')], true)
      const { recovery } = (await bench.sessions.open(actor.id)).header
      expect(recovery).toMatchObject({ attempts: attempt, canContinue: true })
      const window = await bench.follow(await bench.sessions.actor(actor.id))
      // By the card, or by the turn's own "Continue": it counts alike.
      if (attempt === 1) await bench.sessions.turns.continue(actor.id, `c${attempt}`, recovery!.turnId, 'attended')
      else await bench.sessions.turns.continueRecovery(actor.id, `c${attempt}`, recovery!.recoveryId, 'attended')
      await window.until((view) => view.turn && view.items.at(-1)?.kind === 'text')
    }
    bench = await scene.restarted(bench, [], true)
    const { recovery } = (await bench.sessions.open(actor.id)).header
    expect(recovery).toMatchObject({ reason: 'loop_guard', attempts: 3, canContinue: false })
    expect(await refusal(bench.sessions.turns.continueRecovery(actor.id, 'd', recovery!.recoveryId, 'attended'))).toBe(
      'recovery.not_continuable',
    )
  })

  test('T-130 T-194 dismissed, the queue waits; "Resume" runs it', async () => {
    const { bench, id } = await killedAt('text', [{ emit: [{ text: 'Only half', everyMs: 20 }, { hang: true }] }])
    scene.server.enqueue(says('Later, then.'))
    const actor = await bench.sessions.actor(id)
    const window = await bench.follow(actor)
    await actor.command({ type: 'recovery.dismiss', recoveryId: window.view.header.recovery!.recoveryId })
    await window.until((view) => view.header.recovery?.status === 'resolved')
    expect(window.view.header).toMatchObject({ automaticHeld: { by: 'recovery' }, queue: { paused: 'recovery' } })
    await actor.command({ type: 'queue.resume' })
    await window.until((view) => view.turns.at(-1)?.outcome === 'completed')
    expect(window.itemsOf('user').map((item) => item.text)).toEqual(['do it', 'later'])
  })
})

describe('what cannot be read back', () => {
  async function interrupted(): Promise<{ bench: TestWorkbench; id: string }> {
    const bench = await scene.workbench([hangs('Hello there')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await bench.start(actor, 'do it')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    await bench.submit(actor, 'also this', { whenBusy: 'steer' })
    await bench.abandon()
    return { bench, id: actor.id }
  }

  const newer = { type: 'turn.danced', seq: 90, at: 1, turnId: 't' } as unknown as StoredEvent
  const broken = { type: 'item.delta', seq: 90, at: 1, itemId: 7 } as unknown as StoredEvent
  const faults: { reason: Recovery['reason']; damage: (stored: StoredSession) => StoredSession }[] = [
    { reason: 'unknown_format', damage: (stored) => ({ ...stored, unsettled: [...stored.unsettled, newer] }) },
    { reason: 'invalid_format', damage: (stored) => ({ ...stored, unsettled: [...stored.unsettled, broken] }) },
    {
      reason: 'recovery_failed',
      damage: (stored) => ({
        ...stored,
        items: new Proxy(stored.items, {
          get: (items, name, receiver) =>
            name === 'filter' && breaks-- > 0
              ? () => {
                  throw new Error('broken')
                }
              : Reflect.get(items, name, receiver),
        }),
      }),
    },
  ]
  let breaks = 0

  test.each(faults)(
    'T-189 T-190 T-191 T-192 SA-10 $reason: interrupted, not to be continued, the words kept',
    async ({ reason, damage }) => {
      const { id } = await interrupted()
      breaks = 1
      const bench = await scene.workbench([says('Fine.'), says('That too.')], {
        storage: (real) => ({
          loadSession: async (one) => real.loadSession(one).then((stored) => stored && damage(stored)),
        }),
      })
      const { header, turns, items } = await bench.sessions.open(id)
      expect(turns).toMatchObject([{ outcome: 'interrupted', reason }])
      expect(header).toMatchObject({
        recovery: { reason, canContinue: false },
        queue: { paused: 'recovery', followUps: [{ text: 'also this' }] },
      })
      expect(items.filter((item) => item.kind === 'user')).toMatchObject([{ text: 'do it' }])
      expect(
        await refusal(bench.sessions.turns.continueRecovery(id, 'c', header.recovery!.recoveryId, 'attended')),
      ).toBe('recovery.not_continuable')
      const actor = await bench.sessions.actor(id)
      const window = await bench.follow(actor)
      await bench.start(actor, 'new')
      await window.until((view) => view.turns.length === 3 && view.turn === null)
      expect(window.itemsOf('user').map((item) => item.text)).toEqual(['do it', 'new', 'also this'])
      expect(window.view.header.recovery).toMatchObject({ status: 'resolved' })
    },
  )
})
