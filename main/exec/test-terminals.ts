/** Terminals over real shells, and windows that look at them; for tests. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import headless from '@xterm/headless'
import { vi } from 'vitest'
import { CommandMarks } from '../../preload/contract/command-marks.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import type { TerminalProfile } from '../../preload/contract/settings.ts'
import { createEnvironment } from './environment.ts'
import { createShellIntegration } from './shell-integration.ts'
import { createTerminals, type Terminals } from './terminals.ts'

export type TestTerminals = {
  home: string
  /** Those made before are closed by `closeAll`. */
  make(profiles?: TerminalProfile[], options?: { marks?: boolean }): Terminals
  closeAll(): Promise<void>
  dispose(): Promise<void>
}

export const profile = (name: string, program: string, args: string[] = []): TerminalProfile => ({
  name,
  program,
  args,
  env: {},
  icon: 'terminal',
})

/** A bash that reads nothing of whoever runs the tests. */
const plainBash = profile('plain bash', '/bin/bash', ['--noprofile', '--norc'])

export async function testTerminals(host: Record<string, string> = {}): Promise<TestTerminals> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'lathe-terminals-')))
  const environment = createEnvironment({
    host: { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/sh', PS1: '$ ', ...host },
    home,
    loginShell: '/bin/sh',
    startedFromShell: true,
    settings: () => ({ denied: [], passed: [], added: {} }),
  })
  let made: Terminals[] = []
  const closeAll = async (): Promise<void> => {
    await Promise.all(made.flatMap((terminals) => terminals.list().map(({ id }) => terminals.close(id))))
    made = []
  }
  return {
    home,
    make(own = [plainBash], { marks = false } = {}) {
      const integration = createShellIntegration(join(home, 'shell-integration'))
      const terminals = createTerminals({
        environment,
        scrollback: () => 5_000,
        profiles: () => ({ own, chosen: null }),
        integration: () => (marks ? integration : null),
      })
      made.push(terminals)
      return terminals
    },
    closeAll,
    async dispose() {
      await closeAll()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** A window: it shows frames as a window's emulator does, and reads on only while not frozen. */
export class TestWindow {
  readonly emulator = new headless.Terminal({ cols: 80, rows: 24, scrollback: 20_000, allowProposedApi: true })
  readonly frames: TerminalFrame[] = []
  readonly #leave = new AbortController()
  frozen: Promise<void> | null = null
  marks: CommandMarks<headless.IMarker> | null = null
  readonly done: Promise<void>

  constructor(terminals: Terminals, id: string, after?: number) {
    this.done = this.#read(
      terminals.attach(id, { signal: this.#leave.signal, ...(after === undefined ? {} : { after }) }),
    )
  }

  async #read(frames: AsyncIterable<TerminalFrame>): Promise<void> {
    for await (const frame of frames) {
      this.frames.push(frame)
      if (frame.type === 'snapshot') await this.#begin(frame)
      else if (frame.type === 'data') await this.#write(frame.data)
      await this.frozen
    }
  }

  #write(data: string): Promise<void> {
    return new Promise((parsed) => this.emulator.write(data, parsed))
  }

  async #begin({ data, cols, rows, commands }: Extract<TerminalFrame, { type: 'snapshot' }>): Promise<void> {
    const { emulator } = this
    emulator.reset()
    emulator.resize(cols, rows)
    if (!commands) return this.#write(data)
    if (!this.marks) {
      this.marks = new CommandMarks(commands.secret, () => ({
        marker: emulator.registerMarker(0)!,
        column: emulator.buffer.active.cursorX,
      }))
      emulator.parser.registerOscHandler(133, (mark) => (this.marks?.take(mark, Date.now()), true))
    }
    await this.#write(data.slice(0, commands.at))
    const { normal } = emulator.buffer
    this.marks.begin(commands, (row) => {
      const line = normal.length - 1 - row
      return line < 0 ? undefined : emulator.registerMarker(line - normal.baseY - normal.cursorY)
    })
    await this.#write(data.slice(commands.at))
  }

  get lines(): string[] {
    return this.newest(Infinity)
  }

  /** The last `count` lines. */
  newest(count: number): string[] {
    const { normal } = this.emulator.buffer
    const from = Math.max(0, normal.length - count)
    return Array.from({ length: normal.length - from }, (_, row) => normal.getLine(from + row)!.translateToString(true))
  }

  async shows(text: string | RegExp): Promise<void> {
    const check = (): void => {
      const lines = this.newest(400)
      if (!lines.some((line) => (typeof text === 'string' ? line === text : text.test(line))))
        throw new Error(`${text} is not shown, but: ${lines.slice(-24).join('|')}`)
    }
    await vi.waitFor(check, { timeout: 30_000, interval: 20 })
  }

  async leave(): Promise<void> {
    this.#leave.abort()
    await this.done
  }
}
