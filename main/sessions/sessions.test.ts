import { rm } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { LatheError } from '../../preload/contract/errors.ts'
import type { Message } from '../turns/inputs.ts'
import { calls, hangs, heldDisk, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()

describe('admission', () => {
  test('T-12 T-43 S-38 a message becomes a settled turn, stored as it is shown', async () => {
    const bench = await scene.workbench([says('Hello there.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const settled = await window.settled(await bench.start(actor, 'Say hello'))
    expect(settled).toMatchObject({
      outcome: 'completed',
      ending: 'answer',
      usage: { input: 10, output: 5 },
      itemsOmitted: 0,
    })
    expect(window.itemsOf('text')).toMatchObject([{ text: 'Hello there.', final: true, status: 'final' }])
    const stored = await bench.storage.loadSession(actor.id)
    expect(stored).toMatchObject({
      header: window.view.header,
      items: window.view.items,
      turns: window.view.turns,
      unsettled: [],
    })
  })

  test('T-13 TA-2 S-27 a request answers the same after a restart and makes nothing; other content is a conflict', async () => {
    const first = await scene.workbench([says('One.')])
    const actor = first.create()
    const window = await first.follow(actor)
    const reply = await first.submit(actor, 'do it', { requestId: 'r' })
    expect(await first.submit(actor, 'do it', { requestId: 'r' })).toEqual(reply)
    if (reply.accepted !== 'started') throw new Error(reply.accepted)
    await window.settled(reply.turnId)
    const retry = await first.sessions.turns
      .retry(actor.id, 'again', reply.turnId, undefined, 'attended')
      .catch((error: unknown) => error)

    const second = await scene.restarted(first)
    const again = await second.sessions.actor(actor.id)
    expect(await second.submit(again, 'do it', { requestId: 'r' })).toEqual(reply)
    expect(await refusal(second.submit(again, 'do other', { requestId: 'r' }))).toBe('request.conflict')
    expect(await second.sessions.turns.retry(actor.id, 'again', reply.turnId, undefined, 'attended')).toEqual(retry)
    expect(again.peek().view.turns).toHaveLength(2)
    expect(again.peek().view.items.filter((item) => item.kind === 'user')).toHaveLength(2)
  })

  test('T-14 refusals come in their order and leave nothing behind', async () => {
    const bench = await scene.workbench([hangs('x')])
    const lost = { name: 'lost.png', mediaType: 'image/png', bytes: 3, hash: '0'.repeat(64) }
    const kept = { name: 'kept.txt', mediaType: 'text/plain', bytes: 4, hash: await bench.storage.blobs.put('text') }
    const actor = bench.create()
    expect(await refusal(bench.submit(actor, ' \n'))).toBe('message.empty')
    expect(await refusal(bench.submit(actor, 'x'.repeat(1024 * 1024 + 1)))).toBe('message.too_large')
    const rejected = (await bench
      .submit(actor, 'see', { attachments: [kept, lost] })
      .catch((error: unknown) => error)) as LatheError
    expect(rejected).toMatchObject({
      code: 'attachment.rejected',
      data: { files: [{ name: 'lost.png', reason: 'unreadable' }] },
    })
    const many = Array.from({ length: 21 }, () => kept)
    expect(await refusal(bench.submit(actor, 'see', { attachments: many }))).toBe('attachment.rejected')
    expect(await refusal(bench.submit(actor, 'x', { model: 'nobody/knows' }))).toBe('model.unknown')
    expect(await bench.storage.loadSession(actor.id)).toBeNull()

    await bench.start(actor, 'first')
    expect(await refusal(bench.submit(actor, 'second'))).toBe('turn.busy')
    await bench.sessions.delete(actor.id)
    expect(await refusal(bench.submit(actor, ''))).toBe('session.deleted')
    const other = bench.create()
    await rm(bench.workspace, { recursive: true })
    expect(await refusal(bench.submit(other, 'x'))).toBe('workspace.missing')
  })

  test('T-16 TA-3 S-16 K-13 an admission that cannot be saved leaves no trace; the same request works once it can', async () => {
    const bench = await scene.workbench([says('Fine.')])
    const actor = bench.create()
    const before = actor.peek()
    scene.faults.failCommits(1)
    expect(await refusal(bench.submit(actor, 'do it', { requestId: 'r' }))).toBe('storage.failed')
    expect(actor.peek()).toEqual(before)
    expect(actor.handle).toBeNull()
    expect(scene.server.asked()).toHaveLength(0)
    expect(await bench.storage.loadSession(actor.id)).toBeNull()
    const window = await bench.follow(actor)
    const reply = await bench.submit(actor, 'do it', { requestId: 'r' })
    if (reply.accepted !== 'started') throw new Error(reply.accepted)
    expect((await window.settled(reply.turnId)).outcome).toBe('completed')
  })

  test('S-15 a refusal that rests on what could not be saved is not told', async () => {
    const disk = heldDisk()
    const bench = await scene.workbench([says('Hello.')], { storage: disk.over })
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'hello'))
    disk.hold()
    const renamed = actor.command({ type: 'rename', title: 'Mine' })
    await disk.written()
    const message = (requestId: string): Message => ({
      requestId,
      fingerprint: '',
      text: 'x',
      attachments: [],
      model: 'lab/scripted',
      source: 'person',
      attendance: 'attended',
    })
    const both = ['one', 'two'].map((id) =>
      refusal(actor.command({ type: 'submit', message: message(id), whenBusy: 'refuse' })),
    )
    disk.fail(1)
    disk.release()
    await renamed
    expect(await Promise.all(both)).toEqual(['storage.failed', 'storage.failed'])
  })

  test('T-21 T-99 beyond the limit turns wait for a place; a Stop ends the wait, a settle gives the place', async () => {
    const bench = await scene.workbench([calls('long'), says('second'), says('first')])
    bench.settings['turns.maxConcurrent'] = 1
    const [one, two, three] = [bench.create(), bench.create(), bench.create()]
    const first = await bench.follow(one)
    const second = await bench.follow(two)
    const third = await bench.follow(three)
    const firstTurn = await bench.start(one, 'long')
    const held = await bench.tools.running('long')
    const secondTurn = await bench.start(two, 'waits')
    const thirdTurn = await bench.start(three, 'waits too')
    await second.until((view) => view.turn?.status?.kind === 'waiting_slot')
    await third.until((view) => view.turn?.status?.kind === 'waiting_slot')
    await bench.sessions.command(three.id, { type: 'stop', turnId: thirdTurn, reason: 'person' })
    expect(await third.settled(thirdTurn)).toMatchObject({ outcome: 'stopped', reason: 'person' })
    expect(scene.server.asked()).toHaveLength(1)
    held.finish()
    expect((await first.settled(firstTurn)).outcome).toBe('completed')
    expect((await second.settled(secondTurn)).outcome).toBe('completed')
  })

  test('T-21 of those that wait a person’s turn goes before one for a goal, and each kind in its order', async () => {
    const waiting = ['goal one', 'goal two', 'person one', 'person two']
    const bench = await scene.workbench([calls('long'), ...['long', ...waiting].map(() => says('Done.'))])
    bench.settings['turns.maxConcurrent'] = 1
    const begin = async (name: string) => {
      const actor = bench.create()
      const window = await bench.follow(actor)
      const message: Message = {
        requestId: name,
        fingerprint: name,
        text: name,
        attachments: [],
        model: 'lab/scripted',
        attendance: 'attended',
        ...(name.startsWith('goal') ? { source: 'goal', automation: { name }, prompt: name } : { source: 'person' }),
      }
      await actor.command({ type: 'submit', message, whenBusy: 'refuse' })
      return window
    }
    const windows = [await begin('long')]
    const long = await bench.tools.running('long')
    for (const name of waiting) {
      const window = await begin(name)
      await window.until((view) => view.turn?.status?.kind === 'waiting_slot')
      windows.push(window)
    }
    long.finish()
    for (const window of windows) await window.until((view) => view.turns[0]?.outcome === 'completed')
    const asked = scene.server.asked().map(({ body }) => JSON.stringify(body))
    const order = asked.map((body) => ['long', ...waiting].find((name) => body.includes(`"${name}"`)))
    expect(order).toEqual(['long', 'long', 'person one', 'person two', 'goal one', 'goal two'])
  })

  test('T-36 TA-36 what throws while a turn is prepared fails the turn; the session goes on', async () => {
    let broken = true
    const bench = await scene.workbench([says('Fine.')], {
      preparing: async () => {
        if (broken) throw new Error('the context cannot be built')
      },
    })
    const actor = bench.create()
    const window = await bench.follow(actor)
    expect(await window.settled(await bench.start(actor, 'one'))).toMatchObject({
      outcome: 'failed',
      error: { code: 'app.internal' },
    })
    expect(window.itemsOf('error')).toHaveLength(1)
    broken = false
    expect(await window.settled(await bench.start(actor, 'two'))).toMatchObject({ outcome: 'completed' })
  })
})
