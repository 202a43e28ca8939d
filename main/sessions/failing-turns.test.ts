/** Turns that fail, or nearly do, against the scripted model server: turns.md 16. */
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { Step } from '../../e2e/model-server/server.ts'
import type { Models } from '../models/model.ts'
import { calls, heldDisk, says, testScene } from './test-scene.ts'
import type { TestWorkbenchOptions } from './test-workbench.ts'

const scene = testScene()

/** One turn over this script, and how it ended. */
async function turn(script: Step[], more: Partial<TestWorkbenchOptions> = {}) {
  const bench = await scene.workbench(script, more)
  bench.tools.onHeld = (held) => held.finish()
  const actor = bench.create()
  const window = await bench.follow(actor)
  const settled = await window.settled(await bench.start(actor, 'do it'))
  return { bench, actor, window, settled }
}

/** Later than is waited for: told at once. */
const late = { 'retry-after': '3600' }

describe('TA-27 T-154 what a provider says decides, never words that only look like it', () => {
  test.each<[string, Step, string]>([
    [
      '429 that speaks of credits',
      { error: { status: 429, message: 'You have insufficient credits.', code: 'insufficient_quota' } },
      'provider.quota_exhausted',
    ],
    ['a plain 429', { error: { status: 429, message: 'Slow down.', headers: late } }, 'provider.rate_limited'],
    [
      '500 with a number that looks like one',
      { error: { status: 500, message: 'took 4290 ms', headers: late } },
      'provider.unavailable',
    ],
  ])('%s', async (_, step, code) => {
    const { settled, window } = await turn([step])
    expect(settled).toMatchObject({ outcome: 'failed', error: { code } })
    expect(window.itemsOf('error')).toMatchObject([{ code, contextual: false }])
    expect(window.items.at(-1)?.kind).toBe('error')
    expect(scene.server.asked()).toHaveLength(1)
  })

  test('a tool that says "file not found 404" fails nothing', async () => {
    const bench = await scene.workbench([calls('tool'), says('Then not.')])
    bench.tools.onHeld = (held) => held.finish({ text: 'file not found 404', isError: true, code: 'file.not_found' })
    const actor = bench.create()
    const window = await bench.follow(actor)
    expect(await window.settled(await bench.start(actor, 'do it'))).toMatchObject({ outcome: 'completed' })
    expect(window.itemsOf('tool')).toMatchObject([{ state: 'error', code: 'file.not_found' }])
    expect(window.itemsOf('error')).toHaveLength(0)
  })

  test('a local server that is off: it is to be started, and nobody speaks of a key', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    closed.close()
    await once(closed, 'close')
    const { window } = await turn([], { lab: { baseUrl: `http://127.0.0.1:${port}/v1` } })
    const [error] = window.itemsOf('error')
    expect(error).toMatchObject({ code: 'provider.local_server_off', actions: expect.arrayContaining(['retry']) })
    expect(`${error!.title} ${error!.message} ${error!.hint}`).not.toMatch(/key/i)
  })
})

describe('TA-28 M-93 a refused key is read again, once', () => {
  const lab = { apiKeyEnv: 'LAB_KEY' }
  const refused: Step = { error: { status: 401, message: 'bad key' } }

  test('changed meanwhile: one more request, which counts as usual', async () => {
    const env = { LAB_KEY: 'old-key' }
    scene.server.script(({ headers }) => {
      if (headers['authorization'] === 'Bearer new-key') return { ...says('Fine.'), usage: { input: 7, output: 3 } }
      env.LAB_KEY = 'new-key'
      return refused
    })
    const { settled, window } = await turn([], { lab, env })
    expect(settled).toMatchObject({ outcome: 'completed', usage: { input: 7, output: 3 } })
    expect(window.itemsOf('error')).toHaveLength(0)
    expect(scene.server.asked()).toHaveLength(2)
  })

  test('unchanged: one request', async () => {
    const { settled } = await turn([refused], { lab, env: { LAB_KEY: 'old-key' } })
    expect(settled).toMatchObject({ outcome: 'failed', error: { code: 'provider.auth_invalid' } })
    expect(scene.server.asked()).toHaveLength(1)
  })

  test('changed and refused again: two requests', async () => {
    const env = { LAB_KEY: 'old-key' }
    scene.server.script(() => {
      env.LAB_KEY += '-newer'
      return refused
    })
    const { settled } = await turn([], { lab, env })
    expect(settled).toMatchObject({ outcome: 'failed', error: { code: 'provider.auth_invalid' } })
    expect(scene.server.asked()).toHaveLength(2)
  })
})

describe('T-6 whatever throws in a worker fails its turn as app.internal, and the session goes on', () => {
  const broken = () => {
    throw new Error('broken')
  }
  const places: [string, (real: Models) => Partial<Models>][] = [
    ['looking the model up', (real) => ({ forTurn: () => ({ ...real.forTurn(), describe: broken }) })],
    ['beginning a turn’s models', () => ({ forTurn: broken })],
    ['asking', (real) => ({ forTurn: () => ({ ...real.forTurn(), stream: broken }) })],
    [
      'the answer, in the middle',
      (real) => ({
        forTurn: () => ({
          ...real.forTurn(),
          async *stream() {
            yield { type: 'text', delta: 'Half', deltas: 1 }
            broken()
          },
        }),
      }),
    ],
  ]

  test.each(places)('%s', async (_, models) => {
    let isBroken = true
    const { bench, actor, window, settled } = await turn([], {
      models: (real) => ({
        ...real,
        forTurn: () => (isBroken ? ({ ...real, ...models(real) } as typeof real).forTurn() : real.forTurn()),
      }),
    })
    expect(settled).toMatchObject({ outcome: 'failed', error: { code: 'app.internal' } })
    expect(window.itemsOf('error')).toHaveLength(1)
    expect(window.view).toMatchObject({ turn: null, header: { currentTurnId: null } })
    isBroken = false
    scene.server.enqueue(says('Fine.'))
    expect(await window.settled(await bench.start(actor, 'again'))).toMatchObject({ outcome: 'completed' })
  })
})

test('T-40 a report whose handling throws fails the turn, and what came after it is applied first', async () => {
  const bench = await scene.workbench([{ emit: [{ text: 'Hello' }, { hang: true }] }])
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const bad = actor.report(turnId, { type: 'usage', turn: null, context: null, rate: null } as never)
  const plan = { entries: [{ id: '1', text: 'Look', state: 'active' as const }], settled: false }
  void actor.report(turnId, { type: 'planned', plan })
  await expect(bad).rejects.toThrow()
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'failed', error: { code: 'app.internal' } })
  expect(window.view.header.plan).toEqual(plan)
  expect(window.itemsOf('text')).toMatchObject([{ text: 'Hello', status: 'partial' }])
  expect(bench.log.filter(({ level }) => level === 'error')).toHaveLength(1)
})

test('T-40 TA-15 what is measured is when a report came, however long the disk took', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([calls('tool'), says('Fine.')], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  const held = await bench.tools.running('tool')
  disk.hold()
  const renamed = actor.command({ type: 'rename', title: 'Mine' })
  await disk.written()
  const entries = [{ id: '1', text: 'Look', state: 'active' as const }]
  void actor.report(turnId, { type: 'planned', plan: { entries, settled: false } })
  held.finish()
  await new Promise(setImmediate)
  // The report of its end is in the mailbox; the clock goes on, the disk does not.
  const came = Date.now()
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(came), { timeout: 10_000, interval: 5 })
  disk.release()
  await renamed
  await window.settled(turnId)
  const plan = await window.event('plan.changed')
  expect(plan.at).toBeLessThanOrEqual(came)
  expect(window.itemsOf('tool')[0]!.endedAt).toBeLessThanOrEqual(came)
})

test('T-47 how a completed turn ended is said in one word', async () => {
  const endings: [Step[], string][] = [
    [[says('Fine.')], 'answer'],
    [[calls('a'), calls('b'), says('Two are done.')], 'max_steps'],
    [[calls('a'), says(''), says('')], 'no_final_text'],
    [Array.from({ length: 4 }, () => ({ ...says('more '), finish: 'length' })), 'output_limit'],
  ]
  const bench = await scene.workbench()
  bench.tools.onHeld = (held) => held.finish()
  bench.settings['turns.maxSteps'] = 2
  for (const [script, ending] of endings) {
    scene.server.script(script)
    const actor = bench.create()
    const window = await bench.follow(actor)
    expect(await window.settled(await bench.start(actor, 'do it'))).toMatchObject({ outcome: 'completed', ending })
    expect(window.view.turns).toMatchObject([{ ending }])
  }
})
