import { describe, expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import type { ModelEvent, ModelRequest, Models } from '../models/model.ts'
import { refusal, says, testScene } from './test-scene.ts'
import { makeTitle } from './titling.ts'
import { textItem, userItem } from '../storage/write-samples.ts'

const scene = testScene()

/** Answers one reply a request, and keeps what was asked. */
function modelsThat(...replies: { text?: string; reasoning?: string; reason?: string; error?: boolean }[]) {
  const asked: ModelRequest[] = []
  const models: Pick<Models, 'stream'> = {
    async *stream(request) {
      asked.push(request)
      const reply = replies[asked.length - 1]
      if (!reply) throw new Error('One request too many.')
      if (reply.reasoning) yield { type: 'reasoning', delta: reply.reasoning } as ModelEvent
      if (reply.text) yield { type: 'text', delta: reply.text } as ModelEvent
      if (reply.error) yield { type: 'error', error: { code: 'provider.unavailable' } } as ModelEvent
      else yield { type: 'finish', reason: reply.reason ?? 'stop' } as ModelEvent
    },
  }
  return { asked, models: models as Models }
}

const talk: Item[] = [
  userItem(1, '/status', { source: 'command' }),
  userItem(2, 'Make uploads resumable please'),
  textItem(3, 'hidden', { visible: false }),
  textItem(4, 'They resume now.'),
]

describe('T-169 T-170 a title by a model', () => {
  test('is asked once, of the first question and answer with substance, without tools and with few tokens', async () => {
    const { asked, models } = modelsThat({ text: 'Resumable uploads' })
    expect(await makeTitle(talk, 'lab/scripted', models, 's')).toEqual({
      title: 'Resumable uploads',
      source: 'generated',
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ model: 'lab/scripted', tools: [], maxOutput: 512, interactive: false })
    const said = JSON.stringify(asked[0]!.messages)
    expect(said).toContain('Make uploads resumable')
    expect(said).toContain('They resume now.')
    expect(said).not.toMatch(/status|hidden/)
  })

  test.each([
    [
      'a cut is repeated once with room',
      [{ reason: 'length' }, { text: 'Resumable uploads' }],
      2,
      'generated',
      [512, 1_024],
    ],
    [
      'an acknowledgement is asked again, otherwise',
      [{ text: 'Sure!' }, { text: 'Resumable uploads' }],
      2,
      'generated',
      [512, 512],
    ],
    [
      'an error is asked again, otherwise',
      [{ error: true }, { text: 'Resumable uploads' }],
      2,
      'generated',
      [512, 512],
    ],
    ['two that are none end in the first words', [{ text: '' }, { text: 'OK' }], 2, 'fallback', [512, 512]],
    ['reasoning alone ends at once', [{ reasoning: 'hm' }], 1, 'fallback', [512]],
    [
      'three are the most',
      [{ reason: 'length' }, { error: true }, { text: 'Sure' }],
      3,
      'fallback',
      [512, 1_024, 1_024],
    ],
  ] as const)('%s', async (_, replies, requests, source, limits) => {
    const { asked, models } = modelsThat(...replies)
    const titled = await makeTitle(talk, 'lab/scripted', models, 's')
    expect(titled).toEqual({
      title: source === 'generated' ? 'Resumable uploads' : 'Make uploads resumable please',
      source,
    })
    expect(asked).toHaveLength(requests)
    expect(asked.map((request) => request.maxOutput)).toEqual([...limits])
  })
})

describe('T-167 T-173 T-174 what a made title may replace', () => {
  async function titled() {
    const bench = await scene.workbench([says('hello')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'Make uploads resumable'))
    const make = (title: string, source: 'generated' | 'fallback' = 'generated') =>
      bench.sessions.command(actor.id, { type: 'title', title, source, rev: window.view.header.rev })
    return { bench, actor, window, make }
  }

  test('first words, then a fallback, then a better one; its time in the list stays', async () => {
    const { window, make } = await titled()
    const { updatedAt } = window.view.header
    expect(window.view.header).toMatchObject({ title: 'Make uploads resumable', titleSource: 'provisional' })
    await make('Make uploads', 'fallback')
    await make('Resumable uploads')
    await window.until(({ header }) => header.titleSource === 'generated')
    await make('Something else')
    expect(window.view.header).toMatchObject({ title: 'Resumable uploads', titleSource: 'generated', updatedAt })
    expect(window.of('session.changed').some((event) => event.patch.title === 'Resumable uploads')).toBe(true)
  })

  test('SA-12 TA-31 a person’s own name always wins, also of the same words; a deleted session is left alone', async () => {
    const { bench, actor, window, make } = await titled()
    await bench.sessions.command(actor.id, { type: 'rename', title: 'Make uploads resumable' })
    await make('Resumable uploads')
    await make('Make uploads', 'fallback')
    expect(actor.published.header).toMatchObject({ title: 'Make uploads resumable', titleSource: 'manual' })
    await window.until(({ header }) => header.lastSeq === actor.published.header.lastSeq)
    expect(window.of('title.status')).toEqual([])
    await bench.sessions.delete(actor.id)
    expect(await refusal(make('Resumable uploads'))).toBe('session.deleted')
  })

  test('S-52 a name is trimmed and cut to 200; an empty one gives the automatic one back', async () => {
    const { bench, actor, window } = await titled()
    await bench.sessions.command(actor.id, { type: 'rename', title: `  A   name ${'x'.repeat(300)}` })
    const { header } = await window.until((view) => view.header.titleSource === 'manual')
    expect(header.title).toHaveLength(200)
    expect(header.title).toMatch(/^A name x/)
    await bench.sessions.command(actor.id, { type: 'rename', title: ' ' })
    expect((await window.until((view) => view.header.titleSource !== 'manual')).header).toMatchObject({
      title: 'Make uploads resumable',
      titleSource: 'fallback',
    })
  })
})

describe('S-49 S-6 SA-13 SA-36 what is read', () => {
  test('a settled turn is worth reading until it was read; marking it unread holds; the list is not moved by it', async () => {
    const bench = await scene.workbench([says('hello')])
    const actor = bench.create()
    const [window, other] = [await bench.follow(actor), await bench.follow(actor)]
    await window.settled(await bench.start(actor, 'go'))
    const { notableSeq, updatedAt } = window.view.header
    const listed = async () => (await bench.storage.entries({ limit: 1 })).entries[0]!.indicator
    expect(await listed()).toBe('unread')
    await bench.sessions.command(actor.id, { type: 'markRead', seq: notableSeq, unread: false })
    expect(await listed()).toBe('none')
    await bench.sessions.command(actor.id, { type: 'markRead', seq: 0, unread: true })
    expect(await listed()).toBe('unread')
    for (const each of [window, other]) {
      const view = await each.until(({ header }) => header.readSeq < header.notableSeq && header.rev > 0)
      expect(view.header.updatedAt).toBe(updatedAt)
    }
  })

  test('a mark beyond the end of the journal reads no more than there is', async () => {
    const bench = await scene.workbench([says('hello'), says('again')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'go'))
    await bench.sessions.command(actor.id, { type: 'markRead', seq: 1_000_000, unread: false })
    await window.settled(await bench.start(actor, 'again'))
    expect(window.view.header.readSeq).toBeLessThan(window.view.header.notableSeq)
    expect((await bench.storage.entries({ limit: 1 })).entries[0]!.indicator).toBe('unread')
  })

  test('S-20 an archived session leaves the list, opens, and a message takes it out again', async () => {
    const bench = await scene.workbench([says('hello'), says('again')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    await window.settled(await bench.start(actor, 'go'))
    await bench.sessions.command(actor.id, { type: 'archive', archived: true })
    expect((await bench.storage.entries({ limit: 5 })).entries).toEqual([])
    expect((await bench.storage.entries({ limit: 5, archived: true })).entries).toHaveLength(1)
    expect((await bench.sessions.open(actor.id)).items).toHaveLength(2)
    await window.settled(await bench.start(actor, 'again'))
    expect((await bench.storage.entries({ limit: 5 })).entries).toHaveLength(1)
  })
})
