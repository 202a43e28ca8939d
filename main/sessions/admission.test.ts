/** How a message becomes a turn, on real storage and against the scripted model server: turns.md 2. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import type { Storage } from '../storage/storage.ts'
import { openStorage } from '../storage/open-storage.ts'
import { calls, hangs, heldDisk, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()

test('TA-1 T-133 two messages in one tick: one starts, the other is refused with its turn, or is queued and starts next', async () => {
  const bench = await scene.workbench([says('One.'), says('Two.'), says('Three.')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const both = await Promise.allSettled([bench.submit(actor, 'one'), bench.submit(actor, 'two')])
  const started = both.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []))
  if (started[0]?.accepted !== 'started') throw new Error(started[0]?.accepted)
  const { turnId } = started[0]
  expect(started).toHaveLength(1)
  expect(both.find((reply) => reply.status === 'rejected')).toMatchObject({
    reason: { code: 'turn.busy', data: { turnId } },
  })
  await window.settled(turnId)
  expect(window.view.turns).toHaveLength(1)
  expect(window.itemsOf('user')).toHaveLength(1)

  const queued = await Promise.all([
    bench.submit(actor, 'three', { whenBusy: 'queue' }),
    bench.submit(actor, 'four', { whenBusy: 'queue' }),
  ])
  expect(queued.map(({ accepted }) => accepted).toSorted()).toEqual(['queued', 'started'])
  await window.until((view) => view.turns.length === 3 && view.turns.every((turn) => turn.outcome === 'completed'))
  expect(window.itemsOf('user')).toHaveLength(3)
  expect(window.view.turns.slice(1).map(({ source }) => source)).toEqual(['person', 'follow_up'])
})

test('TA-4 F-1204 a new session with one bad file of two: only that one is named, and nothing is left', async () => {
  const bench = await scene.workbench()
  const good = { name: 'good.txt', mediaType: 'text/plain', bytes: 4, hash: await bench.storage.blobs.put('text') }
  const bad = { name: 'bad.txt', mediaType: 'text/plain', bytes: 4, hash: '0'.repeat(64) }
  const actor = bench.create()
  const before = actor.peek()
  await expect(bench.submit(actor, 'look', { attachments: [good, bad] })).rejects.toMatchObject({
    code: 'attachment.rejected',
    data: { files: [{ name: 'bad.txt', reason: 'unreadable' }] },
  })
  expect(actor.peek()).toBe(before)
  expect(await bench.storage.loadSession(actor.id)).toBeNull()
  expect((await bench.storage.entries({ limit: 10 })).entries).toEqual([])
  // What was uploaded for it belongs to nobody and goes with the next sweep.
  await bench.storage.sweepBlobs(Date.now() + 60_000)
  const blobs = await readdir(join(bench.home, 'blobs'), { recursive: true, withFileTypes: true })
  expect(blobs.filter((entry) => entry.isFile())).toEqual([])
})

test('T-22 what was chosen before the first message is stored with it; a refusal leaves no session', async () => {
  const bench = await scene.workbench([says('Fine.')], { lab: { models: ['scripted', 'other'] } })
  const actor = bench.create()
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/other', approvalMode: 'all', effort: 'low' })
  await bench.sessions.command(actor.id, { type: 'pin', pinned: true })
  expect(await refusal(bench.submit(actor, ' '))).toBe('message.empty')
  expect(await bench.storage.loadSession(actor.id)).toBeNull()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'do it'))
  expect(await bench.storage.loadSession(actor.id)).toMatchObject({
    header: { model: 'lab/other', approvalMode: 'all', effort: 'low', pinnedAt: expect.any(Number) },
  })
  expect(scene.server.asked()[0]!.body.model).toBe('other')
})

test('T-4 the turn and its signal are there in the step that shows it: a Stop has one to abort before anything is saved', async () => {
  const disk = heldDisk()
  const prepared = vi.fn<() => Promise<void>>(async () => {})
  const bench = await scene.workbench([], { storage: disk.over, preparing: prepared })
  const actor = bench.create()
  disk.hold()
  const reply = bench.submit(actor, 'do it')
  await disk.written()
  const { handle } = actor
  expect(handle).toMatchObject({ turnId: actor.peek().turn!.id })
  expect(handle!.controller.signal.aborted).toBe(false)
  const stopped = bench.sessions.command(actor.id, { type: 'stop', turnId: handle!.turnId, reason: 'person' })
  await Promise.resolve()
  expect(handle!.controller.signal).toMatchObject({ aborted: true, reason: 'person' })
  disk.release()
  await Promise.all([reply, stopped])
  await actor.idle()
  expect(actor.published.turns).toMatchObject([{ outcome: 'stopped', reason: 'person' }])
  expect(prepared).not.toHaveBeenCalled()
})

describe('T-15 what has changed while a message was checked decides', () => {
  /** A workbench whose attachments are looked at until the test lets go. */
  async function checking() {
    let release = () => {}
    const checked = new Promise<void>((resolve) => (release = resolve))
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const storage = (real: Storage): Partial<Storage> => ({
      blobs: {
        ...real.blobs,
        get: async (hash) => {
          arrived()
          await checked
          return real.blobs.get(hash)
        },
      },
    })
    const bench = await scene.workbench([hangs('Hello')], { storage })
    const file = { name: 'a.txt', mediaType: 'text/plain', bytes: 4, hash: await bench.storage.blobs.put('text') }
    const actor = bench.create()
    const submitted = refusal(bench.submit(actor, 'with file', { attachments: [file] }))
    await arrival
    return { bench, actor, submitted, release }
  }

  test('the session was deleted', async () => {
    const { bench, actor, submitted, release } = await checking()
    await bench.start(actor, 'first')
    await bench.sessions.delete(actor.id)
    release()
    expect(await submitted).toBe('session.deleted')
    expect(actor.peek().view.turns).toHaveLength(1)
  })

  test('another turn began', async () => {
    const { bench, actor, submitted, release } = await checking()
    const turnId = await bench.start(actor, 'first')
    release()
    expect(await submitted).toBe('turn.busy')
    expect(actor.peek().turn?.id).toBe(turnId)
    expect(actor.peek().view.items.filter((item) => item.kind === 'user')).toHaveLength(1)
  })

  test('the host is closing', async () => {
    const { bench, actor, submitted, release } = await checking()
    const closed = bench.close()
    release()
    expect(await submitted).toBe('app.closing')
    await closed
    expect(actor.peek().view.turns).toHaveLength(0)
  })
})

describe('T-17 the first request', () => {
  test('is sent once the admission is durable, not before', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([says('Fine.')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    disk.hold()
    const reply = bench.submit(actor, 'do it')
    await disk.written()
    // A request would be there by now: nothing of it waits for the disk.
    await bench.storage.rules()
    expect(scene.server.asked()).toHaveLength(0)
    disk.release()
    const { turnId } = (await reply) as { turnId: string }
    expect((await window.settled(turnId)).outcome).toBe('completed')
    expect(scene.server.asked()).toHaveLength(1)
  })

  test('and every other are not sent by whoever lost the data folder; the next owner settles what ran', async () => {
    const bench = await scene.workbench([calls('tool')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    const tool = await bench.tools.running('tool')
    await window.until((view) => view.turn?.status?.kind === 'tool')
    const { signal } = actor.handle!.controller
    const other = await openStorage({ home: bench.home })
    try {
      tool.finish()
      await vi.waitFor(() => expect(signal.aborted).toBe(true), { timeout: 10_000 })
      await actor.idle()
      expect(scene.server.asked()).toHaveLength(1)
      expect(await refusal(bench.submit(actor, 'more'))).toBe('session.read_only')
      const fresh = bench.create()
      expect(await refusal(bench.submit(fresh, 'new'))).toBe('session.read_only')
      expect(scene.server.asked()).toHaveLength(1)
      expect(await other.unsettledSessions()).toEqual([actor.id])
      expect((await other.loadSession(actor.id))!.turns).toMatchObject([{ id: turnId, outcome: null }])
    } finally {
      await other.close()
    }
  })
})

test('T-18 M-25 what is chosen while a turn waits or runs is for the next one', async () => {
  const bench = await scene.workbench([calls('tool'), says('Done.'), says('Next.')], {
    lab: { models: ['scripted', 'other'], quirks: { effort: true } },
  })
  bench.settings['turns.maxConcurrent'] = 1
  const blocking = bench.create()
  const blocker = await bench.follow(blocking)
  scene.server.script([
    { ...hangs('Busy'), when: { lastUserContains: 'block' } },
    calls('tool'),
    says('Done.'),
    says('Next.'),
  ])
  const blockingTurn = await bench.start(blocking, 'block')
  await blocker.until((view) => view.items.at(-1)?.kind === 'text')
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.until((view) => view.turn?.status?.kind === 'waiting_slot')
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/other', effort: 'high' })
  await bench.sessions.command(blocking.id, { type: 'stop', turnId: blockingTurn, reason: 'person' })
  ;(await bench.tools.running('tool')).finish()
  expect(await window.settled(turnId)).toMatchObject({ turn: { model: 'lab/scripted' } })
  await window.settled(await bench.start(actor, 'next'))
  const asked = scene.server
    .asked()
    .slice(1)
    .map(({ body }) => [body.model, body.reasoning_effort])
  expect(asked).toEqual([
    ['scripted', undefined],
    ['scripted', undefined],
    ['other', 'high'],
  ])
})

test('T-20 what the model gets and what is shown are two things; what a machine says is not shown as the person’s', async () => {
  const bench = await scene.workbench([hangs('Half'), says('All.'), says('Nightly.')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
  await bench.sessions.turns.continue(actor.id, newId(), turnId, 'attended')
  await window.until((view) => view.turns[1]?.outcome)
  const [, continued] = window.itemsOf('user')
  expect(continued).toMatchObject({
    text: 'Continue',
    source: 'person',
    prompt: expect.stringContaining('Continue the work'),
  })
  expect(scene.server.asked()[1]!.body.messages.at(-1)).toEqual({ role: 'user', content: continued!.prompt })
  await bench.sessions.turns.submitAutomatic(actor.id, {
    source: 'schedule',
    automation: { name: 'Mail' },
    text: 'Mail, every morning',
    prompt: 'Look at the mail.',
    completionKeys: ['k'],
  })
  await window.until((view) => view.turns[2]?.outcome)
  expect(window.itemsOf('user').at(-1)).toMatchObject({ text: 'Mail, every morning', source: 'automation' })
  expect(scene.server.asked()[2]!.body.messages.at(-1).content).toContain('Look at the mail.')
})

test('T-127 T-18 what is queued is there after a restart, in its order; it is answered by the model its turn begins with', async () => {
  const bench = await scene.workbench([hangs('Hello')], { lab: { models: ['scripted', 'other'] } })
  const actor = bench.create()
  const window = await bench.follow(actor)
  await bench.start(actor, 'first')
  await bench.submit(actor, 'one', { whenBusy: 'queue' })
  await bench.submit(actor, 'two', { whenBusy: 'queue', model: 'lab/scripted' })
  await bench.submit(actor, 'three', { whenBusy: 'queue' })
  const [one, , three] = actor.peek().view.header.queue.followUps
  await bench.sessions.command(actor.id, { type: 'followUp.move', id: three!.id, before: one!.id })
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/other' })
  await window.until((view) => view.header.model === 'lab/other')
  const { followUps } = window.view.header.queue
  expect(followUps.map(({ text, model }) => [text, model])).toEqual([
    ['three', undefined],
    ['one', undefined],
    ['two', 'lab/scripted'],
  ])
  await bench.close()
  const again = await scene.workbench([says('3'), says('1'), says('2')], { lab: { models: ['scripted', 'other'] } })
  expect((await again.sessions.open(actor.id)).header.queue).toEqual({ followUps, paused: 'recovery' })
  const next = await again.follow(await again.sessions.actor(actor.id))
  await again.sessions.command(actor.id, { type: 'queue.resume' })
  await next.until((view) => view.header.queue.followUps.length === 0 && view.turn === null)
  expect(
    scene.server
      .asked()
      .slice(-3)
      .map(({ body }) => body.model),
  ).toEqual(['other', 'other', 'scripted'])
})

test('T-179 Retry and Continue find a turn of any age; one that was never here is refused', async () => {
  const bench = await scene.workbench([
    hangs('Half'),
    ...Array.from({ length: 15 }, (_, step) => calls(...Array.from({ length: 6 }, (__, at) => `tool-${step}-${at}`))),
    says('Long.'),
    says('Again.'),
    says('On.'),
  ])
  bench.tools.onHeld = (held) => held.finish()
  const actor = bench.create()
  const window = await bench.follow(actor)
  const old = await bench.start(actor, 'the old one')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  await bench.sessions.command(actor.id, { type: 'stop', turnId: old, reason: 'person' })
  await window.settled(old)
  await window.settled(await bench.start(actor, 'a long one'))
  const again = await scene.restarted(bench)
  expect((await again.sessions.open(actor.id)).turns.map(({ id }) => id)).not.toContain(old)
  const next = await again.follow(await again.sessions.actor(actor.id))
  scene.server.script([says('Again.'), says('On.')])
  await again.sessions.turns.retry(actor.id, newId(), old, undefined, 'attended')
  await next.until(
    (view) => view.turn === null && view.turns.at(-1)?.outcome === 'completed' && view.turns.at(-1)?.retryOf,
  )
  expect(next.itemsOf('user').at(-1)).toMatchObject({ text: 'the old one' })
  await again.sessions.turns.continue(actor.id, newId(), old, 'attended')
  await next.until((view) => view.turn === null && view.turns.at(-1)?.continues === old)
  expect(await refusal(again.sessions.turns.retry(actor.id, newId(), 'nobody', undefined, 'attended'))).toBe(
    'request.invalid',
  )
  expect(await refusal(again.sessions.turns.continue(actor.id, newId(), 'nobody', 'attended'))).toBe('request.invalid')
})
