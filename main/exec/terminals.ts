/**
 * The person's terminals (section 8): real ptys that live in the host and belong to a workspace. Windows only look at
 * them: each gets a snapshot and the output from there, and one that is too slow gets a snapshot again.
 */
import { randomUUID } from 'node:crypto'
import { TextDecoder } from 'node:util'
import { LatheError } from '../../preload/contract/errors.ts'
import type { TerminalState } from '../../preload/contract/events.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import type { TerminalProfile } from '../../preload/contract/settings.ts'
import type { Env, Environment } from './environment.ts'
import { programsUnder } from './process-tree.ts'
import { type ProcessLedger, type RunningProcess, startProcess } from './process.ts'
import type { ScreenFeed } from './screen-feed.ts'
import type { ShellIntegration } from './shell-integration.ts'
import { profileNamed, terminalProfiles } from './terminal-profiles.ts'

export type TerminalsOptions = {
  environment: Environment
  /** `terminal.scrollback`: lines kept above the screen of terminals opened from now on. */
  scrollback(): number
  /** The person's, and the name of the one new terminals start with; null: their own shell. */
  profiles(): { own: readonly TerminalProfile[]; chosen: string | null }
  /** Null where the person wants no marks. */
  integration(): ShellIntegration | null
  ledger?: ((terminalId: string) => ProcessLedger) | undefined
}

export type TerminalChange = { terminal: TerminalState } | { removed: string }

export interface Terminals {
  list(): TerminalState[]
  /** What can be opened there, the default first. */
  profiles(workspace: string): Promise<TerminalProfile[]>
  /**
   * Throws `terminal.limit`, and `request.invalid` for a profile that is not there. A shell that cannot start is a terminal
   * in state `failed` that says why.
   */
  open(given: {
    workspace: string
    cols: number
    rows: number
    profile?: string | undefined
    /** Aborted before the shell starts, none does; its reason is thrown. */
    signal?: AbortSignal
  }): Promise<TerminalState>
  /**
   * A snapshot and the output from there, or the output alone where nothing came after offset `after`; ends with `exit`.
   * Offsets count characters up to the end of a frame. Pulling is the acknowledgement: a reader that leaves 512 Ki
   * characters waiting loses them and gets a snapshot instead. Throws `request.invalid` for an unknown id.
   */
  attach(id: string, options: { after?: number; signal: AbortSignal }): AsyncIterable<TerminalFrame>
  /** Written in order; ignored after the end. */
  input(id: string, data: string): void
  resize(id: string, cols: number, rows: number): void
  rename(id: string, title: string): void
  /** The newest `lines` lines it shows, and what it is called; null where it was closed. */
  text(id: string, lines: number): Promise<{ title: string; text: string } | null>
  /** Forgets scrollback and screen but for the cursor's row, in every window. */
  clear(id: string): Promise<void>
  /** Ends all that runs in it and forgets it; resolves when it has gone. */
  close(id: string): Promise<void>
  /** Called with every change of the list until the returned function is called. */
  onChange(listener: (change: TerminalChange) => void): () => void
}

const terminalsMax = 24
const failedWithinMs = 2_000
const busyPollMs = 1_000

export function createTerminals(options: TerminalsOptions): Terminals {
  const terminals = new Map<string, HostTerminal>()
  const listeners = new Set<(change: TerminalChange) => void>()
  let opening = 0
  let poll: NodeJS.Timeout | null = null

  function tell(change: TerminalChange): void {
    for (const listener of listeners) listener(change)
  }

  function known(id: string): HostTerminal {
    const terminal = terminals.get(id)
    if (!terminal) throw new LatheError('request.invalid', 'This terminal is closed.')
    return terminal
  }

  function changed(terminal: HostTerminal): void {
    if (terminals.get(terminal.id) !== terminal) return
    // A shell that was left in good order takes its tab along.
    if (terminal.left) {
      terminals.delete(terminal.id)
      tell({ removed: terminal.id })
    } else tell({ terminal: terminal.state })
  }

  /** One look at the process table for all terminals in which something may have changed. */
  async function lookForPrograms(): Promise<void> {
    poll = null
    const looked = [...terminals.values()].filter((terminal) => terminal.mayHaveChanged())
    const programs = await programsUnder(looked.map((terminal) => terminal.pid!))
    looked.forEach((terminal, at) => terminal.runs(programs[at] ?? null))
    watch()
  }

  function watch(): void {
    if (poll !== null || ![...terminals.values()].some((terminal) => terminal.watched)) return
    poll = setTimeout(() => void lookForPrograms().catch(() => {}), busyPollMs).unref()
  }

  async function profilesFor(env: Env): Promise<TerminalProfile[]> {
    const { own, chosen } = options.profiles()
    return terminalProfiles(env, own, chosen)
  }

  return {
    list: () => [...terminals.values()].map((terminal) => terminal.state),
    profiles: async (workspace) => profilesFor(await options.environment.forTerminal({ terminalId: '', workspace })),
    async open({ workspace, cols, rows, profile: name, signal }) {
      if (terminals.size + opening >= terminalsMax) {
        throw new LatheError('terminal.limit', `There are ${terminalsMax} terminals already.`, {
          hint: 'Close one that is no longer needed.',
        })
      }
      opening += 1
      try {
        const id = randomUUID()
        const [env, { ScreenFeed: Feed }] = await Promise.all([
          options.environment.forTerminal({ terminalId: id, workspace }),
          // The emulator loads with the first terminal, not with every start.
          import('./screen-feed.ts'),
        ])
        const profile = profileNamed(await profilesFor(env), name)
        const given = { ...env, ...profile.env }
        // Marks are a comfort: where they cannot be set up, the shell starts without them.
        const marked = await options
          .integration()
          ?.start(profile, given)
          .catch(() => null)
        signal?.throwIfAborted()
        const terminal = new HostTerminal({
          id,
          workspace,
          cols: clamp(cols, 2, 1_000),
          rows: clamp(rows, 1, 500),
          profile,
          args: marked?.args ?? profile.args,
          secret: marked?.secret ?? null,
          Feed,
          scrollback: options.scrollback(),
          changed,
          active: watch,
        })
        terminals.set(id, terminal)
        await terminal.start(marked?.env ?? given, options.ledger?.(id))
        tell({ terminal: terminal.state })
        return terminal.state
      } finally {
        opening -= 1
      }
    },
    attach: (id, { after, signal }) => known(id).frames(after, signal),
    input: (id, data) => known(id).input(data),
    resize: (id, cols, rows) => known(id).resize(clamp(cols, 2, 1_000), clamp(rows, 1, 500)),
    rename(id, title) {
      known(id).name = title.trim() || null
      changed(known(id))
    },
    text: async (id, lines) => (await terminals.get(id)?.text(lines)) ?? null,
    clear: (id) => known(id).clear(),
    async close(id) {
      const terminal = known(id)
      await terminal.close()
      if (terminals.delete(id)) tell({ removed: id })
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.trunc(value)))
}

type TerminalOptions = {
  id: string
  workspace: string
  cols: number
  rows: number
  profile: TerminalProfile
  args: string[]
  /** What its shell marks commands with; null: it does not. */
  secret: string | null
  Feed: typeof ScreenFeed
  scrollback: number
  changed(terminal: HostTerminal): void
  active(): void
}

class HostTerminal {
  readonly id: string
  /** What the person called it. */
  name: string | null = null
  readonly #options: TerminalOptions
  readonly #feed: ScreenFeed
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #createdAt = Date.now()
  #process: RunningProcess | null = null
  #state: TerminalState['state'] = 'running'
  #exit: { exitCode: number | null; signal: string | null } = { exitCode: null, signal: null }
  #program: string | null = null
  #folder: string
  #active = true
  #closing = false

  constructor(options: TerminalOptions) {
    this.id = options.id
    this.#options = options
    this.#folder = options.workspace
    const { secret } = options
    this.#feed = new options.Feed({
      ...options,
      marks: secret === null ? undefined : { secret, folder: (path) => this.#isIn(path) },
      answer: (data) => this.#process?.write(data),
      holdBack: (held) => (held ? this.#process?.pause() : this.#process?.resume()),
    })
  }

  get pid(): number | null {
    return this.#process?.running ? this.#process.pid : null
  }

  get state(): TerminalState {
    const { workspace, profile } = this.#options
    return {
      id: this.id,
      title: this.name ?? this.#program ?? profile.name,
      workspace,
      folder: this.#folder,
      profile: profile.name,
      program: profile.program,
      state: this.#state,
      exitCode: this.#exit.exitCode,
      busy: this.#program !== null,
      createdAt: this.#createdAt,
    }
  }

  /** The shell exited by itself with 0. */
  get left(): boolean {
    return this.#state === 'exited' && this.#exit.exitCode === 0 && !this.#closing
  }

  async start(env: Env, ledger: ProcessLedger | undefined): Promise<void> {
    const { profile, args, workspace, cols, rows } = this.#options
    const began = performance.now()
    try {
      this.#process = await startProcess({
        file: profile.program,
        args,
        cwd: workspace,
        env,
        pty: { cols, rows },
        ledger,
        output: (_, bytes) => this.#print(this.#decoder.decode(bytes, { stream: true })),
      })
    } catch (error) {
      this.#print(`${(error as Error).message}\r\n`)
      this.#ended('failed')
      return
    }
    void this.#process.end.then(({ exitCode, signal }) => {
      this.#exit = { exitCode, signal }
      const failed = exitCode !== 0 && !this.#closing && performance.now() - began < failedWithinMs
      this.#ended(failed ? 'failed' : 'exited')
    })
  }

  #isIn(folder: string): void {
    if (folder === this.#folder) return
    this.#folder = folder
    this.#options.changed(this)
  }

  #ended(state: 'exited' | 'failed'): void {
    this.#print(this.#decoder.decode())
    this.#state = state
    this.#program = null
    this.#feed.end(this.#exit)
    this.#options.changed(this)
  }

  // --- output ---

  #print(text: string): void {
    if (text === '') return
    this.#active = true
    this.#options.active()
    this.#feed.print(text)
  }

  frames(after: number | undefined, signal: AbortSignal): AsyncIterable<TerminalFrame> {
    return this.#feed.frames(after, signal)
  }

  async text(lines: number): Promise<{ title: string; text: string }> {
    await this.#feed.screen.parsed()
    return { title: this.state.title, text: this.#feed.screen.tail(lines) }
  }

  clear(): Promise<void> {
    return this.#feed.clear()
  }

  // --- the person ---

  input(data: string): void {
    this.#active = true
    this.#options.active()
    this.#process?.write(data)
  }

  resize(cols: number, rows: number): void {
    if (this.#state !== 'running') return
    this.#process?.resize(cols, rows)
    this.#feed.resize(cols, rows)
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#process?.stop('stopped')
  }

  // --- what runs in it (X-813) ---

  /** Whether a program may have started or ended since the last look. */
  get watched(): boolean {
    return this.pid !== null && (this.#active || this.#program !== null)
  }

  /** As `watched`; the look that follows settles it. */
  mayHaveChanged(): boolean {
    const watched = this.watched
    this.#active = false
    return watched
  }

  runs(program: string | null): void {
    if (program === this.#program || this.#state !== 'running') return
    this.#program = program
    this.#options.changed(this)
  }
}
