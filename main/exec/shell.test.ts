import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { watchTurns } from '../platform/test-loop.ts'
import { OutputCapture } from './capture.ts'
import { cutOutput } from './output.ts'
import { endTree, type ProcessRow, type ProcessSystem, processSystem } from './process-tree.ts'
import { liveProcesses } from './process.ts'
import { findShell, startCommand, type ShellCommand, shellLaunch } from './shell.ts'

const home = await realpath(await mkdtemp(join(tmpdir(), 'lathe-shell-')))
afterAll(() => rm(home, { recursive: true }))
const env = { PATH: process.env['PATH'] ?? '' }
const bash = await findShell(env, 'bash')

function start(command: string, more: Partial<ShellCommand> = {}) {
  return startCommand({
    shell: bash,
    command,
    login: false,
    cwd: home,
    env,
    timeoutMs: 60_000,
    capture: { folder: join(home, 'spool') },
    ...more,
  })
}

async function run(command: string, more: Partial<ShellCommand> = {}) {
  const { end, output, durationMs } = await (await start(command, more)).finished
  const text = cutOutput(output.reduced, 10_000)
  await output.release()
  return { end, text, durationMs, output }
}

/** Pids of living processes whose command line holds the text. */
async function pidsOf(text: string): Promise<number[]> {
  const rows = (await processSystem.table()).filter((row) => !row.dead)
  const lines = await Promise.all(rows.map((row) => readFile(`/proc/${row.pid}/cmdline`, 'latin1').catch(() => '')))
  return rows.filter((_, at) => lines[at]!.split('\0').includes(text)).map((row) => row.pid)
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes this process holds on to. */
function held(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** A number of seconds no other test sleeps for, so that its processes can be found. */
let seconds = 5_000 + (process.pid % 1_000) * 100
const uniqueSleep = (): string => String((seconds += 1))

async function untilRunning(count: number, sleep: string): Promise<void> {
  await vi.waitFor(async () => expect(await pidsOf(sleep)).toHaveLength(count), { timeout: 15_000 })
}

test('X-207 XA-10 a pid whose start time changed gets no signal', async () => {
  const row = (pid: number, group: number, startTime: string): ProcessRow => ({
    pid,
    parent: 1,
    group,
    startTime,
    dead: false,
    name: 'x',
  })
  const signals: [number, string][] = []
  let table = [row(100, 100, 'a'), { ...row(101, 101, 'a'), parent: 100 }, { ...row(102, 102, 'a'), parent: 100 }]
  const system: ProcessSystem = {
    table: async () => table,
    rows: async (pids) => table.filter((one) => pids.includes(one.pid)),
    hasMarker: async () => false,
    signal(pid, signal) {
      signals.push([pid, signal])
      // The leader goes; 101 is a stray that stays; 102 was given to another program meanwhile.
      if (signal === 'SIGTERM') table = [row(101, 101, 'a'), row(102, 102, 'b')]
      if (signal === 'SIGKILL') table = table.filter((one) => one.pid !== pid)
    },
  }
  expect(await endTree({ leader: 100, leaderStart: 'a' }, { grace: 30, system })).toEqual([])
  expect(signals).toEqual([
    [-100, 'SIGTERM'],
    [101, 'SIGKILL'],
  ])
})

test('X-207 XA-10 a pid that was given to another program between the look and the signal gets none', async () => {
  const row = (pid: number, startTime: string): ProcessRow => ({
    pid,
    parent: pid === 100 ? 1 : 100,
    group: pid,
    startTime,
    dead: false,
    name: 'x',
  })
  const signals: [number, string][] = []
  let looks = 0
  let table = [row(100, 'a'), row(101, 'a'), row(102, 'a')]
  const system: ProcessSystem = {
    async table() {
      const seen = table
      looks += 1
      // Right behind the second look, the one before SIGKILL.
      if (looks === 2) table = [row(101, 'a'), row(102, 'b')]
      return seen
    },
    rows: async (pids) => table.filter((one) => pids.includes(one.pid)),
    hasMarker: async () => false,
    signal(pid, signal) {
      signals.push([pid, signal])
      if (signal === 'SIGKILL') table = table.filter((one) => one.pid !== pid)
    },
  }
  expect(await endTree({ leader: 100, leaderStart: 'a' }, { grace: 30, system })).toEqual([])
  expect(signals).toEqual([
    [-100, 'SIGTERM'],
    [-100, 'SIGKILL'],
    [101, 'SIGKILL'],
  ])
})

test('X-205 what acts on SIGTERM has its time for that, and is not forced; what does not is, after a second', async () => {
  const leader: ProcessRow = { pid: 100, parent: 1, group: 100, startTime: 'a', dead: false, name: 'x' }
  const end = async (actsOnIt: boolean) => {
    const signals: { pid: number; signal: string; at: number }[] = []
    let table = [leader]
    let asked = false
    const system: ProcessSystem = {
      table: async () => table,
      async rows() {
        const seen = table
        // It lives on at the first look behind SIGTERM, and has gone by the next.
        if (asked && actsOnIt) table = []
        return seen
      },
      hasMarker: async () => false,
      signal(pid, signal) {
        signals.push({ pid, signal, at: performance.now() })
        if (signal === 'SIGTERM') asked = true
        else table = []
      },
    }
    expect(await endTree({ leader: 100, leaderStart: 'a' }, { system })).toEqual([])
    return signals
  }
  expect((await end(true)).map(({ signal }) => signal)).toEqual(['SIGTERM'])
  const [term, kill] = await end(false)
  expect([term, kill]).toMatchObject([
    { pid: -100, signal: 'SIGTERM' },
    { pid: -100, signal: 'SIGKILL' },
  ])
  expect(kill!.at - term!.at).toBeGreaterThan(995)
})

test('X-303 a shell that is not installed is named together with those that are', async () => {
  await expect(findShell({ PATH: '/nonexistent' }, 'zsh')).rejects.toMatchObject({ code: 'exec.shell_not_found' })
  await expect(findShell(env, 'cmd')).rejects.toMatchObject({
    code: 'exec.shell_not_found',
    hint: expect.stringContaining('bash'),
  })
  expect((await findShell(env, undefined, 'sh')).name).toBe('sh')
})

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  test('K-05 stop ends a child that lost its parent, one in a session of its own, and the shell', async () => {
    const sleep = uniqueSleep()
    const command = await start(`sh -c '(sleep ${sleep} &) ; (setsid sleep ${sleep} &) ; sleep ${sleep}'`)
    await untilRunning(3, sleep)
    const end = await command.process.stop('stopped')
    expect(await pidsOf(sleep)).toEqual([])
    expect(end).toMatchObject({ reason: 'stopped', unreaped: [], background: false })
    expect(liveProcesses()).toBe(0)
  })

  test('X-205 XA-7 what ignores SIGTERM is forced, the whole tree', async () => {
    const sleep = uniqueSleep()
    const command = await start(`trap '' TERM; sleep ${sleep} & sleep ${sleep}`)
    await untilRunning(2, sleep)
    await command.process.stop('stopped')
    expect(await pidsOf(sleep)).toEqual([])
  })

  test('X-504 a command is held back while its spool is, and goes on after', async () => {
    const wired = vi.spyOn(OutputCapture.prototype, 'onPressure')
    const command = await start('exec sleep 600')
    const [press] = wired.mock.calls.at(-1)!
    wired.mockRestore()
    const [pause, resume] = [vi.spyOn(command.process, 'pause'), vi.spyOn(command.process, 'resume')]
    press(true)
    expect([pause.mock.calls.length, resume.mock.calls.length]).toEqual([1, 0])
    press(false)
    expect([pause.mock.calls.length, resume.mock.calls.length]).toEqual([1, 1])
    await command.process.stop('stopped')
  })

  test('X-206 XA-8 X-211 a group outlives its leader, is told as background, and ends when stopped', async () => {
    const sleep = uniqueSleep()
    const command = await start(`(trap '' TERM; exec sleep ${sleep}) & echo started`)
    const { end, output } = await command.finished
    expect(end).toEqual({ exitCode: 0, signal: null, reason: 'exited', background: true, unreaped: [] })
    expect(output.reduced.head).toBe('started\n')
    await untilRunning(1, sleep)
    expect(liveProcesses()).toBe(1)
    await command.process.stop('stopped')
    expect(await pidsOf(sleep)).toEqual([])
    expect(liveProcesses()).toBe(0)
  })

  test('X-210 a background process that keeps the pipe open and busy holds the call 1 s at most, and lives on', async () => {
    const sleep = uniqueSleep()
    const command = await start(`(while echo tick; do sleep 0.02; done) & sleep ${sleep} & exit 3`)
    const { end, durationMs } = await command.finished
    expect(end).toMatchObject({ exitCode: 3, background: true })
    // It would hold it for ever.
    expect(durationMs).toBeLessThan(10_000)
    expect(await pidsOf(sleep)).toHaveLength(1)
    await command.process.stop('stopped')
  })

  test('XA-6 X-307 a time-out keeps the output so far and leaves nothing alive', async () => {
    const sleep = uniqueSleep()
    const { end, text } = await run(`echo hi; sleep ${sleep}`, { timeoutMs: 1_500 })
    expect(end.reason).toBe('timed_out')
    expect(text).toBe('hi\n')
    expect(await pidsOf(sleep)).toEqual([])
  })

  test('X-212 X-213 XA-11 a signal is a signal, and an exit seen first is an exit', async () => {
    expect((await run('kill -KILL $$')).end).toMatchObject({ exitCode: null, signal: 'SIGKILL', reason: 'exited' })
    const command = await start('exit 7')
    await command.process.exited
    expect(await command.process.stop('stopped')).toMatchObject({ exitCode: 7, reason: 'exited' })
  })

  test('X-201 X-202 a command has its own session, no terminal, an empty input and three descriptors', async () => {
    const { text } = await run(
      'read -r line; echo "read:$?"; { : < /dev/tty; } 2>&1; ls /proc/self/fd; ps -o sid= -p $$ 2>/dev/null || cut -d" " -f6 /proc/$$/stat; echo $$',
    )
    const lines = text
      .trim()
      .split('\n')
      .map((line) => line.trim())
    expect(lines[0]).toBe('read:1')
    expect(lines[1]).toContain('/dev/tty')
    // 3 is the listing itself; far above are what the test runner was started with, which is not the host's to close.
    expect(lines.slice(2, -2).filter((line) => Number(line) < 100)).toEqual(['0', '1', '2', '3'])
    expect(lines.at(-2)).toBe(lines.at(-1))
  })

  test('X-308 output can be opened again by name, as in a terminal', async () => {
    const folder = join(home, 'pipes')
    await mkdir(folder)
    vi.stubEnv('TMPDIR', folder)
    const { output } = await run('echo out > /dev/stdout; echo err > /dev/stderr; echo both | tee /dev/stderr')
    expect(output).toMatchObject({ stdout: 'out\nboth\n', stderr: 'err\nboth\n' })
    expect(await readdir(folder)).toEqual([])
    vi.unstubAllEnvs()
  })

  test('X-304 the command is one argument, with no profile and no rc file', async () => {
    const folder = join(home, 'with rc')
    await mkdir(folder)
    const { text } = await run(`printf '%s|' "it's" 'a  b' "$0" "$#" "$(shopt -p login_shell)"`, {
      env: { ...env, HOME: folder },
    })
    expect(text).toContain(`it's|a  b|`)
    expect(text).toContain('shopt -u login_shell')
    expect(shellLaunch(bash, 'x; y', true).args).toEqual(['-l', '-c', 'x; y'])
    expect(shellLaunch({ name: 'cmd', file: 'cmd.exe' }, 'a "b"', false)).toMatchObject({
      args: ['/d', '/s', '/c', '"a "b""'],
      verbatimArguments: true,
    })
    expect(shellLaunch({ name: 'pwsh', file: 'pwsh' }, '"; bad', false).args.join(' ')).not.toContain('bad')
  })

  test('K-02 X-503 2 GB on standard error: memory stays flat, the loop responsive, the spool bounded', async () => {
    const bytes = Number(process.env['LATHE_K02_BYTES'] ?? 300_000_000)
    const folder = join(home, 'flood')
    let liveCharacters = 0
    const before = held()
    const longest = watchTurns()
    const command = await start(`yes 0123456789012345678901234567890123456789 | head -c ${bytes} >&2`, {
      capture: { folder, live: (text) => void (liveCharacters += text.length) },
    })
    const { output, end } = await command.finished
    expect(longest()).toBeLessThan(500)
    expect(end.exitCode).toBe(0)
    expect(output.bytes).toBe(bytes)
    const text = cutOutput(output.reduced, 10_000)
    expect(text.length).toBeLessThan(10_200)
    const shown = text.replace(/^\[\.\.\. .* left out \.\.\.\]\n/m, '').length
    expect(text).toContain(`[... ${(bytes - shown).toLocaleString('en-US')} characters`)
    await vi.waitFor(() => expect(held() - before).toBeLessThan(32 * 1024 * 1024), { timeout: 10_000 })
    expect(liveCharacters).toBeLessThan(bytes / 4)
    await output.release()
    expect(await readdir(folder)).toEqual([])
  }, 120_000)

  test('K-06 sixteen commands with four processes each leave no process and no descriptor', async () => {
    const sleep = uniqueSleep()
    await run('true')
    const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length
    const before = await descriptors()
    const commands = await Promise.all(
      Array.from({ length: 16 }, () => start(`sleep ${sleep} & sleep ${sleep} & sleep ${sleep} & sleep ${sleep}`)),
    )
    await untilRunning(64, sleep)
    await Promise.all(commands.map((command) => command.process.stop('stopped')))
    expect(await pidsOf(sleep)).toEqual([])
    expect(liveProcesses()).toBe(0)
    await vi.waitFor(async () => expect(await descriptors()).toBeLessThanOrEqual(before), { timeout: 10_000 })
  })
})
