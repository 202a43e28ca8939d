/** Subagents through the whole workbench: real processes, real files. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Step } from '../e2e/model-server/server.ts'
import type { ItemOf } from '../preload/contract/items.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { newId } from '../preload/contract/ids.ts'
import { call, says, who, Whole } from './test-whole.ts'

let whole: Whole

beforeAll(async () => {
  whole = await Whole.open()
})
afterAll(() => whole.close())

const ofParent = (step: Step): Step => ({ when: { lastUserContains: 'Do it' }, ...step })
const of = (label: string, step: Step): Step => ({ when: { lastUserContains: `task of ${label}` }, ...step })
const calls = (name: string, args: Record<string, unknown>): Step => ({ emit: [call(name, args)] })
const delegates = (label: string): Step => ofParent(calls('subagent', { label, task: `task of ${label}` }))
const cards = (view: SessionView) => view.items.filter((item): item is ItemOf<'subagent'> => item.kind === 'subagent')
const tools = (view: SessionView) => view.items.filter((item): item is ItemOf<'tool'> => item.kind === 'tool')

async function started(mode: 'all' | 'ask', workspace: string): Promise<string> {
  return whole.bench.sessions.create({ workspace, approvalMode: mode }).id
}

test('X-426 XA-39 what a subagent leaves running is the session’s, named in its result, and no other subagent’s', async () => {
  const { sessions } = whole.bench
  const id = await started('all', await whole.workspace())
  await whole.turn(
    id,
    {},
    delegates('server'),
    of('server', calls('shell', { command: 'echo up; exec sleep 600', yield_time_ms: 0 })),
    of('server', calls('exec_session', { session_id: 'x1', wait_for: 'up' })),
    of('server', says('It is up.')),
    delegates('other'),
    of('other', calls('exec_session', { session_id: 'x1' })),
    of('other', calls('read_file', { path: 'exec:x1' })),
    of('other', calls('list_exec_sessions', {})),
    of('other', says('I see nothing.')),
    ofParent(calls('list_exec_sessions', {})),
    ofParent(calls('exec_session', { session_id: 'x1', terminate: true })),
    ofParent(says('It was ended.')),
  )
  const view = await sessions.open(id)
  const [server, other] = cards(view)
  expect(server).toMatchObject({ phase: 'done', result: expect.stringContaining('x1 (echo up; exec sleep 600)') })
  expect(view.execSessions).toMatchObject([
    { id: 'x1', state: 'ended', itemId: server!.id, turnId: server!.turnId, subagent: { label: 'server' } },
  ])
  const own = tools(await sessions.open(server!.sessionId!))
  expect(own.map(({ state }) => state)).toEqual(['ok', 'ok'])
  const others = tools(await sessions.open(other!.sessionId!))
  expect(others.map(({ state, code }) => code ?? state)).toEqual(['exec.not_found', 'file.not_found', 'ok'])
  expect(others.at(-1)!.summary).toBe('Nothing is running.')
  const [, , listed, terminated] = tools(view)
  expect(listed!.summary).toContain('x1 (subagent server)')
  expect(terminated!.state).toBe('ok')
}, 60_000)

test('C-96 S-123 with more places subagents that wait begin at once', async () => {
  const { sessions, handlers } = whole.bench
  const most = (count: number) =>
    handlers.settings.set({ requestId: newId(), settings: { 'subagents.max': count } }, who)
  await most(1)
  const id = await started('all', await whole.workspace())
  const labels = ['one', 'two', 'three']
  const asked = labels.map((label) => call('subagent', { label, task: `task of ${label}` }))
  const hanging = labels.map((label) => of(label, { emit: [{ text: 'Hm' }, { hang: true }] }))
  const turnId = await whole.begin(id, {}, ofParent({ emit: asked }), ...hanging)
  const phases = async () => cards(await sessions.open(id)).map(({ phase }) => phase)
  await expect.poll(phases).toEqual(['model', 'queued', 'queued'])
  await most(4)
  await expect.poll(phases).toEqual(['model', 'model', 'model'])
  await sessions.command(id, { type: 'stop', turnId, reason: 'person' })
  await whole.settled(id, turnId)
}, 60_000)

test('CA-38 C-102 X-425 with Stop a subagent’s process goes on in the session, and its open approval is withdrawn', async () => {
  const { sessions, storage } = whole.bench
  const workspace = await whole.workspace()
  const id = await started('ask', workspace)
  await storage.putWorkspace({
    path: workspace,
    name: 'app',
    state: 'present',
    branch: null,
    trusted: true,
    openedAt: 1,
    demo: false,
  })
  const turnId = await whole.begin(
    id,
    {},
    delegates('server'),
    of('server', calls('shell', { command: 'exec sleep 600', yield_time_ms: 0 })),
    of('server', calls('shell', { command: 'touch never' })),
  )
  const actor = await sessions.actor(id)
  const asked = async (detail: string) => {
    await expect.poll(() => actor.published.approvals.head?.request.detail, { timeout: 20_000 }).toBe(detail)
    return actor.published.approvals.head!
  }
  const { id: approvalId, request } = await asked('exec sleep 600')
  const answer = { approvalId, argsHash: request.argsHash, decision: 'once', scope: 'workspace' } as const
  await sessions.subagents.answerApproval(id, answer)
  await asked('touch never')
  await actor.command({ type: 'stop', turnId, reason: 'person' })
  await whole.settled(id, turnId)
  const view = await sessions.open(id)
  expect(view.items.filter((item) => item.kind === 'approval').map(({ state }) => state)).toEqual([
    'allowed',
    'cancelled',
  ])
  expect(cards(view)).toMatchObject([{ phase: 'stopped' }])
  expect(view.execSessions).toMatchObject([{ id: 'x1', state: 'running' }])
  await expect(readFile(join(workspace, 'never'))).rejects.toThrow()
}, 60_000)

test('F-206 F-901 a subagent has read nothing yet, and what it changes is its parent’s turn’s too', async () => {
  const { sessions } = whole.bench
  const workspace = await whole.workspace()
  await writeFile(join(workspace, 'a.txt'), 'one\n')
  const id = await started('all', workspace)
  const edit = calls('edit_file', { path: 'a.txt', old_text: 'one', new_text: 'two' })
  await whole.turn(
    id,
    {},
    ofParent(calls('read_file', { path: 'a.txt' })),
    delegates('edit'),
    of('edit', calls('write_file', { path: 'a.txt', content: 'over\n' })),
    of('edit', calls('read_file', { path: 'a.txt' })),
    of('edit', edit),
    of('edit', says('Edited.')),
    ofParent(says('Done.')),
  )
  const view = await sessions.open(id)
  const [card] = cards(view)
  expect(tools(await sessions.open(card!.sessionId!)).map(({ state, code }) => code ?? state)).toEqual([
    'file.not_read',
    'ok',
    'ok',
  ])
  await expect.poll(() => readFile(join(workspace, 'a.txt'), 'utf8')).toBe('two\n')
  const changed = (await sessions.actor(id)).published.changes
  expect(changed).toMatchObject([{ path: 'a.txt', turnId: card!.turnId, kind: 'edited', added: 1, removed: 1 }])
}, 60_000)

test('C-95 a subagent’s session is read and never changed or deleted by itself, whatever request names it', async () => {
  const { sessions, handlers } = whole.bench
  const id = await started('all', await whole.workspace())
  await whole.turn(id, {}, delegates('own'), of('own', says('Found.')), ofParent(says('Done.')))
  const sessionId = cards(await sessions.open(id))[0]!.sessionId!
  const before = await sessions.open(sessionId)
  const to = () => ({ requestId: newId(), sessionId })
  const message = { text: 'x', attachments: [] }
  const [turn] = before.turns
  const turnId = turn!.id
  const asked: Record<string, Promise<unknown>> = {
    submit: handlers.session.submit({ ...to(), ...message }, who),
    settings: handlers.session.settings({ ...to(), approvalMode: 'all' }, who),
    retry: handlers.session.retry({ ...to(), turnId }, who),
    continue: handlers.session.continue({ ...to(), turnId }, who),
    rewind: handlers.session.rewind({ ...to(), itemId: turn!.userItemId, withFiles: false }, who),
    compact: handlers.session.compact({ ...to(), focus: '' }, who),
    command: handlers.session.command({ ...to(), line: 'touch x' }, who),
    steer: handlers.steers.add({ ...to(), turnId, ...message }, who),
    queue: handlers.followUps.add({ ...to(), ...message }, who),
    rename: handlers.sessions.rename({ ...to(), title: 'x' }, who),
    pin: handlers.sessions.pin({ ...to(), pinned: true }, who),
    archive: handlers.sessions.archive({ ...to(), archived: true }, who),
    delete: handlers.sessions.delete(to(), who),
    purge: handlers.sessions.purge(to(), who),
  }
  const came = await Promise.all(
    Object.entries(asked).map(async ([name, reply]) => [
      name,
      await reply.then(
        () => 'done',
        (error) => error.code,
      ),
    ]),
  )
  expect(came).toEqual(Object.keys(asked).map((name) => [name, 'session.read_only']))
  expect((await sessions.open(sessionId)).items).toEqual(before.items)
})
