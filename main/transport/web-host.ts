/**
 * The loopback web host: static files, a ticket for the token, and the contract over a WebSocket. Opening the printed
 * address works; every other page, program or person on the machine gets nothing (security.md 12).
 */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { WebSocketServer, type WebSocket } from 'ws'
import type { BrowserRights } from '../../preload/contract/browsers.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { frameBytesMax, socketsMax, ticketMs } from '../../preload/contract/limits.ts'
import type { Admitted, Browsers } from './browsers.ts'
import { closeCodes, createCounter, type Connections, type Wire } from './connections.ts'
import type { PageFile } from './page-files.ts'
import { pageHeaders } from './page-policy.ts'

const headerBytesMax = 16 * 1024
const headersMs = 10_000
const bodyBytesMax = 64 * 1024
const pingMs = 20_000
const failuresPerMinuteMax = 10
const lockedOutMs = 60_000
const ticketsMax = 64
/** What may wait in a socket for a client that reads slowly; streams have their own credit well below it. */
const unsentBytesMax = 32 * 1024 * 1024

export type WebHost = {
  /** An address with its token, for the person who started the host and those they let in (S-139). */
  address(rights: BrowserRights): string
  readonly port: number
  /** Ends every connection and stops listening. */
  close(): Promise<void>
}

export type WebHostOptions = {
  /** 0 takes any free port. */
  port: number
  connections: Connections
  browsers: Browsers
  files: ReadonlyMap<string, PageFile>
  /** What `/health` says; 200 only for `ready` (Z-181). */
  health(): 'starting' | 'ready' | 'degraded' | 'draining'
  /** What `/status` says beyond it, to the holder of the token (S-140). */
  status(): Record<string, unknown>
  fault(error: unknown): void
  now?: () => number
}

type Answer = { status: number; body?: unknown; file?: PageFile }

const refusals: Readonly<Record<number, string>> = {
  401: 'A token is needed.',
  403: 'This host answers its own page only.',
  404: 'There is nothing here.',
  405: 'This method is not used here.',
  413: 'The request is too large.',
  415: 'The body must be JSON.',
  429: 'Too many failed attempts; wait a minute.',
}

/** Listens and answers; throws the system's error where the port cannot be had. */
export async function startWebHost(options: WebHostOptions): Promise<WebHost> {
  const { connections, browsers, files, health, status, fault, now = () => performance.now() } = options
  const tickets = new Map<string, { origin: string; until: number; browser: Admitted }>()
  const failures = createCounter(failuresPerMinuteMax, 60_000, now)
  let lockedUntil = 0
  let hosts: ReadonlySet<string> = new Set()

  function refuse(status: number): Answer {
    return { status, body: { error: refusals[status] } }
  }

  /** 401 for a wrong credential, 429 while there were too many of them; null where `isRight`. */
  function judge(isRight: boolean): Answer | null {
    if (now() < lockedUntil) return refuse(429)
    if (isRight) return null
    if (!failures.count()) lockedUntil = now() + lockedOutMs
    return refuse(401)
  }

  function tokenOf({ headers }: IncomingMessage): string {
    return /^Bearer ([\w-]+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  }

  /** Whether our own page sent this: exact Host, own Origin, no other site (Z-173, Z-174). Null where it did. */
  function judgeSender(request: IncomingMessage, needsOrigin: boolean): Answer | null {
    const host = onlyHeader(request, 'host')
    if (host === null || !hosts.has(host)) return refuse(403)
    const { origin } = request.headers
    if (origin === undefined ? needsOrigin : origin !== `http://${host}`) return refuse(403)
    const site = request.headers['sec-fetch-site']
    const isPageLoad = site === 'none' && request.method === 'GET' && !needsOrigin
    return site === undefined || site === 'same-origin' || isPageLoad ? null : refuse(403)
  }

  function issueTicket(origin: string, browser: Admitted): string {
    for (const [ticket, { until }] of tickets) if (until < now() || tickets.size >= ticketsMax) tickets.delete(ticket)
    const ticket = randomBytes(16).toString('base64url')
    tickets.set(ticket, { origin, until: now() + ticketMs, browser })
    return ticket
  }

  /** Whose ticket this is; it is used up. Null where it is none, or too late. */
  function ticketOf(request: IncomingMessage, path: URL): Admitted | null {
    const ticket = path.searchParams.get('ticket') ?? ''
    const issued = tickets.get(ticket)
    tickets.delete(ticket)
    return issued && issued.until >= now() && issued.origin === request.headers.origin ? issued.browser : null
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method } = request
    const path = pathOf(request)
    const foreign = judgeSender(request, method !== 'GET')
    // A preflight has no right answer here, whoever asks; only a wrong Host is told apart.
    if (method !== 'GET' && method !== 'POST')
      return foreign && !hosts.has(onlyHeader(request, 'host') ?? '') ? foreign : refuse(405)
    if (foreign) return foreign
    if (path === null) return refuse(404)
    if (method === 'POST') return post(request, path)
    if (path.pathname === '/health') return { status: health() === 'ready' ? 200 : 503, body: { status: health() } }
    if (path.pathname === '/status')
      return (
        judge(browsers.knows(tokenOf(request))) ?? {
          status: 200,
          body: { state: health(), clients: connections.count, ...status() },
        }
      )
    const file = files.get(path.pathname)
    return file ? { status: 200, file } : refuse(404)
  }

  async function post(request: IncomingMessage, path: URL): Promise<Answer> {
    if (request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== 'application/json') return refuse(415)
    const denied = judge(browsers.knows(tokenOf(request)))
    if (denied) return denied
    if (!(await drain(request))) return refuse(413)
    if (path.pathname !== '/ticket') return refuse(404)
    const admitted = browsers.admit(tokenOf(request), request.headers['user-agent'])
    // Signed out while its request came in.
    if (!admitted) return refuse(401)
    const { browser, token } = admitted
    // One that came by an address goes on with a token of its own.
    const own = token === null ? {} : { token }
    return { status: 200, body: { ticket: issueTicket(request.headers.origin!, browser), ...own } }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, file } = await answer(request)
    // What was not read of a refused body is not waited for.
    if (status >= 400) response.shouldKeepAlive = false
    const headers = { ...pageHeaders, 'content-type': file?.mediaType ?? 'application/json' }
    if (file) {
      response.writeHead(status, headers)
      await pipeline(createReadStream(file.path), response)
    } else {
      const text = JSON.stringify(body)
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
      response.end(text)
    }
  }

  const upgrading = new WebSocketServer({
    noServer: true,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    clientTracking: true,
  })

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const path = pathOf(request)
    const foreign = judgeSender(request, true) ?? (path?.pathname === '/socket' ? null : refuse(404))
    if (foreign) return refuseUpgrade(socket, foreign.status)
    const browser = ticketOf(request, path!)
    const denied = judge(browser !== null)
    if (denied) return refuseUpgrade(socket, denied.status)
    upgrading.handleUpgrade(request, socket, head, (opened) => {
      if (upgrading.clients.size > socketsMax) return opened.close(closeCodes.tryLater, 'too many connections')
      const wire = wireOf(opened)
      const { id, rights } = browser!
      connections.accept(wire, { clientId: id, kind: 'web', attendance: 'attended', rights })
      browser!.connected(wire)
    })
  }

  function configure(server: Server): Server {
    server.headersTimeout = headersMs
    server.requestTimeout = 2 * headersMs
    server.on('upgrade', upgrade)
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (socket.writable) refuseUpgrade(socket, error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400)
      else socket.destroy()
    })
    return server
  }

  const serving = (): Server =>
    configure(
      // A missing Host is ours to refuse, with our headers.
      createServer(
        { maxHeaderSize: headerBytesMax, requireHostHeader: false, connectionsCheckingInterval: 1_000 },
        (request, response) => {
          respond(request, response).catch((error: unknown) => {
            if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') fault(error)
            response.destroy()
          })
        },
      ),
    )

  const servers = [serving()]
  await listen(servers[0]!, '127.0.0.1', options.port)
  const { port } = servers[0]!.address() as AddressInfo
  const onIpv6 = serving()
  const hasIpv6 = await listen(onIpv6, '::1', port).then(
    () => true,
    () => false,
  )
  if (hasIpv6) servers.push(onIpv6)
  hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, ...(hasIpv6 ? [`[::1]:${port}`] : [])])

  return {
    address: (rights) => `http://127.0.0.1:${port}/#token=${browsers.link(rights)}`,
    port,
    async close() {
      connections.closeAll()
      for (const client of upgrading.clients) client.close(closeCodes.goingAway)
      await Promise.all(
        servers.map(async (server) => {
          const closed = new Promise((resolve) => server.close(resolve))
          server.closeAllConnections()
          await closed
        }),
      )
      for (const client of upgrading.clients) client.terminate()
    },
  }
}

/** A WebSocket as a wire, pinged so that a peer that is gone is noticed after two misses (Z-180). */
function wireOf(socket: WebSocket): Wire {
  let misses = 0
  const pinging = setInterval(() => {
    if (++misses > 2) return socket.terminate()
    socket.ping()
  }, pingMs)
  pinging.unref()
  socket.on('pong', () => {
    misses = 0
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => clearInterval(pinging))
  return {
    send(text) {
      if (socket.bufferedAmount > unsentBytesMax) return socket.terminate()
      if (socket.readyState === socket.OPEN) socket.send(text)
    },
    close: (code, reason) => socket.close(code, reason),
    onMessage: (listener) =>
      void socket.on('message', (data, isBinary) => listener(isBinary ? null : (data as Buffer).toString('utf8'))),
    onClose: (listener) => void socket.on('close', listener),
  }
}

function refuseUpgrade(socket: Duplex, status: number): void {
  const lines = Object.entries({ ...pageHeaders, connection: 'close', 'content-length': '0' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n`)
}

/** A header that must be there exactly once, as sent; null otherwise. */
function onlyHeader(request: IncomingMessage, name: string): string | null {
  const values = request.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]!.toLowerCase() === name)
  return values.length === 1 ? values[0]! : null
}

/** The path asked for; null for a target that is not a plain path. */
function pathOf(request: IncomingMessage): URL | null {
  const target = request.url ?? ''
  return target.startsWith('/') && !target.startsWith('//') ? URL.parse(target, 'http://lathe') : null
}

/** Reads a body to its end; false where it is too large. */
async function drain(request: IncomingMessage): Promise<boolean> {
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > bodyBytesMax) return false
  }
  return true
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const taken = error.code === 'EADDRINUSE'
      reject(
        new LatheError(
          'host.unreachable',
          taken ? `Port ${port} is taken.` : `Listening on ${host}:${port} failed (${error.code}).`,
          {
            hint: taken ? 'Choose another with --port, or leave it out for any free one.' : undefined,
            cause: error,
          },
        ),
      )
    }
    server.once('error', failed)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', failed)
      resolve()
    })
  })
}
