/** Turns of a real host, seen from outside: the command line, a client of its contract, the processes it starts. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { HostClient } from './host-client.ts'
import { Lab, readRun, type LatheProcess } from './lab.ts'
import { messagesOf } from './model-server/script.ts'

// Several processes each; on a busy machine they take their time.
vi.setConfig({ testTimeout: 90_000 })

async function serve(lab: Lab): Promise<LatheProcess> {
  const host = lab.start(['serve', '--json'])
  await host.line((line) => line.includes('url'))
  return host
}

/** Polls a session until it shows this. */
async function shows(
  client: HostClient,
  sessionId: string,
  what: (view: SessionView) => unknown,
): Promise<SessionView> {
  return vi.waitFor(
    async () => {
      const view = await client.open(sessionId)
      if (!what(view)) throw new Error(`It does not show that yet: ${JSON.stringify(view.turns)}`)
      return view
    },
    { timeout: 60_000, interval: 50 },
  )
}

test('T-59 K-15 `run --json` prints the header, then the events of its turn as they are stored; a client of the host sees the same', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'One.' }] }, { emit: [{ text: 'Two.' }] }] })
  await serve(lab)
  const first = readRun((await lab.lathe(['run', '--json', 'one'])).stdout).header.sessionId
  using client = await HostClient.of(lab.home)
  const ended = await lab.lathe(['run', '--json', '--session', first, 'two'])
  expect(ended.code).toBe(0)
  const { header, events } = readRun(ended.stdout)
  expect(header).toMatchObject({ sessionId: first })
  expect([events[0], events.at(-1)]).toMatchObject([
    { type: 'turn.started', turnId: header.turnId },
    { type: 'turn.settled', turnId: header.turnId },
  ])
  const journal = await client.journal(await client.open(first))
  const place = (type: string) =>
    journal.findIndex((event) => event.type === type && 'turnId' in event && event.turnId === header.turnId)
  expect(events).toEqual(journal.slice(place('turn.started'), place('turn.settled') + 1))
})

test('T-25 X-330 a `!` line runs at once, without model, turn or card, and its output goes with the next message', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'I see.' }] }] })
  await serve(lab)
  const ended = await lab.lathe(['run', '--json', '!echo by hand; exit 3'])
  const lines = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ type }) => /^(turn|approval)\./.test(type))).toEqual([])
  expect(lines.some(({ type }) => type === 'exec.changed')).toBe(true)
  expect(lab.asked()).toHaveLength(0)
  const [{ id }] = (await lab.lathe(['sessions', 'list', '--json'])).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  using client = await HostClient.of(lab.home)
  const view = await client.open(id)
  expect(view.turns).toEqual([])
  expect(view.items).toMatchObject([
    { kind: 'tool', byPerson: true, turnId: null, args: { command: 'echo by hand; exit 3' }, view: { exitCode: 3 } },
  ])
  await lab.lathe(['run', '--json', '--session', id, 'what was that?'])
  const said = messagesOf(lab.asked()[0]!.body).at(-1)!.text
  expect(said).toMatch(
    /<command-by-person line="echo by hand; exit 3" state="exit 3">\s*by hand\s*<\/command-by-person>\s*what was that\?/,
  )
})

test('T-97 a Stop ends the command a call waits on with all it started; what outlives its call goes on', async () => {
  await using lab = await Lab.open({
    script: [
      { emit: [{ call: { name: 'shell', args: { command: 'sleep 611', yield_time_ms: 0 } } }] },
      { emit: [{ call: { name: 'shell', args: { command: "sh -c '(sleep 622 &); sleep 633'" } } }] },
    ],
  })
  const host = await serve(lab)
  using client = await HostClient.of(lab.home)
  const { handlers, who } = client
  await client.trust(lab.workspace)
  const { sessionId } = await handlers.sessions.create(
    { requestId: newId(), workspace: lab.workspace, approvalMode: 'all' },
    who,
  )
  const sent = { requestId: newId(), sessionId, text: 'wait', attachments: [] }
  const reply = await handlers.session.submit(sent, who)
  if (reply.accepted !== 'started') throw new Error(reply.accepted)
  const sleeping = async () => (await lab.processes()).filter((line) => line.startsWith('sleep ')).toSorted()
  await vi.waitFor(async () => expect(await sleeping()).toEqual(['sleep 611', 'sleep 622', 'sleep 633']), {
    timeout: 60_000,
    interval: 50,
  })
  await handlers.session.stop({ requestId: newId(), sessionId, turnId: reply.turnId }, who)
  const view = await shows(client, sessionId, ({ turns }) => turns[0]?.outcome)
  expect(view.turns).toMatchObject([{ outcome: 'stopped', reason: 'person' }])
  await expect.poll(sleeping, { timeout: 10_000 }).toEqual(['sleep 611'])
  // What the window lists under the settled turn, with "Stop it".
  expect(view.execSessions).toMatchObject([{ id: 'x1', state: 'running', turnId: reply.turnId }])
  await handlers.exec.stop({ requestId: newId(), sessionId, id: 'x1' }, who)
  await expect.poll(sleeping, { timeout: 30_000 }).toEqual([])
  host.kill('SIGTERM')
})

test('T-197 a turn goes on when the window that sent it, and every other, has gone; the next one sees its end', async () => {
  await using lab = await Lab.open({
    script: [
      {
        emit: [{ call: { name: 'shell', args: { command: 'until [ -e gate ]; do sleep 0.05; done; echo through' } } }],
      },
      { emit: [{ text: 'Done.' }] },
    ],
  })
  const host = await serve(lab)
  const gone = await HostClient.of(lab.home)
  const { handlers, who } = gone
  await gone.trust(lab.workspace)
  const made = { requestId: newId(), workspace: lab.workspace, approvalMode: 'all' } as const
  const { sessionId } = await handlers.sessions.create(made, who)
  await handlers.session.submit({ requestId: newId(), sessionId, text: 'wait', attachments: [] }, who)
  await shows(gone, sessionId, ({ turn }) => turn?.status?.kind === 'tool')
  gone[Symbol.dispose]()
  await writeFile(join(lab.workspace, 'gate'), '')
  using next = await HostClient.of(lab.home)
  const view = await shows(next, sessionId, ({ turns }) => turns[0]?.outcome)
  expect(view.turns).toMatchObject([{ outcome: 'completed', ending: 'answer' }])
  expect(view.items).toContainEqual(expect.objectContaining({ kind: 'tool', state: 'ok' }))
  host.kill('SIGTERM')
})

test('T-140 Z-98 where a person is needed and none can be asked the tool does not run: failed, exit 3, though a window is open', async () => {
  await using lab = await Lab.open({
    script: [{ emit: [{ call: { name: 'shell', args: { command: 'touch ran.txt' } } }] }],
  })
  const host = await serve(lab)
  using client = await HostClient.of(lab.home)
  expect(client.who.attendance).toBe('attended')
  const ended = await lab.lathe(['run', '--json', '--approve', 'ask', 'run it'])
  expect(ended.code).toBe(3)
  const end = readRun(ended.stdout).events.at(-1)
  expect(end).toMatchObject({ type: 'turn.settled', outcome: 'failed', error: { code: 'person.needed' } })
  await expect(lab.read('ran.txt')).rejects.toThrow()
  host.kill('SIGTERM')
})

test('T-77 the diff of a card is that of the recorded change: the same after a restart, though the file has changed since', async () => {
  await using lab = await Lab.open({
    script: [
      { emit: [{ call: { name: 'read_file', args: { path: 'index.js' } } }] },
      { emit: [{ call: { name: 'write_file', args: { path: 'index.js', content: 'export default 1\n' } } }] },
      { emit: [{ text: 'Done.' }] },
    ],
  })
  const host = await serve(lab)
  const ran = readRun((await lab.lathe(['run', '--json', '--approve', 'all', 'shorten it'])).stdout)
  const { sessionId } = ran.header
  const look = async () => {
    using client = await HostClient.of(lab.home)
    const view = await client.open(sessionId)
    const card = view.items.find((item) => item.kind === 'tool' && item.name === 'write_file')
    if (card?.kind !== 'tool') throw new Error('There is no card.')
    const [changeId] = card.changeIds
    const diff = await client.handlers.changes.diff({ sessionId, changeId: changeId! }, client.who)
    // Whether the file is still as the change left it is said beside the diff.
    const { changedSince: _, ...shown } = diff
    return { card, diff: shown, changes: view.changes }
  }
  const live = await look()
  expect(JSON.stringify(live.diff)).toContain('export default 1')
  expect(live.changes).toMatchObject([{ path: 'index.js', kind: 'edited' }])
  host.kill('SIGTERM')
  await host.ended
  await writeFile(join(lab.workspace, 'index.js'), 'by someone else\n')
  const again = await serve(lab)
  expect(await look()).toEqual(live)
  await rm(join(lab.workspace, 'index.js'))
  expect((await look()).diff).toEqual(live.diff)
  again.kill('SIGTERM')
})

test('TA-26 T-151 what a person answers to a secret question is in no file, no export and no request', async () => {
  const secret = 's3cr3t-42'
  await using lab = await Lab.open({
    script: [
      { emit: [{ call: { name: 'ask_person', args: { question: 'The token?', secret: true } } }] },
      { emit: [{ text: 'Thank you.' }] },
    ],
  })
  const host = await serve(lab)
  using client = await HostClient.of(lab.home)
  const { handlers, who } = client
  await client.trust(lab.workspace)
  const { sessionId } = await handlers.sessions.create({ requestId: newId(), workspace: lab.workspace }, who)
  await handlers.session.submit({ requestId: newId(), sessionId, text: 'ask me', attachments: [] }, who)
  const { questions } = await shows(client, sessionId, (view) => view.questions.head)
  const answer = { requestId: newId(), sessionId, questionId: questions.head!.id, secret }
  expect(await handlers.questions.answer(answer, who)).toEqual({ ok: true })
  const view = await shows(client, sessionId, ({ turns }) => turns[0]?.outcome)
  expect(view.items.find((item) => item.kind === 'question')).toMatchObject({ answer: 'answered (hidden)' })
  const exported = await lab.lathe(['sessions', 'export', sessionId])
  expect(exported.code).toBe(0)
  host.kill('SIGTERM')
  await host.ended
  const files = (await readdir(lab.home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  expect(files.some(({ name }) => name.endsWith('.db') || name.includes('sqlite'))).toBe(true)
  const holding = await Promise.all(
    files.map(async ({ parentPath, name }) =>
      (await readFile(join(parentPath, name))).includes(secret) ? [name] : [],
    ),
  )
  expect(holding.flat()).toEqual([])
  expect([exported.stdout, host.stdout, host.stderr, JSON.stringify(lab.asked())].join('\n')).not.toContain(secret)
})
