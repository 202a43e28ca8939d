import { describe, expect, test } from 'vitest'
import type { Step } from '../../e2e/model-server/server.ts'
import type { SessionWrite } from '../storage/storage.ts'
import { calls, heldDisk, says, testScene } from './test-scene.ts'
import type { Follower, TestWorkbench } from './test-workbench.ts'

const scene = testScene()

/** One turn over this script; calls end as soon as they run. */
async function turn(
  script: Step[],
  more: { bench?: TestWorkbench; steps?: number } = {},
): Promise<{ window: Follower; bench: TestWorkbench; turnId: string }> {
  const bench = more.bench ?? (await scene.workbench())
  scene.server.enqueue(...script)
  if (more.steps) bench.settings['turns.maxSteps'] = more.steps
  bench.tools.onHeld = (held) => held.finish()
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'do it')
  await window.settled(turnId)
  return { window, bench, turnId }
}

const bodyOf = (at: number) => scene.server.asked()[at]!.body
const call = (name: string) => calls(name)

describe('endings', () => {
  test('T-163 TA-29 asked twice for an answer and none came: failed; with a finished tool: completed, without final text', async () => {
    const none = await turn([says(''), { emit: [{ reasoning: 'only thinking' }] }])
    expect(none.window.view.turns).toMatchObject([{ outcome: 'failed', error: { code: 'provider.no_response' } }])
    expect(none.window.itemsOf('error')).toHaveLength(1)
    const tool = await turn([call('tool'), says(''), says('')], { bench: none.bench })
    expect(tool.window.view.turns).toMatchObject([{ outcome: 'completed', ending: 'no_final_text' }])
    expect(tool.window.itemsOf('notice')).toHaveLength(1)
  })

  test('T-165 TA-30 at the limit of steps one last request without tools; Continue has each result once', async () => {
    const { window, bench, turnId } = await turn(
      [call('a'), call('b'), call('c'), says('Two are done.'), says('All done.')],
      { steps: 3 },
    )
    expect(window.view.turns).toMatchObject([{ outcome: 'completed', ending: 'max_steps', steps: 4 }])
    expect(scene.server.asked()).toHaveLength(4)
    expect(bodyOf(2).tools.length).toBeGreaterThan(0)
    expect(bodyOf(3).tools ?? []).toHaveLength(0)
    await bench.sessions.turns.continue(window.view.header.id, 'continue', turnId, 'attended')
    await window.until((view) => view.turns[1]?.outcome)
    const results = bodyOf(4).messages.filter((message: { role: string }) => message.role === 'tool')
    expect(results.map((message: { content: string }) => message.content)).toEqual(['a done', 'b done', 'c done'])
  })

  test('T-36 T-165 a steer that comes during the last request is still read and answered', async () => {
    const steered = Promise.withResolvers<void>()
    const bench = await scene.workbench([
      call('a'),
      { emit: [{ text: 'One is ' }, { until: steered.promise }, { text: 'done.' }] },
      says('And this.'),
    ])
    bench.settings['turns.maxSteps'] = 1
    bench.tools.onHeld = (held) => held.finish()
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
    await bench.submit(actor, 'also this', { whenBusy: 'steer' })
    steered.resolve()
    expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed', ending: 'max_steps' })
    expect(
      window.items.filter((item) => item.kind === 'text' || item.kind === 'user').map((item) => item.text),
    ).toEqual(['do it', 'One is done.', 'also this', 'And this.'])
    expect(bodyOf(2).tools ?? []).toHaveLength(0)
  })

  test('T-67 T-166 MA-17 text cut by the output limit goes on as one item, three times, and then ends', async () => {
    const cut = (text: string): Step => ({ emit: [{ text }], finish: 'length' })
    const { window } = await turn([cut('one '), cut('two '), cut('three '), cut('four')])
    expect(window.view.turns).toMatchObject([{ outcome: 'completed', ending: 'output_limit' }])
    expect(window.itemsOf('text')).toMatchObject([{ text: 'one two three four', final: true }])
    expect(window.view.turns[0]!.usage).toMatchObject({ input: 40, output: 20 })
    expect(window.of('step.ended')).toMatchObject([{ finish: 'length', usage: { input: 40, output: 20 } }])
  })

  test('T-67 M-78 a continuation that breaks off is replaced alone: what came before it stays, in the same item', async () => {
    const { window } = await turn([
      { emit: [{ text: 'The first half, ' }], finish: 'length' },
      { emit: [{ text: 'then something broken' }, { delayMs: 60 }, { cut: true }] },
      says('the second half.'),
    ])
    expect(window.view.turns).toMatchObject([{ outcome: 'completed', ending: 'answer' }])
    const visible = window.itemsOf('text').filter((item) => item.visible)
    expect(visible.map((item) => item.text).join('')).toBe('The first half, the second half.')
  })

  test('T-86 T-87 T-92 usage and time of a turn are the sums of its steps', async () => {
    const { window } = await turn([
      { ...call('a'), usage: { input: 3_000, output: 7 } },
      { ...says('Done.'), usage: { input: 3_100, output: 5, cachedInput: 100 } },
    ])
    expect(window.view.turns[0]).toMatchObject({ usage: { input: 6_100, output: 12 }, steps: 2, waitedMs: 0 })
    expect(window.view.header).toMatchObject({ usage: { input: 6_100, output: 12 }, context: { used: 3_105 } })
    const seen = window.of('usage.changed').map((event) => event.turn.input)
    expect(seen).toEqual(seen.toSorted((one, other) => (one ?? 0) - (other ?? 0)))
  })

  test('T-1 C-2 the same words twice, answered the same, are two turns to the person and to the model', async () => {
    const bench = await scene.workbench([says('done'), says('done'), says('Yes.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    for (const text of ['continue', 'continue', 'really?']) await window.settled(await bench.start(actor, text))
    const sent = bodyOf(2)
      .messages.slice(1)
      .map((message: { role: string; content: string }) => [message.role, message.content])
    expect(sent).toEqual([
      ['user', 'continue'],
      ['assistant', 'done'],
      ['user', 'continue'],
      ['assistant', 'done'],
      ['user', 'really?'],
    ])
  })

  test('T-156 C-6 after a failure finished calls and partial text go along, the error does not; a retry leaves the attempt out', async () => {
    const bench = await scene.workbench([
      call('a'),
      { emit: [{ text: 'Then ' }], finish: null, error: { status: 400, message: 'no good' } },
    ])
    bench.tools.onHeld = (held) => held.finish()
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'do it')
    expect(await window.settled(turnId)).toMatchObject({
      outcome: 'failed',
      error: { code: 'provider.request_rejected' },
    })
    scene.server.enqueue(says('Going on.'), says('From the start.'))
    await bench.sessions.turns.continue(actor.id, 'c', turnId, 'attended')
    await window.until((view) => view.turns[1]?.outcome)
    const continued = JSON.stringify(bodyOf(2).messages)
    expect(continued).toContain('a done')
    expect(continued).not.toContain('no good')
    await bench.sessions.turns.retry(actor.id, 'r', turnId, undefined, 'attended')
    await window.until((view) => view.turns[2]?.outcome)
    expect(JSON.stringify(bodyOf(3).messages)).not.toContain('a done')
    expect(window.view.turns[2]).toMatchObject({ retryOf: turnId })
  })
})

test('T-38 a call begins once its start is durable; one that only looks begins at once, and not while the disk fails', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([], { storage: disk.over })
  const starting = (tool: string) => (write: SessionWrite) =>
    write.items.some((item) => item.kind === 'tool' && item.name === tool && item.state === 'running')
  const call = (name: string, as: string) => ({ emit: [{ call: { name, args: { name: as } } }] })
  scene.server.enqueue(call('look', 'seen'), call('hold', 'held'), says('Done.'))
  const actor = bench.create()
  const window = await bench.follow(actor)
  disk.hold(starting('look'))
  const turnId = await bench.start(actor, 'look, then work')
  const looked = await bench.tools.running('seen')
  expect(window.itemsOf('tool')).toEqual([])
  disk.release()
  disk.hold(starting('hold'))
  looked.finish()
  await disk.written()
  expect(bench.tools.held.map(({ name }) => name)).toEqual(['seen'])
  disk.release()
  ;(await bench.tools.running('held')).finish()
  expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  expect(window.itemsOf('tool').map((item) => item.state)).toEqual(['ok', 'ok'])

  scene.server.enqueue(call('look', 'late'), says('Done.'))
  disk.hold(starting('look'))
  const failing = await bench.start(actor, 'again')
  await bench.tools.running('late')
  disk.release(true)
  ;(await bench.tools.running('late')).finish()
  expect(await window.settled(failing)).toMatchObject({ outcome: 'completed' })
  expect(bench.tools.held.filter(({ name }) => name === 'late')).toHaveLength(1)
})
