import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { idleActorsMax } from '../../preload/contract/limits.ts'
import type { SessionWrite } from '../storage/storage.ts'
import { sampleHeader, sampleWrite } from '../storage/write-samples.ts'
import type { Message } from '../turns/inputs.ts'
import { asks, calls, hangs, heldDisk, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()
const forEver = Number.MAX_SAFE_INTEGER
const settles = (write: SessionWrite) => write.events.some((event) => event.type === 'turn.settled')

function message(requestId: string): Message {
  return {
    requestId,
    fingerprint: '',
    text: requestId,
    attachments: [],
    model: 'lab/scripted',
    source: 'person',
    attendance: 'attended',
  }
}

describe('a disk that fails', () => {
  // Timers can be moved on; otherwise time runs as it does.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true }))
  afterEach(() => void vi.useRealTimers())

  test('T-41 TA-35 a settle that fails for 10 s is tried again: one end, nothing lost, nothing else taken meanwhile', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([says('All of it.')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    disk.hold(settles)
    await disk.written()
    disk.fail(2)
    const failing = [
      window.event('session.storageFailed', (event) => event.attempt === 1),
      window.event('session.storageFailed', (event) => event.attempt === 3),
    ]
    disk.release(true)
    await failing[0]
    expect(await refusal(actor.command({ type: 'rename', title: 'Mine' }))).toBe('session.read_only')
    expect(await refusal(bench.submit(actor, 'more'))).toBe('session.read_only')
    await vi.advanceTimersByTimeAsync(2_000)
    await failing[1]
    await vi.advanceTimersByTimeAsync(5_100)
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed', ending: 'answer' })
    expect(window.itemsOf('text')).toMatchObject([{ text: 'All of it.', final: true }])
    expect(window.of('turn.settled')).toHaveLength(1)
    expect(await actor.command({ type: 'rename', title: 'Mine' })).toMatchObject({ title: 'Mine' })
  })

  test('T-41 TA-35 for ever: it waits for "Try again", and a Stop meanwhile holds what would come next', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([says('All of it.')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    disk.hold(settles)
    await disk.written()
    disk.fail(forEver)
    disk.release(true)
    await vi.advanceTimersByTimeAsync(60_000)
    const frames = window.of('session.storageFailed')
    const waits = frames.slice(1).map((frame, at) => frame.at - frames[at]!.at)
    expect(waits.map((ms) => Math.floor(ms / 100) * 100)).toEqual([100, 1_000, 5_000, 30_000])
    expect(new Set(frames.map((frame) => frame.since)).size).toBe(1)
    const stopped = bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
    disk.fail(0)
    actor.retrySaving()
    expect(await stopped).toEqual({ stopped: false, why: 'settled' })
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
    await window.until((view) => view.header.automaticHeld?.by === 'stop')
  })

  test('T-38 T-58 while nothing can be saved no tool starts; after three tries the turn fails and keeps what came', async () => {
    const disk = heldDisk()
    const call = { call: { name: 'hold', args: { name: 'tool' } } }
    const bench = await scene.workbench([{ emit: [{ text: 'Hello there, my friend.' }, call] }], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    disk.hold((write) => write.items.some((item) => item.kind === 'tool'))
    const turnId = await bench.start(actor, 'do it')
    await disk.written()
    disk.fail(forEver)
    disk.release(true)
    await window.event('session.storageFailed')
    await vi.advanceTimersByTimeAsync(8_000)
    disk.fail(0)
    actor.retrySaving()
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'failed', error: { code: 'storage.failed' } })
    expect(
      window
        .itemsOf('text')
        .map((item) => item.text)
        .join(''),
    ).toBe('Hello there, my friend.')
    expect(bench.tools.held).toHaveLength(0)
    expect(window.itemsOf('error')).toMatchObject([{ code: 'storage.failed' }])
  })

  test('T-58 more than 4 MiB that wait for the disk end the turn; what waited is kept', async () => {
    const disk = heldDisk()
    const isHeld = Promise.withResolvers<void>()
    const block = { text: `${'many words '.repeat(6_000)}\n` }
    const bench = await scene.workbench(
      [
        {
          emit: [
            { text: 'So: ' },
            { until: isHeld.promise },
            ...Array.from({ length: 60 }, () => block),
            { hang: true },
          ],
        },
      ],
      { storage: disk.over },
    )
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'flood')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    disk.hold()
    isHeld.resolve()
    await vi.waitFor(() => expect(actor.handle?.controller.signal.aborted).toBe(true), {
      interval: 10,
      timeout: 10_000,
    })
    disk.release()
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'failed', error: { code: 'storage.failed' } })
    const stored = (await bench.storage.item(actor.id, window.itemsOf('text')[0]!.id)) as { text: string }
    expect(stored.text.length).toBeGreaterThan(2_000_000)
    expect(stored.text.length).toBeLessThan(60 * 66_000)
  })
})

describe('one transaction at a time', () => {
  test('T-2 T-5 S-16 a settle and the next admission that fail together are both undone, and the first turn can still be stopped', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([hangs('Hello there')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'one')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    const { handle } = actor
    disk.hold()
    const renamed = actor.command({ type: 'rename', title: 'Mine' })
    await disk.written()
    disk.fail(1)
    const failed = actor.report(turnId, { type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
    const second = refusal(actor.command({ type: 'submit', message: message('two'), whenBusy: 'refuse' }))
    disk.release()
    await renamed
    expect(await second).toBe('storage.failed')
    expect(actor.handle).toBe(handle)
    await failed
    expect((await window.settled(turnId)).outcome).toBe('failed')
    expect(window.itemsOf('user')).toHaveLength(1)
    expect(handle!.controller.signal.aborted).toBe(true)
  })

  test('T-96 nobody waits for ever on a turn that has ended, however it ended', async () => {
    const bench = await scene.workbench([asks('tool')])
    bench.settings['turns.maxConcurrent'] = 1
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'one')
    await window.until((view) => view.approvals.head)
    await actor.report(turnId, { type: 'failed', error: { code: 'app.internal', message: 'a fault' } })
    await window.settled(turnId)
    expect(window.itemsOf('approval')).toMatchObject([{ state: 'cancelled' }])
    scene.server.enqueue(says('Fine.'))
    expect(await window.settled(await bench.start(actor, 'two'))).toMatchObject({ outcome: 'completed' })
  })

  test('S-18 a commit that took too long and was made all the same counts; its asker was told in time', async () => {
    let late = true
    const bench = await scene.workbench([says('Fine.')], {
      storage: (real) => ({
        commit: async (write) => {
          await real.commit(write)
          if (late) throw new LatheError('storage.timeout', 'Saving took longer than 30 seconds.')
        },
      }),
    })
    const actor = bench.create()
    const window = await bench.follow(actor)
    expect(await refusal(bench.submit(actor, 'do it', { requestId: 'r' }))).toBe('storage.timeout')
    late = false
    await window.until((view) => view.turns[0]?.outcome === 'completed')
    expect(await bench.submit(actor, 'do it', { requestId: 'r' })).toMatchObject({
      accepted: 'started',
      turnId: window.view.turns[0]!.id,
    })
  })

  test('S-18 one that was not made is undone', async () => {
    let late = true
    const bench = await scene.workbench([says('Fine.')], {
      storage: (real) => ({
        commit: (write) =>
          late
            ? Promise.reject(new LatheError('storage.timeout', 'Saving took longer than 30 seconds.'))
            : real.commit(write),
      }),
    })
    const actor = bench.create()
    const window = await bench.follow(actor)
    expect(await refusal(bench.submit(actor, 'do it', { requestId: 'r' }))).toBe('storage.timeout')
    late = false
    await vi.waitFor(() => expect(actor.peek().turn).toBeNull(), { timeout: 10_000 })
    await bench.submit(actor, 'do it', { requestId: 'r' })
    await window.until((view) => view.turns[0]?.outcome === 'completed')
    expect(window.itemsOf('user')).toHaveLength(1)
  })

  test('S-14 concurrent first opens share one load; above the limit idle actors go, never one that is used', async () => {
    let loads = 0
    const bench = await scene.workbench([], {
      storage: (real) => ({ loadSession: (id) => (loads++, real.loadSession(id)) }),
    })
    const ids = Array.from({ length: idleActorsMax + 6 }, () => newId())
    await Promise.all(
      ids.map((id) => bench.storage.commit(sampleWrite(sampleHeader({ id, workspace: bench.workspace })))),
    )
    const [one, same] = await Promise.all([bench.sessions.actor(ids[0]!), bench.sessions.actor(ids[0]!)])
    expect(one).toBe(same)
    expect(loads).toBe(1)
    await bench.follow(one)
    const waits = Promise.withResolvers<void>()
    const waiting = await bench.sessions.actor(ids[1]!)
    const used = waiting.using(() => waits.promise)
    for (const id of ids.slice(2)) await bench.sessions.actor(id)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await bench.sessions.actor(ids[0]!)).toBe(one)
    expect(await bench.sessions.actor(ids[1]!)).toBe(waiting)
    const before = loads
    await bench.sessions.actor(ids[2]!)
    expect(loads).toBe(before + 1)
    waits.resolve()
    await used
  })

  test('S-17 writes reach storage in the order decided, with what was decided', async () => {
    const bench = await scene.workbench([says('Fine.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'do it'))
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((title) => actor.command<{ title: string }>({ type: 'rename', title })),
    )
    expect(replies.map((reply) => reply.title)).toEqual(['one', 'two', 'three'])
    const stored = await bench.storage.loadSession(actor.id)
    expect(stored?.header.title).toBe('three')
    const { events } = await bench.storage.events(actor.id, 0, 500)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1))
    expect(
      events.flatMap((event) =>
        event.type === 'session.changed' && event.patch.titleSource === 'manual' ? [event.patch.title] : [],
      ),
    ).toEqual(['one'])
  })
})

test('S-17 what only streams on writes its events and where the journal ends, not the record again', async () => {
  const kept: boolean[] = []
  const seen = Promise.withResolvers<void>()
  const emit = [{ text: 'word '.repeat(60) }, { until: seen.promise }, { text: 'and more' }, { hang: true as const }]
  const first = await scene.workbench([{ emit }], {
    storage: (real) => ({
      commit: (write) => {
        const streams = write.events.every((event) => event.type === 'item.delta')
        if (streams) kept.push(write.recordKept === true)
        else if (write.events.some((event) => event.type === 'session.changed'))
          expect(write.recordKept).toBeUndefined()
        return real.commit(write)
      },
    }),
  })
  const actor = first.create()
  const window = await first.follow(actor)
  await first.start(actor, 'do it')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  seen.resolve()
  await window.until((view) => view.items.some((item) => item.kind === 'text' && item.text.endsWith('and more')))
  await actor.command({ type: 'rename', title: 'Mine' })
  expect(kept.at(-1)).toBe(true)
  // A line of the list is kept only while nothing that it tells has changed.
  expect((await first.storage.entries({ limit: 1 })).entries).toMatchObject([{ title: 'Mine', indicator: 'running' }])
  const { lastSeq } = actor.published.header
  await first.abandon()
  const second = await scene.restarted(first, [], true)
  const stored = await second.storage.loadSession(actor.id)
  expect(stored?.header).toMatchObject({ title: 'Mine', lastSeq })
})

describe('the end of a session', () => {
  test('T-11 S-21 S-22 deleting stops the turn first; nothing late brings it back; undone, it waits for the person', async () => {
    const bench = await scene.workbench([calls('tool')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await bench.submit(actor, 'later', { whenBusy: 'queue' })
    await bench.tools.running('tool')
    await bench.sessions.delete(actor.id)
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'stopped', reason: 'session_deleted' })
    expect(await refusal(bench.sessions.open(actor.id))).toBe('session.deleted')
    expect(await refusal(actor.command({ type: 'title', title: 'late', source: 'generated', rev: 0 }))).toBe(
      'session.deleted',
    )
    expect(
      await refusal(actor.command({ type: 'queue.refused', id: 'x', error: { code: 'app.internal', message: '' } })),
    ).toBe('session.deleted')
    await actor.command({ type: 'restore' })
    await actor.idle()
    expect((await bench.sessions.open(actor.id)).header).toMatchObject({
      deletedAt: null,
      queue: { paused: 'stop', followUps: [{ text: 'later' }] },
    })
    expect(scene.server.asked()).toHaveLength(1)
    await bench.sessions.delete(actor.id)
    await bench.storage.erase(actor.id, Date.now())
    expect(await refusal(actor.command({ type: 'restore' }))).toBe('session.deleted')
  })

  test('S-3 an unsent session leaves nothing, and shows what was chosen for it', async () => {
    const bench = await scene.workbench()
    const actor = bench.create()
    await actor.command({ type: 'settings', approvalMode: 'all' })
    expect((await bench.sessions.open(actor.id)).header.approvalMode).toBe('all')
    await bench.sessions.delete(actor.id)
    expect(await refusal(bench.sessions.open(actor.id))).toBe('session.not_found')
    expect(await bench.storage.loadSession(actor.id)).toBeNull()
  })

  test('T-196 a quit settles what runs as interrupted, to be continued; nothing new starts', async () => {
    const first = await scene.workbench([hangs('Hello there')])
    const actor = first.create()
    const window = await first.follow(actor)
    const turnId = await first.start(actor, 'do it')
    await first.submit(actor, 'later', { whenBusy: 'queue' })
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    const closed = first.sessions.close(5_000)
    expect(await refusal(first.submit(actor, 'more'))).toBe('app.closing')
    await closed
    const second = await scene.restarted(first, [says('On.')])
    const { header, turns } = await second.sessions.open(actor.id)
    expect(turns).toMatchObject([{ id: turnId, outcome: 'interrupted', reason: 'shutdown' }])
    expect(header).toMatchObject({
      recovery: { status: 'awaiting', reason: 'confirm', canContinue: true },
      queue: { paused: 'recovery', followUps: [{ text: 'later' }] },
      automaticHeld: { by: 'recovery' },
    })
  })

  test('T-196 a quit does not wait for a disk that stands still', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([hangs('Hello there')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    await bench.start(actor, 'do it')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    disk.hold()
    await bench.sessions.close(50)
    expect(window.view.turn).not.toBeNull()
    disk.release()
    await actor.idle()
  })
})
