/** What each test of this room begins with: a folder, a scripted model server, storage whose commits can fail; all ended after it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { startModelServer, type ModelServer, type Step } from '../../e2e/model-server/server.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { createFaults, type Faults } from '../storage/faults.ts'
import type { SessionWrite, Storage } from '../storage/storage.ts'
import { openTestWorkbench, type TestWorkbench, type TestWorkbenchOptions } from './test-workbench.ts'

export function testScene() {
  let home: string
  let server: ModelServer
  let faults: Faults
  let open: TestWorkbench[] = []

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'lathe-sessions-'))
    server = await startModelServer()
    faults = createFaults()
  })

  afterEach(async () => {
    faults.failCommits(0)
    faults.release()
    for (const bench of open.splice(0)) await bench.close()
    await server.close()
    await rm(home, { recursive: true })
  })

  async function workbench(script: Step[] = [], more: Partial<TestWorkbenchOptions> = {}): Promise<TestWorkbench> {
    server.enqueue(...script)
    const opened = await openTestWorkbench({ home, baseUrl: server.baseUrl, faults, ...more })
    open.push(opened)
    return opened
  }

  return {
    workbench,
    /** The same folder opened again, after a quit or, where `killed`, with nothing settled. */
    async restarted(
      bench: TestWorkbench,
      script: Step[] = [],
      killed = false,
      more: Partial<TestWorkbenchOptions> = {},
    ): Promise<TestWorkbench> {
      open = open.filter((one) => one !== bench)
      await (killed ? bench.abandon() : bench.close())
      return workbench(script, more)
    },
    get home() {
      return home
    },
    get server() {
      return server
    },
    get faults() {
      return faults
    },
  }
}

export const says = (text: string) => ({ emit: [{ text }] })
/** Calls that the test ends by name; neighbours run together. */
export const calls = (...names: string[]) => ({
  emit: names.map((name) => ({ call: { name: 'hold', args: { name } } })),
})
export const asks = (...names: string[]) => ({
  emit: names.map((name) => ({ call: { name: 'hold', args: { name, asks: true } } })),
})
/** Streams `text`, then nothing, with the connection open. */
export const hangs = (text: string) => ({ emit: [...(text ? [{ text }] : []), { hang: true as const }] })

/** The code of a refusal; 'none' where there was none. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'none'
  } catch (error) {
    return error instanceof LatheError ? error.code : String(error)
  }
}

/** A disk that a test holds in its hand: commits wait while they are held, and the next so many that come may fail. */
export function heldDisk() {
  let gate = Promise.resolve()
  let isHeld: (write: SessionWrite) => boolean = () => false
  let open = () => {}
  let failing = 0
  let dropped = false
  let arrived = () => {}
  let arrival = Promise.resolve()
  return {
    over: (real: Storage): Partial<Storage> => ({
      commit: async (write) => {
        const fails = failing > 0 && failing-- > 0
        const waited = isHeld(write)
        if (waited) {
          arrived()
          await gate
        }
        if (fails || (waited && dropped))
          throw new LatheError('storage.failed', 'The disk is full.', { reason: 'disk_full' })
        return real.commit(write)
      },
    }),
    /** From now on these commits wait. */
    hold: (which: (write: SessionWrite) => boolean = () => true) => {
      isHeld = which
      gate = new Promise((resolve) => (open = resolve))
      arrival = new Promise((resolve) => (arrived = resolve))
    },
    /** A commit that waits has come. */
    written: () => arrival,
    /** `failing`: what waited fails now. */
    release: (failing = false) => {
      isHeld = () => false
      dropped = failing
      open()
    },
    fail: (times: number) => void (failing = times),
  }
}
