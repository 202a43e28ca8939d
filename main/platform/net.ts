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
 * The environment's proxies apply to remote hosts. Sockets are not kept between requests: a response is left at its end
 * mark, before the connection is free again, and TLS sessions are resumed anyway.
 */
const agents = {
  'http:': new Agent({ proxyEnv: process.env }),
  'https:': new https.Agent({ proxyEnv: process.env }),
}

const maxRedirects = 3

/** Sends a request. Redirects (307, 308) are followed within the origin only; any other is the answer. Throws NetError. */
export async function send(request: NetRequest): Promise<NetResponse> {
  let url = new URL(request.url)
  for (let hop = 0; ; hop += 1) {
    const response = await exchange(url, request)
    const status = response.statusCode ?? 0
    const target = status === 307 || status === 308 ? redirectTarget(response.headers.location, url) : undefined
    if (!target || hop === maxRedirects)
      return { status, headers: flat(response.headers), body: bytes(response, request.signal) }
    response.destroy()
    url = target
  }
}

function redirectTarget(location: string | undefined, from: URL): URL | undefined {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  return target?.origin === from.origin ? target : undefined
}

function exchange(url: URL, request: NetRequest): Promise<http.IncomingMessage> {
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
      agent: isLoopbackHost(url.hostname) ? false : agents[url.protocol as 'http:' | 'https:'],
    })
    const stop = () => outgoing.destroy(new NetError('stopped', 'Stopped.'))
    const late = () =>
      outgoing.destroy(new NetError('connect_timeout', `No connection after ${request.connectMs / 1_000} s.`))
    const connecting = setTimeout(late, request.connectMs)
    const connected = () => clearTimeout(connecting)
    signal.addEventListener('abort', stop, { once: true })
    outgoing.on('close', () => {
      connected()
      signal.removeEventListener('abort', stop)
    })
    outgoing.on('socket', (socket) => socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected))
    outgoing.on('response', (response) => {
      connected()
      resolve(response)
    })
    outgoing.on('error', (error) => reject(asNetError(error, signal)))
    outgoing.end(request.body)
  })
}

async function* bytes(response: http.IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    let since = performance.now()
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      yield chunk
      if (performance.now() - since < turnMs) continue
      await giveWay()
      since = performance.now()
    }
  } catch (error) {
    throw asNetError(error as NodeJS.ErrnoException, signal)
  } finally {
    response.destroy()
  }
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
