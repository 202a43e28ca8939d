import { describe, expect, test } from 'vitest'
import { messagesOf, type Step } from '../../e2e/model-server/script.ts'
import { newId } from '../../preload/contract/ids.ts'
import { readEventsOf } from './test-compactions.ts'
import type { SessionActor } from './actor.ts'
import { Forks } from './forks.ts'
import { Rewinds } from './rewinds.ts'
import { calls, hangs, refusal, says, testScene } from './test-scene.ts'
import type { Follower, TestWorkbench } from './test-workbench.ts'

const scene = testScene()

/** What one request may hold is 14,000 tokens; due before a turn at 12,600, after one at 11,200; 7,000 stay. */
const lab = { models: [{ id: 'scripted', contextLength: 16_000, maxOutput: 1_000 }] }
const isSummary = { lastUserContains: 'Write a summary that will stand in its place' }
const summary = (text = 'What was done so far.'): Step => ({ when: isSummary, ...says(text) })
/** An answer whose request is told to have been so long. */
const measured = (text: string, input: number): Step => ({ ...says(text), usage: { input, output: 10 } })
/** About so many tokens. */
const long = (tokens: number) => 'word '.repeat((tokens * 3.5) / 5)

const open = (script: Step[], more = {}) => scene.workbench(script, { lab, ...more })
const conversation = (at: number) =>
  messagesOf(scene.server.asked()[at]!.body).flatMap(({ role, text }) => (role === 'system' ? [] : text))
const isSummaryRequest = (at: number) => conversation(at).at(-1)!.includes('Write a summary')
const marks = (window: Follower) => window.itemsOf('compaction')
const ask = async (bench: TestWorkbench, actor: SessionActor, window: Follower, text: string) =>
  window.settled(await bench.start(actor, text))

async function turns(bench: TestWorkbench, count: number, tokens = 3_000) {
  const actor = bench.create()
  const window = await bench.follow(actor)
  for (let n = 1; n <= count; n++) await ask(bench, actor, window, `ask ${n} ${long(tokens)}`)
  return { actor, window }
}

const answers = (count: number) => Array.from({ length: count }, (_, n) => says(`answer ${n + 1}`))

describe('room for a request', () => {
  test('C-55 C-53 CA-21 a refusal as too long is followed by a summary and the same request, within what was learned', async () => {
    const refused: Step = {
      error: { status: 400, code: 'context_length_exceeded', message: 'maximum context length is 9000 tokens' },
    }
    const summaries = { ...summary(), repeat: 'always' as const }
    const bench = await open([...answers(3), refused, summaries, says('answer 4'), says('answer 5')])
    const { actor, window } = await turns(bench, 3)
    expect((await ask(bench, actor, window, 'ask 4')).outcome).toBe('completed')

    const asked = scene.server.asked().length
    expect(isSummaryRequest(4)).toBe(true)
    const again = conversation(asked - 1)
    expect(again[0]).toContain('What was done so far.')
    expect(again.at(-1)).toBe('ask 4')
    expect(again.join()).not.toContain('ask 1')
    expect(marks(window)).toMatchObject([{ reason: 'in_turn', model: 'lab/scripted' }])
    expect(window.view.header.context.window).toBe(9_000 - 1_000 - Math.floor(9_000 / 16))

    // The next turn knows it without being refused.
    await ask(bench, actor, window, 'ask 5')
    expect(scene.server.asked()).toHaveLength(asked + 1)
    expect(window.itemsOf('error')).toEqual([])
  })

  test('K-27 C-55 a model that refuses everything as too long ends the turn with an explanation, after one more try', async () => {
    const refused: Step = { repeat: 'always', error: { status: 400, code: 'context_length_exceeded' } }
    const bench = await open([...answers(1), { ...summary(), repeat: 'always' }, refused])
    const { actor, window } = await turns(bench, 1)
    const end = await ask(bench, actor, window, `ask 2 ${long(1_500)}`)
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'context.exhausted' } })
    const [error] = window.itemsOf('error')
    expect(error).toMatchObject({ code: 'context.exhausted', actions: expect.arrayContaining(['new_session']) })
    expect(error!.message).toContain('Older turns were summarised once in this turn, which did not free enough.')
    expect(scene.server.asked()).toHaveLength(4)
  })

  test('C-48 one message that no request can hold fails before any is sent, without a mark', async () => {
    const bench = await open([])
    const { actor, window } = await turns(bench, 0)
    const end = await ask(bench, actor, window, `ask ${long(20_000)}`)
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'context.exhausted' } })
    expect(scene.server.asked()).toEqual([])
    expect(marks(window)).toEqual([])
  })

  test('C-44 a model too small for system prompt and tools fails the turn before any request', async () => {
    const tiny = { models: [{ id: 'scripted', contextLength: 2_300, maxOutput: 200 }] }
    const bench = await scene.workbench([], { lab: tiny })
    const actor = bench.create()
    const window = await bench.follow(actor)
    const end = await ask(bench, actor, window, 'hi')
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'config.invalid' } })
    expect(scene.server.asked()).toEqual([])
  })

  test('C-45 C-59 C-60 C-61 C-62 C-66 CA-24 before a turn that would not fit, older ones give way and the newest stay whole', async () => {
    const planned: Step = {
      emit: [
        { call: { name: 'update_plan', args: { entries: [{ id: 'a', text: 'Mend the cart', state: 'active' }] } } },
      ],
    }
    const bench = await open([planned, ...answers(2), measured('answer 3', 12_700), summary(), says('hello')])
    const { actor, window } = await turns(bench, 3)
    const started = await bench.start(actor, 'hi')
    await window.settled(started)

    const [summaryRequest, request] = [4, 5].map((at) => scene.server.asked()[at]!)
    const prefix = scene.server.asked()[3]!.body
    // The same system prompt, tools and beginning; no call is allowed, and nothing after what it covers is told.
    expect(summaryRequest!.body.tools).toEqual(prefix.tools)
    expect(summaryRequest!.body.tool_choice).toBe('none')
    expect(request!.body.tool_choice).toBeUndefined()
    expect(summaryRequest!.body.messages.slice(0, -1)).toEqual(
      prefix.messages.slice(0, summaryRequest!.body.messages.length - 1),
    )
    expect(conversation(4).join()).toContain('ask 2')
    expect(conversation(4).join()).not.toContain('ask 3')

    const told = conversation(5)
    expect(told[0]).toContain('What was done so far.')
    expect(told[0]).toContain('active: Mend the cart')
    expect(told[0]).toContain('not a request. Act only on')
    expect(told.slice(1).map((text) => text.slice(0, 8))).toEqual(['ask 3 wo', 'answer 3', 'hi'])
    const [mark] = marks(window)
    expect(mark).toMatchObject({ reason: 'before_turn', turnId: null })
    expect(mark!.tokensAfter).toBeLessThan(mark!.tokensBefore)
    expect(window.of('turn.status').map(({ status }) => status?.kind)).toContain('compacting')
    // No item changed or left the transcript.
    expect(window.itemsOf('user')).toHaveLength(4)
  })

  test('C-68 K-27 a summary that frees nothing is not made again', async () => {
    const bench = await open([
      measured('answer 1', 12_700),
      summary(long(3_000)),
      measured('answer 2', 12_800),
      measured('answer 3', 12_900),
    ])
    const actor = bench.create()
    const window = await bench.follow(actor)
    // What a tool more would take is not in these numbers.
    bench.settings['subagents.depth'] = 0
    bench.settings['compaction.retain'] = 0.1
    await ask(bench, actor, window, `ask 1 ${long(3_000)}`)
    await ask(bench, actor, window, `ask 2 ${long(9_500)}`)
    expect(marks(window)).toHaveLength(1)
    expect(marks(window)[0]!.tokensAfter).toBeGreaterThan(12_600)
    await ask(bench, actor, window, 'ask 3')
    expect(marks(window)).toHaveLength(1)
    expect(scene.server.asked()).toHaveLength(4)
  })

  test('C-53 C-54 CA-20 a turn that outgrows the window alone sends its message and its newest whole steps', async () => {
    const bench = await open([says('answer 1'), calls('a'), calls('b'), calls('c'), summary(), says('done')])
    const { actor, window } = await turns(bench, 1, 2_000)
    bench.tools.onHeld = (held) => held.finish({ text: `${held.name} ${long(6_000)}` })
    expect((await ask(bench, actor, window, 'go on and on')).outcome).toBe('completed')
    const last = messagesOf(scene.server.asked().at(-1)!.body).filter(({ role }) => role !== 'system')
    expect(last.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool', 'assistant', 'tool'])
    expect(last[1]!.text).toBe('go on and on')
    expect([last[3], last[5]].map((message) => message!.text.slice(0, 6))).toEqual(['b word', 'c word'])
    expect(window.itemsOf('notice').map(({ text }) => text)).toEqual([expect.stringContaining('left out')])
    expect(window.itemsOf('tool').map(({ summary: text }) => text.slice(0, 6))).toEqual(['a word', 'b word', 'c word'])
  })

  test('C-43 CA-16 after a switch of models the figures of the other make nothing due', async () => {
    const two = { models: ['scripted', 'other'].map((id) => ({ id, contextLength: 16_000, maxOutput: 1_000 })) }
    const bench = await scene.workbench([says('answer 1'), measured('answer 2', 13_000), says('answer 3')], {
      lab: two,
    })
    const { actor, window } = await turns(bench, 2)
    await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/other' })
    await ask(bench, actor, window, 'ask 3')
    expect(scene.server.asked()).toHaveLength(3)
    expect(window.view.header.context).toMatchObject({ model: 'lab/other' })
  })

  test('C-46 C-47 CA-17 the figures are those of the last measurement, also after a restart', async () => {
    const bench = await open([measured('answer 1', 9_000), { ...says('answer 2'), usage: null }])
    const { actor, window } = await turns(bench, 1)
    const figures = { used: 9_010, window: 14_000, compactAt: 12_600, estimated: false, model: 'lab/scripted' }
    expect(window.view.header.context).toEqual(figures)
    const later = await scene.restarted(bench, [])
    expect((await later.sessions.open(actor.id)).header.context).toEqual(figures)
    const again = await later.follow(await later.sessions.actor(actor.id))
    await again.settled(await later.start(await later.sessions.actor(actor.id), 'ask 2'))
    expect(again.view.header.context.used).toBeGreaterThanOrEqual(9_010)
  })
})

describe('the job', () => {
  const held = (): Step => ({ when: isSummary, ...hangs('Half a ') })

  async function due(script: Step[]) {
    const bench = await open([...answers(2), measured('answer 3', 12_700), ...script])
    return { bench, ...(await turns(bench, 3)) }
  }

  test('C-58 CA-23 T-99 T-100 T-62 T-63 TA-8 a stopped turn leaves it running, and the message sent again joins it', async () => {
    const goOn = Promise.withResolvers<void>()
    const slow: Step = { when: isSummary, emit: [{ text: 'Done ' }, { until: goOn.promise }, { text: 'so far.' }] }
    const { bench, actor, window } = await due([slow, says('answer 4')])
    const first = await bench.start(actor, 'ask 4')
    const status = await window.event(
      'turn.status',
      ({ turnId, status }) => turnId === first && status?.kind === 'compacting',
    )
    const { header } = window.view
    expect(header.compaction).toMatchObject({ reason: 'before_turn' })
    expect(status.status).toEqual({ kind: 'compacting', since: header.compaction!.startedAt })
    await bench.sessions.command(actor.id, { type: 'stop', turnId: first, reason: 'person' })
    expect(await window.settled(first)).toMatchObject({ outcome: 'stopped', reason: 'person' })
    expect(window.view.header.compaction).not.toBeNull()
    expect(window.itemsOf('error')).toEqual([])

    const second = await bench.start(actor, 'ask 4')
    const joined = await window.event(
      'turn.status',
      ({ turnId, status }) => turnId === second && status?.kind === 'compacting',
    )
    expect(joined.status).toEqual(status.status)
    goOn.resolve()
    expect((await window.settled(second)).outcome).toBe('completed')
    expect(window.of('compaction.started')).toHaveLength(1)
    expect(window.of('compaction.ended')).toHaveLength(1)
    expect(marks(window)).toHaveLength(1)
    expect(scene.server.asked()).toHaveLength(5)
    // Both messages are there and raw: they came after what is covered (C-67).
    expect(conversation(4).filter((text) => text === 'ask 4')).toHaveLength(2)
  })

  test('C-64 C-70 CA-26 after a kill in the middle there is no mark and no job, and the whole history is sent', async () => {
    const { bench, actor, window } = await due([held()])
    await bench.start(actor, 'ask 4')
    await window.until(({ header }) => header.compaction)
    // A window that opens now sees the same job with the same start.
    expect((await bench.sessions.open(actor.id)).header.compaction).toEqual(window.view.header.compaction)
    const later = await scene.restarted(bench, [summary(), says('answer 5')], true, { lab })
    await later.sessions.recoverAll()
    const view = await later.sessions.open(actor.id)
    expect(view.header.compaction).toBeNull()
    expect(view.items.some((item) => item.kind === 'compaction')).toBe(false)
    const { events } = await later.storage.events(actor.id, 0, 10_000)
    expect(events.filter(({ type }) => type.startsWith('compaction.')).map(({ type }) => type)).toEqual([
      'compaction.started',
      'compaction.ended',
    ])
    const again = await later.sessions.actor(actor.id)
    const reader = await later.follow(again)
    await reader.settled(await later.start(again, 'ask 5'))
    expect(marks(reader)).toHaveLength(1)
  })

  test('C-58 it ends by the person’s wish where no turn waits, with the session, and with what it covers', async () => {
    const { bench, actor, window } = await due([held(), held(), held()])
    const { compactions, sessions } = bench
    const wish = () => compactions.compact(actor)
    const running = () => window.until(({ header }) => header.compaction)

    const cancelled = wish()
    const jobId = (await running()).header.compaction!.jobId
    await sessions.command(actor.id, { type: 'compaction.cancel', jobId })
    expect(await cancelled).toBe('cancelled')

    const discarded = wish()
    await running()
    const rewinds = new Rewinds({ ...bench, now: Date.now })
    await rewinds.rewind(actor.id, window.itemsOf('user')[0]!.id, null)
    expect(await discarded).toBe('cancelled')

    expect(await wish()).toBe('nothing')
    expect(marks(window)).toEqual([])
    expect(window.view.header.compaction).toBeNull()
  })

  test('C-58 a deleted session and a host that quits write nothing', async () => {
    const { bench, actor, window } = await due([held(), held()])
    const deleted = bench.compactions.compact(actor)
    await window.until(({ header }) => header.compaction)
    await bench.sessions.delete(actor.id)
    expect(await deleted).toBe('cancelled')
    await bench.sessions.command(actor.id, { type: 'restore' })
    const quit = bench.compactions.compact(actor)
    await window.until(({ header }) => header.compaction)
    await bench.close()
    expect(await quit).toBe('cancelled')
    const later = await scene.restarted(bench)
    const view = await later.sessions.open(actor.id)
    expect(view.items.some((item) => item.kind === 'compaction')).toBe(false)
    expect(view.header.compaction).toBeNull()
  })

  test('C-58 C-59 C-73 by hand: what matters is asked for, nothing to cover is said, a running turn refuses', async () => {
    const { bench, actor, window } = await due([summary(), hangs('')])
    bench.settings['compaction.retain'] = 0.3
    expect(await bench.compactions.compact(actor, 'the names of the tests')).toBe('compacted')
    expect(conversation(3).at(-1)).toContain('keep especially: the names of the tests')
    expect(marks(window)).toMatchObject([{ reason: 'manual' }])
    expect(await bench.compactions.compact(actor)).toBe('nothing')
    await bench.start(actor, 'ask 4')
    expect(await refusal(bench.compactions.compact(actor))).toBe('turn.busy')
  })

  test('C-65 T-45 CA-27 after a turn the settle comes first, and what is said meanwhile stays as it was said', async () => {
    const slow: Step = { when: isSummary, emit: [{ text: 'Done ' }, { delayMs: 1_000 }, { text: 'so far.' }] }
    const bench = await open([...answers(2), measured('answer 3', 11_300), slow, says('answer 4')], {
      compactsAfter: true,
    })
    const { actor, window } = await turns(bench, 3)
    await window.until(({ header }) => header.compaction)
    const types = window.events.map(({ type }) => type)
    expect(types.lastIndexOf('turn.settled')).toBeLessThan(types.indexOf('compaction.started'))
    const next = await bench.start(actor, 'meanwhile')
    expect((await window.settled(next)).outcome).toBe('completed')
    expect(marks(window)).toMatchObject([{ reason: 'after_settle' }])
    expect(conversation(4).at(0)).toContain('Done so far.')
    expect(conversation(4).at(-1)).toBe('meanwhile')
  })

  const failures: [string, Step][] = [
    ['an error', { when: isSummary, error: { status: 400, code: 'invalid_request_error', message: 'No.' } }],
    ['a length', { when: isSummary, ...says('Half'), finish: 'length' }],
    ['a call', { when: isSummary, ...calls('x') }],
    ['a blank', { when: isSummary, ...says('  \n') }],
    ['thinking alone', { when: isSummary, ...says('<think>What was it?</think>') }],
  ]
  test.each(failures)(
    'C-69 CA-28 %s is no summary: what is known is listed where a turn needs room, else nothing',
    async (_, failing) => {
      const refused: Step = {
        error: { status: 400, code: 'context_length_exceeded', message: 'maximum context length is 9000 tokens' },
      }
      const bench = await open([...answers(3), failing, refused, failing, says('answer 4')])
      const { actor, window } = await turns(bench, 3)
      expect(await refusal(bench.compactions.compact(actor))).not.toBe('none')
      expect(marks(window)).toEqual([])
      expect(window.of('compaction.ended')).toMatchObject([{ error: { code: expect.any(String) } }])

      expect((await ask(bench, actor, window, 'ask 4')).outcome).toBe('completed')
      expect(marks(window)).toMatchObject([{ model: null, reason: 'in_turn' }])
      expect(marks(window)[0]!.summary).toContain('- ask 1 word')
      expect(scene.server.asked()).toHaveLength(7)
    },
  )

  test('C-69 after three failures in a row nothing starts by itself after a turn', async () => {
    const failing: Step = { when: isSummary, repeat: 'always', error: { status: 400, code: 'invalid_request_error' } }
    const bench = await open([failing, { repeat: 'always', ...measured('answer', 12_000) }], { compactsAfter: true })
    bench.settings['compaction.retain'] = 0.1
    const { actor, window } = await turns(bench, 1, 3_000)
    for (let failed = 1; failed <= 3; failed++) {
      await window.until(() => window.of('compaction.ended').length === failed)
      await ask(bench, actor, window, `more ${failed}`)
    }
    await bench.compactions.close()
    expect(window.of('compaction.started')).toHaveLength(3)
  })

  test('C-63 CA-25 what does not fit one request is summarised in several, oldest first, and one mark is written', async () => {
    const small = { id: 'small', contextLength: 8_000, maxOutput: 1_000 }
    const parts = ['part 1', 'part 2', 'part 3'].map(summary)
    const bench = await scene.workbench([...answers(5), ...parts], { lab: { models: [...lab.models, small] } })
    // What a tool more would take is not in these numbers.
    bench.settings['subagents.depth'] = 0
    const { actor, window } = await turns(bench, 5, 2_100)
    bench.settings['compaction.retain'] = 0.1
    await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/small' })
    expect(await bench.compactions.compact(actor)).toBe('compacted')
    expect(scene.server.asked()).toHaveLength(8)
    expect(conversation(5)[0]).toContain('ask 1')
    expect(conversation(6)[0]).toContain('part 1')
    expect(conversation(7)[0]).toContain('part 2')
    expect(conversation(7).join()).toContain('answer 5')
    expect(marks(window)).toMatchObject([{ summary: 'part 3', model: 'lab/small' }])
  })
})

describe('the mark', () => {
  test('C-59 C-71 stands behind all there is where the newest turn is covered too, with what it left, and the next follows', async () => {
    const failed: Step = { error: { status: 400, code: 'invalid_request_error', message: 'No.' } }
    const bench = await open([says('answer 1'), failed, summary(), says('answer 3')])
    bench.settings['compaction.retain'] = 0.1
    const { actor, window } = await turns(bench, 2)
    expect(window.itemsOf('error')).toHaveLength(1)
    expect(await bench.compactions.compact(actor)).toBe('compacted')
    expect(window.items.at(-1)!.kind).toBe('compaction')
    await ask(bench, actor, window, 'ask 3')
    expect(window.items.map(({ kind }) => kind).slice(-4)).toEqual(['error', 'compaction', 'user', 'text'])
    expect(conversation(3)).toEqual([expect.stringContaining('What was done so far.'), 'ask 3'])
    expect((await bench.sessions.open(actor.id)).items).toEqual(window.items)
  })

  /** Ten small turns with summaries through turn 3 and turn 8. */
  async function marked() {
    const bench = await open([
      { when: isSummary, repeat: 1, ...says('Through three.') },
      { repeat: 'always', when: { lastUserContains: 'ask' }, ...says('answered') },
    ])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const upTo = async (from: number, to: number) => {
      for (let n = from; n <= to; n++) await ask(bench, actor, window, `ask ${n} ${long(400)}`)
    }
    await upTo(1, 7)
    // With eight entries to keep, four turns stay.
    expect(await bench.compactions.compact(actor)).toBe('compacted')
    await upTo(8, 10)
    scene.server.enqueue(summary('Through six.'))
    expect(await bench.compactions.compact(actor)).toBe('compacted')
    const user = (n: number) => window.itemsOf('user').find((item) => item.text.startsWith(`ask ${n} `))!
    return { bench, actor, window, user, marks: marks(window) }
  }

  const sent = async (bench: TestWorkbench, id: string) => (await bench.storage.sentItems(id)).items
  const inForce = async (bench: TestWorkbench, id: string) => {
    const [first] = await sent(bench, id)
    return first?.kind === 'compaction' ? first.summary : null
  }

  test('C-71 S-62 stands behind what it covers, in the live view, a reopened one and a slice alike', async () => {
    const { bench, actor, window, user, marks: both } = await marked()
    expect(both.map(({ summary: text }) => text)).toEqual(['Through three.', 'Through six.'])
    const order = window.items.map((item) => item.id)
    for (const [at, mark] of both.entries()) {
      expect(order[order.indexOf(mark.id) - 1]).toBe(mark.coversThrough)
      expect(order[order.indexOf(mark.id) + 1]).toBe(user([4, 7][at]!).id)
    }
    expect((await bench.sessions.open(actor.id)).items).toEqual(window.items)
    const slice = await bench.storage.items(actor.id, { limit: 400 })
    expect(slice.items.map(({ id }) => id)).toEqual(order)
    expect(window.view.header.itemCount).toBe(order.length)
  })

  test('K-13 T-201 after a kill the transcript is what it was, mark by mark; a late reader folds to the same', async () => {
    const { bench, actor, window } = await marked()
    const before = window.view
    expect(await readEventsOf(bench, actor.id)).toEqual(before.items)
    const later = await scene.restarted(bench, [], true)
    await later.sessions.recoverAll()
    const view = await later.sessions.open(actor.id)
    expect(view.items).toEqual(before.items)
    expect(view.header).toEqual(before.header)
  })

  test('S-11 C-76 CA-29 S-82 going back brings the mark before it into force, going forward the newer one', async () => {
    const { bench, actor, window, user } = await marked()
    const rewinds = new Rewinds({ ...bench, now: Date.now })
    expect(await inForce(bench, actor.id)).toBe('Through six.')
    await rewinds.rewind(actor.id, user(10).id, null)
    expect(await inForce(bench, actor.id)).toBe('Through six.')
    await rewinds.restore(actor.id, window.itemsOf('rewind')[0]!.id)
    await rewinds.rewind(actor.id, user(5).id, null)
    expect(await inForce(bench, actor.id)).toBe('Through three.')
    await rewinds.restore(actor.id, window.itemsOf('rewind').at(-1)!.id)
    expect(await inForce(bench, actor.id)).toBe('Through six.')
    await rewinds.rewind(actor.id, user(2).id, null)
    expect(await inForce(bench, actor.id)).toBeNull()
    expect((await sent(bench, actor.id)).map((item) => ('text' in item ? item.text.slice(0, 5) : ''))).toEqual([
      'ask 1',
      'answe',
    ])
    expect(window.view.header.context.used).toBeNull()
  })

  test('C-75 S-74 S-75 CA-29 a fork has the summary that ends before it, or the entries themselves', async () => {
    const { bench, actor, user, marks: both } = await marked()
    const forks = new Forks({
      ...bench,
      entryChanged: () => {},
      environment: () => ({ now: Date.now(), newId, settings: bench.settings, rules: [] }),
    })
    const forked = async (at: string, side: 'before' | 'after') => {
      const { id } = await forks.fork(actor.id, { at, side })
      const items = await sent(bench, id)
      const asked = items.flatMap((item) => (item.kind === 'user' ? Number(item.text.split(' ')[1]) : []))
      const mark = items.find((item) => item.kind === 'compaction')
      expect(items.some((item) => item.id === mark?.coversThrough)).toBe(false)
      return { asked, mark: mark?.summary ?? null }
    }
    expect(await forked(user(6).id, 'before')).toEqual({ asked: [4, 5], mark: 'Through three.' })
    expect(await forked(user(3).id, 'before')).toEqual({ asked: [1, 2], mark: null })
    // The last entry a summary covers brings it along; the turn before does not.
    expect(await forked(both[0]!.coversThrough, 'after')).toEqual({ asked: [], mark: 'Through three.' })
    expect(await forked(user(10).id, 'before')).toEqual({ asked: [7, 8, 9], mark: 'Through six.' })
  })

  test('S-79 an edited message before a summary is asked with the entries themselves', async () => {
    const { bench, actor, window, user } = await marked()
    const rewinds = new Rewinds({ ...bench, now: Date.now })
    const message = { requestId: newId(), text: 'ask differently', attachments: [], attendance: 'attended' as const }
    const { submitted } = await rewinds.rewind(actor.id, user(2).id, message)
    if (submitted?.accepted !== 'started') throw new Error('It did not start.')
    await window.settled(submitted.turnId)
    const asked = conversation(scene.server.asked().length - 1)
    expect(asked.map((text) => text.slice(0, 15))).toEqual([
      expect.stringContaining('ask 1'),
      'answered',
      'ask differently',
    ])
  })
})
