import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import headless from '@xterm/headless'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { liveProcesses, RunningProcess } from './process.ts'
import { TerminalScreen } from './terminal-screen.ts'
import type { TerminalChange, Terminals } from './terminals.ts'
import { profile, testTerminals, TestWindow } from './test-terminals.ts'

vi.setConfig({ testTimeout: 60_000 })
const lab = await testTerminals()
const { home } = lab
const terminalsOf = lab.make
afterEach(() => lab.closeAll())
afterAll(() => lab.dispose())

const open = (terminals: Terminals, profile = 'plain bash') =>
  terminals.open({ workspace: home, cols: 80, rows: 24, profile })

describe.skipIf(process.platform === 'win32')('terminals', () => {
  test("X-802 X-803 the person's own shell, in the workspace, with a terminal's environment", async () => {
    const terminals = terminalsOf()
    const { id, title, state } = await open(terminals, 'sh')
    expect([title, state]).toEqual(['sh', 'running'])
    const window = new TestWindow(terminals, id)
    terminals.input(id, 'pwd; echo "$TERM $COLORTERM $TERM_PROGRAM $LATHE_TERMINAL_ID."; tty\r')
    await window.shows(new RegExp(`${home}$`))
    await window.shows(`xterm-256color truecolor lathe ${id}.`)
    await window.shows(/^\/dev\/(pts\/|tty)/)
  })

  test('X-805 XA-34 a reloaded window has the scrollback in order, and goes on from there', async () => {
    const terminals = terminalsOf()
    const { id } = await open(terminals)
    const first = new TestWindow(terminals, id)
    terminals.input(id, 'seq 1 20000\r')
    await first.shows('20000')
    await first.shows(/[$#]\s*$/)
    await first.leave()
    const second = new TestWindow(terminals, id)
    await second.shows('20000')
    expect(second.frames.map((frame) => frame.type)).toEqual(['snapshot'])
    const numbers = second.lines.filter((line) => /^\d+$/.test(line)).map(Number)
    expect(numbers.length).toBeGreaterThanOrEqual(5_000)
    expect(numbers.every((number, at) => at === 0 || number === numbers[at - 1]! + 1)).toBe(true)
    terminals.input(id, 'echo o""k\r')
    await second.shows('ok')
  })

  test('X-805 offsets join without gap or repeat, also while much is printed and others look', async () => {
    const terminals = terminalsOf()
    const { id } = await open(terminals)
    const windows = [new TestWindow(terminals, id)]
    terminals.input(id, 'for i in $(seq 1 30000); do echo "line $i"; done; echo do""ne\r')
    for (let at = 0; at < 4; at += 1) {
      await windows.at(-1)!.shows(/^line \d+00$/)
      windows.push(new TestWindow(terminals, id))
    }
    for (const window of windows) await window.shows('done')
    for (const { frames } of windows) {
      const joined = frames.every(
        (frame, at) => frame.type !== 'data' || frame.offset - frame.data.length === frames[at - 1]!.offset,
      )
      expect(joined).toBe(true)
    }
    expect(new Set(windows.map((window) => window.lines.slice(-3_000).join('\n'))).size).toBe(1)
    const { frames } = windows[0]!
    const current = new TestWindow(terminals, id, frames.at(-1)!.offset)
    terminals.input(id, 'echo af""ter\r')
    await current.shows('after')
    expect(current.frames.every((frame) => frame.type === 'data')).toBe(true)
  })

  test('X-806 XA-35 a frozen window costs a fixed amount, slows nothing, and catches up with a correct screen', async () => {
    const terminals = terminalsOf()
    const { id } = await open(terminals)
    const [frozen, quick] = [new TestWindow(terminals, id), new TestWindow(terminals, id)]
    await quick.shows(/[$#]/)
    const thaw = Promise.withResolvers<void>()
    frozen.frozen = thaw.promise
    terminals.input(id, `yes ${'y'.repeat(120)} | head -n 8000; echo fi""n\r`)
    await quick.shows('fin')
    expect(frozen.frames.reduce((sum, frame) => sum + (frame.type === 'data' ? frame.data.length : 0), 0)).toBeLessThan(
      100_000,
    )
    frozen.frozen = null
    thaw.resolve()
    await frozen.shows('fin')
    expect(frozen.frames.at(-1)?.type).toMatch(/snapshot|data/)
    expect(frozen.frames.filter((frame) => frame.type === 'snapshot').length).toBeGreaterThan(1)
    expect(frozen.lines.slice(-24)).toEqual(quick.lines.slice(-24))
  })

  test('X-807 keys arrive in order during a flood, and Ctrl+C ends it', async () => {
    const terminals = terminalsOf()
    const { id } = await open(terminals)
    const window = new TestWindow(terminals, id)
    terminals.input(id, 'cat > typed; yes\r')
    const typed = Array.from({ length: 2_000 }, (_, at) => `k${at}\n`)
    for (const keys of typed) terminals.input(id, keys)
    terminals.input(id, '\x04')
    await vi.waitFor(async () => expect(await readFile(join(home, 'typed'), 'utf8')).toBe(typed.join('')), {
      timeout: 10_000,
    })
    await window.shows('y')
    terminals.input(id, '\x03')
    terminals.input(id, 'echo ba""ck\r')
    await window.shows('back')
  })

  test('X-808 the size is clamped and reaches the program', async () => {
    const terminals = terminalsOf()
    const { id } = await open(terminals)
    const window = new TestWindow(terminals, id)
    terminals.resize(id, 5_000, 7)
    terminals.input(id, 'stty size\r')
    await window.shows(/7 1000$/)
    expect(window.lines.join('\n')).not.toContain('5000')
  })

  test('X-813 XA-37 a running program is named; close ends all of it; an idle shell is not busy', async () => {
    const terminals = terminalsOf()
    const changes: TerminalChange[] = []
    terminals.onChange((change) => changes.push(change))
    const { id } = await open(terminals)
    const state = () => terminals.list()[0]!
    terminals.input(id, 'sleep 4711\r')
    await vi.waitFor(() => expect(state()).toMatchObject({ busy: true, title: 'sleep' }), { timeout: 15_000 })
    terminals.input(id, '\x03')
    await vi.waitFor(() => expect(state()).toMatchObject({ busy: false, title: 'plain bash' }), { timeout: 15_000 })
    terminals.rename(id, 'server')
    expect(state().title).toBe('server')
    terminals.input(id, 'setsid sleep 4712 & sleep 4713\r')
    await vi.waitFor(() => expect(state().busy).toBe(true), { timeout: 15_000 })
    await terminals.close(id)
    expect(terminals.list()).toEqual([])
    expect(changes.at(-1)).toEqual({ removed: id })
    expect(liveProcesses()).toBe(0)
  })

  test('X-814 a shell that cannot start, or fails at once, says why and is tried once', async () => {
    const script = join(home, 'broken')
    const terminals = terminalsOf([profile('gone', '/nonexistent'), profile('broken', '/bin/sh', [script])])
    const gone = await open(terminals, 'gone')
    await vi.waitFor(() => expect(terminals.list()[0]!.state).toBe('failed'), { timeout: 10_000 })
    const window = new TestWindow(terminals, gone.id)
    await window.done
    expect(window.lines.join('\n')).toContain('/nonexistent')
    expect(window.frames.at(-1)).toMatchObject({ type: 'exit' })
    await writeFile(script, 'echo started >> starts; echo no luck; exit 3')
    const broken = await open(terminals, 'broken')
    await vi.waitFor(
      () => expect(terminals.list().find(({ id }) => id === broken.id)).toMatchObject({ state: 'failed', exitCode: 3 }),
      { timeout: 10_000 },
    )
    const other = new TestWindow(terminals, broken.id)
    await other.done
    expect(other.lines[0]).toBe('no luck')
    expect(await readFile(join(home, 'starts'), 'utf8')).toBe('started\n')
  })

  test('section 8 a shell that exits with 0 takes its tab along, any other stays with its code', async () => {
    const terminals = terminalsOf()
    const [left, stayed] = [await open(terminals), await open(terminals)]
    const window = new TestWindow(terminals, left.id)
    terminals.input(left.id, 'exit 0\r')
    await window.done
    expect(window.frames.at(-1)).toMatchObject({ type: 'exit', exitCode: 0, signal: null })
    expect(terminals.list().map(({ id }) => id)).toEqual([stayed.id])
    expect(() => terminals.attach(left.id, { signal: AbortSignal.abort() })).toThrow('closed')
    terminals.input(stayed.id, 'sleep 2.1; kill -9 $$\r')
    await vi.waitFor(() => expect(terminals.list()[0]).toMatchObject({ state: 'exited', exitCode: null }), {
      timeout: 20_000,
    })
    terminals.input(stayed.id, 'ignored')
    terminals.resize(stayed.id, 100, 30)
  })

  test('S-31 who loses the right to before the shell starts opens no terminal', async () => {
    const terminals = terminalsOf()
    const acting = new AbortController()
    const opening = terminals.open({ workspace: home, cols: 80, rows: 24, signal: acting.signal })
    acting.abort(new Error('only watching'))
    await expect(opening).rejects.toThrow('only watching')
    expect(terminals.list()).toEqual([])
    expect(liveProcesses()).toBe(0)
  })

  test('X-808 a resize after the end is ignored', async () => {
    const terminals = terminalsOf([profile('fails', '/bin/sh', ['-c', 'exit 3'])])
    const { id } = await open(terminals, 'fails')
    await vi.waitFor(() => expect(terminals.list()[0]!.state).toBe('failed'), { timeout: 10_000 })
    terminals.resize(id, 100, 30)
    const window = new TestWindow(terminals, id)
    await window.done
    expect(window.frames[0]).toMatchObject({ type: 'snapshot', cols: 80, rows: 24 })
  })

  test('X-814 a shell that is closed at once has not failed', async () => {
    const terminals = terminalsOf([profile('sleeps', '/bin/sh', ['-c', 'exec sleep 600'])])
    const states: string[] = []
    terminals.onChange((change) => 'terminal' in change && states.push(change.terminal.state))
    await terminals.close((await open(terminals, 'sleeps')).id)
    expect(states.length).toBeGreaterThan(0)
    expect(states).not.toContain('failed')
  })

  test('X-806 what the screen of the host has not parsed holds the shell back', async () => {
    const terminals = terminalsOf()
    const [pause, resume] = [vi.spyOn(RunningProcess.prototype, 'pause'), vi.spyOn(RunningProcess.prototype, 'resume')]
    const { id } = await open(terminals)
    const { write: real } = TerminalScreen.prototype
    const flood = vi.spyOn(TerminalScreen.prototype, 'write').mockImplementationOnce(function (this: TerminalScreen) {
      flood.mockRestore()
      real.call(this, 'x'.repeat(300 * 1024))
    })
    pause.mockClear()
    resume.mockClear()
    terminals.input(id, '\r')
    await vi.waitFor(() => expect(pause).toHaveBeenCalled(), { timeout: 10_000 })
    await vi.waitFor(() => expect(resume).toHaveBeenCalled(), { timeout: 10_000 })
    pause.mockRestore()
    resume.mockRestore()
  })

  test('X-815 terminals opened at the same instant are counted too', async () => {
    const terminals = terminalsOf([profile('sleeps', '/bin/sh', ['-c', 'exec sleep 600'])])
    const all = await Promise.allSettled(Array.from({ length: 26 }, () => open(terminals, 'sleeps')))
    const refused = all.filter((one) => one.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(['terminal.limit', 'terminal.limit'])
    expect(terminals.list()).toHaveLength(24)
  }, 40_000)

  test('X-815 K-06 24 terminals at most; when they end, ptys and descriptors are back where they began', async () => {
    const terminals = terminalsOf()
    const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length
    await terminals.close((await open(terminals)).id)
    const before = await descriptors()
    const opened = await Promise.all(Array.from({ length: 24 }, () => open(terminals)))
    await expect(open(terminals)).rejects.toMatchObject({ code: 'terminal.limit' })
    await Promise.all(opened.map(({ id }) => terminals.close(id)))
    expect(liveProcesses()).toBe(0)
    await vi.waitFor(async () => expect(await descriptors()).toBeLessThanOrEqual(before), { timeout: 10_000 })
  }, 40_000)
})

describe("the host's screen", () => {
  const screenOf = (answers: string[] = []) =>
    new TerminalScreen({
      cols: 80,
      rows: 24,
      scrollback: 5_000,
      answer: (data) => answers.push(data),
      waiting: () => {},
    })

  async function shown(data: string, cols = 80, rows = 24): Promise<headless.Terminal> {
    const emulator = new headless.Terminal({ cols, rows, scrollback: 5_000, allowProposedApi: true })
    await new Promise<void>((parsed) => emulator.write(data, parsed))
    return emulator
  }

  const rowsOf = (buffer: headless.IBuffer): string[] =>
    Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)!.translateToString(true))

  test('X-804 a snapshot made in pieces shows the same as the terminal: wrapped lines, colours, cursor, both screens', async () => {
    const text = [
      ...Array.from(
        { length: 900 },
        (_, at) =>
          `\x1b[3${at % 8}mrow ${at} ${'wide 日本 '.repeat(at % 40)}\x1b[0m${at % 7 === 0 ? '\x1b[44m' : ''}\r\n`,
      ),
      'prompt \x1b[1mbold',
      '\x1b[?2004h\x1b[?1h',
      '\x1b]2;my title\x07',
    ].join('')
    const screen = screenOf()
    screen.write(text)
    const [direct, again] = [await shown(text), await shown((await screen.snapshot()).data)]
    const count = 700
    expect(rowsOf(again.buffer.normal).slice(-count)).toEqual(rowsOf(direct.buffer.normal).slice(-count))
    expect([again.buffer.active.cursorX, again.buffer.active.cursorY]).toEqual([
      direct.buffer.active.cursorX,
      direct.buffer.active.cursorY,
    ])
    expect(again.modes).toEqual(direct.modes)
    for (const row of [-400, -60, -3]) {
      const cell = (emulator: headless.Terminal) =>
        emulator.buffer.normal.getLine(emulator.buffer.normal.length + row)!.getCell(2)!
      expect([cell(again).getFgColor(), cell(again).getBgColor()]).toEqual([
        cell(direct).getFgColor(),
        cell(direct).getBgColor(),
      ])
    }

    screen.write('\x1b[?1049h\x1b[2J\x1b[5;5Hfull screen')
    const alternate = await shown((await screen.snapshot()).data)
    expect(alternate.buffer.active.type).toBe('alternate')
    expect(alternate.buffer.active.getLine(4)!.translateToString(true)).toBe('    full screen')
  })

  test('X-805 a screen that was cleared below its scrollback is shown as it is, blank rows and cursor included', async () => {
    for (const end of ['\x1b[H\x1b[2Jprompt', '\r\n\r\n\r\n', '\x1b[10A\x1b[J$ ']) {
      const text = `${Array.from({ length: 120 }, (_, at) => `row ${at}\r\n`).join('')}${end}`
      const screen = screenOf()
      screen.write(text)
      const [direct, again] = [await shown(text), await shown((await screen.snapshot()).data)]
      expect(rowsOf(again.buffer.normal)).toEqual(rowsOf(direct.buffer.normal))
      const { cursorX, cursorY, baseY } = direct.buffer.active
      expect(again.buffer.active).toMatchObject({ cursorX, cursorY, baseY })
    }
  })

  test('X-804 a snapshot is 1 MiB at most, and keeps the newest', async () => {
    const screen = screenOf()
    for (let at = 0; at < 6_000; at += 1)
      screen.write(
        `${Array.from({ length: 70 }, (_, column) => `\x1b[38;5;${column + 16}mx`).join('')}${at}\x1b[0m\r\n`,
      )
    const { data, offset } = await screen.snapshot()
    expect(data.length).toBeLessThanOrEqual(1024 * 1024)
    expect(offset).toBe(screen.offset)
    expect(rowsOf((await shown(data)).buffer.normal).findLast((line) => line !== '')).toMatch(/x5999$/)
  })

  test('ZA-32 reports of the title and reads of the clipboard are not answered; device status is, once', async () => {
    const answers: string[] = []
    const screen = screenOf(answers)
    screen.write('\x1b]2;evil\x07\x1b[21t\x1b]52;c;?\x07')
    await screen.snapshot()
    expect(answers).toEqual([])
    screen.write('\x1b[5n')
    await screen.snapshot()
    expect(answers).toEqual(['\x1b[0n'])
  })
})
