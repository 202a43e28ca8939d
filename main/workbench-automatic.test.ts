/** What starts by itself, looks at the web and at git, through the whole workbench: real processes, a real server, real git. */
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type Step } from '../e2e/model-server/server.ts'
import { newId } from '../preload/contract/ids.ts'
import type { ApprovalMode, SessionView } from '../preload/contract/session.ts'
import { runCommand } from './exec/command.ts'
import { createLog } from './platform/log.ts'
import { createWorkbench, type Workbench } from './workbench.ts'

const who = { clientId: newId(), kind: 'web' as const, attendance: 'attended' as const }
const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })
const says = (text: string): Step => ({ emit: [{ text }] })
const page = '<title>Guide</title><script>steal()</script><h1>Hello</h1>'

let root: string
let workspace: string
let server: ModelServer
let web: Server
let url: string
let bench: Workbench

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-automatic-')))
  const home = join(root, 'home')
  await mkdir(home)
  server = await startModelServer()
  web = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/guide`
  const lab = { kind: 'openai-compatible', baseUrl: server.baseUrl, models: ['scripted'] }
  await writeFile(join(home, 'config.json'), JSON.stringify({ providers: { lab }, model: 'lab/scripted' }))
  bench = await createWorkbench({
    home,
    kind: 'web',
    version: '0',
    lasting: false,
    log: createLog({ home, redact: (line) => line }),
  })
  await bench.start()
})

beforeEach(async () => {
  workspace = await mkdtemp(join(root, 'app-'))
})

afterAll(async () => {
  await bench.dispose()
  await server.close()
  web.close()
  await rm(root, { recursive: true, force: true })
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
  server.enqueue(...script)
  await bench.sessions.turns.submit(id, { requestId: newId(), text: 'Do it', attachments: [], attendance: 'attended' })
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
  const request = JSON.stringify(server.asked().at(-1)?.body)
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
  const sent = JSON.stringify(server.asked().at(-1)?.body)
  expect(sent).toContain('# Hello')
  expect(sent).not.toContain('steal')
  server.enqueue({ emit: [call('web_fetch', { url })] }, says('Read again.'))
  await bench.sessions.turns.submit(id, { requestId: newId(), text: 'Again', attachments: [], attendance: 'attended' })
  const again = await until(id, (view) => view.turns.length === 2 && ended(view))
  expect(tools(again).map((item) => item.state)).toEqual(['ok', 'ok'])
})

test('Z-65 Z-80 git that only looks runs in mode read-only; where the repository names a program it does not', async () => {
  const env = { PATH: process.env['PATH']!, HOME: root }
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
    const offered = JSON.stringify(server.asked().at(-1)?.body)
    for (const name of ['shell', 'exec_session', 'list_exec_sessions'])
      expect(offered).not.toContain(`"name":"${name}"`)
    expect(offered).toContain('"name":"read_file"')
    const line = { sessionId: id, requestId: newId(), line: 'touch ran' }
    await expect(Promise.resolve(handlers.session.command(line, who))).rejects.toMatchObject({ code: 'exec.disabled' })
  } finally {
    await handlers.settings.set({ requestId: newId(), settings: { 'exec.enabled': true } }, who)
  }
})
