/** `lathe serve` as a process: when it says that it serves, and what does not end it. */
import { createServer } from 'node:net'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import { HostClient } from './host-client.ts'
import { Lab } from './lab.ts'

// Each of these starts processes.
vi.setConfig({ testTimeout: 90_000 })

test('S-139 the line comes once requests are answered, alone tells the token, and a taken port is exit 1 without a line', async () => {
  await using lab = await Lab.open()
  const host = lab.start(['serve', '--json'])
  const line = await host.line((text) => text.includes('"url"'))
  const { url } = JSON.parse(line) as { url: string }
  expect((await fetch(new URL('/health', url))).status).toBe(200)
  const token = new URL(url).hash.split('=')[1]!
  expect(token.length).toBeGreaterThan(20)
  expect(host.stdout.trim()).toBe(line)
  expect(host.stderr).not.toContain(token)
  for (const name of await readdir(lab.home, { recursive: true, withFileTypes: true }))
    if (name.isFile() && /\.(log|json)$/.test(name.name))
      expect(await readFile(join(name.parentPath, name.name), 'utf8')).not.toContain(token)

  await using other = await Lab.open()
  const taken = createServer()
  await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening))
  const { port } = taken.address() as { port: number }
  const refused = await other.lathe(['serve', '--json', '--port', String(port)])
  taken.close()
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stdout).not.toContain('"url"')
  expect(refused.stderr).toContain(String(port))
})

test('S-138 S-140 T-197 a client that goes away stops nothing: the turn runs on, and so does the host', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ words: 100_000, everyMs: 20 }] }] })
  const host = lab.start(['serve', '--json'])
  const line = await host.line((text) => text.includes('"url"'))
  let sessionId: string
  let turnId: string
  {
    using client = await HostClient.of(lab.home)
    const { handlers, who } = client
    ;({ sessionId } = await handlers.sessions.create({ requestId: newId(), workspace: lab.workspace }, who))
    const reply = await handlers.session.submit({ requestId: newId(), sessionId, text: 'Talk', attachments: [] }, who)
    if (reply.accepted !== 'started') throw new Error(`It was ${reply.accepted}.`)
    turnId = reply.turnId
    for await (const event of client.events(sessionId, 0, (await client.open(sessionId)).journalId))
      if (event.type === 'item.delta') break
  }
  using again = await HostClient.of(lab.home)
  const before = await again.open(sessionId)
  const url = new URL(JSON.parse(line).url)
  const authorization = `Bearer ${url.hash.split('=')[1]}`
  expect(await (await fetch(new URL('/status', url), { headers: { authorization } })).json()).toMatchObject({
    state: 'ready',
    version: expect.any(String),
    pid: host.pid,
    uptimeSeconds: expect.any(Number),
    clients: expect.any(Number),
    owns: true,
    runningTurns: 1,
    storage: 'ok',
    loop: { nowMs: expect.any(Number), worstMs: expect.any(Number) },
  })
  expect(before.header.currentTurnId).toBe(turnId)
  for await (const event of again.events(sessionId, before.header.lastSeq, before.journalId))
    if (event.type === 'item.delta') break
  expect(host.isRunning).toBe(true)
  const { handlers, who } = again
  expect(await handlers.session.stop({ requestId: newId(), sessionId, turnId }, who)).toMatchObject({ stopped: true })
})
