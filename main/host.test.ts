import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openHost, type Host } from './host.ts'
import type { ClientContext } from './transport/handlers.ts'

const me: ClientContext = { clientId: 'me', kind: 'cli', attendance: 'deny' }

let home: string
let open: Host[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-home-'))
  open = []
})

afterEach(async () => {
  for (const host of open.toReversed()) await host.close()
  await rm(home, { recursive: true, force: true })
})

async function openOne(): Promise<Host> {
  const host = await openHost({ home, kind: 'web', lasting: false, attendance: 'deny' })
  open.push(host)
  return host
}

test('S-135 S-136 the first host owns the folder, the next reaches its sessions over the socket named in host.json', async () => {
  const first = await openOne()
  await first.announce('http://127.0.0.1:1/')
  const file = join(home, 'host.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    pid: process.pid,
    url: 'http://127.0.0.1:1/',
    lifetime: 'person',
  })

  const second = await openOne()
  expect([first.owns, second.owns]).toEqual([true, false])
  await first.handlers.settings.set({ requestId: 'r1', settings: { 'transcript.foldOver': 9 } }, me)
  expect(await second.handlers.settings.get(undefined, me)).toMatchObject({ 'transcript.foldOver': 9 })
})

test('S-135 when the owner ends, one that was attached is told and can own the folder; host.json is gone', async () => {
  const first = await openOne()
  await first.announce()
  const second = await openOne()
  await first.close()
  await expect.poll(() => second.ended.aborted).toBe(true)
  await expect(stat(join(home, 'host.json'))).rejects.toMatchObject({ code: 'ENOENT' })
  const third = await openOne()
  expect(third.owns).toBe(true)
})

test('a command that owns the folder waits for those attached to it before it ends', async () => {
  const first = await openOne()
  await first.announce()
  const second = await openOne()
  await second.handlers.settings.get(undefined, me)
  let alone = false
  const waiting = first.alone().then(() => (alone = true))
  await first.handlers.settings.get(undefined, me)
  expect(alone).toBe(false)
  await second.close()
  await waiting
  expect(alone).toBe(true)
})
