/** What a damaged row of one session costs: that row, nothing of another session, and no start (S-7, S-24, S-51, T-190). */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { hangs, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

/** Two settled sessions, and one whose turn runs; then a kill. */
async function killed(): Promise<{ first: TestWorkbench; sound: string; settled: string; running: string }> {
  const first = await scene.workbench([says('One.'), says('Two.'), hangs('Half')])
  const [sound, settled, running] = [first.create(), first.create(), first.create()]
  for (const actor of [sound, settled]) {
    const window = await first.follow(actor)
    await window.settled(await first.start(actor, `do ${actor.id}`))
  }
  const window = await first.follow(running)
  await first.start(running, 'go on')
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  return { first, sound: sound.id, settled: settled.id, running: running.id }
}

/** Text no JSON parser takes, in place of these bodies. */
function damage(statement: string, ...values: string[]): void {
  const db = new DatabaseSync(join(scene.home, 'lathe.db'))
  expect(Number(db.prepare(statement).run(...values).changes)).toBeGreaterThan(0)
  db.close()
}

test('S-7 S-24 T-190 T-192 a damaged event of a running turn is left out, the turn interrupted and not to be continued, others untouched', async () => {
  const { first, sound, running } = await killed()
  await first.abandon()
  damage(`UPDATE events SET body = '{"type":' WHERE session_id = ? AND type IN ('item.delta', 'step.started')`, running)

  const bench = await scene.restarted(first, [], true)
  await bench.sessions.recoverAll()
  const { header, turns, items } = await bench.sessions.open(running)
  expect(header.recovery).toMatchObject({ status: 'awaiting', reason: 'invalid_format', canContinue: false })
  expect(turns).toMatchObject([{ outcome: 'interrupted' }])
  expect(items.find((item) => item.kind === 'user')).toMatchObject({ text: 'go on' })
  scene.server.enqueue(says('Anew.'))
  const actor = await bench.sessions.actor(running)
  const window = await bench.follow(actor)
  expect(await window.settled(await bench.start(actor, 'then anew'))).toMatchObject({ outcome: 'completed' })
  expect((await bench.sessions.open(sound)).header.lastOutcome).toBe('completed')
})

test('T-192 a session that cannot be read at all stops no other from being recovered', async () => {
  const first = await scene.workbench([hangs('Half'), hangs('Half'), hangs('Half')])
  const running = [first.create(), first.create(), first.create()]
  for (const actor of running) {
    const window = await first.follow(actor)
    await first.start(actor, 'go on')
    await window.until((view) => view.items.at(-1)?.kind === 'text')
  }
  let unreadable = ''
  const bench = await scene.restarted(first, [], true, {
    storage: (real) => ({
      loadSession: (id) => (id === unreadable ? Promise.reject(new Error('disk error')) : real.loadSession(id)),
    }),
  })
  unreadable = (await bench.storage.unsettledSessions())[0]!
  await bench.sessions.recoverAll()
  expect(bench.log).toContainEqual(
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ sessionId: unreadable }) }),
  )
  expect(await bench.storage.unsettledSessions()).toEqual([unreadable])
  unreadable = ''
  await bench.sessions.recoverAll()
  for (const { id } of running) expect((await bench.sessions.open(id)).header.lastOutcome).toBe('interrupted')
})

test('S-7 a damaged turn, change, item and header open with what is left; a reader of a damaged event opens again', async () => {
  const { first, sound, settled } = await killed()
  await first.abandon()
  damage(`UPDATE turns SET body = 'x' WHERE session_id = ?`, settled)
  damage(`UPDATE items SET body = '[' WHERE session_id = ? AND kind = 'text'`, settled)
  damage(`UPDATE sessions SET header = '', hidden = 'null' WHERE id = ?`, settled)
  damage(`UPDATE events SET body = '{' WHERE session_id = ? AND type = 'step.started'`, settled)

  const bench = await scene.restarted(first, [], true)
  const { header, turns, items, journalId } = await bench.sessions.open(settled)
  expect(header).toMatchObject({ id: settled, workspace: bench.workspace, title: 'New session' })
  expect(turns).toMatchObject([{ outcome: 'interrupted', settledAt: expect.any(Number) }])
  expect(items.map((item) => item.kind)).toEqual(['user', 'notice'])
  const signal = new AbortController().signal
  const read: string[] = []
  for await (const event of bench.sessions.events(settled, 0, journalId, signal)) read.push(event.type)
  expect(read.at(-1)).toBe('stream.resync')
  expect(await bench.storage.contextItems(settled)).toMatchObject({ turns: [{ outcome: 'interrupted' }] })
  expect((await bench.storage.find(settled, 'do', 10)).matches).toHaveLength(1)
  expect((await bench.sessions.open(sound)).items.at(-1)).toMatchObject({ text: 'One.' })
})

test('S-51 a session whose line is damaged is listed as such, and the others with it', async () => {
  const { first, sound, settled } = await killed()
  await first.abandon()
  damage(`UPDATE sessions SET entry = '{"id"' WHERE id = ?`, settled)

  const bench = await scene.restarted(first, [], true)
  const { entries } = await bench.storage.entries({ limit: 10 })
  expect(entries).toHaveLength(3)
  expect(entries.find(({ id }) => id === settled)).toMatchObject({
    title: 'Damaged session',
    workspace: bench.workspace,
    indicator: 'none',
  })
  expect(entries.find(({ id }) => id === sound)?.title).toBe(`do ${sound}`)
})
