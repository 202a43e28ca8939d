/** A request whose line drops, over real storage: what was asked happens once, and whoever asks again hears of it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldDisk } from '../sessions/test-scene.ts'
import { openTestWorkbench } from '../sessions/test-workbench.ts'
import { sampleHeader, sampleWrite } from '../storage/write-samples.ts'
import { createConnections, type Wire } from './connections.ts'
import { fakeHandlers } from './fake-handlers.ts'
import type { ClientContext } from './handlers.ts'
import { remoteHandlers } from './remote.ts'

/** Two ends of one wire. */
function wirePair(): [Wire, Wire] {
  const heard = [0, 1].map(() => ({ message: [] as ((text: string | null) => void)[], close: [] as (() => void)[] }))
  let open = true
  const end = (own: number): Wire => ({
    send: (text) => queueMicrotask(() => open && heard[1 - own]!.message.forEach((listener) => listener(text))),
    close: () => {
      open = false
      for (const side of heard) side.close.forEach((listener) => listener())
    },
    onMessage: (listener) => void heard[own]!.message.push(listener),
    onClose: (listener) => void heard[own]!.close.push(listener),
  })
  return [end(0), end(1)]
}

test('SA-2 S-17 S-29 a rename in a slow transaction whose line drops is one write; its replay on another line joins it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'lathe-replayed-'))
  const disk = heldDisk()
  const bench = await openTestWorkbench({ home, baseUrl: 'http://127.0.0.1:9', storage: disk.over })
  try {
    const header = sampleHeader({ workspace: bench.workspace, title: 'Made', titleSource: 'generated' })
    await bench.storage.commit(sampleWrite(header))
    const actor = await bench.sessions.actor(header.id)
    let decided = 0
    const connections = createConnections({
      handlers: fakeHandlers({
        sessions: {
          rename: ({ sessionId, title }) => {
            decided++
            return bench.sessions.command(sessionId, { type: 'rename', title })
          },
        },
      }),
      fault: () => {},
    })
    const who: ClientContext = { clientId: 'window', kind: 'web', attendance: 'attended' }
    const line = () => {
      const [near, far] = wirePair()
      connections.accept(far, { kind: 'web', attendance: 'attended' })
      return { near, handlers: remoteHandlers(near) }
    }
    const rename = { requestId: 'R', sessionId: header.id, title: 'Mine' }
    const [first, second] = [line(), line()]
    const rev = actor.published.header.rev
    disk.hold()
    const lost = first.handlers.sessions.rename(rename, who).catch(() => 'lost')
    await disk.written()
    first.near.close(1000, 'gone')
    const joined = second.handlers.sessions.rename(rename, who)
    disk.release()
    expect(await joined).toMatchObject({ title: 'Mine', titleSource: 'manual' })
    expect(await lost).toBe('lost')
    expect(decided).toBe(1)
    const { events } = await bench.storage.events(header.id, 0, 10)
    expect(events).toMatchObject([{ type: 'session.changed' }])
    expect(actor.published.header.rev).toBe(rev + 1)
    await expect(second.handlers.sessions.rename({ ...rename, title: 'Other' }, who)).rejects.toMatchObject({
      code: 'request.conflict',
    })
    expect((await bench.storage.loadSession(header.id))!.header.title).toBe('Mine')
  } finally {
    await bench.close()
    await rm(home, { recursive: true })
  }
})
