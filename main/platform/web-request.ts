/**
 * One request for a page of the web (security.md 2.2): it connects only to addresses that were judged for it, follows
 * redirects itself and judges each, carries nothing of the person, and takes in no more than it may.
 */
import type http from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { LatheError } from '../../preload/contract/errors.ts'
import { blocked, type Destination, type NetworkPolicy, type ResolvedAddress } from './network-policy.ts'

export type WebLimits = { connectMs: number; headersMs: number; silenceMs: number; totalMs: number; bodyBytes: number }

export type WebReply = {
  /** Where the last redirect led. */
  url: string
  status: number
  /** The header as sent. */
  contentType: string | null
  body: Uint8Array
}

const standard: WebLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  silenceMs: 30_000,
  totalMs: 120_000,
  bodyBytes: 10 * 1024 * 1024,
}
const redirectsMax = 5
const headerBytesMax = 64 * 1024
const headers = {
  accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, */*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en, *;q=0.5',
  'user-agent': 'Mozilla/5.0 (compatible; Lathe)',
}

/**
 * Gets `first`, which was judged and consented to. Throws `network.blocked`, `network.timed_out`, `network.too_large`,
 * `tool.failed` where there is no connection, or the signal's reason.
 */
export async function getPage(
  first: Destination,
  policy: NetworkPolicy,
  stopped: AbortSignal,
  limits: Partial<WebLimits> = {},
): Promise<WebReply> {
  const most = { ...standard, ...limits }
  const total = AbortSignal.timeout(most.totalMs)
  const signal = AbortSignal.any([stopped, total])
  let destination = first
  try {
    for (let hop = 0; ; hop += 1) {
      const response = await exchange(destination, policy, signal, most)
      const status = response.statusCode ?? 0
      const { location, 'content-type': contentType = null } = response.headers
      if (!isRedirect(status) || location === undefined) {
        const body = await bodyOf(response, signal, most)
        return { url: destination.url.href, status, contentType, body }
      }
      response.destroy()
      if (hop === redirectsMax)
        throw blocked('too_many_redirects', first.url.host, `It redirects more than ${redirectsMax} times.`)
      destination = next(location, destination, first, policy)
    }
  } catch (error) {
    stopped.throwIfAborted()
    if (total.aborted) throw timedOut(first, `It took longer than ${most.totalMs / 1_000} s.`)
    throw error
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** Where a redirect leads, judged before it is asked (Z-21). */
function next(location: string, from: Destination, first: Destination, policy: NetworkPolicy): Destination {
  if (!URL.canParse(location, from.url.href))
    throw blocked('redirect_blocked', from.url.host, 'It redirects to no address of a host.')
  const destination = policy.judge(new URL(location, from.url.href).href)
  if (from.url.protocol === 'https:' && destination.url.protocol === 'http:')
    throw blocked('downgrade', destination.url.host, 'It redirects from https to http.')
  // This computer is contacted by consent to exactly that host and port only (Z-18).
  const consented = first.loopback && destination.host === first.host && destination.port === first.port
  if (destination.loopback && !consented)
    throw blocked('private_address', destination.url.host, `It redirects to this computer (${destination.url.host}).`)
  return destination
}

async function exchange(
  destination: Destination,
  policy: NetworkPolicy,
  signal: AbortSignal,
  limits: WebLimits,
): Promise<http.IncomingMessage> {
  const { url } = destination
  const proxy = proxyFor(destination, policy.settings.proxy)
  const addresses = await policy.resolve(destination, signal, proxy !== null)
  const module = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http') as typeof http
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const outgoing = module.request(url, {
      method: 'GET',
      headers,
      maxHeaderSize: headerBytesMax,
      // A socket of its own, with nothing of an earlier request (Z-23).
      ...(proxy === null
        ? { agent: false, lookup: pinned(addresses) as never }
        : { agent: new module.Agent({ proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }) }),
    })
    const late = (what: string, ms: number) => () => outgoing.destroy(timedOut(destination, `${what} ${ms / 1_000} s.`))
    const connecting = setTimeout(late('No connection after', limits.connectMs), limits.connectMs)
    const answering = setTimeout(late('No answer after', limits.headersMs), limits.headersMs)
    const stop = () => outgoing.destroy(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
    signal.addEventListener('abort', stop, { once: true })
    const done = () => {
      clearTimeout(connecting)
      clearTimeout(answering)
      signal.removeEventListener('abort', stop)
    }
    outgoing.on('socket', (socket) => {
      const event = url.protocol === 'https:' ? 'secureConnect' : 'connect'
      socket.once(event, () => clearTimeout(connecting))
      if (proxy !== null) return
      // What was connected to is what was judged, whatever connected it (Z-20).
      socket.once('connect', () => {
        const reached = socket.remoteAddress ?? ''
        if (!addresses.some(({ address }) => sameAddress(address, reached)))
          socket.destroy(blocked('private_address', url.host, `It was connected to ${reached}, which was not judged.`))
      })
    })
    outgoing.on('response', (response) => {
      done()
      resolve(response)
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      done()
      reject(error instanceof LatheError || signal.aborted ? error : unreachable(destination, error))
    })
    outgoing.end()
  })
}

function pinned(addresses: readonly ResolvedAddress[]) {
  return (
    _host: string,
    options: { all?: boolean },
    callback: (error: Error | null, address: unknown, family?: number) => void,
  ): void => {
    if (options.all) callback(null, addresses)
    else callback(null, addresses[0]!.address, addresses[0]!.family)
  }
}

function sameAddress(one: string, other: string): boolean {
  const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
  return plain(one) === plain(other)
}

async function bodyOf(response: http.IncomingMessage, signal: AbortSignal, limits: WebLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body = decoded(response)
  const silent = () => body.destroy(new LatheError('network.timed_out', 'The server fell silent for 30 s.'))
  let silence = setTimeout(silent, limits.silenceMs)
  const stop = () => body.destroy(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
  signal.addEventListener('abort', stop, { once: true })
  // What arrives counts as a sign of life, also while nothing can be decompressed yet.
  response.on('data', () => {
    clearTimeout(silence)
    silence = setTimeout(silent, limits.silenceMs)
  })
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > limits.bodyBytes)
        throw new LatheError('network.too_large', `The page is larger than ${limits.bodyBytes / 1024 / 1024} MiB.`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof LatheError || signal.aborted) throw error
    throw new LatheError('tool.failed', `The answer broke off: ${(error as Error).message}`)
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', stop)
    response.destroy()
  }
}

function decoded(response: http.IncomingMessage): Readable {
  const zlib = process.getBuiltinModule('node:zlib')
  const encoding = response.headers['content-encoding']?.trim().toLowerCase()
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate'
      ? zlib.createUnzip()
      : encoding === 'br'
        ? zlib.createBrotliDecompress()
        : null
  return decoder === null ? response : pipeline(response, decoder, () => {})
}

/** The proxy of a request, or null: this computer is never contacted through one (Z-25). */
export function proxyFor(
  { host, port, url, loopback }: Destination,
  chosen: string | null,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  if (loopback) return null
  const of = (name: string) => env[name.toLowerCase()] || env[name] || null
  const direct = of('NO_PROXY')?.split(/[\s,]+/) ?? []
  const isDirect = direct.some((entry) => {
    const [, name = '', named] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!
    if (entry === '*') return true
    if (name === '' || (named !== undefined && Number(named) !== port)) return false
    return host === name || host.endsWith(`.${name}`)
  })
  if (isDirect) return null
  return chosen ?? of(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
}

function timedOut({ url }: Destination, message: string): LatheError {
  return new LatheError('network.timed_out', `${url.host}: ${message}`)
}

function unreachable({ url }: Destination, error: NodeJS.ErrnoException): LatheError {
  const why =
    error.code === 'ECONNREFUSED' ? 'refused the connection' : `could not be reached: ${error.code ?? error.message}`
  return new LatheError('tool.failed', `${url.host} ${why}.`)
}
