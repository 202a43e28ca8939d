import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  createEnvironment,
  type EnvironmentOptions,
  type EnvironmentSettings,
  parseEnvironment,
} from './environment.ts'

const home = await realpath(await mkdtemp(join(tmpdir(), 'lathe-environment-')))
afterAll(() => rm(home, { recursive: true }))
const settings: EnvironmentSettings = { denied: [], passed: [], added: {} }

/** A login shell with the given start-up text, run before the script it is asked to run. */
async function loginShell(startUp: string): Promise<string> {
  const file = join(home, `shell-${Math.random()}`)
  await writeFile(file, `#!/bin/sh\n${startUp}\nwhile [ $# -gt 1 ]; do shift; done\neval "$1"\n`)
  await chmod(file, 0o755)
  return file
}

async function environment(startUp: string, more: Partial<EnvironmentOptions> = {}) {
  return createEnvironment({
    host: { PATH: process.env['PATH'], HOME: home },
    home,
    settings: () => settings,
    loginShell: await loginShell(startUp),
    ...more,
  })
}

const owner = { sessionId: 's1', workspace: '/w' }

test('K-28 X-104 a bare host finds what the login shell sets up, whatever it prints', async () => {
  const startUp = String.raw`echo "welcome, FOO=no"; PATH="$HOME/.nvm/bin:$PATH"; export PATH LINES_OF="$(printf 'a\nB=c\n\nd')"; echo noise >&2`
  const { PATH, LINES_OF, FOO, SHLVL } = await (await environment(startUp)).forProgram('/w')
  expect(PATH).toBe(`${home}/.nvm/bin:${process.env['PATH']}`)
  expect(LINES_OF).toBe('a\nB=c\n\nd')
  expect([FOO, SHLVL]).toEqual([undefined, undefined])
})

test('X-104 X-105 a login shell that hangs or fails costs its limit once, one notice, and the usual folders are added', async () => {
  const notices: string[] = []
  const began = performance.now()
  const hanging = await environment('sleep 600', { limitMs: 200, notice: (text) => notices.push(text) })
  const [first, second] = await Promise.all([hanging.forProgram('/w'), hanging.forCommand(owner)])
  expect(performance.now() - began).toBeLessThan(8_000)
  expect(first['PATH']).toBe(`${process.env['PATH']}:/usr/local/bin:/opt/homebrew/bin:${home}/.local/bin`)
  expect(second['PATH']).toBe(first['PATH'])
  expect(notices).toHaveLength(1)
})

test('X-109 reload reads the login shell again', async () => {
  const file = join(home, 'stage')
  await writeFile(file, 'one')
  const again = await environment(`export STAGE="$(cat '${file}')"`)
  expect((await again.forProgram('/w'))['STAGE']).toBe('one')
  await writeFile(file, 'two')
  expect((await again.forProgram('/w'))['STAGE']).toBe('one')
  await again.reload()
  expect((await again.forProgram('/w'))['STAGE']).toBe('two')
})

test('X-106 XA-2 no key, token or runtime variable reaches a child, unless given back by name', async () => {
  const host = {
    PATH: '/bin:/usr/bin',
    LAB_KEY: 'k',
    ELECTRON_RUN_AS_NODE: '1',
    NODE_OPTIONS: '-r x',
    BASH_ENV: 'x',
    ENV: 'x',
    LATHE_TOKEN: 't',
    LATHE_SESSION_ID: 'outer',
    LATHE_HOME: '/h',
    KEEP: 'y',
  }
  const env = await environment('', {
    host,
    settings: (workspace) => ({
      ...settings,
      denied: ['LAB_KEY'],
      passed: workspace === '/passing' ? ['LAB_KEY', 'NODE_OPTIONS'] : [],
    }),
  })
  const plain = await env.forProgram('/w')
  expect(Object.keys(plain).filter((name) => /LAB_KEY|ELECTRON|NODE_OPTIONS|ENV$|TOKEN|SESSION/.test(name))).toEqual([])
  expect(plain).toMatchObject({ KEEP: 'y', LATHE_HOME: '/h' })
  expect(await env.forProgram('/passing')).toMatchObject({ LAB_KEY: 'k', NODE_OPTIONS: '-r x' })
})

test('X-107 X-108 X-803 agent commands are non-interactive, terminals are not, exec.env lies over both', async () => {
  const env = await environment('', { settings: () => ({ ...settings, added: { PAGER: 'mine' } }) })
  expect(await env.forCommand(owner)).toMatchObject({
    LATHE_SESSION_ID: 's1',
    LATHE_WORKSPACE: '/w',
    PAGER: 'mine',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    TERM: 'dumb',
    NO_COLOR: '1',
    LANG: 'C.UTF-8',
    PYTHONUNBUFFERED: '1',
  })
  expect((await env.forCommand(owner, true))['NO_COLOR']).toBeUndefined()
  const terminal = await env.forTerminal({ terminalId: 't1', workspace: '/w' })
  expect(terminal).toMatchObject({
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    TERM_PROGRAM: 'lathe',
    LATHE_TERMINAL_ID: 't1',
    PAGER: 'mine',
  })
  expect(terminal['GIT_PAGER']).toBeUndefined()
})

test('X-102 XA-1 two owners see their own values, and the host nothing', async () => {
  const before = { ...process.env }
  const env = await environment('')
  const [a, b] = await Promise.all([env.forCommand(owner), env.forCommand({ sessionId: 's2', workspace: '/v' })])
  expect([a['LATHE_SESSION_ID'], b['LATHE_SESSION_ID'], b['LATHE_WORKSPACE']]).toEqual(['s1', 's2', '/v'])
  expect(process.env).toEqual(before)
})

test('X-104 what env prints is read back, with NUL or without', () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)
  const value = fc.string({ unit: fc.constantFrom('a', '=', '\n', ' ', 'é', '{') })
  fc.assert(
    fc.property(fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true }), (env) => {
      const entries = Object.entries(env)
      expect(parseEnvironment(entries.map(([key, text]) => `${key}=${text}\0`).join(''))).toEqual(env)
      const plain = Object.fromEntries(entries.map(([key, text]) => [key, text.replace(/\n/g, '\n ')]))
      expect(
        parseEnvironment(
          Object.entries(plain)
            .map(([key, text]) => `${key}=${text}\n`)
            .join(''),
        ),
      ).toEqual(plain)
    }),
  )
})
