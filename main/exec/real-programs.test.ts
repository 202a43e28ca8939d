/** Programs people really run, driven as exec sessions and in a person's terminal; one that is not installed is skipped. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { createEnvironment } from './environment.ts'
import type { ExecSession } from './exec-session.ts'
import { findProgram } from './find-program.ts'
import { processSystem } from './process-tree.ts'
import { TerminalScreen } from './terminal-screen.ts'
import { testExec } from './test-exec-sessions.ts'
import { profile, testTerminals, TestWindow } from './test-terminals.ts'

vi.setConfig({ testTimeout: 60_000 })
const exec = await testExec()
const lab = await testTerminals()
afterAll(() => Promise.all([exec.dispose(), lab.dispose()]))
const never = new AbortController().signal
const soon = () => performance.now() + 20_000

const installed = async (program: string) => (await findProgram(program, { PATH: process.env['PATH'] ?? '' })) !== null
const [python, vim, htop, top, git] = await Promise.all(['python3', 'vim', 'htop', 'top', 'git'].map(installed))

const seen = (session: ExecSession, text: string) => session.untilSeen(text, 30_000, never)
function taken(session: ExecSession): string {
  const { kept } = session.capture.offer()
  session.capture.taken()
  return kept.head + kept.tail
}

test('a dev server is waited for by its ready line and answers until it is ended', async () => {
  await writeFile(
    join(exec.folder, 'server.mjs'),
    `import { createServer } from 'node:http'
     const server = createServer((_, reply) => reply.end('hello'))
     setTimeout(() => server.listen(0, '127.0.0.1', () => console.log('ready on', server.address().port)), 300)`,
  )
  const session = await exec.told(`${process.execPath} server.mjs`)
  expect(await seen(session, 'ready on')).toBe('seen')
  const port = /ready on (\d+)/.exec(taken(session))![1]
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello')
  await session.stop()
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

test('npm test with --watch runs again when a file changes, and Stop ends npm and all it started', async () => {
  const file = join(exec.folder, 'sum.test.mjs')
  await writeFile(join(exec.folder, 'package.json'), '{"scripts":{"test":"node --test"}}')
  const body = (sum: number) => `import test from 'node:test'; import assert from 'node:assert'
    test('sum', () => assert.equal(1 + 1, ${sum}))`
  await writeFile(file, body(2))
  const session = await exec.told('npm test -- --watch sum.test.mjs')
  expect(await seen(session, 'pass 1')).toBe('seen')
  taken(session)
  // A change in the moment in which it lays its watch anew is lost to it.
  await vi.waitFor(
    async () => {
      await writeFile(file, body(3))
      expect(await session.untilSeen('fail 1', 5_000, never)).toBe('seen')
    },
    { timeout: 40_000 },
  )
  const group = session.pid
  await session.stop()
  const left = (await processSystem.table()).filter((row) => row.group === group && !row.dead)
  expect(left).toEqual([])
})

test.skipIf(!python)('python3 is driven line by line, on a terminal and on a pipe', async () => {
  for (const tty of [true, false]) {
    const session = await exec.told('python3 -i -q', { tty })
    await session.send('x = 20\n', soon(), never)
    await session.send('print(x * 2 + 2)\n', soon(), never)
    expect(await seen(session, '42')).toBe('seen')
    // An end of input that comes while Python sets its terminal up for the next line is lost to it.
    await vi.waitFor(
      async () => {
        session.closeInput()
        expect(await session.untilEnd(1_000, never)).toBe(true)
      },
      { timeout: 30_000 },
    )
    expect(session.end).toMatchObject({ reason: 'exited', exitCode: 0 })
  }
})

test('node is driven line by line, on a terminal and on a pipe', async () => {
  for (const tty of [true, false]) {
    const session = await exec.told(`${process.execPath} -i`, { tty })
    expect(await seen(session, '> ')).toBe('seen')
    await session.send('[6, 7].reduce((a, b) => a * b)\n', soon(), never)
    expect(await seen(session, '42')).toBe('seen')
    await session.send('.exit\n', soon(), never)
    expect(await session.untilEnd(20_000, never)).toBe(true)
  }
})

test.skipIf(!python)(
  'X-428 a program that asks for a password as sudo does gets it from the person alone',
  async () => {
    const ask = `import getpass; word = getpass.getpass('[sudo] password for ann: '); print(len(word), 'characters')`
    const session = await exec.told(`python3 -c "${ask}"`, { tty: true })
    await vi.waitFor(() => expect(session.asking).toBe('[sudo] password for ann:'), { timeout: 20_000 })
    session.answer('hunter22')
    expect(await seen(session, '8 characters')).toBe('seen')
    expect(await session.untilEnd(20_000, never)).toBe(true)
    expect(taken(session)).not.toContain('hunter22')
  },
)

test.skipIf(!git)('git log does not wait in a pager, also on a terminal', async () => {
  const environment = createEnvironment({
    host: { PATH: process.env['PATH'], HOME: exec.folder },
    settings: () => ({ denied: [], passed: [], added: {} }),
    startedFromShell: true,
  })
  const env = await environment.forCommand({ sessionId: 's1', workspace: exec.folder }, true)
  const identity = '-c user.name=a -c user.email=a@b.invalid'
  const commits = `git init -q log && cd log && for i in $(seq 60); do git ${identity} commit -q --allow-empty -m "number $i"; done; git log`
  const session = await exec.sessions.start('git', {
    owner: 'agent',
    preview: 'git log',
    folder: exec.folder,
    tty: true,
    itemId: 'i',
    timeoutMs: 60_000,
    launch: { file: '/bin/bash', args: ['-c', commits], cwd: exec.folder, env },
  })
  expect(await session.untilEnd(50_000, never)).toBe(true)
  expect(taken(session)).toContain('number 1\n')
})

test.skipIf(!vim)('vim in an agent’s exec session shows its screen and saves what is typed', async () => {
  const session = await exec.told('vim -u NONE -N note.txt', { tty: true })
  await vi.waitFor(async () => expect(await session.screenText()).toContain('~'), { timeout: 20_000 })
  await session.send('ihello from vim\x1b', soon(), never)
  await vi.waitFor(async () => expect(await session.screenText()).toContain('hello from vim'), { timeout: 20_000 })
  await session.send(':wq\n', soon(), never)
  expect(await session.untilEnd(20_000, never)).toBe(true)
  expect(await readFile(join(exec.folder, 'note.txt'), 'utf8')).toBe('hello from vim\n')
})

const monitors = [...(top ? ['top'] : []), ...(htop ? ['htop'] : [])]
test.each(monitors)('%s fills a person’s terminal, and q leaves it', async (name) => {
  const program = (await findProgram(name, { PATH: process.env['PATH'] ?? '' }))!
  const terminals = lab.make([profile('monitor', program)])
  const { id } = await terminals.open({ workspace: lab.home, cols: 100, rows: 30, profile: 'monitor' })
  const screen = new TerminalScreen({ cols: 100, rows: 30, scrollback: 100, answer: () => {}, waiting: () => {} })
  let isOver = false
  const reading = (async () => {
    for await (const frame of terminals.attach(id, { signal: never })) {
      if (frame.type === 'exit') isOver = true
      else screen.write(frame.data)
    }
  })()
  await vi.waitFor(() => expect(screen.text()).toMatch(/PID/), { timeout: 30_000 })
  terminals.input(id, 'q')
  await vi.waitFor(() => expect(isOver).toBe(true), { timeout: 30_000 })
  await reading
})

test.skipIf(!vim)('vim draws in a person’s terminal, and leaves it as it was', async () => {
  const vimrc = ['-u', 'NONE', '-N', 'letter.txt']
  const program = (await findProgram('vim', { PATH: process.env['PATH'] ?? '' }))!
  const line = `echo before; ${[program, ...vimrc].join(' ')}; echo after; read x`
  const terminals = lab.make([profile('vim', '/bin/sh', ['-c', line])])
  const { id } = await terminals.open({ workspace: lab.home, cols: 80, rows: 24, profile: 'vim' })
  const window = new TestWindow(terminals, id)
  await vi.waitFor(() => expect(window.emulator.buffer.active.type).toBe('alternate'), { timeout: 20_000 })
  terminals.input(id, 'idear colleague\x1b:wq\r')
  await window.shows('after')
  expect(window.emulator.buffer.active.type).toBe('normal')
  expect(window.lines.join('\n')).not.toContain('dear colleague')
  await window.shows('before')
  expect(await readFile(join(lab.home, 'letter.txt'), 'utf8')).toBe('dear colleague\n')
})

test('K-01 a build with a progress bar is two lines for the agent', async () => {
  const bar = `for i in $(seq 0 5 100); do printf '\\r[%-20s] %3d%%' "$(printf '#%.0s' $(seq 1 $((i / 5))))" $i; sleep 0.01; done; printf '\\nbuilt\\n'`
  for (const tty of [true, false]) {
    const session = await exec.told(bar, { tty })
    expect(await session.untilEnd(20_000, never)).toBe(true)
    expect(taken(session)).toMatch(/^\[#{20}\] 100%\nbuilt\n$/)
  }
})

test('X-502 X-503 endless output is bounded, and Stop still ends it', async () => {
  for (const command of ['yes', 'cat /dev/urandom | base64', 'cat /dev/urandom']) {
    const session = await exec.told(command, { timeoutMs: null })
    await vi.waitFor(() => expect(session.capture.bytes).toBeGreaterThan(8 * 1024 * 1024), { timeout: 30_000 })
    const { kept } = session.capture.offer()
    expect(kept.head.length + kept.tail.length).toBeLessThanOrEqual(1_048_576)
    await session.stop()
    expect(session.end!.reason).toBe('stopped')
  }
})

test('XA-7 K-05 what ignores SIGTERM, and what forks away twice, is gone after Stop', async () => {
  const deaf = "trap '' TERM; sleep 300 & echo deaf $!; while :; do sleep 1; done"
  const away = "(setsid sh -c '(setsid sleep 301 & echo away $!; wait) &'); echo up; sleep 300"
  for (const command of [deaf, away]) {
    const session = await exec.told(command)
    await seen(session, command === deaf ? 'deaf' : 'away')
    const pid = Number(/(?:deaf|away) (\d+)/.exec(taken(session))![1])
    await session.stop()
    expect((await processSystem.rows([pid])).filter((row) => !row.dead)).toEqual([])
    expect(session.unreaped).toEqual([])
  }
})
