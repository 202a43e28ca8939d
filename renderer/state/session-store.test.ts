// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SessionEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { header, running, textItem, turn, userItem, view as viewOf } from '../transcript/fixtures.ts'
import { joinOlder, withOlder } from '../../preload/contract/stretch.ts'
import { createSession, type Session, type SessionLink } from './session-store.ts'

type Read = Parameters<SessionLink['read']>

/** A host that answers `view` and lets a test send frames. */
function fakeHost(first: SessionView) {
  const host = {
    view: first,
    opens: 0,
    places: [] as number[],
    frame: (() => {}) as (event: SessionEvent) => void,
    submitted: [] as unknown[],
    refuse: null as unknown,
    /** What it waits for before it answers. */
    busy: Promise.resolve(),
  }
  const client = {
    session: {
      open: async () => (host.opens++, host.view),
      events: async ({ after }: { after: number }) => (host.places.push(after), []),
      submit: async (input: { requestId: string; whenBusy: string }) => {
        host.submitted.push(input)
        await host.busy
        if (host.refuse) {
          const body = host.refuse
          host.refuse = null
          throw Object.assign(new Error('refused'), { data: body })
        }
        return input.whenBusy === 'queue'
          ? { accepted: 'queued', followUpId: 'f' }
          : { accepted: 'started', turnId: 't', userItemId: 'u' }
      },
    },
  }
  const link = {
    client,
    read: async (...[open, handlers, signal]: Read): Promise<void> => {
      await open('stream', signal)
      if (signal.aborted) return
      handlers.opened?.()
      host.frame = (event) => void (signal.aborted || handlers.frame(event as never))
    },
  }
  return { host, session: createSession('session-1', link as unknown as SessionLink) }
}

const live = () => {
  const item = textItem('', { id: 'text', turnId: 'turn-1', status: 'live', pos: 50 })
  return viewOf([userItem('go', { pos: 1 }), item], [running('turn-1')], {
    header: header({ lastSeq: 10, currentTurnId: 'turn-1' }),
  })
}
const delta = (seq: number, offset: number, add: string): SessionEvent => ({
  type: 'item.delta',
  seq,
  at: seq,
  turnId: 'turn-1',
  itemId: 'text',
  field: 'text',
  offset,
  add,
})
const textOf = (session: Session) =>
  session.store
    .getState()
    .view?.items.flatMap((item) => (item.kind === 'text' ? [item.text] : []))
    .at(-1)

let session: Session
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  session.close()
  vi.useRealTimers()
})
const settle = () => vi.advanceTimersByTimeAsync(20)
const frame = () => vi.advanceTimersByTimeAsync(300)

async function opened(first = live()) {
  const made = fakeHost(first)
  session = made.session
  await settle()
  return made.host
}

describe('the stream of a session', () => {
  test('S-37 a repeated event is ignored, a gap asks again from the last one taken', async () => {
    const host = await opened()
    host.frame(delta(11, 0, 'one '))
    host.frame(delta(11, 0, 'one '))
    host.frame(delta(10, 0, 'old '))
    host.frame(delta(13, 4, 'far '))
    await frame()
    expect(textOf(session)).toBe('one ')
    expect(host.places).toEqual([10, 11])
    expect(host.opens).toBe(1)
  })

  test('T-201 any number of events of one frame is one commit, equal to folding them one by one', async () => {
    const host = await opened()
    const events = Array.from(
      { length: 200 },
      (_, index) => delta(11 + index, index * 2, 'ab') as Extract<SessionEvent, { seq: number }>,
    )
    const before = session.store.getState().view!
    let commits = 0
    session.store.subscribe(() => void commits++)
    for (const event of events) host.frame(event)
    await frame()
    expect(commits).toBe(1)
    expect(session.store.getState().view).toEqual(events.reduce(foldEvent, before))
  })

  test('T-51 a delta past what is held opens the session again', async () => {
    const host = await opened()
    host.view = { ...live(), items: [textItem('whole text', { id: 'text', pos: 50 })], header: header({ lastSeq: 12 }) }
    host.frame(delta(11, 5, 'gap'))
    await frame()
    expect(host.opens).toBe(2)
    expect(textOf(session)).toBe('whole text')
  })

  test('S-57 an older slice comes with the rows and changes of its turns, and repeats none', () => {
    const view = live()
    const known = view.turns[0]!
    const older = turn('turn-0')
    const joined = withOlder(view, {
      items: [userItem('older', { id: 'older', pos: 0, turnId: 'turn-0' }), ...view.items],
      before: 7,
      turns: [older, known],
      changes: [],
    })
    expect(joined.items.map(({ id }) => id)).toEqual(['older', ...view.items.map(({ id }) => id)])
    expect(joined.turns.map(({ id }) => id)).toEqual(['turn-0', ...view.turns.map(({ id }) => id)])
    expect(joined.itemsBefore).toBe(7)
  })

  test('S-37 after a resync older slices stay in front and the view is never empty', async () => {
    const host = await opened()
    const emptied: boolean[] = []
    session.store.subscribe(({ view }) => void emptied.push(view === null))
    session.store.setState(({ view }) => ({
      view: { ...view!, items: [userItem('older', { pos: 0 }), ...view!.items], itemsBefore: 3 },
    }))
    host.view = { ...live(), items: session.store.getState().view!.items.slice(1), itemsBefore: 4 }
    host.frame({ type: 'stream.resync', seq: null, at: 1, reason: 'pruned' })
    await frame()
    expect(session.store.getState().view?.items.map((item) => item.pos)).toEqual([0, 1, 50])
    expect(session.store.getState().view?.itemsBefore).toBe(3)
    expect(emptied).not.toContain(true)
  })

  test('another journal replaces everything held', () => {
    const held = viewOf([userItem('a'), userItem('b')], [])
    const fresh = { ...viewOf(held.items.slice(1), []), journalId: 'other' }
    expect(joinOlder(held, fresh)).toBe(fresh)
  })
})

describe('sending', () => {
  const idle = () => viewOf([], [], { header: header({ lastSeq: 10 }) })
  const body = { code: 'workspace.busy', message: 'Busy.', hint: 'Try again.' }

  test('T-201 a message is on screen at once and replaced by the turn of its request', async () => {
    const host = await opened(idle())
    const sent = session.controller.submit({ text: 'hello', attachments: [] }, 'refuse')
    const [bubble] = session.store.getState().unsent
    expect(bubble).toMatchObject({ text: 'hello', as: 'turn', refusal: null })
    await sent
    expect(session.store.getState().unsent).toHaveLength(1)
    host.frame({
      type: 'turn.started',
      seq: 11,
      at: 1,
      turnId: 't',
      origin: 'foreground',
      source: 'person',
      requestId: bubble!.requestId,
      userItemId: 'u',
      model: 'm',
    })
    await frame()
    expect(session.store.getState().unsent).toEqual([])
  })

  test('T-3 a refused message stays with its reason, and is tried again under the same request id (T-13)', async () => {
    const host = await opened(idle())
    host.refuse = body
    await expect(session.controller.submit({ text: 'hello', attachments: [] }, 'refuse')).rejects.toMatchObject({
      code: 'workspace.busy',
      hint: 'Try again.',
    })
    const [kept] = session.store.getState().unsent
    expect(kept).toMatchObject({ text: 'hello', refusal: body })
    await session.controller.tryAgain(kept!.requestId)
    expect(host.submitted.map((input) => (input as { requestId: string }).requestId)).toEqual([
      kept!.requestId,
      kept!.requestId,
    ])
    expect(session.store.getState().unsent[0]?.refusal).toBeNull()
  })

  test('T-115 a steer that comes just after the end becomes the next message', async () => {
    const host = await opened()
    host.refuse = { code: 'steer.not_running', message: 'The turn has ended.' }
    const reply = await session.controller.submit({ text: 'also this', attachments: [] }, 'steer')
    expect(reply).toEqual({ accepted: 'queued', followUpId: 'f' })
    expect(host.submitted).toMatchObject([{ whenBusy: 'steer' }, { whenBusy: 'queue', text: 'also this' }])
    expect(session.store.getState().unsent).toEqual([])
  })

  test('messages sent one after another reach the host in that order, however long it takes over one', async () => {
    const host = await opened()
    const free = Promise.withResolvers<void>()
    host.busy = free.promise
    const texts = ['first', 'second', 'third']
    const sent = texts.map((text) => session.controller.submit({ text, attachments: [] }, 'queue'))
    expect(session.store.getState().unsent.map(({ text }) => text)).toEqual(texts)
    await frame()
    expect(host.submitted).toMatchObject([{ text: 'first' }])
    free.resolve()
    await Promise.all(sent)
    expect(host.submitted).toMatchObject(texts.map((text) => ({ text })))
  })

  test('a refused message can be taken back, one on its way cannot', async () => {
    const host = await opened(idle())
    const sending = session.controller.submit({ text: 'a', attachments: [] }, 'refuse')
    const { requestId } = session.store.getState().unsent[0]!
    expect(session.controller.takeUnsent(requestId)).toBeNull()
    await sending
    host.refuse = body
    await session.controller.submit({ text: 'b', attachments: [] }, 'refuse').catch(() => {})
    const refused = session.store.getState().unsent[1]!
    expect(session.controller.takeUnsent(refused.requestId)).toEqual({ text: 'b', attachments: [] })
  })
})
