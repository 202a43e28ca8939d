import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { bootId, endLeftover, processSystem } from './process-tree.ts'
import { type ProcessIdentity, type RunningProcess, startProcess } from './process.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const launch = { cwd: '/', env, output: () => {} }

async function alive(pid: number): Promise<boolean> {
  return (await processSystem.rows([pid])).some((row) => !row.dead)
}

type Host = {
  host: ChildProcess
  exited: Promise<unknown[]>
  /** The lines it printed first, and all it has printed by now. */
  printed: string[]
  lines(): string[]
}

/** A host of its own that runs `script` with `startProcess` and `endAllProcesses` at hand, once it has printed so many lines. */
async function hostOf(script: string, count: number): Promise<Host> {
  const module = fileURLToPath(new URL('./process.ts', import.meta.url))
  const tree = fileURLToPath(new URL('./process-tree.ts', import.meta.url))
  const source = `import { endAllProcesses, startProcess } from ${JSON.stringify(module)}
    import { processSystem } from ${JSON.stringify(tree)}
    const launch = { cwd: '/', env: { PATH: process.env.PATH }, output: (_, bytes) => process.stdout.write(bytes) }
    const sh = (script, system = processSystem) =>
      startProcess({ ...launch, file: 'sh', args: ['-c', script], system })
    ${script}`
  const host = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(host, 'exit')
  let text = ''
  host.stdout.on('data', (bytes) => (text += String(bytes)))
  const lines = (): string[] => text.split('\n').slice(0, -1)
  await vi.waitFor(() => expect(lines().length).toBeGreaterThanOrEqual(count), { timeout: 15_000 })
  return { host, exited, printed: lines().slice(0, count), lines }
}

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  test('X-214 quit ends all trees together, also what ignores SIGTERM, and starts nothing more', async () => {
    const deaf = "trap '' TERM; echo $$; (exec sleep 600) & echo $!; while :; do wait; done"
    const { host, exited, printed, lines } = await hostOf(
      `const sent = []
      const allAsked = Promise.withResolvers()
      let quits = false
      const system = {
        ...processSystem,
        // Nobody's grace goes by before all have been asked.
        rows: async (pids) => (quits && (await allAsked.promise), processSystem.rows(pids)),
        signal(pid, signal) {
          sent.push(signal)
          if (sent.length === 4) allAsked.resolve()
          processSystem.signal(pid, signal)
        },
      }
      const all = await Promise.all([1, 2, 3, 4].map(() => sh(${JSON.stringify(deaf)}, system)))
      process.stdin.once('data', async () => {
        quits = true
        const ended = await endAllProcesses(60_000)
        const refused = await sh('true').catch((error) => error.code)
        console.log(sent.join(' '))
        process.exit(ended.length === 4 && refused === 'app.closing' ? 0 : 1)
      })`,
      8,
    )
    host.stdin!.write('quit')
    expect(await exited).toEqual([0, null])
    await vi.waitFor(() => expect(lines()).toHaveLength(9), { timeout: 10_000 })
    expect(lines().at(-1)).toMatch(/^(SIGTERM ){4}SIGKILL/)
    expect(await Promise.all(printed.map(Number).map(alive))).toEqual(printed.map(() => false))
  })

  test('X-214 a host that ends by a fault of its own leaves no orphan behind', async () => {
    const { exited, printed } = await hostOf(
      `await sh('echo $$; sleep 600 & echo $!; wait'); setTimeout(() => { throw new Error('fault of this test') }, 300)`,
      2,
    )
    expect((await exited)[0]).not.toBe(0)
    await vi.waitFor(async () => expect(await Promise.all(printed.map(Number).map(alive))).toEqual([false, false]), {
      timeout: 10_000,
    })
  })

  test('X-204 X-215 XA-27 what a killed host left is ended by its record, and a reused pid is not', async () => {
    const { host, exited, printed } = await hostOf(
      `const ledger = { started: (identity) => console.log(JSON.stringify(identity)), ended() {} }
      await startProcess({ ...launch, ledger, file: 'sh', args: ['-c', '(setsid sh -c "echo \\$\\$; exec sleep 600" &) ; sleep 600'] })`,
      2,
    )
    host.kill('SIGKILL')
    await exited
    const record = JSON.parse(printed.find((line) => line.startsWith('{'))!) as ProcessIdentity
    const stray = Number(printed.find((line) => !line.startsWith('{')))
    const { leader } = record
    expect(record.bootId).toBe(await bootId())
    expect(await alive(leader)).toBe(true)
    expect(await endLeftover({ ...record, bootId: 'another start of the machine' })).toBe(false)
    expect(await endLeftover({ ...record, leaderStart: '1', marker: 'LATHE_SPAWN_ID=of another' })).toBe(false)
    expect(await alive(leader)).toBe(true)
    expect(await endLeftover(record)).toBe(true)
    expect([await alive(leader), await alive(stray)]).toEqual([false, false])
  })

  test('X-204 a process is recorded before its start is reported, and until it has gone', async () => {
    const seen: string[] = []
    const ledger = {
      started: ({ leader, leaderStart }: ProcessIdentity) => seen.push(`started ${leader} ${leaderStart !== null}`),
      ended: ({ leader }: ProcessIdentity) => seen.push(`ended ${leader}`),
      unreaped: () => {},
    }
    const running = await startProcess({ ...launch, file: 'cat', args: [], stdin: 'pipe', ledger })
    expect(seen).toEqual([`started ${running.pid} true`])
    running.write('x')
    running.closeInput()
    expect(await running.end).toMatchObject({ exitCode: 0, reason: 'exited' })
    expect(running.write('y')).toBe(false)
    await vi.waitFor(() => expect(seen.at(-1)).toBe(`ended ${running.pid}`), { timeout: 10_000 })
    await expect(startProcess({ ...launch, file: 'no-such-program', args: [], ledger })).rejects.toThrow('ENOENT')
    expect(seen).toHaveLength(2)
  })

  test('X-208 what cannot be ended is given up after 11 s, recorded with its pid, and the caller goes on', async () => {
    const told: string[] = []
    const ledger = {
      started: () => {},
      ended: () => void told.push('ended'),
      unreaped: (_: ProcessIdentity, pids: number[]) => void told.push(`unreaped ${pids.join()}`),
    }
    let printed = ''
    const running = await startProcess({
      ...launch,
      file: 'sh',
      args: ['-c', 'while :; do echo still here; sleep 0.1; done'],
      output: (_, bytes) => void (printed += bytes.toString()),
      ledger,
      // A machine on which no signal arrives.
      system: { ...processSystem, signal: () => {} },
    })
    await vi.waitFor(() => expect(printed).toContain('still here'), { timeout: 10_000 })
    const end = await running.stop('stopped')
    expect(end).toMatchObject({ reason: 'stopped', exitCode: null, signal: null })
    expect(end.unreaped).toContain(running.pid)
    expect(told).toEqual([`unreaped ${end.unreaped.join()}`])
    // Its streams were let go: it meets a closed pipe, and nothing of it is heard any more.
    const heard = printed.length
    await vi.waitFor(async () => expect(await alive(running.pid)).toBe(false), { timeout: 10_000 })
    expect(printed.length).toBe(heard)
    expect(await running.end).toBe(end)
  }, 40_000)

  test.each([undefined, { cols: 80, rows: 24 }])(
    'X-504 nothing is read before whoever started it has it in hand and can hold it back (pty: %j)',
    async (pty) => {
      const folder = await mkdtemp(join(tmpdir(), 'lathe-process-'))
      const printed = join(folder, 'printed')
      let running: RunningProcess | null = null
      const read: boolean[] = []
      running = await startProcess({
        ...launch,
        file: 'sh',
        args: ['-c', `echo early; : > ${printed}; sleep 600`],
        pty,
        output: () => void read.push(running !== null),
        // A busy machine: it has printed before its start time is known.
        system: {
          ...processSystem,
          rows: async (pids) => {
            await vi.waitFor(() => access(printed), { timeout: 15_000 })
            await delay(50)
            return processSystem.rows(pids)
          },
        },
      })
      await vi.waitFor(() => expect(read).toEqual([true]), { timeout: 10_000 })
      await running.stop('stopped')
      await rm(folder, { recursive: true })
    },
  )

  test('X-210 X-504 the last output of a process that was held back at its end is not lost', async () => {
    let length = 0
    const running = await startProcess({
      ...launch,
      file: 'sh',
      args: ['-c', 'sleep 0.2; head -c 60000 /dev/zero'],
      outputByName: true,
      output: (_, bytes) => void (length += bytes.length),
    })
    running.pause()
    void running.exited.then(() => setTimeout(() => running.resume(), 400))
    expect(await running.end).toMatchObject({ exitCode: 0, reason: 'exited' })
    expect(length).toBe(60_000)
  })

  test('X-217 a descendant that left the group and lost its parent is found by its environment', async () => {
    let pid = 0
    const output = (_: unknown, bytes: Buffer): void => void (pid = Number(bytes.toString()))
    const script = 'sh -c "setsid sh -c \'echo \\$\\$; exec sleep 600\' &"; sleep 600'
    const running = await startProcess({ ...launch, file: 'sh', args: ['-c', script], output })
    await vi.waitFor(() => expect(pid).toBeGreaterThan(0), { timeout: 10_000 })
    await vi.waitFor(
      async () => expect((await processSystem.rows([pid]))[0]).toMatchObject({ group: pid, name: 'sleep' }),
      { timeout: 10_000 },
    )
    await running.stop('stopped')
    expect(await alive(pid)).toBe(false)
  })
})
