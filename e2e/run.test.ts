/** `lathe run` as scripts use it: on a real checkout, over real HTTP, as a process of its own. */
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { StoredEvent } from '../preload/contract/events.ts'
import { Lab, readError, readRun, type Ran, type SampleWorkspace } from './lab.ts'
import { faults, mending, task } from './mending.ts'
import { messagesOf } from './model-server/script.ts'

// Several processes each; on a busy machine they take their time.
vi.setConfig({ testTimeout: 90_000 })

function settled({ events }: Ran): Extract<StoredEvent, { type: 'turn.settled' }> {
  const last = events.at(-1)
  if (last?.type !== 'turn.settled') throw new Error(`The last event is ${last?.type}.`)
  return last
}

/** Values of JSON Lines. */
function values(lines: string): any[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** What `sessions show --json` prints, in a process of its own: the header, then the items. */
async function shown(lab: Lab, sessionId: string): Promise<any[]> {
  const ended = await lab.lathe(['sessions', 'show', '--json', sessionId])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return values(ended.stdout)
}

/** The tool cards of a turn, each with its state. */
function toolStates(ran: Ran): string[] {
  return settled(ran).items.flatMap((item) => (item.kind === 'tool' ? `${item.name} ${item.state}` : []))
}

const mended: [SampleWorkspace, string][] = [
  ['ms', 'openai-compatible'],
  ['semver-compare', 'anthropic'],
  ['escape-string-regexp', 'ollama'],
]

test.each(mended)(
  'SA-32 `run --json --approve all` mends %s over %s, each line of the contract',
  async (workspace, kind) => {
    await using lab = await Lab.open({
      workspace,
      script: mending(workspace),
      config: (server) => ({
        providers: {
          lab: { kind, baseUrl: kind === 'openai-compatible' ? server.baseUrl : server.url, models: ['scripted'] },
        },
      }),
    })
    expect(await lab.testsPass()).toBe(false)

    const ended = await lab.lathe(['run', '--json', '--approve', 'all', task])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const ran = readRun(ended.stdout)
    expect(ran.header).toMatchObject({ workspace: lab.workspace, model: 'lab/scripted' })
    const seqs = ran.events.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, at) => seqs[0]! + at))
    expect(ran.events[0]).toMatchObject({ type: 'turn.started', turnId: ran.header.turnId })
    expect(ran.events.filter(({ type }) => type === 'turn.settled')).toHaveLength(1)
    const end = settled(ran)
    expect(end).toMatchObject({ outcome: 'completed', ending: 'answer' })
    expect(toolStates(ran)).toEqual([
      'update_plan ok',
      'read_file ok',
      'edit_file ok',
      'update_plan ok',
      'shell ok',
      'update_plan ok',
    ])
    expect(end.session.plan).toMatchObject({
      settled: true,
      entries: [{ state: 'done' }, { state: 'done' }, { state: 'done' }],
    })
    expect(end.items.at(-1)).toMatchObject({ kind: 'text', text: faults[workspace].answer, final: true })

    expect(await lab.testsPass()).toBe(true)
    expect((await lab.git('status', '--porcelain')).trim()).toBe('M index.js')
    await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])

    const [header, ...items] = await shown(lab, ran.header.sessionId)
    expect(header).toMatchObject({ id: ran.header.sessionId, lastOutcome: 'completed' })
    expect(items).toEqual(end.items)
    const text = (await lab.lathe(['sessions', 'show', ran.header.sessionId])).stdout
    for (const part of [task, 'index.js', faults[workspace].answer]) expect(text).toContain(part)
  },
)

test('S-127 without --json stdout is the final text alone, and stdin may hold the prompt', async () => {
  await using lab = await Lab.open({ script: mending('ms') })
  const ended = await lab.lathe(['run', '--approve', 'all', '-'], { stdin: `${task}\nTake your time.\n` })
  expect(ended).toMatchObject({ code: 0, stdout: `${faults.ms.answer}\n` })
  expect(messagesOf(lab.asked()[0]!.body).at(-1)?.text).toContain('Take your time.')
})

test('S-125 --continue and --session go on with a session; which one must be clear', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'First.' }] }] })
  const none = await lab.lathe(['run', '--json', '--continue', 'and now'])
  expect([none.code, readError(none.stdout).code]).toEqual([1, 'session.not_found'])

  const first = readRun((await lab.lathe(['run', '--json', 'one'])).stdout).header.sessionId
  lab.server.enqueue({ emit: [{ text: 'Second.' }] }, { emit: [{ text: 'Third.' }] })
  const second = readRun((await lab.lathe(['run', '--json', '--continue', 'two'])).stdout)
  const third = readRun((await lab.lathe(['run', '--json', '--session', first, 'three'])).stdout)
  expect([second.header.sessionId, third.header.sessionId]).toEqual([first, first])
  const told = messagesOf(lab.asked()[2]!.body)
    .filter(({ role }) => role !== 'system')
    .map(({ text }) => text)
  expect(told).toEqual(['one', 'First.', 'two', 'Second.', 'three'])

  const both = await lab.lathe(['run', '--json', '--continue', '--session', first, 'four'])
  expect([both.code, readError(both.stdout).code]).toEqual([2, 'request.invalid'])
  expect(values((await lab.lathe(['sessions', 'list', '--json'])).stdout)).toMatchObject([{ id: first }])
})

test('S-130 --attach gives files to the model; an unreadable one or an empty prompt makes no session', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'Seen.' }] }] })
  await writeFile(join(lab.folder, 'note.txt'), 'The hours are wrong.')
  const ended = await lab.lathe(['run', '--json', '--attach', join(lab.folder, 'note.txt'), 'look'])
  expect(ended.code).toBe(0)
  expect(JSON.stringify(lab.asked()[0]!.body)).toContain('The hours are wrong.')
  expect(settled(readRun(ended.stdout)).items[0]).toMatchObject({ kind: 'user', attachments: [{ name: 'note.txt' }] })

  const missing = await lab.lathe(['run', '--json', '--attach', join(lab.folder, 'gone.txt'), 'look'])
  expect(missing.code).toBe(2)
  expect(readError(missing.stdout).message).toContain('gone.txt')
  expect((await lab.lathe(['run', '--json', '  '])).code).toBe(2)
  expect(values((await lab.lathe(['sessions', 'list', '--json'])).stdout)).toHaveLength(1)
})

test('S-127 a closed stdout ends the output, not the turn', async () => {
  await using lab = await Lab.open({ script: mending('ms', 20) })
  const run = lab.start(['run', '--json', '--approve', 'all', task])
  const { sessionId } = JSON.parse(await run.line((line) => line.includes('"session"')))
  run.child.stdout!.destroy()
  expect((await run.ended).code).toBe(0)
  expect((await shown(lab, sessionId))[0].lastOutcome).toBe('completed')
  expect(await lab.testsPass()).toBe(true)
})

test.each(['SIGINT', 'SIGTERM'] as const)('S-129 %s stops the turn, its command and all it started', async (signal) => {
  await using lab = await Lab.open({
    script: [
      { emit: [{ call: { name: 'shell', args: { command: "sh -c '(sleep 600 &); echo begun; sleep 600'" } } }] },
    ],
  })
  const run = lab.start(['run', '--json', '--approve', 'all', 'wait'])
  await run.line((line) => line.includes('item.delta') && line.includes('begun'))
  run.kill(signal)
  const ended = await run.ended
  expect(ended.code).toBe(130)
  expect(settled(readRun(ended.stdout))).toMatchObject({ outcome: 'stopped', reason: 'person' })
  await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
})

test('S-129 a second SIGINT exits at once; the next start settles the turn', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'Half' }, { hang: true }] }] })
  const run = lab.start(['run', '--json', 'wait'])
  const { sessionId } = JSON.parse(await run.line((line) => line.includes('"session"')))
  await run.line((line) => line.includes('Half'))
  run.kill('SIGINT')
  run.kill('SIGINT')
  expect((await run.ended).code).toBe(130)
  lab.server.enqueue({ emit: [{ text: 'Whole.' }] })
  const next = await lab.lathe(['run', '--json', '--session', sessionId, 'go on'])
  expect(next.code).toBe(0)
  expect(settled(readRun(next.stdout)).outcome).toBe('completed')
})

test('S-128 --timeout stops the turn with its reason', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'Half' }, { hang: true }] }] })
  const ended = await lab.lathe(['run', '--json', '--timeout', '1', 'wait'])
  expect(ended.code).toBe(130)
  expect(settled(readRun(ended.stdout))).toMatchObject({ outcome: 'stopped', reason: 'timeout' })
})

test('S-128 `ask` without a terminal fails the turn where a person is needed', async () => {
  await using lab = await Lab.open({ script: mending('ms') })
  const ended = await lab.lathe(['run', '--json', '--approve', 'ask', task])
  expect(ended.code).toBe(3)
  expect(settled(readRun(ended.stdout))).toMatchObject({ outcome: 'failed', error: { code: 'person.needed' } })
  expect(await lab.git('status', '--porcelain')).toBe('')
})

test('S-128 `edits` edits and denies commands, `none` denies both and leaves questions open; the turn goes on', async () => {
  await using lab = await Lab.open({ script: mending('ms') })
  await writeFile(join(lab.workspace, 'extra.js'), '')
  const editing = await lab.lathe(['run', '--json', '--approve', 'edits', task])
  expect(editing.code).toBe(0)
  expect(toolStates(readRun(editing.stdout)).filter((state) => !state.startsWith('update_plan'))).toEqual([
    'read_file ok',
    'edit_file ok',
    'shell denied',
  ])
  expect(editing.stderr.trimEnd().split('\n').at(-1)).toContain('1 action not allowed')
  expect(settled(readRun(editing.stdout)).items).toContainEqual(
    expect.objectContaining({ name: 'shell', state: 'denied', code: 'approval.unattended' }),
  )
  expect(messagesOf(lab.asked()[4]!.body).at(-1)).toMatchObject({
    tool: true,
    text: expect.stringContaining('consent'),
  })
  expect(await lab.testsPass()).toBe(true)

  await lab.git('checkout', '--', 'index.js')
  lab.script([
    { emit: [{ call: { name: 'ask_person', args: { question: 'Shall I?', choices: ['yes', 'no'] } } }] },
    { emit: [{ call: { name: 'write_file', args: { path: 'new.js', content: 'x' } } }] },
    { emit: [{ text: 'I could do nothing.' }] },
  ])
  const reading = await lab.lathe(['run', '--json', '--approve', 'none', task])
  expect(reading.code).toBe(0)
  expect(reading.stderr.trimEnd().split('\n').at(-1)).toBe('1 question unanswered')
  expect(toolStates(readRun(reading.stdout))).toContain('write_file denied')
  expect((await lab.git('status', '--porcelain')).trim()).toBe('?? extra.js')
})

test('S-130 a `!` line runs as the person’s own command, without a model', async () => {
  await using lab = await Lab.open({ script: [] })
  const ended = await lab.lathe(['run', '!cat index.js | head -n 3'])
  expect(ended.code).toBe(0)
  expect(ended.stdout).toBe(
    (await readFile(join(lab.workspace, 'index.js'), 'utf8')).split('\n').slice(0, 3).join('\n') + '\n',
  )
  expect((await lab.lathe(['run', '!exit 7'])).code).toBe(1)
  expect(lab.asked()).toEqual([])
})

test('T-160 S-8 --agent does the turn and stays the session’s; a broken one fails the turn, an unknown one is wrong usage', async () => {
  await using lab = await Lab.open({ script: [{ repeat: 'always', emit: [{ text: 'Looked.' }] }] })
  const folder = join(lab.workspace, '.lathe/agents')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'review.md'), '---\ndescription: Looks\ntools: [read_file]\n---\nName each mistake.\n')
  await writeFile(join(folder, 'broken.md'), '---\ndescription: Looks\nmode: root\n---\n')
  const ran = readRun((await lab.lathe(['run', '--json', '--agent', 'review', 'look'])).stdout)
  expect(settled(ran)).toMatchObject({ outcome: 'completed', turn: { agent: 'review' } })
  const again = readRun((await lab.lathe(['run', '--json', '--continue', 'again'])).stdout)
  expect(settled(again)).toMatchObject({ turn: { agent: 'review' } })
  const plain = readRun((await lab.lathe(['run', '--json', '--continue', '--agent', 'built-in', 'plain'])).stdout)
  expect(settled(plain).turn.agent).toBeUndefined()
  expect(lab.asked().map(({ body }) => JSON.stringify(body).includes('Name each mistake'))).toEqual([true, true, false])

  const broken = await lab.lathe(['run', '--json', '--agent', 'broken', 'look'])
  expect(broken.code).toBe(1)
  expect(settled(readRun(broken.stdout))).toMatchObject({ outcome: 'failed', error: { code: 'config.invalid' } })
  const unknown = await lab.lathe(['run', '--json', '--agent', 'nobody', 'look'])
  expect(unknown.code).toBe(2)
  expect(readError(unknown.stdout).message).toBe('There is no agent "nobody" here. There are built-in, broken, review.')
  expect(values((await lab.lathe(['sessions', 'list', '--json'])).stdout)).toHaveLength(2)
  expect(lab.asked()).toHaveLength(3)
})

test('S-111 S-112 `@path` in a prompt mentions a file of the workspace; what is none goes as text, and is said', async () => {
  await using lab = await Lab.open({ script: [{ emit: [{ text: 'Read.' }] }] })
  const ended = await lab.lathe(['run', '--json', 'Look at @index.js, not at @none/here.ts.'])
  expect(ended.code).toBe(0)
  expect(ended.stderr).toContain('@none/here.ts is no file of the workspace')
  const { text } = messagesOf(lab.asked()[0]!.body).findLast(({ tool }) => !tool)!
  expect(text).toContain('Look at @index.js, not at @none/here.ts.')
  expect(text).toMatch(/file: index\.js\nsize: \d+ bytes/)
  const [item] = (await shown(lab, readRun(ended.stdout).header.sessionId)).slice(1)
  expect(item.mentions).toMatchObject([{ kind: 'file', ref: 'index.js', label: 'index.js', at: 8 }])
})

test('S-126 wrong usage is exit 2 and one line', async () => {
  await using lab = await Lab.open()
  for (const args of [
    ['run', '--json'],
    ['run', '--json', '--approve', 'sometimes', 'x'],
    ['run', '--json', '--no-such', 'x'],
    ['run', '--json', '--timeout', 'soon', 'x'],
  ]) {
    const ended = await lab.lathe(args)
    expect([args, ended.code, readError(ended.stdout).code]).toEqual([args, 2, 'request.invalid'])
  }
})

test('SA-33 `run` on the folder of a host is a turn of that host, and its end leaves the host as it was', async () => {
  await using lab = await Lab.open({ script: mending('ms') })
  const host = lab.start(['serve', '--json'])
  await host.line((line) => line.includes('url'))
  const ended = await lab.lathe(['run', '--json', '--approve', 'all', task])
  expect(ended.code).toBe(0)
  expect(settled(readRun(ended.stdout)).outcome).toBe('completed')
  expect(await lab.testsPass()).toBe(true)
  expect(host.isRunning).toBe(true)
  host.kill('SIGTERM')
  if (host.isRunning) await once(host.child, 'exit')
  await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
})
