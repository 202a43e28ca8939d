/** Processes of a running host, seen from outside: left in the background, ended with their session, flooding, a person's own. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import type { Item } from '../preload/contract/items.ts'
import { HostClient } from './host-client.ts'
import { Lab, type LatheProcess } from './lab.ts'
import { messagesOf, type Step } from './model-server/script.ts'

vi.setConfig({ testTimeout: 600_000 })

/** 2 GiB with LATHE_FLOOD=2048; a part of it shows the same in the time a busy machine has. */
const flood = Number(process.env['LATHE_FLOOD'] ?? 96) * 1024 ** 2

const call = (name: string, args: Record<string, unknown>): Step => ({ emit: [{ call: { name, args } }] })
const says = (text: string): Step => ({ emit: [{ text }] })

class Scene {
  readonly lab: Lab
  readonly host: LatheProcess
  readonly client: HostClient

  private constructor(lab: Lab, host: LatheProcess, client: HostClient) {
    this.lab = lab
    this.host = host
    this.client = client
  }

  static async open(script: Step[]): Promise<Scene> {
    const lab = await Lab.open({ script })
    const host = lab.start(['serve', '--json'], { limitMs: 600_000 })
    await host.line((line) => line.includes('"url"'))
    const client = await HostClient.of(lab.home)
    await client.trust(lab.workspace)
    return new Scene(lab, host, client)
  }

  async session(): Promise<string> {
    const { handlers, who } = this.client
    const wish = { requestId: newId(), workspace: this.lab.workspace, approvalMode: 'all' as const }
    return (await handlers.sessions.create(wish, who)).sessionId
  }

  /** Sends a message; resolves once no turn runs any more. */
  async turn(sessionId: string, text: string): Promise<void> {
    await this.submit(sessionId, text)
    await vi.waitFor(
      async () => {
        const view = await this.client.open(sessionId)
        const isThere = view.items.some((item) => item.kind === 'user' && item.text === text)
        if (view.turn !== null || !isThere) throw new Error(`The turn of "${text}" has not ended.`)
      },
      { timeout: 500_000, interval: 50 },
    )
  }

  /** A line of the person's own that began with `!`. */
  command(sessionId: string, line: string): Promise<unknown> {
    const { handlers, who } = this.client
    return handlers.session.command({ requestId: newId(), sessionId, line }, who)
  }

  submit(sessionId: string, text: string): Promise<unknown> {
    const { handlers, who } = this.client
    return handlers.session.submit({ requestId: newId(), sessionId, text, attachments: [] }, who)
  }

  async execSessions(sessionId: string) {
    return (await this.client.open(sessionId)).execSessions
  }

  async tool(sessionId: string, at: number): Promise<Extract<Item, { kind: 'tool' }>> {
    const tools = (await this.client.open(sessionId)).items.filter((item) => item.kind === 'tool')
    return tools[at]!
  }

  /** The last request of a turn, as text. */
  lastRequest(): string {
    return JSON.stringify(messagesOf(this.lab.asked().at(-1)!.body))
  }

  /** Command lines in the lab that hold a text. */
  async running(text: string): Promise<string[]> {
    return (await this.lab.processes()).filter((line) => line.includes(text))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]()
    this.host.kill('SIGTERM')
    await this.host.ended
    // What a signal has ended takes a moment to be gone.
    const gone = async () => {
      const left = await this.lab.processes()
      if (left.length > 0) throw new Error(`Left running: ${left.join('; ')}`)
    }
    try {
      await vi.waitFor(gone, { timeout: 10_000 })
    } finally {
      await this.lab[Symbol.asyncDispose]()
    }
  }
}

test('X-211 XA-9 what a command leaves in the background is adopted, listed and ended', async () => {
  await using scene = await Scene.open([
    call('shell', { command: 'sleep 8001 & echo started' }),
    call('list_exec_sessions', {}),
    call('exec_session', { session_id: 'x1', terminate: true }),
    says('Done.'),
  ])
  const id = await scene.session()
  await scene.turn(id, 'Start it')
  const [shell, list, ended] = await Promise.all([0, 1, 2].map((at) => scene.tool(id, at)))
  expect(shell!.view).toMatchObject({ exitCode: 0, stdout: 'started\n' })
  expect(shell!.durationMs).toBeLessThan(10_000)
  expect(JSON.stringify(shell)).toContain('background: x1')
  expect(JSON.stringify(list)).toContain('sleep 8001')
  expect(ended!.state).toBe('ok')
  expect(await scene.execSessions(id)).toMatchObject([{ id: 'x1', label: 'background', end: { reason: 'stopped' } }])
  await expect.poll(() => scene.running('sleep 8001'), { timeout: 10_000 }).toEqual([])
})

test('X-427 deleting a session ends its processes first; archiving and forking leave them, and a fork owns none', async () => {
  await using scene = await Scene.open([
    call('shell', { command: "trap '' TERM; sleep 8002", yield_time_ms: 0 }),
    says('It runs.'),
  ])
  const { handlers, who } = scene.client
  const id = await scene.session()
  await scene.turn(id, 'Start it')
  await handlers.sessions.archive({ requestId: newId(), sessionId: id, archived: true }, who)
  const fork = await handlers.sessions.fork({ requestId: newId(), sessionId: id }, who)
  expect(await scene.execSessions(fork.id)).toEqual([])
  expect(await scene.execSessions(id)).toMatchObject([{ id: 'x1', state: 'running' }])
  expect(await scene.running('sleep 8002')).not.toEqual([])
  await handlers.sessions.delete({ requestId: newId(), sessionId: fork.id }, who)
  expect(await scene.running('sleep 8002')).not.toEqual([])
  await handlers.sessions.delete({ requestId: newId(), sessionId: id }, who)
  await expect.poll(() => scene.running('sleep 8002'), { timeout: 10_000 }).toEqual([])
})

test('XA-25 K-02 X-510 a command that prints gigabytes before a watching window: memory is flat, journal and spool are bounded', async () => {
  await using scene = await Scene.open([
    // The first command has what a host loads and makes room for once.
    call('shell', { command: 'yes | head -c 20000000' }),
    says('Warm.'),
    call('shell', { command: `yes | head -c ${flood}`, timeout: 600 }),
    says('Much.'),
  ])
  const id = await scene.session()
  await scene.turn(id, 'Warm up')
  const view = await scene.client.open(id)
  let watched = 0
  const watching = (async () => {
    for await (const event of scene.client.events(id, view.header.lastSeq, view.journalId))
      watched += JSON.stringify(event).length
  })().catch(() => {})
  const memory = async () => {
    const status = await readFile(`/proc/${scene.host.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
  }
  const journal = async () => {
    const names = (await readdir(scene.lab.home)).filter((name) => /\.(db|sqlite)(-wal)?$/.test(name))
    return (await Promise.all(names.map((name) => stat(join(scene.lab.home, name))))).reduce(
      (sum, one) => sum + one.size,
      0,
    )
  }
  const before = [await memory(), await journal()] as const
  let spool = 0
  let peak = before[0]
  const looking = setInterval(() => {
    void memory().then((now) => (peak = Math.max(peak, now)))
    const folder = join(scene.lab.home, 'tmp/exec')
    void readdir(folder)
      .then((names) => Promise.all(names.map((name) => stat(join(folder, name)))))
      .then(
        (files) => (spool = Math.max(spool, ...files.map(({ size }) => size))),
        () => {},
      )
  }, 100)
  const from = performance.now()
  await scene.turn(id, 'Print much')
  const seconds = (performance.now() - from) / 1_000
  clearInterval(looking)
  const [grown, stored] = [peak - before[0], (await journal()) - before[1]]
  console.log(
    `${flood / 1024 ** 2} MiB printed in ${seconds.toFixed(1)} s: ${grown.toFixed(1)} MiB more memory, ${(stored / 1024).toFixed(0)} KiB more journal, ${watched} characters watched`,
  )
  expect(grown).toBeLessThan(32)
  expect(stored).toBeLessThan(2 * 1024 ** 2)
  expect(spool).toBeLessThanOrEqual(64 * 1024 ** 2)
  const sent = messagesOf(scene.lab.asked().at(-1)!.body).at(-1)!.text
  const left = Number(/\[\.\.\. ([\d,]+) characters/.exec(sent)![1]!.replaceAll(',', ''))
  const [head = '', tail = ''] = sent.split(/\[\.\.\. [^\n]*\]\n/)
  expect(head.length).toBeLessThanOrEqual(4_001)
  expect(tail.split('\n[')[0]!.length).toBeLessThanOrEqual(6_000)
  expect(head.trimEnd().length + 1 + left + tail.split('\n[')[0]!.length).toBeGreaterThan(flood - 10)
  await scene.client.handlers.sessions.delete({ requestId: newId(), sessionId: id }, scene.client.who)
  void watching
})

test('X-330 X-331 XA-40 a line with ! runs at once beside a turn; the next message brings its output, and it is not the agent’s to end', async () => {
  await using scene = await Scene.open([
    call('shell', { command: 'until [ -e go ]; do sleep 0.1; done; echo gone' }),
    says('First.'),
    call('exec_session', { session_id: 'x2', terminate: true }),
    says('Second.'),
  ])
  const { lab, client } = scene
  const id = await scene.session()
  await scene.submit(id, 'Wait for the file')
  await vi.waitFor(async () => expect((await client.open(id)).turn).not.toBeNull(), { timeout: 60_000 })
  await vi.waitFor(() => expect(lab.asked()).toHaveLength(1), { timeout: 60_000 })
  await scene.command(id, 'git status')
  await vi.waitFor(
    async () => expect(await scene.execSessions(id)).toMatchObject([{ id: 'x1', owner: 'person', state: 'ended' }]),
    { timeout: 60_000 },
  )
  await scene.command(id, 'touch go; sleep 8003')
  await vi.waitFor(async () => expect((await client.open(id)).turn).toBeNull(), { timeout: 60_000 })
  expect(lab.asked()).toHaveLength(2)
  expect(scene.lastRequest()).not.toContain('nothing to commit')
  expect(scene.lastRequest()).not.toContain('sleep 8003')
  const typed = (await client.open(id)).items.filter((item) => item.kind === 'tool' && item.byPerson)
  expect(typed).toMatchObject([{ args: { command: 'git status' } }, { args: { command: 'touch go; sleep 8003' } }])
  await scene.turn(id, 'End it')
  expect(scene.lastRequest()).toContain('nothing to commit')
  expect(scene.lastRequest()).toContain('sleep 8003')
  expect(scene.lastRequest()).toContain('x2 is a command of the person')
  const items = (await client.open(id)).items
  expect(items.find((item) => item.kind === 'tool' && item.name === 'exec_session')).toMatchObject({ state: 'error' })
  expect(await scene.running('sleep 8003')).not.toEqual([])
  await client.handlers.exec.stop({ requestId: newId(), sessionId: id, id: 'x2' }, client.who)
  await expect.poll(() => scene.running('sleep 8003'), { timeout: 10_000 }).toEqual([])
})
