/**
 * One outgoing HTTP request over `node:http`: a limit on connecting, no redirect to another origin, the raw body as it
 * arrives. (The global `fetch` hides the moment of connecting, follows redirects with the body, and costs 18 MB.)
 */
import type http from 'node:http'
import { setImmediate as giveWay } from 'node:timers/promises'

/**
 * Not imported: a module's import of `node:http` reads all its exports, and one of them loads the whole of `fetch` and
 * WebSocket, 40 ms and 10 MB of every start.
 */
const { Agent, request: requestHttp } = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

/** A fast server fills the loop with its pieces: after this long everything else gets its turn (Z-242). */
const turnMs = 5

export type NetRequest = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | undefined
  signal: AbortSignal
  /** Milliseconds until the connection must stand (TLS included). */
  connectMs: number
}

export type NetResponse = {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** Throws NetError where the connection breaks; leaving the loop early closes it. */
  body: AsyncIterable<Uint8Array>
  /**
   * Says, before the loop is left early, that all of the answer is there: what little may follow is read and dropped, so
   * that the connection can serve the next request. From then on the signal of the request does nothing.
   */
  complete(): void
}

export type NetFault = 'stopped' | 'connect_timeout' | 'broken'

/** `transportCode` is the system's word, such as `ECONNREFUSED`. */
export class NetError extends Error {
  readonly fault: NetFault
  readonly transportCode: string | undefined

  constructor(fault: NetFault, message: string, transportCode?: string) {
    super(message)
    this.name = 'NetError'
    this.fault = fault
    this.transportCode = transportCode
  }
}

/**
 * A connection serves the next request if that comes soon, as it does between the steps of a turn. Not later: one that
 * died unseen, as in a sleep, would keep its next request waiting. Idle ones do not keep the process alive.
 */
const kept = { keepAlive: true, timeout: 10_000, maxFreeSockets: 4 }
/** How much is read after the end of an answer, and for how long, to free its connection. */
const drainBytes = 64 * 1024
const drainMs = 100

/** The environment's proxies apply to remote hosts. */
const proxied = { proxyEnv: process.env }
const agents = {
  remote: { 'http:': new Agent({ ...kept, ...proxied }), 'https:': new https.Agent({ ...kept, ...proxied }) },
  local: { 'http:': new Agent(kept), 'https:': new https.Agent(kept) },
}

const maxRedirects = 3

/** Sends a request. Redirects (307, 308) are followed within the origin only; any other is the answer. Throws NetError. */
export async function send(request: NetRequest): Promise<NetResponse> {
  let url = new URL(request.url)
  for (let hop = 0; ; hop += 1) {
    const { response, detach } = await exchange(url, request)
    const status = response.statusCode ?? 0
    const target = status === 307 || status === 308 ? redirectTarget(response.headers.location, url) : undefined
    if (!target || hop === maxRedirects) {
      const reading = { complete: false }
      const complete = () => {
        reading.complete = true
        detach()
      }
      return { status, headers: flat(response.headers), body: bytes(response, request.signal, reading), complete }
    }
    response.destroy()
    url = target
  }
}

function redirectTarget(location: string | undefined, from: URL): URL | undefined {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  return target?.origin === from.origin ? target : undefined
}

type Exchange = {
  response: http.IncomingMessage
  /** From then on the signal of the request does nothing. */
  detach(): void
}

class KeptWasClosed extends Error {}

/** On a kept connection that its server had closed meanwhile nothing was heard: then it is sent once more, on a new one. */
async function exchange(url: URL, request: NetRequest): Promise<Exchange> {
  const isSecure = url.protocol === 'https:'
  const isLocal = isLoopbackHost(url.hostname)
  try {
    return await sendOnce(url, request, (isLocal ? agents.local : agents.remote)[isSecure ? 'https:' : 'http:'])
  } catch (error) {
    if (!(error instanceof KeptWasClosed)) throw error
    return sendOnce(url, request, new (isSecure ? https.Agent : Agent)(isLocal ? {} : proxied))
  }
}

function sendOnce(url: URL, request: NetRequest, agent: http.Agent): Promise<Exchange> {
  const { signal } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new NetError('stopped', 'Stopped before it was sent.'))
    const open = (url.protocol === 'https:' ? https.request : requestHttp) as (
      url: URL,
      options: http.RequestOptions,
    ) => http.ClientRequest
    const outgoing = open(url, {
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
      },
      agent,
    })
    const stop = () => outgoing.destroy(new NetError('stopped', 'Stopped.'))
    const late = () =>
      outgoing.destroy(new NetError('connect_timeout', `No connection after ${request.connectMs / 1_000} s.`))
    const connecting = setTimeout(late, request.connectMs)
    const connected = () => clearTimeout(connecting)
    signal.addEventListener('abort', stop, { once: true })
    const detach = () => signal.removeEventListener('abort', stop)
    outgoing.on('close', () => {
      connected()
      detach()
    })
    outgoing.on('socket', (socket) => {
      if (outgoing.reusedSocket) connected()
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
    })
    outgoing.on('response', (response) => {
      connected()
      resolve({ response, detach })
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isStale && !signal.aborted ? new KeptWasClosed() : asNetError(error, signal))
    })
    outgoing.end(request.body)
  })
}

async function* bytes(
  response: http.IncomingMessage,
  signal: AbortSignal,
  reading: { complete: boolean },
): AsyncGenerator<Uint8Array> {
  try {
    let since = performance.now()
    for await (const chunk of response.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      yield chunk
      if (performance.now() - since < turnMs) continue
      await giveWay()
      since = performance.now()
    }
  } catch (error) {
    throw asNetError(error as NodeJS.ErrnoException, signal)
  } finally {
    if (reading.complete) drain(response)
    else response.destroy()
  }
}

/** Reads on to the end, which frees the connection; one that goes on longer is closed. */
function drain(response: http.IncomingMessage): void {
  if (response.closed) return
  let left = drainBytes
  const timer = setTimeout(() => response.destroy(), drainMs).unref()
  response.on('close', () => clearTimeout(timer))
  response.on('error', () => {})
  response.on('data', (chunk: Uint8Array) => {
    left -= chunk.length
    if (left < 0) response.destroy()
  })
}

function asNetError(error: NodeJS.ErrnoException, signal: AbortSignal): NetError {
  if (signal.aborted) return new NetError('stopped', 'Stopped.')
  return error instanceof NetError
    ? error
    : new NetError('broken', error.message || 'The connection broke.', error.code)
}

function flat(headers: http.IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** `localhost`, 127.0.0.0/8 and ::1. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** Also the private ranges of home and company networks, and `.local` names. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return (
    isLoopbackHost(host) ||
    /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)/.test(host) ||
    /^f[cd][0-9a-f]{2}:/.test(host) ||
    host.endsWith('.local')
  )
}
