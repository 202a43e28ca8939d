import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ORPCError, os } from '@orpc/server'
import { RPCHandler } from '@orpc/server/ws'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocketServer, type WebSocket as ServerSocket } from 'ws'
import { LatheError } from '../../preload/contract/errors.ts'
import type { SessionEvent } from '../../preload/contract/events.ts'
import { createConnection, type Connection } from './connection.ts'
import { socketOfWebHost } from './hosts.ts'

/** A host with the contract's paths, a token and tickets, that can lose its sockets and come back. */
type Host = {
  server: Server
  origin: string
  sockets: Set<ServerSocket>
  acked: Map<string, number>
  calls: string[]
  tickets: number
  token: string
}
let host: Host
let connection: Connection | null = null

beforeEach(async () => {
  host = await startHost()
})

afterEach(() => {
  connection?.close()
  connection = null
  for (const socket of host.sockets) socket.terminate()
  host.server.close()
})

async function startHost(): Promise<Host> {
  const sockets = new Set<ServerSocket>()
  const acked = new Map<string, number>()
  const calls: string[] = []
  const opened: Host = { server: createServer(), origin: '', sockets, acked, calls, tickets: 0, token: 'right' }
  const rpc = new RPCHandler({
    session: {
      events: os.handler(async function* ({ input, signal }) {
        const { after, stream } = input as { after: number; stream: string }
        for (let seq = after + 1; seq <= 1_000; seq++) {
          if (signal?.aborted) return
          while (seq - after > (acked.get(stream) ?? 0) + 256) await new Promise((resolve) => setTimeout(resolve, 5))
          yield { type: 'turn.status', seq, at: 0, turnId: 't', status: null }
        }
      }),
      stop: os.handler(async ({ input }) => {
        calls.push((input as { requestId: string }).requestId)
        // The first answer is lost with its connection.
        if (calls.length === 1) {
          for (const socket of sockets) socket.terminate()
          await new Promise(() => {})
        }
        return { stopped: true, withdrawn: [] }
      }),
    },
    sessions: {
      rename: os.handler(() => {
        throw new ORPCError('LATHE', {
          data: { code: 'session.conflict', message: 'Renamed meanwhile.', hint: 'Look again.' },
        })
      }),
    },
    workspaces: {
      list: os.handler(async () => {
        calls.push('list')
        for (const socket of sockets) socket.terminate()
        await new Promise(() => {})
      }),
    },
    streams: {
      ack: os.handler(({ input }) => {
        const { stream, taken } = input as { stream: string; taken: number }
        acked.set(stream, taken)
        return { ok: true }
      }),
    },
  })
  opened.server.on('request', (request: IncomingMessage, response) => {
    const right = request.headers.authorization === `Bearer ${opened.token}`
    if (right) opened.tickets++
    response.writeHead(right ? 200 : 401, { 'content-type': 'application/json' }).end(right ? '{"ticket":"t"}' : '{}')
  })
  const upgrading = new WebSocketServer({ server: opened.server, path: '/socket' })
  upgrading.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    void rpc.upgrade(socket)
  })
  await new Promise<void>((resolve) => opened.server.listen(0, '127.0.0.1', resolve))
  opened.origin = `http://127.0.0.1:${(opened.server.address() as AddressInfo).port}`
  return opened
}

type Tab = { page: Parameters<typeof socketOfWebHost>[0]; stored: Map<string, string>; shown: string[] }

function tab(address: string): Tab {
  const stored = new Map<string, string>()
  const shown: string[] = []
  const page = {
    location: { href: address, origin: host.origin },
    history: {
      replaceState: (_data: unknown, _title: string, url?: string | URL | null) => void shown.push(String(url)),
    },
    storage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    },
  }
  return { page, stored, shown }
}

/** Connects at once after every loss, noting the waits asked for. */
function connect(waits: number[] = []): Connection {
  const { page } = tab(`${host.origin}/#token=right`)
  connection = createConnection(socketOfWebHost(page), async (ms) => {
    waits.push(ms)
    await new Promise(setImmediate)
  })
  return connection
}

const reaches = (of: Connection, state: string): Promise<void> =>
  new Promise((resolve) => {
    if (of.state() === state) return resolve()
    const end = of.onState(() => {
      if (of.state() !== state) return
      end()
      resolve()
    })
  })

test('Z-171 the token leaves the address bar and stays in the tab; the socket gets a ticket', async () => {
  const { page, stored, shown } = tab(`${host.origin}/#token=right`)
  connection = createConnection(socketOfWebHost(page))
  await reaches(connection, 'connected')
  expect(shown).toEqual([`${host.origin}/`])
  expect([...stored]).toEqual([['lathe.token', 'right']])
  expect(host.tickets).toBe(1)
})

test('a refusal is a LatheError with its code and hint', async () => {
  const renamed = connect().client.sessions.rename({ requestId: 'r', sessionId: 's', title: 't' })
  await expect(renamed).rejects.toBeInstanceOf(LatheError)
  await expect(renamed).rejects.toMatchObject({ code: 'session.conflict', hint: 'Look again.' })
})

test('S-27 an act whose answer was lost is sent again with the same request id; anything else fails', async () => {
  const { client } = connect()
  expect(await client.session.stop({ requestId: 'r1', sessionId: 's', turnId: 't' })).toEqual({
    stopped: true,
    withdrawn: [],
  })
  expect(host.calls).toEqual(['r1', 'r1'])
  await expect(client.workspaces.list()).rejects.toMatchObject({ code: 'host.unreachable' })
  expect(host.calls.filter((call) => call === 'list')).toHaveLength(1)
})

test('S-37 SA-6 a stream read over several lost connections has every event once, in order, on credit', async () => {
  const link = connect()
  let last = 0
  let opened = 0
  const done = Promise.withResolvers<void>()
  const reading = new AbortController()
  link.read(
    (stream, signal) =>
      link.client.session.events({ sessionId: 's', journalId: 'j', stream, after: last }, { signal }) as Promise<
        AsyncIterable<SessionEvent>
      >,
    {
      opened: () => opened++,
      frame: ({ seq }) => {
        expect(seq).toBe(last + 1)
        last = seq!
        if (last % 180 === 0 && opened <= 5) for (const socket of host.sockets) socket.terminate()
        if (last === 1_000) done.resolve()
      },
    },
    reading.signal,
  )
  await done.promise
  reading.abort()
  expect(opened).toBeGreaterThanOrEqual(4)
})

test('a stream refused for good is told and not opened again', async () => {
  const link = connect()
  const failed = Promise.withResolvers<string>()
  link.read(
    async () => {
      throw new LatheError('session.deleted', 'It was deleted.')
    },
    { frame: () => {}, failed: ({ code }) => failed.resolve(code) },
    new AbortController().signal,
  )
  expect(await failed.promise).toBe('session.deleted')
})

test('S-40 the waits between tries are 0.25, 0.5, 1, 2, 5, 5 seconds, and begin anew after a success', async () => {
  const waits: number[] = []
  let tries = 0
  const { page } = tab(`${host.origin}/#token=right`)
  const through = socketOfWebHost(page)
  connection = createConnection(
    (signal) => (++tries <= 6 ? Promise.reject(new Error('no')) : through(signal)),
    async (ms) => void waits.push(ms),
  )
  expect(connection.state()).toBe('connecting')
  await reaches(connection, 'connected')
  expect(waits).toEqual([250, 500, 1_000, 2_000, 5_000, 5_000])
  const lost = reaches(connection, 'lost')
  for (const socket of host.sockets) socket.terminate()
  await lost
  await reaches(connection, 'connected')
  expect(waits[6]).toBe(250)
})

test('a token the host refuses is not tried again until asked', async () => {
  host.token = 'new'
  const waits: number[] = []
  const link = connect(waits)
  await expect(link.client.host.info()).rejects.toMatchObject({ code: 'access.denied' })
  expect(link.refusal()).toMatchObject({ code: 'access.denied' })
  expect(waits).toEqual([])
  host.token = 'right'
  link.retry()
  await reaches(link, 'connected')
  expect(link.refusal()).toBeNull()
})

test('S-37 a stream waits while the host refuses the window, and goes on once it is let in', async () => {
  host.token = 'new'
  const link = connect([])
  const done = new AbortController()
  const { promise, resolve } = Promise.withResolvers<string>()
  const first = (said: string) => {
    resolve(said)
    done.abort()
  }
  link.read(
    async () =>
      (async function* () {
        yield 'a frame'
      })(),
    { frame: first, failed: ({ code }) => first(code) },
    done.signal,
  )
  await expect(link.client.host.info()).rejects.toMatchObject({ code: 'access.denied' })
  host.token = 'right'
  link.retry()
  expect(await promise).toBe('a frame')
})
