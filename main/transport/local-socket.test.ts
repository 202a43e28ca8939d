import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostFile } from '../platform/home.ts'
import { createConnections, type Connections } from './connections.ts'
import { fakeHandlers } from './fake-handlers.ts'
import type { ClientContext } from './handlers.ts'
import { attach, serveLocally, type LocalServer } from './local-socket.ts'
import { remoteHandlers } from './remote.ts'

const me: ClientContext = { clientId: 'me', kind: 'cli', attendance: 'deny' }

let home: string
let server: LocalServer
let connections: Connections
let asked: ClientContext[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-home-'))
  asked = []
  const handlers = fakeHandlers({
    settings: { preferences: async (_, client) => (asked.push(client), { big: 'x'.repeat(3_000_000) }) },
  })
  connections = createConnections({ handlers, fault: () => {} })
  server = await serveLocally({
    home,
    instanceId: 'i1',
    version: '1.0.0',
    accept: async (wire, who) => {
      // As a front door that loads the contract with its first client.
      await new Promise(setImmediate)
      connections.accept(wire, who)
    },
  })
})

afterEach(async () => {
  await server.close()
  await rm(home, { recursive: true, force: true })
})

const hostFile = (more: Partial<HostFile> = {}): HostFile => ({
  pid: process.pid,
  instanceId: 'i1',
  version: '1.0.0',
  endpoint: server.endpoint,
  lifetime: 'person',
  ...more,
})

test('S-136 S-137 a client attaches, says whether it can ask, and its lease ends with its connection', async () => {
  const wire = (await attach(hostFile(), 'fail'))!
  const { big } = await remoteHandlers(wire).settings.preferences(undefined, me)
  expect((big as string).length).toBe(3_000_000)
  expect(asked).toMatchObject([{ kind: 'cli', attendance: 'fail' }])
  expect(connections.count).toBe(1)
  wire.close(1000, 'done')
  await expect.poll(() => connections.count).toBe(0)
})

test('S-137 SA-33 another instance is host.foreign and gets no lease; one that is gone is null', async () => {
  await expect(attach(hostFile({ instanceId: 'other' }), 'deny')).rejects.toMatchObject({ code: 'host.foreign' })
  await expect.poll(() => connections.count).toBe(0)
  expect(await attach(hostFile({ endpoint: join(home, 'nobody.sock') }), 'deny')).toBeNull()
})

test('S-137 another version of the contract is host.version_mismatch', async () => {
  const endpoint = join(home, 'newer.sock')
  const newer = createServer((socket) => socket.end('{"lathe":99,"instanceId":"i1","version":"9.0.0"}\n'))
  await new Promise<void>((resolve) => newer.listen(endpoint, resolve))
  await expect(attach(hostFile({ endpoint }), 'deny')).rejects.toMatchObject({ code: 'host.version_mismatch' })
  newer.close()
})

test('S-136 the socket is its user’s alone', async () => {
  expect((await stat(server.endpoint)).mode & 0o777).toBe(0o600)
})

test('a client that is closing waits for nobody: its calls fail as host.unreachable when the owner ends', async () => {
  const remote = remoteHandlers((await attach(hostFile(), 'deny'))!)
  await remote.settings.preferences(undefined, me)
  await server.close()
  await expect(remote.settings.preferences(undefined, me)).rejects.toMatchObject({ code: 'host.unreachable' })
})
