import { afterAll, expect, test, vi } from 'vitest'
import { testExec } from '../exec/test-exec-sessions.ts'
import { readArguments } from './arguments.ts'
import { createExecSessionTool } from './exec-session.ts'
import { createListExecSessionsTool } from './list-exec-sessions.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

vi.setConfig({ testTimeout: 40_000 })
const exec = await testExec()
afterAll(() => exec.dispose())
const tool = createExecSessionTool(exec.sessions)
const list = createListExecSessionsTool(exec.sessions)

function contextOf(more: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: 's1',
    turnId: 't1',
    callId: 'c1',
    workspace: exec.folder,
    extraFolders: [],
    signal: new AbortController().signal,
    output: () => {},
    progress: () => {},
    ask: async () => ({ noAnswer: 'unattended' }),
    setPlan: () => {},
    ...more,
  }
}

/** As the pipeline does it, the result recorded. */
async function call(
  args: Record<string, unknown>,
  more: Partial<ToolContext> = {},
  of: Tool = tool,
): Promise<ToolResult> {
  const context = contextOf(more)
  const input = readArguments(of, args)
  await of.plan(input, context)
  const result = await of.run(input, context)
  result.recorded?.()
  return result
}

test('X-410 XA-21 what excludes each other is refused and touches nothing', async () => {
  const session = await exec.told('cat', { owner: 'x410' })
  for (const args of [
    { terminate: true, input: 'x' },
    { wait_for: 'a', until_exit: true },
    { terminate: true, until_exit: true },
  ])
    expect(() => readArguments(tool, { session_id: session.id, ...args })).toThrow(/do not fit/)
  expect(session.state).toBe('running')
  await session.stop()
})

test('X-705 aliases are taken, empty texts are absent', () => {
  expect(
    readArguments(tool, { session_id: 'x1', chars: 'a', yield_time_ms: '5', max_output_tokens: 9, wait_for: null }),
  ).toMatchObject({
    input: 'a',
    timeout_ms: 5,
    max_output_chars: 1_000,
    wait_for: '',
  })
})

test('X-420 a reply says state, times, output and match, as text and as data', async () => {
  const session = await exec.told('echo ready; sleep 60')
  const result = await call({ session_id: session.id, wait_for: 'ready' })
  expect(result.isError).toBe(false)
  expect(result.text).toMatch(/^ready\n\[x\d+ is running, [\d.]+ s so far, [\d.]+ s left\]\n\[The text was seen\.\]$/)
  expect(result.view!.exec).toMatchObject({ id: session.id, state: 'running', omitted: 0, matched: true })
  const ended = await call({ session_id: session.id, terminate: true })
  expect(ended).toMatchObject({ isError: false, toldEndOf: session.id, view: { exec: { state: 'ended' } } })
  expect(ended.text).toContain('was ended after')
})

test('X-417 X-419 time over is said and is no error', async () => {
  const session = await exec.told('sleep 60')
  const waited = await call({ session_id: session.id, wait_for: 'never', timeout_ms: 100 })
  expect(waited.text).toContain('[The text was not seen within 0.1 s; the process still runs.]')
  const exit = await call({ session_id: session.id, until_exit: true, timeout_ms: 100 })
  expect(exit.text).toContain('[It has not ended within 0.1 s; the process still runs.]')
  expect([waited.isError, exit.isError]).toEqual([false, false])
  await session.stop()
})

test('X-417 a process that ends without the text: the reply says so at once, and is no error', async () => {
  const session = await exec.told('read go', { owner: 'x417' })
  const reply = call({ session_id: session.id, wait_for: 'never', timeout_ms: 600_000 }, { sessionId: 'x417' })
  session.closeInput()
  expect(await reply).toMatchObject({
    isError: false,
    text: expect.stringContaining('[It ended before the text appeared.]'),
    view: { exec: { matched: false } },
  })
})

test('X-411 each kind of wait has its own time, and its cap', async () => {
  const session = await exec.told('exec sleep 600', { owner: 'x411' })
  const quiet = vi.spyOn(session, 'untilQuiet').mockResolvedValue()
  const seen = vi.spyOn(session, 'untilSeen').mockResolvedValue('time')
  const end = vi.spyOn(session, 'untilEnd').mockResolvedValue(false)
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    for (const more of [{}, { timeout_ms: 9_000_000 }])
      for (const wait of [{}, { wait_for: 'x' }, { until_exit: true }])
        await call({ session_id: session.id, ...wait, ...more }, { sessionId: 'x411' })
  } finally {
    vi.useRealTimers()
  }
  expect(quiet.mock.calls.map(([ms]) => ms)).toEqual([1_000, 30_000])
  expect(seen.mock.calls.map(([, ms]) => ms)).toEqual([10_000, 600_000])
  expect(end.mock.calls.map(([ms]) => ms)).toEqual([600_000, 600_000])
  await session.stop()
})

test('X-421 XA-22 a hard time limit is an error once, in every kind of call, with the output', async () => {
  for (const args of [{ timeout_ms: 20_000 }, { wait_for: 'nothing', timeout_ms: 20_000 }, { until_exit: true }]) {
    const session = await exec.told('echo so far; exec sleep 60', { timeoutMs: 400 })
    await session.untilSeen('so far', 20_000, new AbortController().signal)
    let result = await call({ session_id: session.id, ...args })
    if (!result.isError) result = await call({ session_id: session.id, ...args })
    expect(result).toMatchObject({ isError: true, code: 'exec.timed_out' })
    expect(await call({ session_id: session.id, ...args })).toMatchObject({ isError: false })
  }
})

test('X-414 input to what has ended is noted beside the output, and is an error only while it runs', async () => {
  const session = await exec.told('echo last')
  await session.ended
  const result = await call({ session_id: session.id, input: 'x\n' })
  expect(result.isError).toBe(false)
  expect(result.text).toContain('last\n')
  expect(result.text).toContain('exec.stdin_closed')
})

test('X-331 a command of the person is read and listed, not driven', async () => {
  const session = await exec.told('echo mine; exec sleep 60', { by: 'person', owner: 'p' })
  const read = await call({ session_id: session.id }, { sessionId: 'p' })
  expect(read.text).toContain('mine')
  for (const args of [{ input: 'x' }, { terminate: true }, { close_stdin: true }])
    await expect(call({ session_id: session.id, ...args }, { sessionId: 'p' })).rejects.toMatchObject({
      code: 'exec.person_owned',
    })
  expect((await call({}, { sessionId: 'p' }, list)).text).toContain('the person runs it')
  await session.stop()
})

test('what the person has taken over is theirs until they hand it back', async () => {
  const session = await exec.told('cat', { tty: true, owner: 'h' })
  session.hold(true)
  session.type('hello\r')
  await expect(call({ session_id: session.id, input: 'x' }, { sessionId: 'h' })).rejects.toMatchObject({
    code: 'exec.person_owned',
  })
  session.hold(false)
  const told = await call({ session_id: session.id, input: 'x\n' }, { sessionId: 'h' })
  expect(told.text).toContain('[The person typed into it since your last call.]')
  expect((await call({ session_id: session.id, timeout_ms: 0 }, { sessionId: 'h' })).text).not.toContain(
    'The person typed',
  )
  await session.stop()
})

test('X-428 XA-12 the agent’s input to a request for a secret is refused, and the process gets nothing', async () => {
  const session = await exec.told('printf \'Password: \'; read -r line; echo "got $line"; sleep 60', {
    tty: true,
    owner: 'q',
  })
  await vi.waitFor(() => expect(session.asking).not.toBeNull(), { timeout: 20_000 })
  await expect(call({ session_id: session.id, input: 'guess\n' }, { sessionId: 'q' })).rejects.toMatchObject({
    code: 'exec.secret_prompt',
  })
  expect(session.lastLine).not.toContain('guess')
  await session.stop()
})

test('X-424 the list has what runs and what ended untold, in order; safe beside other calls', async () => {
  const owner = { owner: 'l' }
  expect((await call({}, { sessionId: 'l' }, list)).text).toBe('Nothing is running.')
  const one = await exec.told('sleep 60', owner)
  const two = await exec.told('exit 4', owner)
  await two.ended
  const lines = (await call({}, { sessionId: 'l' }, list)).text.split('\n')
  expect(lines[0]).toMatch(/^x1: running, [\d.]+ s so far, idle [\d.]+ s, [\d.]+ s left; in .*: sleep 60$/)
  expect(lines[1]).toMatch(/^x2: ended with exit code 4; in .*: exit 4$/)
  await call({ session_id: two.id }, { sessionId: 'l' })
  expect((await call({}, { sessionId: 'l' }, list)).text.split('\n')).toHaveLength(1)
  expect(list.concurrent).toBe(true)
  await one.stop()
})

test('K-01 a progress bar of an exec session is one line for the model', async () => {
  const session = await exec.told("for i in $(seq 1 300); do printf '\\rdownloading %d%%' $i; done; echo; sleep 60", {
    tty: true,
  })
  const result = await call({ session_id: session.id, wait_for: '300%' })
  expect(result.text.split('\n')[0]).toBe('downloading 300%')
  await session.stop()
})
