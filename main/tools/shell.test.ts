import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { createEnvironment } from '../exec/environment.ts'
import { reduceText } from '../exec/output.ts'
import { testExec } from '../exec/test-exec-sessions.ts'
import { liveProcesses } from '../exec/process.ts'
import { processSystem } from '../exec/process-tree.ts'
import { Paths } from '../files/paths.ts'
import { TestBlobs } from '../files/test-workspace.ts'
import { NetworkPolicy } from '../platform/network-policy.ts'
import { createRedaction } from '../platform/redaction.ts'
import { readArguments } from './arguments.ts'
import { createShellTool, type ShellTool } from './shell.ts'
import type { ToolContext, ToolResult } from './tool.ts'

const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-tool-')))
const [home, workspace, dataFolder] = [join(root, 'home'), join(root, 'w/app'), join(root, 'data')]
const spoolFolder = join(dataFolder, 'tmp/exec')
afterAll(() => rm(root, { recursive: true }))
beforeAll(async () => {
  for (const folder of [home, join(workspace, 'src'), dataFolder]) await mkdir(folder, { recursive: true })
})

const exec = await testExec()
afterAll(() => exec.dispose())
const blobs = new TestBlobs()
const asked: string[] = []
let whileAsked = async (): Promise<void> => {}
const tool: ShellTool = createShellTool({
  paths: new Paths({ dataFolder, home }),
  environment: createEnvironment({
    host: { PATH: process.env['PATH'], HOME: home, LAB_KEY: 'sk-test-1234567890abcdef', MY_TOKEN: 'tok-0123456789' },
    settings: () => ({ denied: ['LAB_KEY'], passed: [], added: {} }),
    loginShell: '/bin/sh',
    home,
  }),
  blobs,
  exec: exec.sessions,
  dataFolder,
  spoolFolder,
  home,
  preferredShell: () => null,
  isTrusted: async () => true,
  redaction: () => createRedaction({ known: [{ name: 'MY_TOKEN', value: 'tok-0123456789' }], loose: false }),
  network: new NetworkPolicy(
    () => ({ allow: [], deny: [], proxy: null, proxyResolves: false }),
    async (host) => {
      asked.push(host)
      await whileAsked()
      if (host === 'nobody.test') throw new Error('ENOTFOUND')
      return [{ address: host === 'inside.test' ? '10.0.0.5' : '93.184.216.34', family: 4 }]
    },
  ),
})

let calls = 0
function contextOf(more: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: 's1',
    turnId: 't1',
    callId: `c${(calls += 1)}`,
    workspace,
    extraFolders: [],
    signal: new AbortController().signal,
    output: () => {},
    progress: () => {},
    ask: async () => ({ noAnswer: 'unattended' }),
    setPlan: () => {},
    ...more,
  }
}

async function call(args: Record<string, unknown>, more: Partial<ToolContext> = {}): Promise<ToolResult> {
  const context = contextOf(more)
  const input = readArguments(tool, args) as Parameters<ShellTool['run']>[0]
  await tool.plan(input, context)
  return tool.run(input, context)
}

const plan = (args: Record<string, unknown>) =>
  tool.plan(readArguments(tool, args) as Parameters<ShellTool['plan']>[0], contextOf())

test('X-305 X-705 XA-31 arguments are cast, aliases taken, sizes clamped; no time limit is refused', () => {
  expect(
    readArguments(tool, { command: 'ls', timeout: '5', shell: null, workdir: 'src', max_output_tokens: 3 }),
  ).toEqual({
    command: 'ls',
    timeout: 5,
    working_dir: 'src',
    login: false,
    on_exit: 'notice',
    tty: false,
    max_output_chars: 1_000,
  })
  expect(readArguments(tool, { command: 'ls', timeout: 9_999, workdir: 'a', working_dir: 'b' })).toMatchObject({
    timeout: 600,
    working_dir: 'b',
    max_output_chars: 10_000,
  })
  for (const args of [
    { command: 'ls', timeout: 0 },
    { command: 'ls', tty: true },
    { command: 'ls', on_exit: 'wake' },
    { command: '' },
    { command: 'ls', shell: 'tclsh' },
    {},
  ]) {
    expect(() => readArguments(tool, args)).toThrow(LatheError)
  }
})

test('X-307 XA-15 a non-zero exit is a result, whatever the program prints', async () => {
  const result = await call({ command: 'echo "path outside workspace"; exit 1' })
  expect(result).toMatchObject({
    isError: false,
    view: { exitCode: 1, signal: null, stdout: 'path outside workspace\n', truncated: false },
  })
  expect(result.text).toMatch(/^path outside workspace\n\[Exit 1, [\d.]+ s\]$/)
  expect((await call({ command: 'true' })).text).toMatch(/^\(no output\)\n\[Exit 0/)
  expect((await call({ command: 'kill -9 $$' })).text).toContain('[Ended by SIGKILL')
})

test('X-103 XA-1 every call runs in its own folder with its own variables', async () => {
  const [a, b] = await Promise.all([
    call({ command: 'pwd; echo $LATHE_SESSION_ID' }),
    call({ command: 'pwd; echo $LATHE_SESSION_ID', working_dir: 'src' }, { sessionId: 's2' }),
  ])
  expect(a.text).toContain(`${workspace}\ns1\n`)
  expect(b.text).toContain(`${workspace}/src\ns2\n`)
})

test('K-01 XA-3 a progress bar costs the model one line, the live view still shows it', async () => {
  const live: string[] = []
  const result = await call(
    {
      command: String.raw`for i in $(seq 1 50); do printf '\r\033[32mdownloading %d%%\033[0m' $i; sleep 0.002; done; echo`,
    },
    { output: (text) => live.push(text) },
  )
  expect(result.text.split('\n')).toEqual(['downloading 50%', expect.stringContaining('[Exit 0')])
  expect(live.join('')).toContain('\r\x1b[32mdownloading 7%')
})

test('X-507 XA-5 long output is cut, and all of it is kept under its reference', async () => {
  const result = await call({ command: `head -c 100000 /dev/zero | tr '\\0' a`, max_output_chars: 1_000 })
  const reference = /all of it: output:([0-9a-f]{64}) \.\.\./.exec(result.text)?.[1]
  expect(result.text).toContain(`${'a'.repeat(400)}\n[... 99,000 characters`)
  expect(result.view).toMatchObject({ outputRef: reference, truncated: true })
  expect(reduceText(Buffer.from(await blobs.get(reference!)).toString())).toBe('a'.repeat(100_000))
  expect(await readdir(spoolFolder)).toEqual([])
})

test('X-508 binary output is named, not shown', async () => {
  expect((await call({ command: 'head -c 3000 /dev/zero' })).text).toMatch(/^\(binary output, 3,000 bytes/)
})

test('XA-6 X-307 a time-out is an error that carries the output so far', async () => {
  const result = await call({ command: 'echo hi; sleep 600', timeout: 1 })
  expect(result).toMatchObject({ isError: true, code: 'exec.timed_out' })
  expect(result.text).toMatch(/^hi\n\[Ended: it took longer than 1 s/)
  expect(liveProcesses()).toBe(0)
})

test('X-309 Stop on the card ends that command, and the turn goes on with its output', async () => {
  const context = contextOf()
  const shown = Promise.withResolvers<void>()
  const input = readArguments(tool, { command: 'echo here; sleep 600' }) as Parameters<ShellTool['run']>[0]
  const result = tool.run(input, { ...context, output: () => shown.resolve() })
  await shown.promise
  expect(tool.stopCommand('another')).toBe(false)
  expect(tool.stopCommand(context.callId)).toBe(true)
  expect(await result).toMatchObject({
    isError: true,
    code: 'exec.stopped_by_person',
    text: expect.stringContaining('here\n'),
  })
  expect(tool.stopCommand(context.callId)).toBe(false)
  expect(liveProcesses()).toBe(0)
})

test.each([
  { mode: 'one-shot', more: {} },
  { mode: 'session', more: { yield_time_ms: 30_000 } },
])('X-309 Stop on the card is not lost while the process is spawned ($mode mode)', async ({ more }) => {
  const context = contextOf({ sessionId: 'spawning' })
  // The process is there, and nobody has it in hand yet.
  const spawned = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const rows = vi.spyOn(processSystem, 'rows').mockImplementationOnce(async (pids) => {
    spawned.resolve()
    await goOn.promise
    return processSystem.rows(pids)
  })
  const input = readArguments(tool, { command: 'exec sleep 600', ...more }) as Parameters<ShellTool['run']>[0]
  const result = tool.run(input, context)
  await spawned.promise
  expect(tool.stopCommand(context.callId)).toBe(true)
  goOn.resolve()
  expect(await result).toMatchObject({ isError: true, code: 'exec.stopped_by_person' })
  rows.mockRestore()
  expect(exec.sessions.running('spawning')).toEqual([])
  expect(liveProcesses()).toBe(0)
})

test('X-309 Stop on the card while the command is made ready starts none', async () => {
  const context = contextOf()
  const asks = Promise.withResolvers<void>()
  whileAsked = () => (asks.resolve(), new Promise(() => {}))
  const input = readArguments(tool, { command: 'touch ran; echo http://slow.test' }) as Parameters<ShellTool['run']>[0]
  const result = tool.run(input, context)
  await asks.promise
  whileAsked = async () => {}
  expect(tool.stopCommand(context.callId)).toBe(true)
  await expect(result).rejects.toMatchObject({ code: 'exec.stopped_by_person' })
  expect(await readdir(workspace)).not.toContain('ran')
  expect(asked.splice(0)).toEqual(['slow.test'])
})

test('X-209 X-708 Stop of the turn is reported after the tree has gone, and is no result', async () => {
  const abort = new AbortController()
  const reason = new Error('stopped')
  const started = Promise.withResolvers<void>()
  const result = call(
    { command: 'echo on; trap "" TERM; sleep 600 & sleep 600' },
    { signal: abort.signal, output: () => started.resolve() },
  )
  await started.promise
  abort.abort(reason)
  await expect(result).rejects.toBe(reason)
  expect(liveProcesses()).toBe(0)
  await expect(call({ command: 'touch ran' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(await readdir(workspace)).not.toContain('ran')
})

test('X-211 what is left in the background is told', async () => {
  const result = await call({ command: 'sleep 3 & echo started' })
  expect(result.text).toMatch(/^started\n\[Exit 0, [\d.]+ s\]\n\[It left processes running in the background: x1\. /)
  await vi.waitFor(() => expect(liveProcesses()).toBe(0), { timeout: 8_000 })
})

test('X-106 X-107 ZA-26 no key reaches the command, known values are hidden in what it prints', async () => {
  const result = await call({ command: 'env; printf tok-01234; sleep 0.05; echo 56789' })
  expect(result.text).not.toMatch(/LAB_KEY|sk-test|tok-0123456789/)
  expect(result.text).toMatch(/MY_TOKEN=\[redacted:MY_TOKEN\]/)
  expect(result.text).toMatch(/\n\[redacted:MY_TOKEN\]\n\[Exit/)
  expect(result.view?.stdout).not.toContain('tok-0123456789')
})

test('X-320 the plan names the effects, the folder and the exact command', async () => {
  const { effects, preview } = await plan({ command: 'git status && make', working_dir: 'src' })
  expect(preview).toMatchObject({ detail: 'git status && make', detailKind: 'command', folder: 'src' })
  expect(effects).toMatchObject([
    // Beside what may change the repository, git runs as anybody would run it.
    { words: ['git', 'status'], readOnly: false },
    { words: ['make'], readOnly: false },
  ])
  expect((await plan({ command: 'ls', working_dir: '..' })).effects[0]).toMatchObject({ kind: 'read', inside: false })
})

test('X-325 a folder that was swapped after it was judged runs nothing', async () => {
  await mkdir(join(workspace, 'there'))
  const context = contextOf()
  const input = readArguments(tool, { command: 'touch ran', working_dir: 'there' }) as Parameters<ShellTool['run']>[0]
  await tool.plan(input, context)
  await rm(join(workspace, 'there'), { recursive: true })
  await symlink(root, join(workspace, 'there'))
  await expect(tool.run(input, context)).rejects.toMatchObject({ code: 'path.swapped' })
  expect(await readdir(root)).not.toContain('ran')
})

test('Z-63 Z-104 addresses are judged before a command starts, this computer allowed; a placeholder for a secret is never run', async () => {
  await expect(plan({ command: 'curl http://10.0.0.5/x' })).rejects.toMatchObject({ code: 'network.blocked' })
  await plan({ command: 'touch ran; echo http://inside.test:8080/x' })
  // Its name is asked for once there is consent, and not before.
  expect(asked).toEqual([])
  await expect(call({ command: 'touch ran; echo http://inside.test:8080/x' })).rejects.toMatchObject({
    code: 'network.blocked',
    reason: 'private_address',
  })
  expect(await readdir(workspace)).not.toContain('ran')
  const said = await call({
    command: 'echo "https://a.test/b" http://localhost:3000 http://nobody.test http://localhost:$PORT',
  })
  expect(said.isError).toBe(false)
  expect(asked).toEqual(['inside.test', 'a.test', 'nobody.test'])
  await expect(plan({ command: 'echo [redacted:LAB_KEY]' })).rejects.toMatchObject({ code: 'redaction.placeholder' })
})

test('X-303 faults of arguments that only the machine knows are typed', async () => {
  await writeFile(join(workspace, 'file'), '')
  await expect(plan({ command: 'ls', shell: 'cmd' })).rejects.toMatchObject({ code: 'exec.shell_not_found' })
  await expect(plan({ command: 'ls', working_dir: 'file' })).rejects.toMatchObject({ code: 'path.invalid' })
  await expect(plan({ command: 'ls', working_dir: 'gone' })).rejects.toMatchObject({ code: 'file.not_found' })
})

test('Z-65 git that only reads runs without hooks, filters of the file system or pagers', async () => {
  const result = await call({ command: 'git --no-pager log -1 || true; git status' })
  expect(result.isError).toBe(false)
  await call({ command: 'git init -q . && git config core.fsmonitor "touch fsmonitor-ran; true"' })
  await call({ command: 'git status' })
  expect(await readdir(workspace)).not.toContain('fsmonitor-ran')
  await call({ command: 'git status; true' })
  expect(await readdir(workspace)).toContain('fsmonitor-ran')
})

test('X-301 X-302 X-306 XA-24 what ends within the yield time is a reply and leaves nothing; what goes on has a number', async () => {
  expect(tool.concurrent).toBe(false)
  const done = await call({ command: 'echo quick; exit 2', yield_time_ms: 30_000 }, { sessionId: 'y' })
  expect(done).toMatchObject({ isError: false, view: { exitCode: 2 } })
  expect(exec.sessions.list('y')).toEqual([])
  const on = await call({ command: 'echo up; exec sleep 600', yield_time_ms: 200 }, { sessionId: 'y' })
  expect(on.text).toContain('[It goes on as x1: exec_session with session_id "x1"')
  expect(exec.sessions.list('y').map(({ id }) => id)).toEqual(['x1'])
  await exec.sessions.endOf('y')
})

test('X-310 XA-24 Stop within the yield time ends the process: nobody was told of it', async () => {
  const abort = new AbortController()
  const shown = Promise.withResolvers<void>()
  const result = call(
    { command: 'echo up; exec sleep 600', yield_time_ms: 30_000 },
    { sessionId: 'z', signal: abort.signal, output: () => shown.resolve() },
  )
  await shown.promise
  const reason = new Error('stopped')
  abort.abort(reason)
  await expect(result).rejects.toBe(reason)
  expect(exec.sessions.running('z')).toEqual([])
})
