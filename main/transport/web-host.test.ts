import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Browsers } from './browsers.ts'
import { createConnections } from './connections.ts'
import { fakeHandlers, type PartialHandlers } from './fake-handlers.ts'
import type { ClientContext, Handlers } from './handlers.ts'
import { listPageFiles } from './page-files.ts'
import { remoteHandlers } from './remote.ts'
import { startWebHost, type WebHost } from './web-host.ts'

const me: ClientContext = { clientId: 'me', kind: 'cli', attendance: 'attended' }

let folder: string
let host: WebHost
let browsers: Browsers
let token: string
let own: string
let clock = 0
let health: 'ready' | 'degraded' = 'ready'
const faults: unknown[] = []
let reached: string[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-page-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<!doctype html>page')
  await writeFile(join(folder, 'assets', 'main.js'), 'export {}')
  await writeFile(join(folder, 'notes.secret'), 'not served')
  clock = 0
  health = 'ready'
  faults.length = 0
  reached = []
  const handlers: PartialHandlers = {
    settings: {
      preferences: async () => {
        reached.push('preferences')
        return { seen: true }
      },
    },
  }
  const fault = (error: unknown): void => void faults.push(error)
  browsers = new Browsers()
  host = await startWebHost({
    port: 0,
    browsers,
    connections: createConnections({ handlers: fakeHandlers(handlers), fault }),
    files: await listPageFiles(folder),
    health: () => health,
    status: () => ({ version: '1' }),
    fault,
    now: () => clock,
  })
  token = browsers.link('full')
  own = `127.0.0.1:${host.port}`
})

afterEach(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

/** Sends bytes as they are, and reads one answer or until the host closes; `ending` says that no more will come. */
async function raw(request: string, ending = false): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(host.port, '127.0.0.1')
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  if (ending) socket.end(request)
  else socket.write(request)
  let text = ''
  for await (const part of socket) {
    text += part
    const length = /content-length: (\d+)/i.exec(text)?.[1]
    if (length !== undefined && text.includes('\r\n\r\n') && text.split('\r\n\r\n')[1]!.length >= Number(length))
      socket.end()
    if (/transfer-encoding: chunked/i.test(text) && text.endsWith('0\r\n\r\n')) socket.end()
    if (/^HTTP\/1.1 101/.test(text)) break
  }
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1] ?? 0), head: head.toLowerCase(), body }
}

type Ask = {
  method?: string
  path?: string
  host?: string | null
  origin?: string | null
  token?: string | null
  type?: string | null
  more?: string
  body?: string
}

function request({
  method = 'POST',
  path = '/ticket',
  host: hostHeader = own,
  origin = `http://${own}`,
  token: bearer = token,
  type = 'application/json',
  more = '',
  body = '{}',
}: Ask): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    hostHeader === null ? '' : `Host: ${hostHeader}`,
    origin === null ? '' : `Origin: ${origin}`,
    bearer === null ? '' : `Authorization: Bearer ${bearer}`,
    type === null ? '' : `Content-Type: ${type}`,
    method === 'GET' ? '' : `Content-Length: ${body.length}`,
    more,
  ].filter((line) => line !== '')
  return `${lines.join('\r\n')}\r\n\r\n${method === 'GET' ? '' : body}`
}

const ask = async (given: Ask): Promise<number> => (await raw(request(given))).status
const upgradeLines =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
const askUpgrade = (path: string, given: Ask = {}): Promise<number> =>
  ask({ method: 'GET', path, token: null, type: null, more: upgradeLines, ...given })

async function signIn(given: Ask = {}): Promise<{ ticket: string; token?: string }> {
  const { body } = await raw(request(given))
  return JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as { ticket: string; token?: string }
}

async function ticket(): Promise<string> {
  return (await signIn()).ticket
}

async function openSocket(given: Ask = {}): Promise<{ socket: WebSocket; remote: Handlers }> {
  const socket = new WebSocket(`ws://${own}/socket?ticket=${(await signIn(given)).ticket}`, { origin: `http://${own}` })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => resolve())
    socket.on('error', reject)
  })
  const remote = remoteHandlers({
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: (listener) => void socket.on('message', (data) => listener((data as Buffer).toString('utf8'))),
    onClose: (listener) => void socket.on('close', listener),
  })
  return { socket, remote }
}

test('Z-176 a ticket opens one socket that serves the contract', async () => {
  const { remote, socket } = await openSocket()
  expect(await remote.settings.preferences(undefined, me)).toEqual({ seen: true })
  socket.close()
})

test('Z-171 Z-176 an address lets a browser in, which goes on with a token of its own; the address of it asks for no more', async () => {
  const { token: ownToken } = await signIn()
  expect(ownToken).toMatch(/^[\w-]{43}$/)
  expect(ownToken).not.toBe(token)
  expect((await signIn({ token: ownToken! })).token).toBeUndefined()
  expect(browsers.list()).toHaveLength(1)
  expect(await ask({ method: 'GET', path: '/status' })).toBe(200)
  expect(browsers.list()).toHaveLength(1)
})

test('S-31 Z-2 who came by the address to watch reads, and is refused by the host whatever it sends', async () => {
  const { remote, socket } = await openSocket({ token: browsers.link('watch') })
  expect(await remote.settings.preferences(undefined, me)).toEqual({ seen: true })
  const set = remote.settings.setPreferences({ requestId: 'r', preferences: {} }, me)
  await expect(set).rejects.toMatchObject({ code: 'access.denied' })
  expect(faults).toEqual([])
  socket.close()
})

test('S-31 rights that are narrowed stay so: over a new connection, and the address it came by lets it in no more', async () => {
  const { token: ownToken } = await signIn()
  const [browser] = browsers.list()
  browsers.setRights(browser!.id, 'watch')
  const { remote, socket } = await openSocket({ token: ownToken! })
  const set = remote.settings.setPreferences({ requestId: 'r', preferences: {} }, me)
  await expect(set).rejects.toMatchObject({ code: 'access.denied' })
  expect(await ask({ token })).toBe(401)
  expect(await ask({ token: browsers.link('full') })).toBe(200)
  browsers.signOut(browser!.id)
  await new Promise((resolve) => socket.once('close', resolve))
  expect(await ask({ token: ownToken! })).toBe(401)
  expect(browsers.list().map(({ rights }) => rights)).toEqual(['full'])
})

test('S-31 a ticket of a browser that was signed out meanwhile opens nothing that lasts', async () => {
  const given = await signIn()
  browsers.signOut(browsers.list()[0]!.id)
  const socket = new WebSocket(`ws://${own}/socket?ticket=${given.ticket}`, { origin: `http://${own}` })
  await new Promise((resolve) => socket.once('close', resolve))
  expect(browsers.list()).toEqual([])
})

test('Z-173 K-23 a Host that is missing, double or not exactly ours is 403, for files too', async () => {
  for (const hostHeader of [
    null,
    `127.0.0.1.evil.test:${host.port}`,
    '127.0.0.1',
    `127.0.0.1:${host.port + 1}`,
    `evil.test:${host.port}`,
    `127.0.0.1:${host.port}.`,
    `user@${own}`,
  ]) {
    for (const path of ['/', '/health', '/assets/main.js']) {
      expect([
        `${hostHeader} ${path}`,
        await ask({ method: 'GET', path, host: hostHeader, origin: null, token: null, type: null }),
      ]).toEqual([`${hostHeader} ${path}`, 403])
    }
    expect([String(hostHeader), await ask({ host: hostHeader })]).toEqual([String(hostHeader), 403])
    expect(await askUpgrade(`/socket?ticket=${await ticket()}`, { host: hostHeader })).toBe(403)
  }
  expect(await ask({ method: 'GET', path: '/', origin: null, token: null, type: null, more: `Host: ${own}` })).toBe(403)
  expect(await ask({ host: `localhost:${host.port}`, origin: `http://localhost:${host.port}` })).toBe(200)
})

test('Z-174 K-23 a foreign Origin or site is 403; one that must be there and is not, too', async () => {
  for (const origin of [
    'http://127.0.0.1:3000',
    'null',
    `https://${own}`,
    `http://${own}.evil.test`,
    'http://evil.test',
    `http://localhost:${host.port}`,
  ]) {
    expect([origin, await ask({ origin })]).toEqual([origin, 403])
    expect([origin, await ask({ method: 'GET', path: '/status', origin, type: null })]).toEqual([origin, 403])
    expect([origin, await askUpgrade(`/socket?ticket=${await ticket()}`, { origin })]).toEqual([origin, 403])
  }
  expect(await ask({ origin: null })).toBe(403)
  expect(await askUpgrade(`/socket?ticket=${await ticket()}`, { origin: null })).toBe(403)
  for (const site of ['cross-site', 'same-site'])
    expect([site, await ask({ more: `Sec-Fetch-Site: ${site}` })]).toEqual([site, 403])
  expect(await ask({ more: 'Sec-Fetch-Site: none' })).toBe(403)
  expect(await ask({ more: 'Sec-Fetch-Site: same-origin' })).toBe(200)
  expect(
    await ask({ method: 'GET', path: '/', origin: null, token: null, type: null, more: 'Sec-Fetch-Site: none' }),
  ).toBe(200)
})

test('Z-175 K-23 OPTIONS is 405, a body that is not JSON is 415, and no CORS header is ever sent', async () => {
  expect(
    await ask({ method: 'OPTIONS', origin: 'http://evil.test', more: 'Access-Control-Request-Method: POST' }),
  ).toBe(405)
  expect(await ask({ method: 'PUT' })).toBe(405)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    null,
  ]) {
    expect([String(type), await ask({ type })]).toEqual([String(type), 415])
  }
})

test('Z-171 Z-177 without the right token nothing but files and health answers', async () => {
  for (const wrong of [null, 'x', token.slice(1), `${token}x`])
    expect([String(wrong), await ask({ token: wrong })]).toEqual([String(wrong), 401])
  expect(await ask({ method: 'GET', path: '/status', token: null, type: null })).toBe(401)
  expect(await ask({ method: 'GET', path: `/status?token=${token}`, token: null, type: null })).toBe(401)
  expect(await ask({ method: 'GET', path: '/status', type: null })).toBe(200)
  expect(await ask({ method: 'GET', path: '/health', token: null, origin: null, type: null })).toBe(200)
})

test('Z-176 ZA-31 no, a used, a late or a foreign ticket, and the token itself, are 401 before the upgrade', async () => {
  expect(await askUpgrade('/socket')).toBe(401)
  expect(await askUpgrade(`/socket?ticket=${token}`)).toBe(401)
  const used = await ticket()
  expect(await askUpgrade(`/socket?ticket=${used}`)).toBe(101)
  expect(await askUpgrade(`/socket?ticket=${used}`)).toBe(401)
  const late = await ticket()
  clock += 30_001
  expect(await askUpgrade(`/socket?ticket=${late}`)).toBe(401)
  const other = await ticket()
  expect(
    await askUpgrade(`/socket?ticket=${other}`, {
      host: `localhost:${host.port}`,
      origin: `http://localhost:${host.port}`,
    }),
  ).toBe(401)
  expect(await askUpgrade(`/elsewhere?ticket=${await ticket()}`)).toBe(404)
})

test('Z-177 ZA-31 after 10 wrong tokens in a minute new ones are 429 for a minute; an open socket goes on', async () => {
  const { remote, socket } = await openSocket()
  for (let i = 0; i < 10; i++) expect(await ask({ token: `wrong${i}` })).toBe(401)
  expect(await ask({ token: 'wrong' })).toBe(429)
  expect(await ask({})).toBe(429)
  expect(await askUpgrade('/socket?ticket=x')).toBe(429)
  expect(await remote.settings.preferences(undefined, me)).toEqual({ seen: true })
  clock += 60_001
  expect(await ask({})).toBe(200)
  socket.close()
})

test('Z-172 Z-175 Z-179 ZA-31 every answer, refusals and malformed requests included, has the policy and no cookie, CORS or server name', async () => {
  const requests = [
    request({}),
    request({ token: null }),
    request({ host: 'evil.test' }),
    request({ method: 'OPTIONS' }),
    request({ type: 'text/plain' }),
    request({ method: 'GET', path: '/', origin: null, token: null, type: null }),
    request({ method: 'GET', path: '/nothing', origin: null, token: null, type: null }),
    request({ method: 'GET', path: '/socket', token: null, type: null, more: upgradeLines }),
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: ${own}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]
  for (const one of requests) {
    const { head } = await raw(one)
    expect(head).toContain("content-security-policy: default-src 'none'; script-src 'self';")
    for (const line of [
      'x-content-type-options: nosniff',
      'referrer-policy: no-referrer',
      'cache-control: no-store',
      'cross-origin-opener-policy: same-origin',
      'cross-origin-resource-policy: same-origin',
      'x-frame-options: deny',
    ]) {
      expect(head).toContain(line)
    }
    expect(head).not.toMatch(/set-cookie|access-control|\nserver:|x-powered-by|unsafe-eval/)
  }
})

test('static files come from the list alone: no traversal, no other file, the page at /', async () => {
  const get = async (path: string): Promise<{ status: number; body: string; head: string }> =>
    raw(request({ method: 'GET', path, origin: null, token: null, type: null }))
  expect((await get('/')).body).toContain('page')
  expect((await get('/assets/main.js')).head).toContain('text/javascript')
  for (const path of [
    '/../package.json',
    '/assets/../../etc/passwd',
    '/%2e%2e/notes.secret',
    '/notes.secret',
    '//etc/passwd',
    '/assets',
    '/assets/main.js/',
    '/index.html%00',
  ]) {
    expect([path, (await get(path)).status]).toEqual([path, 404])
  }
  const absolute = await raw(`GET http://evil.test/ HTTP/1.1\r\nHost: ${own}\r\n\r\n`)
  expect(absolute.status).toBe(404)
})

test('Z-181 health is 200 when ready and 503 when not', async () => {
  const get = (): Promise<{ status: number; body: string }> =>
    raw(request({ method: 'GET', path: '/health', origin: null, token: null, type: null }))
  expect(await get()).toMatchObject({ status: 200, body: expect.stringContaining('{"status":"ready"}') })
  health = 'degraded'
  expect(await get()).toMatchObject({ status: 503, body: expect.stringContaining('{"status":"degraded"}') })
})

test('Z-180 the 17th socket and a frame over 8 MiB are closed with a code; headers over 16 KiB are 431', async () => {
  const sockets = []
  for (let i = 0; i < 16; i++) sockets.push((await openSocket()).socket)
  const closed = Promise.withResolvers<number>()
  const surplus = new WebSocket(`ws://${own}/socket?ticket=${await ticket()}`, { origin: `http://${own}` })
  surplus.on('close', closed.resolve)
  expect(await closed.promise).toBe(1013)
  const tooLarge = Promise.withResolvers<number>()
  sockets[0]!.on('close', tooLarge.resolve)
  sockets[0]!.send('x'.repeat(8 * 1024 * 1024 + 1))
  expect(await tooLarge.promise).toBe(1009)
  for (const socket of sockets) socket.close()
  expect(await ask({ more: `X: ${'x'.repeat(17_000)}` })).toBe(431)
  expect(await ask({ body: `{"x":"${'x'.repeat(70_000)}"}` })).toBe(413)
})

test('Z-170 it listens on loopback alone', async () => {
  const addresses = Object.values((await import('node:os')).networkInterfaces())
    .flat()
    .filter((one) => one && !one.internal && one.family === 'IPv4')
  for (const { address } of addresses as { address: string }[]) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect(host.port, address)
      socket.on('connect', () => resolve(false))
      socket.on('error', () => resolve(true))
    })
    expect([address, refused]).toEqual([address, true])
  }
  for (const rights of ['full', 'watch'] as const)
    expect(host.address(rights)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/)
})

test('SA-34 a taken port is an error that says so', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const started = startWebHost({
    port,
    files: new Map(),
    health: () => 'ready',
    status: () => ({}),
    fault: () => {},
    browsers: new Browsers(),
    connections: createConnections({ handlers: fakeHandlers({}), fault: () => {} }),
  })
  await expect(started).rejects.toThrow(`Port ${port} is taken.`)
  other.close()
})

test('Z-260 raw HTTP without the token never gets in, crashes nothing, and is always answered or closed', async () => {
  const word = fc.constantFrom(
    'GET',
    'POST',
    ' ',
    '/',
    '/ticket',
    '/socket',
    'HTTP/1.1',
    '\r\n',
    '\r\n\r\n',
    `Host: ${own}`,
    'Host: evil',
    `Origin: http://${own}`,
    'Authorization: Bearer ',
    'Content-Type: application/json',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Transfer-Encoding: chunked',
    'Content-Length: 5',
    '\0',
    ':',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(word, fc.string()), { maxLength: 14 }), async (words) => {
      const { status } = await raw(`${words.join('')}\r\n\r\n`, true)
      expect([0, 200, 400, 401, 403, 404, 405, 413, 415, 429, 431]).toContain(status)
    }),
    { numRuns: 150, interruptAfterTimeLimit: 12_000 },
  )
  expect(reached).toEqual([])
  expect(faults).toEqual([])
})
