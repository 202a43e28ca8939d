import { afterEach, expect, test, vi } from 'vitest'
import { quotaPauseMs, wakeGatherMs } from '../../preload/contract/limits.ts'
import type { AutomaticRequest } from '../turns/automatic.ts'
import type { SessionActor } from './actor.ts'
import { calls, heldDisk, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

afterEach(() => void vi.useRealTimers())

/** Timers can be moved on; otherwise time runs as it does. */
function movableTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], shouldAdvanceTime: true })
}

const nightly = (key: string): AutomaticRequest => ({
  source: 'schedule',
  automation: { name: 'Nightly check' },
  completionKeys: [key],
  text: 'Look at the build',
  prompt: 'Look at the build.',
})

/** A session in which a turn has settled. */
async function spoken(bench: TestWorkbench) {
  const actor = bench.create()
  scene.server.enqueue(says('Hello.'))
  const turnId = await bench.start(actor, 'hello')
  const window = await bench.follow(actor)
  await window.until((view) => view.turns.find((turn) => turn.id === turnId)?.outcome)
  return { actor, window }
}

async function processEnds(bench: TestWorkbench, actor: SessionActor): Promise<string> {
  const { id } = await bench.sessions.command<{ id: string }>(actor.id, {
    type: 'exec.started',
    session: {
      owner: 'agent',
      preview: 'npm run build',
      folder: '.',
      startedAt: Date.now(),
      tty: false,
      itemId: 'none',
      wakes: true,
    },
  })
  await bench.sessions.command(actor.id, {
    type: 'exec.ended',
    id,
    end: { at: Date.now(), reason: 'exited', exitCode: 1, signal: null },
    notice: { text: `${id} ended`, prompt: `The process ${id} ended with exit code 1` },
  })
  return id
}

test('TA-5 T-29 T-15 a Stop while an automatic submit is still being checked: it is held and starts nothing', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  const asked = bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  const last = window.view.header.lastTurnId!
  // Applied while the submit waits on its look at the folder.
  await bench.sessions.command(actor.id, { type: 'stop', turnId: last, reason: 'person' })
  expect(await refusal(asked)).toBe('automatic.held')
  expect(actor.peek().view.turns).toHaveLength(1)
  expect(scene.server.asked()).toHaveLength(1)
})

test('X-608 A-69 A-2 A-3 ends of one moment start one turn of an idle session, told with what ended; it may end quietly (T-33, A-117)', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  const { updatedAt, notableSeq } = window.view.header
  scene.server.enqueue({ emit: [{ call: { name: 'nothing_to_report', args: {} } }] })
  movableTime()
  await processEnds(bench, actor)
  await processEnds(bench, actor)
  await vi.advanceTimersByTimeAsync(wakeGatherMs)
  const view = await window.until(({ turns }) => turns.length === 2 && turns[1]!.outcome)
  expect(view.turns[1]).toMatchObject({
    source: 'process',
    origin: 'background',
    automation: { name: 'x1 (npm run build) and x2 (npm run build)' },
    outcome: 'completed',
    ending: 'quiet',
  })
  expect(view.header).toMatchObject({ updatedAt, notableSeq })
  const request = JSON.stringify(scene.server.asked().at(-1)?.body)
  expect(request).toContain('The process x1 ended with exit code 1')
  expect(request).toContain('The process x2 ended with exit code 1')
  expect(request).toContain(
    '<automatic-turn source=\\"process\\" name=\\"x1 (npm run build) and x2 (npm run build)\\">',
  )
  expect(request).toContain('No window is open.')
  expect(request).toContain('nothing_to_report')
  // No request after the quiet end, and no tool to end a person's turn that way.
  expect(scene.server.asked()).toHaveLength(2)
  expect(JSON.stringify(scene.server.asked()[0]?.body)).not.toContain('nothing_to_report')
})

test('TA-7 T-31 T-32 T-110 a person’s message makes a background turn yield: seen at once, next to start, and told what is pending', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  scene.server.enqueue(calls('done', 'long'), says('Here I am.'))
  await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  const long = await bench.tools.running('long')
  const done = await bench.tools.running('done')
  done.finish()
  await window.until(({ items }) => items.some((item) => item.kind === 'tool' && item.state === 'ok'))
  await processEnds(bench, actor)
  const reply = await bench.submit(actor, 'now please')
  expect(reply).toMatchObject({ accepted: 'queued' })
  const view = await window.until(({ turns }) => turns.length === 3 && turns[2]!.outcome)
  expect(long.context.signal.aborted).toBe(true)
  expect(view.turns.map(({ outcome, reason, source }) => [source, outcome, reason])).toEqual([
    ['person', 'completed', undefined],
    ['schedule', 'stopped', 'yielded'],
    ['follow_up', 'completed', undefined],
  ])
  const tools = window.itemsOf('tool')
  expect(tools.map((item) => item.state)).toEqual(['ok', 'cancelled'])
  expect(view.header.automaticHeld).toBeNull()
  expect(JSON.stringify(scene.server.asked().at(-1)?.body)).toContain('The process x1 ended with exit code 1')
  // Nothing is left to be woken for.
  expect(actor.peek().hidden.notices).toEqual([])
})

test('T-28 A-4 an admission that cannot be saved leaves no turn and keeps the work; it starts once it can be', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([], { storage: disk.over })
  const { actor, window } = await spoken(bench)
  disk.fail(1)
  expect(await refusal(bench.sessions.turns.submitAutomatic(actor.id, nightly('night')))).toBe('storage.failed')
  expect(actor.peek().view.turns).toHaveLength(1)
  expect(actor.peek().hidden.completionKeys).toEqual([])
  scene.server.enqueue(says('Done.'))
  const first = await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  // Delivered: asked again it is the same turn, also after the host was opened anew.
  expect(await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))).toEqual(first)
  await window.until(({ turns }) => turns[1]?.outcome)
  const again = await scene.restarted(bench)
  expect(await again.sessions.turns.submitAutomatic(actor.id, nightly('night'))).toEqual(first)
})

test('T-21 A-94 beyond the number allowed the others wait unadmitted, first due first served; a person’s turn waits for none', async () => {
  const bench = await scene.workbench()
  bench.settings['automations.maxConcurrent'] = 1
  bench.settings['turns.maxConcurrent'] = 1
  const one = await spoken(bench)
  const two = await spoken(bench)
  const three = await spoken(bench)
  scene.server.enqueue(calls('first'))
  await bench.sessions.turns.submitAutomatic(one.actor.id, nightly('night'))
  const first = await bench.tools.running('first')
  movableTime()
  await processEnds(bench, two.actor)
  await vi.advanceTimersByTimeAsync(wakeGatherMs)
  expect(two.actor.peek().view.turns).toHaveLength(1)
  scene.server.enqueue(says('To you.'))
  await bench.start(three.actor, 'me')
  await three.window.until(({ turns }) => turns[1]?.outcome)
  scene.server.enqueue(says('First is done.'), says('Second is done.'))
  first.finish()
  const view = await two.window.until(({ turns }) => turns[1]?.outcome)
  expect(view.turns[1]).toMatchObject({ source: 'process', outcome: 'completed' })
})

test('A-94 where more may run, what waits begins at once', async () => {
  const bench = await scene.workbench()
  bench.settings['automations.maxConcurrent'] = 1
  const one = await spoken(bench)
  const two = await spoken(bench)
  scene.server.enqueue(calls('first'))
  const { turnId } = (await bench.sessions.turns.submitAutomatic(one.actor.id, nightly('night'))) as { turnId: string }
  const first = await bench.tools.running('first')
  movableTime()
  await processEnds(bench, two.actor)
  await vi.advanceTimersByTimeAsync(wakeGatherMs)
  expect(two.actor.peek().view.turns).toHaveLength(1)
  scene.server.enqueue(says('Second is done.'))
  bench.settings['automations.maxConcurrent'] = 2
  bench.sessions.limitsChanged()
  await two.window.until(({ turns }) => turns[1]?.outcome)
  expect(one.actor.peek().turn?.id).toBe(turnId)
  scene.server.enqueue(says('First is done.'))
  first.finish()
  await one.window.settled(turnId)
})

test('T-165 a background turn has its own limit of steps', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  bench.settings['turns.maxStepsBackground'] = 1
  scene.server.enqueue({ emit: [{ call: { name: 'update_plan', args: { entries: [] } } }] }, says('That was all.'))
  await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  const view = await window.until(({ turns }) => turns[1]?.outcome)
  expect(view.turns[1]).toMatchObject({ outcome: 'completed', ending: 'max_steps', steps: 2 })
})

test('A-96 A-105 a background turn that takes too long is stopped as out of time, without a hold', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  scene.server.enqueue(calls('long'))
  movableTime()
  await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  await bench.tools.running('long')
  await vi.advanceTimersByTimeAsync(30 * 60_000)
  const view = await window.until(({ turns }) => turns[1]?.outcome)
  expect(view.turns[1]).toMatchObject({ outcome: 'stopped', reason: 'time_limit' })
  expect(view.header.automaticHeld).toBeNull()
})

test('T-29 T-183 A-84 after a restart nothing starts by itself; what is pending is told with the next message', async () => {
  const bench = await scene.workbench()
  const { actor } = await spoken(bench)
  await processEnds(bench, actor)
  const again = await scene.restarted(bench)
  const opened = await again.sessions.actor(actor.id)
  const window = await again.follow(opened)
  expect(opened.peek().turn).toBeNull()
  scene.server.enqueue(says('I see.'))
  await again.start(opened, 'and?')
  await window.until(({ turns }) => turns.at(-1)?.source === 'person' && turns.at(-1)?.outcome && turns.length === 2)
  expect(JSON.stringify(scene.server.asked().at(-1)?.body)).toContain('The process x1 ended with exit code 1')
})

test('A-110 A-111 a refused key pauses what starts by itself with that provider, over a restart; a person is answered, which ends it', async () => {
  const bench = await scene.workbench()
  const { actor } = await spoken(bench)
  scene.server.enqueue({ error: { status: 401 } })
  await bench.sessions.turns.submitAutomatic(actor.id, nightly('night'))
  await expect
    .poll(() => bench.pauses.list())
    .toMatchObject([{ provider: 'lab', code: 'provider.auth_missing', until: null }])
  const [pause] = bench.pauses.list()
  await expect.poll(() => actor.peek().turn).toBeNull()
  const asked = scene.server.asked().length
  expect(await refusal(bench.sessions.turns.submitAutomatic(actor.id, nightly('second')))).toBe('automatic.held')

  const again = await scene.restarted(bench)
  expect(again.pauses.list()).toEqual([pause])
  expect(await refusal(again.sessions.turns.submitAutomatic(actor.id, nightly('second')))).toBe('automatic.held')
  expect(scene.server.asked()).toHaveLength(asked)
  const opened = await again.sessions.actor(actor.id)
  const window = await again.follow(opened)
  // A person who is refused too changes nothing.
  scene.server.enqueue({ error: { status: 401 } })
  await window.settled(await again.start(opened, 'are you there?'))
  expect(again.pauses.list()).toEqual([pause])
  scene.server.enqueue(says('Yes.'))
  await window.settled(await again.start(opened, 'and now?'))
  expect(again.pauses.list()).toEqual([])
  scene.server.enqueue(says('Looked.'))
  expect(await again.sessions.turns.submitAutomatic(actor.id, nightly('second'))).toMatchObject({ accepted: 'started' })
  await window.until(({ turns }) => turns.at(-1)?.source === 'schedule' && turns.at(-1)?.outcome)
  expect(await again.storage.value('automatic.pauses')).toEqual([])
})

test('A-113 what ends while its provider is paused waits, and starts one turn once the pause is over', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  const other = await spoken(bench)
  scene.server.enqueue({ error: { status: 401 } })
  await bench.sessions.turns.submitAutomatic(other.actor.id, nightly('night'))
  await other.window.until(({ turns }) => turns[1]?.outcome)
  const asked = scene.server.asked().length
  movableTime()
  await processEnds(bench, actor)
  await vi.advanceTimersByTimeAsync(wakeGatherMs)
  await processEnds(bench, actor)
  await vi.advanceTimersByTimeAsync(wakeGatherMs)
  expect(actor.peek().view.turns).toHaveLength(1)
  expect(scene.server.asked()).toHaveLength(asked)
  scene.server.enqueue(says('Both are done.'))
  bench.pauses.end('lab')
  const view = await window.until(({ turns }) => turns[1]?.outcome)
  expect(view.turns).toHaveLength(2)
  expect(view.turns[1]).toMatchObject({
    source: 'process',
    automation: { name: 'x1 (npm run build) and x2 (npm run build)' },
    outcome: 'completed',
  })
})

test('A-112 a used-up quota pauses until its reset, else an hour', async () => {
  const bench = await scene.workbench()
  const { actor, window } = await spoken(bench)
  movableTime()
  const failed = async (key: string, error: { status: number; headers?: Record<string, string> }, until: number) => {
    scene.server.enqueue({ error })
    const before = actor.peek().view.turns.length
    await bench.sessions.turns.submitAutomatic(actor.id, nightly(key))
    const { turns } = await window.until((view) => view.turns[before]?.outcome)
    expect(turns[before]).toMatchObject({ outcome: 'failed' })
    const [pause] = bench.pauses.list()
    expect(pause).toMatchObject({ provider: 'lab', code: 'provider.quota_exhausted' })
    expect(Math.abs(pause!.until! - pause!.since - until)).toBeLessThan(5_000)
    await vi.advanceTimersByTimeAsync(until - 60_000)
    expect(await refusal(bench.sessions.turns.submitAutomatic(actor.id, nightly('held')))).toBe('automatic.held')
    await vi.advanceTimersByTimeAsync(65_000)
    expect(bench.pauses.list()).toEqual([])
  }
  await failed('named', { status: 402, headers: { 'retry-after': '7200' } }, 2 * quotaPauseMs)
  await failed('plain', { status: 402 }, quotaPauseMs)
})
