import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { CommitGate, settleOpenIntents } from '../files/gate.ts'
import { Paths } from '../files/paths.ts'
import { FileStates } from '../files/read-state.ts'
import { hashOf } from '../files/version.ts'
import { recordFound, StoredFileStates, StoredIntents } from './file-records.ts'
import { calls, heldDisk, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()
const never = new AbortController().signal
const unlogged = () => {}

/** A gate over the storage of `bench`, as the workbench builds it. */
function gateOf(bench: TestWorkbench) {
  const fileStates = new StoredFileStates(bench.storage)
  const intents = new StoredIntents(bench.storage, fileStates)
  const paths = new Paths({ dataFolder: join(bench.home, 'data') })
  const gate = new CommitGate({ paths, blobs: bench.storage.blobs, states: new FileStates(fileStates), intents })
  return { gate, intents, paths }
}

async function write(
  bench: TestWorkbench,
  content: string,
  author: { sessionId: string; turnId: string; callId: string },
) {
  const { gate, paths } = gateOf(bench)
  const place = { sessionId: author.sessionId, workspace: bench.workspace, extraFolders: [] }
  const path = await paths.resolve(place, 'a.txt')
  const base = await hashOf(await readFile(join(bench.workspace, 'a.txt')))
  return gate.commit(place, [{ path, base, content: Buffer.from(content) }], { ...author, by: 'tool' }, never)
}

test('FA-21 F-601 F-604 a host killed between the write and the end of its call finds the change at its next start', async () => {
  const bench = await scene.workbench([calls('edit'), says('never')])
  await writeFile(join(bench.workspace, 'a.txt'), 'old\n')
  const actor = bench.create()
  const turnId = await bench.start(actor, 'Change it')
  const { context } = await bench.tools.running('edit')
  const [change] = await write(bench, 'new\n', { sessionId: actor.id, turnId, callId: context.callId })

  const after = await scene.restarted(bench, [says('Going on.')], true)
  const { intents } = gateOf(after)
  await after.sessions.recoverAll()
  await recordFound(await settleOpenIntents(intents), after.sessions, intents, unlogged)
  const window = await after.follow(await after.sessions.actor(actor.id))
  expect(window.view.changes).toMatchObject([
    { id: change!.id, turnId, path: 'a.txt', kind: 'edited', before: change!.before, after: change!.after },
  ])
  expect(window.view.header.lastOutcome).toBe('interrupted')
  expect(window.itemsOf('tool')[0]).toMatchObject({
    state: 'unknown',
    changeIds: [change!.id],
    summary: 'Lathe ended while it ran. It had changed a.txt.',
  })

  // A host that dies before the intent is dropped finds it again, and records it no second time.
  await recordFound(
    [{ author: { sessionId: actor.id, turnId, callId: context.callId, by: 'tool' }, changes: [change!], unclear: [] }],
    after.sessions,
    intents,
    unlogged,
  )
  expect((await after.sessions.open(actor.id)).changes).toEqual(window.view.changes)
})

test('F-601 an intent is let go once the change is in the journal, and not before', async () => {
  let intents: StoredIntents | null = null
  const bench = await scene.workbench([calls('edit'), says('Done.')], {
    changesRecorded: (ids) => void intents?.recorded(ids),
  })
  intents = gateOf(bench).intents
  await writeFile(join(bench.workspace, 'a.txt'), 'old\n')
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'Change it')
  const call = await bench.tools.running('edit')
  const { paths } = gateOf(bench)
  const place = { sessionId: actor.id, workspace: bench.workspace, extraFolders: [] }
  const path = await paths.resolve(place, 'a.txt')
  const author = { sessionId: actor.id, turnId, callId: call.context.callId, by: 'tool' as const }
  const shared = new CommitGate({ paths, blobs: bench.storage.blobs, states: new FileStates(), intents })
  const changes = await shared.commit(
    place,
    [{ path, base: await hashOf(Buffer.from('old\n')), content: Buffer.from('new\n') }],
    author,
    never,
  )
  expect(await intents.open()).toMatchObject([{ written: true }])
  call.finish({ changes })
  await window.settled(turnId)
  expect(window.view.changes).toHaveLength(1)
  expect(await intents.open()).toEqual([])
})

test('F-604 what a crash kept and the disk has no room for at the start stays open for the next one', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([says('Done.')], { storage: disk.over })
  await writeFile(join(bench.workspace, 'a.txt'), 'old\n')
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'Change it')
  await window.settled(turnId)
  await write(bench, 'new\n', { sessionId: actor.id, turnId, callId: 'call' })
  const { intents } = gateOf(bench)
  const found = await settleOpenIntents(intents)
  disk.fail(1)
  await recordFound(found, bench.sessions, intents, unlogged)
  expect(await intents.open()).toHaveLength(1)
  await recordFound(found, bench.sessions, intents, unlogged)
  await window.until((view) => view.changes.length === 1)
})

test('F-902 T-41 what a process changed is recorded once it can be saved, and the person is told meanwhile', async () => {
  const disk = heldDisk()
  const bench = await scene.workbench([says('Done.')], { storage: disk.over })
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'Change it')
  await window.settled(turnId)
  await actor.idle()
  const change = { id: 'c1', turnId, path: 'a.txt', kind: 'created', before: null, after: 'h', added: 1, removed: 0 }
  disk.fail(2)
  const told = window.event('session.storageFailed')
  const notice = 'Some changes may be missing.'
  const recorded = bench.sessions.late.record(actor.id, { turnId, changes: [change as never], notice })
  await told
  expect(window.view.changes).toEqual([])
  actor.retrySaving()
  await recorded
  const { changes } = await window.until(({ items }) =>
    items.some((item) => item.kind === 'notice' && item.text === notice),
  )
  expect(changes).toMatchObject([{ id: 'c1', path: 'a.txt' }])
})

test('F-902 a session that cannot be read at once gets its changes all the same; one that is gone for good stays gone', async () => {
  let unreadable = 0
  const first = await scene.workbench([says('Done.')])
  const actor = first.create()
  const turnId = await first.start(actor, 'Change it')
  await first.sessions.settled(actor, turnId)
  await first.abandon()
  const bench = await scene.restarted(first, [], true, {
    storage: (real) => ({
      loadSession: (id) =>
        unreadable-- > 0 ? Promise.reject(new LatheError('storage.failed', 'The disk fails.')) : real.loadSession(id),
    }),
  })
  const change = { id: 'c1', turnId, path: 'a.txt', kind: 'created', before: null, after: 'h', added: 1, removed: 0 }
  const found = { turnId, changes: [change as never], notice: null }
  unreadable = 1
  await bench.sessions.late.record(actor.id, found)
  expect((await bench.sessions.open(actor.id)).changes).toMatchObject([{ id: 'c1' }])
  await bench.sessions.purge(actor.id)
  await bench.sessions.late.record(actor.id, found)
  await expect(bench.sessions.actor(actor.id)).rejects.toMatchObject({ code: 'session.deleted' })
  expect(bench.log.filter(({ level }) => level === 'error')).toEqual([])
})

test('S-142 what is still looked for is waited for as the host ends, up to a limit', async () => {
  const bench = await scene.workbench([])
  const found = Promise.withResolvers<void>()
  let isRecorded = false
  const looking = bench.sessions.late.wait(found.promise.then(() => void (isRecorded = true)))
  await bench.sessions.late.idle(1)
  expect(isRecorded).toBe(false)
  const idle = bench.sessions.late.idle(60_000)
  found.resolve()
  await idle
  expect(isRecorded).toBe(true)
  await looking
})
