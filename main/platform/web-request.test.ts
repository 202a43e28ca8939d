import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { NetworkPolicy, type NetworkSettings, type ResolvedAddress } from './network-policy.ts'
import { getPage, proxyFor, type WebLimits } from './web-request.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: RequestListener): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    listener(request, response)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked }
}

function policyOf(lookup: (host: string) => ResolvedAddress[], settings: Partial<NetworkSettings> = {}): NetworkPolicy {
  return new NetworkPolicy(
    () => ({ allow: [], deny: [], proxy: null, proxyResolves: false, ...settings }),
    async (host) => lookup(host),
  )
}
const loopback = [{ address: '127.0.0.1', family: 4 }]
/** A policy under which `NAME.test` at `port` is the server of this test. */
const opened = (port: number, ...more: number[]) =>
  policyOf(() => loopback, {
    allow: [port, ...more].flatMap((one) => ['a.test', 'b.test'].map((name) => `${name}:${one}`)),
  })

const get = (
  url: string,
  policy: NetworkPolicy,
  limits: Partial<WebLimits> = {},
  signal = new AbortController().signal,
) => getPage(policy.judge(url), policy, signal, limits)
const refusal = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: { code?: string; reason?: string; message: string }) => error.reason ?? error.code ?? error.message,
  )

test('Z-20 Z-23 it connects to the address that was judged, as the name; it carries no cookie and one user agent', async () => {
  const { port, asked } = await serve((_, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=1' }).end('hello'),
  )
  let lookups = 0
  const policy = policyOf(
    () => {
      lookups += 1
      return loopback
    },
    { allow: [`a.test:${port}`] },
  )
  const reply = await get(`http://a.test:${port}/x?y`, policy)
  expect(reply).toMatchObject({ url: `http://a.test:${port}/x?y`, status: 200, contentType: 'text/plain' })
  expect(Buffer.from(reply.body).toString()).toBe('hello')
  expect(lookups).toBe(1)
  await get(`http://a.test:${port}/x?y`, policy)
  expect(asked[1]!.headers).toMatchObject({ host: `a.test:${port}`, 'user-agent': 'Mozilla/5.0 (compatible; Lathe)' })
  expect(asked[1]!.headers.cookie).toBeUndefined()
})

test('ZA-3 Z-20 a name that says public when judged and this computer afterwards reaches no server here', async () => {
  const { port, asked } = await serve((_, response) => response.end('secret'))
  let times = 0
  const policy = policyOf(() => (times++ === 0 ? [{ address: '192.0.2.1', family: 4 }] : loopback), {
    allow: ['192.0.2.1'],
  })
  const failed = await refusal(get(`http://rebound.test:${port}/`, policy, { connectMs: 300 }))
  expect(['network.timed_out', 'tool.failed']).toContain(failed)
  expect(asked).toEqual([])
  expect(times).toBe(1)
})

test('ZA-5 Z-21 each redirect is judged before it is asked; five are followed', async () => {
  const { port, asked } = await serve((request, response) => {
    if (request.url === '/private')
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end('x'.repeat(99))
    else if (request.url === '/here') response.writeHead(302, { location: 'http://localhost:3000/' }).end()
    else if (request.url === '/bad') response.writeHead(302, { location: 'http://' }).end()
    else if (request.url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end()
    else if (request.url === '/moved') response.writeHead(301, { location: '/end' }).end()
    else if (request.url === '/end') response.writeHead(200, { 'content-type': 'text/plain' }).end('end')
    else response.writeHead(307, { location: `/${Number(request.url!.slice(1)) + 1}` }).end()
  })
  const policy = opened(port)
  const at = (path: string) => get(`http://a.test:${port}${path}`, policy)
  expect(await refusal(at('/private'))).toBe('private_address')
  expect(await refusal(at('/here'))).toBe('private_address')
  expect(await refusal(at('/bad'))).toBe('redirect_blocked')
  expect(await refusal(at('/file'))).toBe('scheme')
  expect(asked).toHaveLength(4)
  expect((await at('/moved')).url).toBe(`http://a.test:${port}/end`)
  asked.length = 0
  expect(await refusal(at('/1'))).toBe('too_many_redirects')
  expect(asked).toHaveLength(6)
})

test('Z-18 consent to a server of this computer is consent to that one', async () => {
  const other = await serve((_, response) => response.end('other'))
  const { port } = await serve((request, response) => {
    if (request.url === '/self') response.writeHead(302, { location: '/' }).end()
    else if (request.url === '/other') response.writeHead(302, { location: `http://localhost:${other.port}/` }).end()
    else response.end('self')
  })
  const policy = policyOf(() => [])
  expect(Buffer.from((await get(`http://localhost:${port}/self`, policy)).body).toString()).toBe('self')
  expect(await refusal(get(`http://localhost:${port}/other`, policy))).toBe('private_address')
  expect(other.asked).toEqual([])
})

test('Z-24 a body is counted as it arrives, after it was decompressed; silence and a slow server are ended', async () => {
  const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024))
  const { port } = await serve((request, response) => {
    if (request.url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    else if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('small'))
    else if (request.url === '/broken') response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip')
    else if (request.url === '/silent') response.writeHead(200).write('a')
    else if (request.url === '/headers') response.writeHead(200, { 'x-long': 'x'.repeat(70_000) }).end()
    // Anything else is never answered.
  })
  const policy = opened(port)
  const at = (path: string, limits?: Partial<WebLimits>) => get(`http://a.test:${port}${path}`, policy, limits)
  expect(bomb.length).toBeLessThan(10_000)
  expect(await refusal(at('/bomb', { bodyBytes: 1024 * 1024 }))).toBe('network.too_large')
  expect(Buffer.from((await at('/gzip')).body).toString()).toBe('small')
  expect(await refusal(at('/broken'))).toBe('tool.failed')
  expect(await refusal(at('/silent', { silenceMs: 50 }))).toBe('network.timed_out')
  expect(await refusal(at('/hang', { headersMs: 50 }))).toBe('network.timed_out')
  expect(await refusal(at('/silent', { totalMs: 50 }))).toBe('network.timed_out')
  expect(await refusal(at('/headers'))).toBe('tool.failed')
})

test('T-39 Z-250 a Stop ends a request at once, with its own reason', async () => {
  const { port } = await serve(() => {})
  const stop = new AbortController()
  const reply = get(`http://a.test:${port}/`, opened(port), {}, stop.signal)
  const reason = new Error('stopped')
  setImmediate(() => stop.abort(reason))
  await expect(reply).rejects.toBe(reason)
})

test('a server that is not there is named', async () => {
  const { port } = await serve(() => {})
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  await expect(get(`http://a.test:${port}/`, opened(port))).rejects.toThrow(`a.test:${port} refused the connection.`)
})

test('Z-25 Z-26 a proxy is used for what is not this computer, and is asked for the name', async () => {
  const target = await serve((_, response) => response.end('target'))
  const seen: string[] = []
  const { port } = await serve((request, response) => {
    seen.push(request.url!)
    connect(target.port, '127.0.0.1').end()
    response.end('through the proxy')
  })
  const policy = policyOf(() => [{ address: '93.184.216.34', family: 4 }], { proxy: `http://127.0.0.1:${port}` })
  expect(Buffer.from((await get('http://a.test/x', policy)).body).toString()).toBe('through the proxy')
  expect(seen).toEqual(['http://a.test/x'])
  expect(Buffer.from((await get(`http://localhost:${target.port}/`, policy)).body).toString()).toBe('target')
  expect(seen).toHaveLength(1)
})

test('Z-25 the setting goes before the environment, and NO_PROXY before both', () => {
  const policy = policyOf(() => [])
  const proxy = (url: string, chosen: string | null, env: Record<string, string>) =>
    proxyFor(policy.judge(url), chosen, env)
  const env = { HTTP_PROXY: 'http://p:1', https_proxy: 'http://p:2', NO_PROXY: '.inside.test, b.test:8080' }
  expect(proxy('http://a.test/', null, env)).toBe('http://p:1')
  expect(proxy('https://a.test/', null, env)).toBe('http://p:2')
  expect(proxy('https://a.test/', 'http://q:3', env)).toBe('http://q:3')
  expect(proxy('https://x.inside.test/', 'http://q:3', env)).toBeNull()
  expect(proxy('http://b.test:8080/', null, env)).toBeNull()
  expect(proxy('http://b.test/', null, env)).toBe('http://p:1')
  expect(proxy('http://localhost/', 'http://q:3', env)).toBeNull()
  expect(proxy('http://a.test/', 'http://q:3', { NO_PROXY: '*' })).toBeNull()
})
