import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { CommandMarks, type Marker } from '../../preload/contract/command-marks.ts'
import { findProgram } from './find-program.ts'
import { profile, testTerminals, TestWindow } from './test-terminals.ts'

vi.setConfig({ testTimeout: 40_000 })
const lab = await testTerminals({ HISTFILE: '/dev/null', ZSH_DISABLE_COMPFIX: 'true' })
const { home } = lab
afterEach(() => lab.closeAll())
afterAll(() => lab.dispose())

const env = { PATH: process.env['PATH'] ?? '' }
const found = async (name: string) => [name, await findProgram(name, env)] as const
/** A bash without PS0, older than 4.4, is no package: `LATHE_OLD_BASH` names one that somebody built. */
const oldBash = ['bash', process.env['LATHE_OLD_BASH'] ?? null] as const
const shells = [...(await Promise.all(['bash', 'zsh', 'fish'].map(found))), oldBash].filter(
  (shell): shell is readonly [string, string] => shell[1] !== null,
)

async function shellOf(name: string, program: string, args: string[] = []) {
  const terminals = lab.make([profile(name, program, args)], { marks: true })
  const { id } = await terminals.open({ workspace: home, cols: 80, rows: 24, profile: name })
  const window = new TestWindow(terminals, id)
  const type = (text: string) => terminals.input(id, text)
  /** Facts of what was run so far, once `count` commands have ended. */
  const ended = async (count: number) => {
    await vi.waitFor(() => expect(window.marks?.commands.filter(({ end }) => end !== null)).toHaveLength(count), {
      timeout: 15_000,
    })
    return window.marks!.commands.filter(({ end }) => end !== null)
  }
  /** The last prompt stands and waits. */
  const prompt = () =>
    vi.waitFor(() => expect(window.marks?.commands.at(-1)).toMatchObject({ output: null }), { timeout: 15_000 })
  await prompt()
  return { terminals, id, window, type, ended, prompt }
}

/** The prompt of the person, and something of theirs that wants to know the last answer. */
async function startUpFiles(): Promise<void> {
  await mkdir(join(home, '.config/fish'), { recursive: true })
  await writeFile(
    join(home, '.bashrc'),
    `PS1='mine> '; seen() { last=$?; }; PROMPT_COMMAND=seen; export FROM_RC=bash\n`,
  )
  await writeFile(join(home, '.bash_profile'), `. ~/.bashrc; export FROM_RC=login\n`)
  await writeFile(
    join(home, '.zshrc'),
    `PROMPT='mine> '; unsetopt PROMPT_SP; seen() { last=$? }; precmd_functions+=(seen); export FROM_RC=zsh\n`,
  )
  await writeFile(join(home, '.zshenv'), `export FROM_ENV=zshenv\n`)
  await writeFile(
    join(home, '.config/fish/config.fish'),
    `function fish_prompt; echo -n 'mine> '; end; set -g fish_greeting; set -gx FROM_RC fish\n`,
  )
}
await startUpFiles()

describe.skipIf(process.platform === 'win32')('shell integration', () => {
  test.each(shells)(
    'X-818 %s marks commands, how they ended and its folder, beside the person’s own prompt',
    async (name, program) => {
      const shell = await shellOf(name, program)
      shell.type('echo one; echo two; echo "a;b%"\r')
      await shell.ended(1)
      await shell.prompt()
      shell.type('mkdir -p "in here" && cd "in here" && sh -c "exit 3"\r')
      const [first, second] = await shell.ended(2)
      expect(first).toMatchObject({ text: 'echo one; echo two; echo "a;b%"', exitCode: 0 })
      expect(second).toMatchObject({ text: 'mkdir -p "in here" && cd "in here" && sh -c "exit 3"', exitCode: 3 })
      expect(second!.durationMs).toBeGreaterThanOrEqual(0)
      const lines = shell.window.lines
      expect(lines[first!.prompt.line]).toContain('mine> echo one')
      expect(lines.slice(first!.output!.line, first!.end!.line)).toEqual(['one', 'two', 'a;b%'])
      expect(lines[second!.prompt.line]).toContain('mine> mkdir')
      await vi.waitFor(() => expect(shell.terminals.list()[0]!.folder).toBe(join(home, 'in here')), { timeout: 5_000 })
      await shell.prompt()
      shell.type('sh -c "exit 7"\r')
      await shell.ended(3)
      await shell.prompt()
      shell.type('echo "$FROM_RC.$last.$LATHE_MARKS.$LATHE_ZDOTDIR.$ZDOTDIR"\r')
      await shell.ended(4)
      const last = name === 'fish' ? '' : '7'
      await shell.window.shows(`${name}.${last}...`)
    },
  )

  test.each(shells)(
    'X-818 %s: an empty line, Ctrl+C and a prompt drawn again are no commands',
    async (name, program) => {
      const shell = await shellOf(name, program)
      shell.type('\r')
      await shell.window.shows(/mine>/)
      shell.type('half\x03')
      shell.type('\r\r')
      shell.type('true\r')
      const [only] = await shell.ended(1)
      expect(only!.text).toBe('true')
      expect(shell.window.marks!.commands.filter(({ output }) => output !== null)).toHaveLength(1)
    },
  )

  test.each(shells)(
    'X-805 X-818 a reloaded window has the marks of %s at the same rows, also behind a full-screen program',
    async (name, program) => {
      const shell = await shellOf(name, program)
      shell.type('seq 1 300\r')
      await shell.ended(1)
      await shell.prompt()
      shell.type('sh -c "exit 4"\r')
      await shell.ended(2)
      await shell.prompt()
      shell.type(`printf '\\033[?1049h\\033[2Jfull screen'; sleep 0.2; read x; printf '\\033[?1049l'\r`)
      await vi.waitFor(() => expect(shell.window.emulator.buffer.active.type).toBe('alternate'), { timeout: 10_000 })
      const again = new TestWindow(shell.terminals, shell.id)
      await vi.waitFor(() => expect(again.emulator.buffer.active.type).toBe('alternate'), { timeout: 10_000 })
      const marked = again.marks!.commands.map(({ text, exitCode, prompt }) => [
        text,
        exitCode,
        again.lines[prompt.line],
      ])
      expect(marked).toEqual([
        ['seq 1 300', 0, expect.stringContaining('mine> seq')],
        ['sh -c "exit 4"', 4, expect.stringContaining('mine> sh')],
        [expect.stringContaining('printf'), null, expect.stringContaining('mine> printf')],
      ])
      const [numbers] = again.marks!.commands
      expect(again.lines.slice(numbers!.output!.line, numbers!.end!.line)).toEqual(
        Array.from({ length: 300 }, (_, at) => String(at + 1)),
      )
      shell.type('\r')
      await vi.waitFor(() => expect(again.marks!.commands.filter(({ end }) => end !== null)).toHaveLength(3), {
        timeout: 10_000,
      })
      await again.leave()
    },
  )

  test.runIf(shells.some(([name]) => name === 'bash'))(
    'X-818 bash: a login shell reads its profile, and what others put into PROMPT_COMMAND stays in force',
    async () => {
      const login = await shellOf('login', '/bin/bash', ['-l'])
      login.type('echo "$FROM_RC-${PROMPT_COMMAND[*]}"\r')
      await login.window.shows(/^login-.*seen/)
      await writeFile(join(home, '.bashrc'), `PS1='mine> '; seen() { last=$?; }; export PROMPT_COMMAND=seen\n`)
      const exporting = await shellOf('exporting', '/bin/bash')
      exporting.type('sh -c "exit 7"\r')
      await exporting.ended(1)
      await exporting.prompt()
      exporting.type('echo last $last\r')
      await exporting.window.shows('last 7')
      exporting.type('bash --norc\r')
      exporting.type('seen() { inner=$?; }; sh -c "exit 5"\r')
      exporting.type('echo inner $inner\r')
      await exporting.window.shows('inner 5')
      expect(exporting.window.lines.join('\n')).not.toMatch(/__lathe\w*: (command )?not found/)
      await startUpFiles()
    },
  )

  test.runIf(oldBash[1] !== null)(
    'X-818 a DEBUG trap of the person’s stays in an old bash, which then has no marks',
    async () => {
      await writeFile(join(home, '.bashrc'), `PS1='mine> '; trap ': mine' DEBUG\n`)
      const terminals = lab.make([profile('old', oldBash[1]!)], { marks: true })
      const { id } = await terminals.open({ workspace: home, cols: 80, rows: 24, profile: 'old' })
      const window = new TestWindow(terminals, id)
      terminals.input(id, 'trap -p DEBUG; echo "[$?]"\r')
      await window.shows('[0]')
      expect(window.lines).toContain("trap -- ': mine' DEBUG")
      expect(window.marks?.commands.filter(({ output }) => output !== null) ?? []).toEqual([])
      await startUpFiles()
    },
  )

  test('X-818 without it, for a shell started with a script, and for another program nothing is added', async () => {
    const terminals = lab.make(
      [profile('bash', '/bin/bash'), profile('script', '/bin/bash', ['-c', 'env; sleep 600'])],
      {
        marks: true,
      },
    )
    const { id } = await terminals.open({ workspace: home, cols: 80, rows: 24, profile: 'script' })
    const window = new TestWindow(terminals, id)
    await window.shows(/^LATHE_TERMINAL_ID=/)
    expect(window.lines.join('\n')).not.toContain('LATHE_MARKS')
    expect(window.marks).toBeNull()
    const off = lab.make([profile('bash', '/bin/bash')], { marks: false })
    const opened = await off.open({ workspace: home, cols: 80, rows: 24, profile: 'bash' })
    const plain = new TestWindow(off, opened.id)
    off.input(opened.id, 'echo "[$FROM_RC$PS0]"\r')
    await plain.shows('[bash]')
    expect(plain.marks).toBeNull()
  })

  test('X-818 printed text cannot forge a mark', async () => {
    const shell = await shellOf('bash', '/bin/bash')
    shell.type(`printf '\\033]133;A\\a\\033]133;C;aid=guess;cmdline=rm\\a\\033]133;D;0;aid=guess\\a'; sh -c 'exit 2'\r`)
    const [only] = await shell.ended(1)
    expect(only).toMatchObject({ exitCode: 2 })
    expect(shell.window.marks!.commands.map(({ text }) => text)).not.toContain('rm')
  })
})

test('X-818 what scrolls out of reach is forgotten, and no more than 1,000 commands are kept', () => {
  const made: { line: number; isDisposed: boolean; dispose(): void }[] = []
  const marks = new CommandMarks<Marker>('s', () => {
    const marker = {
      line: made.length,
      isDisposed: false,
      dispose: () => void (marker.isDisposed = true),
    }
    made.push(marker)
    return { marker, column: 0 }
  })
  for (let at = 0; at < 1_200; at += 1)
    for (const mark of ['A;aid=s', `C;aid=s;cmdline=run ${at}`, `D;${at % 2};aid=s`]) marks.take(mark, at)
  expect(marks.commands).toHaveLength(1_000)
  expect(marks.commands[0]!.text).toBe('run 200')
  expect(made.filter(({ isDisposed }) => !isDisposed)).toHaveLength(3_000)
  // A command is there as long as something of it is.
  made[600]!.dispose()
  expect(marks.commands).toHaveLength(1_000)
  made[602]!.dispose()
  expect(marks.commands).toHaveLength(999)
  marks.take('D;1;aid=s', 0)
  marks.take('D;1', 0)
  expect(marks.commands.at(-1)).toMatchObject({ text: 'run 1199', exitCode: 1 })
})
