import { expect, test } from 'vitest'
import fc from 'fast-check'
import { LatheError } from '../../preload/contract/errors.ts'
import type { SessionEvent } from '../../preload/contract/events.ts'
import { createConnections, type Wire } from './connections.ts'
import { fakeHandlers, type PartialHandlers } from './fake-handlers.ts'
import type { ClientContext, Handlers } from './handlers.ts'
import { remoteHandlers } from './remote.ts'

/** Two ends of one wire; what one sends the other gets in a later microtask. */
function wirePair(): { near: Wire; far: Wire; closedWith: () => string | null } {
  const ends = [0, 1].map(() => ({ message: [] as ((text: string | null) => void)[], close: [] as (() => void)[] }))
  let reason: string | null = null
  const end = (own: number): Wire => ({
    send: (text) =>
      queueMicrotask(() => reason === null && ends[1 - own]!.message.forEach((listener) => listener(text))),
    close: (code, why) => {
      reason ??= `${code} ${why}`
      for (const side of ends) side.close.forEach((listener) => listener())
    },
    onMessage: (listener) => void ends[own]!.message.push(listener),
    onClose: (listener) => void ends[own]!.close.push(listener),
  })
  return { near: end(0), far: end(1), closedWith: () => reason }
}

const me: ClientContext = { clientId: 'me', kind: 'cli', attendance: 'deny' }

function serve(given: PartialHandlers): {
  faults: unknown[]
  wires: ReturnType<typeof wirePair>
  remote: Handlers
  connect(): Handlers
} {
  const faults: unknown[] = []
  const connections = createConnections({ handlers: fakeHandlers(given), fault: (error) => faults.push(error) })
  const open = (): ReturnType<typeof wirePair> => {
    const wires = wirePair()
    connections.accept(wires.far, { kind: 'web', attendance: 'attended' })
    return wires
  }
  const wires = open()
  return { faults, wires, remote: remoteHandlers(wires.near), connect: () => remoteHandlers(open().near) }
}

/** Sends raw text and waits for the one answer to it. */
async function raw(
  wire: Wire,
  text: string,
): Promise<{ json: { code: string; data: { code: string; message: string } } }> {
  const answer = Promise.withResolvers<string | null>()
  wire.onMessage(answer.resolve)
  wire.send(text)
  return JSON.parse((await answer.promise)!).p.b
}

test('a LatheError arrives as itself, with code, hint and data, and never a stack', async () => {
  const { remote } = serve({
    sessions: {
      rename: async () => {
        throw new LatheError('session.conflict', 'Renamed meanwhile.', { hint: 'Look again.', data: { rev: 3 } })
      },
    },
  })
  const refused = remote.sessions.rename({ requestId: 'r', sessionId: 's', title: 't' }, me)
  await expect(refused).rejects.toMatchObject({
    code: 'session.conflict',
    message: 'Renamed meanwhile.',
    hint: 'Look again.',
    data: { rev: 3 },
  })
})

test('any other throw is app.internal: reported with its stack, sent without a word of it', async () => {
  const { remote, faults } = serve({
    workspaces: {
      list: async () => {
        throw new Error('SQLITE_BUSY at /home/ada/.lathe')
      },
    },
  })
  const failed = await remote.workspaces.list(undefined, me).catch((error: LatheError) => error)
  expect(failed).toMatchObject({ code: 'app.internal' })
  expect(JSON.stringify((failed as LatheError).toBody())).not.toContain('SQLITE')
  expect(faults).toHaveLength(1)
})

test('S-34 who a client is its connection says: a payload that claims more is refused and changes nothing', async () => {
  const seen: ClientContext[] = []
  const { wires, remote } = serve({
    session: { stop: async (_, client) => (seen.push(client), { stopped: false, why: 'settled' }) },
  })
  const own = { requestId: 'r', sessionId: 's', turnId: 't' }
  await remote.session.stop(own, { ...me, kind: 'window', attendance: 'attended' })
  expect(seen).toMatchObject([{ kind: 'web', attendance: 'attended' }])
  for (const claim of [{ kind: 'window' }, { attendance: 'attended' }, { trusted: true }, { clientId: 'me' }]) {
    const text = JSON.stringify({
      i: '9',
      p: { u: '/session/stop', b: { json: { ...own, requestId: 'q', ...claim } } },
    })
    expect((await raw(wires.near, text)).json.data).toMatchObject({ code: 'request.invalid' })
  }
  expect(seen).toHaveLength(1)
})

test('S-4 what a service answers beyond the contract does not reach a client', async () => {
  const workspace = {
    path: '/w',
    name: 'w',
    state: 'present' as const,
    branch: null,
    trusted: true,
    openedAt: 1,
    demo: false,
  }
  const { remote } = serve({ workspaces: { list: async () => [{ ...workspace, secret: 'key' } as never] } })
  expect(await remote.workspaces.list(undefined, me)).toEqual([workspace])
})

test('Z-156 ZA-29 unknown requests, unknown fields, long strings and 9 MiB are request.invalid before any service', async () => {
  const { wires } = serve({})
  for (const text of [
    '{"i":"1","p":{"u":"/session/explode","b":{"json":{}}}}',
    '{"i":"2","p":{"u":"/__proto__/constructor","b":{}}}',
    '{"i":"3","p":{"u":"/sessions/delete","b":{"json":{"requestId":"r","sessionId":"s","all":true}}}}',
    '{"i":"4","p":{"u":"/sessions/delete","b":{"json":{"requestId":"r","sessionId":"../x\\n"}}}}',
    `{"i":"5","p":{"u":"/sessions/search","b":{"json":{"query":"${'x'.repeat(501)}"}}}}`,
    '{"i":"6","p":{"u":"/sessions/search","b":{"json":{"query":"x"},"meta":[[1,"query"]]}}}',
    '{"i":"7","p":{"u":"/sessions/search","h":{"content-type":"text/event-stream"},"b":{"json":{"query":"x"}}}}',
    `{"i":"8","p":"${'x'.repeat(9 * 1024 * 1024)}"}`,
  ]) {
    const answer = await raw(wires.near, text)
    expect({ of: text.slice(0, 120), is: answer.json }).toMatchObject({
      of: text.slice(0, 120),
      is: { code: 'LATHE', data: { code: 'request.invalid' } },
    })
  }
})

test('F-1207 FA-38 a client that names a path instead of sending bytes is refused before anything is opened', async () => {
  let uploads = 0
  const upload = async () => (uploads++, { attachment: null })
  const { wires } = serve({ attachments: { upload } })
  const given = '"uploadId":"u1","name":"../../etc/passwd","mediaType":"text/plain","part":0,"last":true'
  const ask = async (fields: string) =>
    (await raw(wires.near, `{"i":"1","p":{"u":"/attachments/upload","b":{"json":{${fields}}}}}`)).json
  const refused = { code: 'LATHE', data: { code: 'request.invalid' } }
  expect(await ask(`${given},"path":"/etc/passwd"`)).toMatchObject(refused)
  expect(await ask(`${given},"data":"","path":"/etc/passwd"`)).toMatchObject(refused)
  expect(await ask(`${given},"data":"${'a'.repeat(3 * 1024 * 1024)}"`)).toMatchObject(refused)
  expect(uploads).toBe(0)
  await ask(`${given},"data":"YQ=="`)
  expect(uploads).toBe(1)
})

test('Z-156 20 invalid requests in a minute close the connection', async () => {
  const { wires } = serve({})
  for (let i = 0; i < 19; i++) wires.near.send('nonsense')
  await new Promise(setImmediate)
  expect(wires.closedWith()).toBeNull()
  wires.near.send('nonsense')
  await new Promise(setImmediate)
  expect(wires.closedWith()).toMatch(/^1008 /)
})

test('Z-180 over 200 requests a second with a burst of 400 the connection closes', async () => {
  let time = 0
  const handlers = fakeHandlers({ settings: { preferences: async () => ({}) } })
  const connections = createConnections({ handlers, fault: () => {}, now: () => time })
  const wires = wirePair()
  connections.accept(wires.far, { kind: 'web', attendance: 'attended' })
  const send = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) wires.near.send(`{"i":"${time}x${i}","p":{"u":"/settings/preferences"}}`)
    await new Promise(setImmediate)
  }
  await send(400)
  time = 1_000
  await send(200)
  expect(wires.closedWith()).toBeNull()
  await send(1)
  expect(wires.closedWith()).toMatch(/^1008 /)
})

test('Z-260 no mutation of a frame reaches a service, crashes or goes unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', note)
  let reached = 0
  const connections = createConnections({
    handlers: fakeHandlers({ sessions: { delete: async () => (reached++, { ok: true }) } }),
    fault: () => {},
  })
  const part = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('{"i":"1",', '"p":{"u":"/sessions/delete",', '"b":{"json":', '"t":3', '}}', '\u0000', '"h":{}'),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const wires = wirePair()
      connections.accept(wires.far, { kind: 'web', attendance: 'attended' })
      wires.near.send(parts.join(''))
    }),
    { numRuns: 1_000 },
  )
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(reached).toBe(0)
})

test('S-27 a mutation repeated on another connection after the first was lost happens once', async () => {
  let deletions = 0
  const gate = Promise.withResolvers<void>()
  const { remote, wires, connect } = serve({
    sessions: {
      delete: async (_input, client) => {
        deletions++
        expect(client.signal).toBeUndefined()
        await gate.promise
        return { ok: true }
      },
    },
  })
  const input = { requestId: 'r1', sessionId: 's' }
  const lost = remote.sessions.delete(input, me)
  await new Promise(setImmediate)
  wires.near.close(1006, 'lost')
  await expect(lost).rejects.toMatchObject({ code: 'host.unreachable' })
  const again = connect().sessions.delete(input, me)
  gate.resolve()
  expect(await again).toEqual({ ok: true })
  expect(deletions).toBe(1)
})

test('S-29 requests of one connection are taken in order, whatever their kind', async () => {
  const order: number[] = []
  const { remote } = serve({
    session: {
      submit: async ({ text }) => (order.push(Number(text)), { accepted: 'queued', followUpId: 'f' }),
      setDraft: async ({ text }) => (order.push(Number(text)), { revision: 1 }),
    },
    followUps: { clear: async ({ requestId }) => (order.push(Number(requestId)), []) },
  })
  const common = { sessionId: 's', attachments: [] }
  await Promise.all(
    Array.from({ length: 90 }, (_, i) => {
      if (i % 3 === 0) return remote.session.submit({ ...common, requestId: `r${i}`, text: String(i) }, me)
      if (i % 3 === 1) return remote.session.setDraft({ ...common, text: String(i), source: 'x' }, me)
      return remote.followUps.clear({ sessionId: 's', requestId: String(i) }, me)
    }),
  )
  expect(order).toEqual(Array.from({ length: 90 }, (_, i) => i))
})

test('a stream of 5,000 events arrives whole through credit, and ends its source when the reader leaves', async () => {
  let left = false
  const { remote } = serve({
    session: {
      events: async function* ({ after }, { signal }): AsyncGenerator<SessionEvent> {
        try {
          for (let seq = after + 1; seq <= 5_000; seq++)
            yield { type: 'turn.status', seq, at: 0, turnId: 't', status: null }
          await new Promise((resolve) => signal!.addEventListener('abort', resolve))
        } finally {
          left = signal!.aborted
        }
      },
    },
  })
  let last = 0
  for await (const event of remote.session.events({ sessionId: 's', stream: 'x', after: 0, journalId: 'j' }, me)) {
    expect(event.seq).toBe(last + 1)
    last = event.seq!
    if (last === 5_000) break
  }
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(left).toBe(true)
})

test('a refusal in mid stream is the same typed error', async () => {
  const { remote } = serve({
    session: {
      events: async function* () {
        yield { type: 'draft.changed', seq: null, at: 0, revision: 1, source: 'x' }
        throw new LatheError('session.deleted', 'It was deleted.')
      },
    },
  })
  const frames = remote.session.events({ sessionId: 's', stream: 'x', after: 0, journalId: 'j' }, me)
  const events = frames[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'draft.changed' })
  await expect(events.next()).rejects.toMatchObject({ code: 'session.deleted' })
})
