/** What starts by itself, looks at the web and at git, through the whole workbench: real processes, a real server, real git. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Step } from '../e2e/model-server/server.ts'
import { newId } from '../preload/contract/ids.ts'
import type { ApprovalMode, SessionView } from '../preload/contract/session.ts'
import { runCommand } from './exec/command.ts'
import { call, says, who, Whole } from './test-whole.ts'
import type { Workbench } from './workbench.ts'

const page = '<title>Guide</title><script>steal()</script><h1>Hello</h1>'

let whole: Whole
let bench: Workbench
let workspace: string
let web: Server
let url: string

beforeAll(async () => {
  whole = await Whole.open()
  bench = whole.bench
  web = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/guide`
})

beforeEach(async () => {
  workspace = await whole.workspace()
})

afterAll(async () => {
  await whole.close()
  web.close()
})

/** Resolves once the session shows it. */
async function until(sessionId: string, test: (view: SessionView) => unknown): Promise<SessionView> {
  const actor = await bench.sessions.actor(sessionId)
  return new Promise((resolve) => {
    const stop = actor.listen(look)
    function look(): void {
      if (!test(actor.published)) return
      stop()
      resolve(actor.published)
    }
    look()
  })
}

async function started(mode: ApprovalMode, ...script: Step[]): Promise<string> {
  const { id } = bench.sessions.create({ workspace, approvalMode: mode })
  await whole.begin(id, {}, ...script)
  return id
}

const ended = (view: SessionView) => view.turns.length > 0 && view.turns.every((turn) => turn.outcome)
const tools = (view: SessionView) => view.items.filter((item) => item.kind === 'tool')

test('X-608 X-310 a real process that was started to wake starts one turn when it ends, which reads its output', async () => {
  const id = await started(
    'all',
    { emit: [call('shell', { command: 'sleep 0.5; echo built; exit 3', yield_time_ms: 0, on_exit: 'wake' })] },
    says('It builds.'),
    says('It failed.'),
  )
  const view = await until(id, ({ turns }) => turns.length === 2 && turns[1]!.outcome)
  expect(view.execSessions).toMatchObject([{ id: 'x1', wakes: true, state: 'ended', end: { exitCode: 3 } }])
  expect(view.turns[1]).toMatchObject({ source: 'process', outcome: 'completed' })
  const request = whole.lastRequest()
  expect(request).toContain('ended with exit code 3')
  expect(request).toMatch(/<output-of-x1 [0-9a-f]{32}>\\nbuilt\\n/)
})

test('Z-18 Z-88 XA-41 a server of this computer asks in every mode, is remembered with its port, and its page comes as text', async () => {
  const id = await started('all', { emit: [call('web_fetch', { url })] }, says('Read.'))
  const asking = await until(id, ({ approvals }) => approvals.head)
  expect(asking.approvals.head!.request).toMatchObject({
    tool: 'web_fetch',
    detail: url,
    detailKind: 'url',
    rules: [{ host: new URL(url).host }],
  })
  const { id: approvalId, request } = asking.approvals.head!
  await bench.sessions.command(id, {
    type: 'approval.answer',
    approvalId,
    argsHash: request.argsHash,
    decision: 'session',
    scope: 'workspace',
  })
  await until(id, ended)
  const sent = whole.lastRequest()
  expect(sent).toContain('# Hello')
  expect(sent).not.toContain('steal')
  await whole.begin(id, { text: 'Again' }, { emit: [call('web_fetch', { url })] }, says('Read again.'))
  const again = await until(id, (view) => view.turns.length === 2 && ended(view))
  expect(tools(again).map((item) => item.state)).toEqual(['ok', 'ok'])
})

test('Z-65 Z-80 git that only looks runs in mode read-only; where the repository names a program it does not', async () => {
  const env = { PATH: process.env['PATH']!, HOME: whole.root }
  const git = (...args: string[]) =>
    runCommand({ file: 'git', args, cwd: workspace, env, timeoutMs: 10_000, maxBytes: 1_000 })
  await git('init', '-q', '.')
  const look = (): Step => ({ emit: [call('shell', { command: 'git status --short && git branch --list' })] })
  const free = await until(await started('read-only', look(), says('Clean.')), ended)
  expect(tools(free)).toMatchObject([{ state: 'ok', view: { exitCode: 0 } }])
  await git('config', 'diff.external', './evil.sh')
  const refused = await until(await started('read-only', look(), says('Refused.')), ended)
  expect(tools(refused)).toMatchObject([{ state: 'denied', code: 'policy.denied' }])
})

test('X-332 switched off, no command is offered to the model, and a line of the person runs none', async () => {
  const { handlers } = bench
  await handlers.settings.set({ requestId: newId(), settings: { 'exec.enabled': false } }, who)
  try {
    const id = await started('all', says('Nothing to run with.'))
    await until(id, ended)
    const offered = whole.lastRequest()
    for (const name of ['shell', 'exec_session', 'list_exec_sessions'])
      expect(offered).not.toContain(`"name":"${name}"`)
    expect(offered).toContain('"name":"read_file"')
    const line = { sessionId: id, requestId: newId(), line: 'touch ran' }
    await expect(Promise.resolve(handlers.session.command(line, who))).rejects.toMatchObject({ code: 'exec.disabled' })
  } finally {
    await handlers.settings.set({ requestId: newId(), settings: { 'exec.enabled': true } }, who)
  }
})

test('A-110 A-111 a pause is told with its provider, and ends where its key, its entry in the configuration or the person says so', async () => {
  const { handlers } = bench
  const id = await started('all', says('Hello.'))
  await until(id, ended)
  const paused = async () => (await handlers.models.list({}, who)).find((provider) => provider.id === 'lab')?.paused
  const refused = async (key: string) => {
    whole.server.enqueue({ error: { status: 401 } })
    const request = { source: 'schedule' as const, automation: { name: 'Nightly' }, completionKeys: [key] }
    await bench.sessions.turns.submitAutomatic(id, { ...request, text: 'Look', prompt: 'Look.' })
    await until(id, ended)
    expect(await paused()).toMatchObject({ code: expect.stringMatching(/^provider\.auth_/), until: null })
  }
  await refused('first')
  await handlers.models.setKey({ requestId: newId(), provider: 'lab', key: 'a new key' }, who)
  expect(await paused()).toBeUndefined()
  await refused('second')
  const entry = { id: 'lab', kind: 'openai-compatible', models: ['scripted', 'other'] }
  await handlers.models.putProvider({ requestId: newId(), ...entry }, who)
  await expect.poll(paused).toBeUndefined()
  await refused('third')
  await handlers.models.resume({ requestId: newId(), provider: 'lab' }, who)
  expect(await paused()).toBeUndefined()
})
