import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type Step } from '../../e2e/model-server/server.ts'
import { createFaults } from '../storage/faults.ts'
import { openTestWorkbench, type TestWorkbench, type TestWorkbenchOptions } from './test-workbench.ts'

let home: string
let server: ModelServer
let faults: ReturnType<typeof createFaults>
let open: TestWorkbench[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-sessions-'))
  server = await startModelServer()
  faults = createFaults()
})

afterEach(async () => {
  faults.failCommits(0)
  faults.release()
  for (const workbench of open.splice(0)) await workbench.close()
  await server.close()
  await rm(home, { recursive: true })
})

async function workbench(script: Step[] = [], more: Partial<TestWorkbenchOptions> = {}): Promise<TestWorkbench> {
  server.enqueue(...script)
  const opened = await openTestWorkbench({ home, baseUrl: server.baseUrl, faults, ...more })
  open.push(opened)
  return opened
}

const says = (text: string): Step => ({ emit: [{ text }] })
const calls = (name: string, args: unknown, text?: string): Step => ({
  emit: [...(text ? [{ text }] : []), { call: { name, args } }],
})
/** Streams `text` and then nothing, with the connection open. */
const hangs = (text: string): Step => ({ emit: [...(text ? [{ text }] : []), { hang: true as const }] })

describe('admission', () => {
  test('T-12 T-43 T-45 a message becomes a settled turn, stored as it was shown', async () => {
    const bench = await workbench([says('Hello there.')])
    const actor = bench.create()
    const window = await bench.follow(actor)
    const turnId = await bench.start(actor, 'Say hello')
    const settled = await window.settled(turnId)
    expect(settled).toMatchObject({
      outcome: 'completed',
      ending: 'answer',
      usage: { input: 10, output: 5 },
      itemsOmitted: 0,
    })
    expect(window.itemsOf('text')).toMatchObject([{ text: 'Hello there.', final: true, status: 'final' }])
    expect((await bench.storage.loadSession(actor.id))?.header).toEqual(window.view.header)
    expect(
      await bench.submit(actor, 'And', { whenBusy: 'refuse', requestId: 'r' }).catch((error) => error),
    ).toMatchObject({ accepted: 'started' })
  })
})
