/**
 * The one spawner. A started process is supervised until nothing of it is left: its output is handed on as it
 * arrives, its end is told once, and stopping it ends everything it started.
 *
 * Children belong to the host process itself, so the set of those alive is the one thing here that is module-wide.
 */
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { type Carrier, type Launch, openPipes, openPty, type OutputStream } from './carrier.ts'
import {
  bootId,
  endTree,
  groupMayLive,
  livingOf,
  processSystem,
  type ProcessSystem,
  type ProcessTree,
  startTimeOf,
} from './process-tree.ts'

export type StopReason = 'stopped' | 'timed_out' | 'shutdown'

/** How a process ended. A missing exit code is null, never 0. */
export type ProcessEnd = {
  exitCode: number | null
  signal: string | null
  /** `exited` where the exit was seen before the first signal was sent. */
  reason: 'exited' | StopReason
  /** Members of the group live on after a normal exit; `stop` still ends them. */
  background: boolean
  /** Pids that survived being ended. */
  unreaped: number[]
}

/** What tells the process apart from any other on this machine, also after a restart of the host. */
export type ProcessIdentity = ProcessTree & { bootId: string | null }

/** Keeps the rows of X-204; the calls only queue. */
export type ProcessLedger = {
  started(process: ProcessIdentity): void
  ended(process: ProcessIdentity): void
  /** In the place of `ended`, where it could not be ended: these pids live on. */
  unreaped(process: ProcessIdentity, pids: number[]): void
}

export type ProcessStart = Launch & {
  /**
   * Called in order of arrival over both streams. `bytes` are filled anew afterwards: what is to be kept of them is
   * copied. May call `pause` and `resume`.
   */
  output(stream: OutputStream, bytes: Buffer): void
  ledger?: ProcessLedger | undefined
  /** Replaced in tests only. */
  system?: ProcessSystem | undefined
}

const quietMs = 100
const drainMs = 1_000
const heldMax = 30_000
const reapMs = 5_000
const backgroundPollMs = 1_000

/** Work on output in one turn of the loop; then it rests until the next, so that whatever else waits has its turn. */
const turnMs = 8

const live = new Set<RunningProcess>()
let closing = false
let workedMs = 0
const resting = new Set<RunningProcess>()

function restUntilNextTurn(running: RunningProcess): void {
  if (resting.size === 0) {
    setImmediate(() => {
      workedMs = 0
      const all = [...resting]
      resting.clear()
      for (const one of all) one.read()
    })
  }
  resting.add(running)
}

/**
 * Starts a process in a session and group of its own. Throws `exec.spawn_failed` with the system's code, the program and
 * the folders looked in.
 */
export async function startProcess(start: ProcessStart): Promise<RunningProcess> {
  if (closing) throw new LatheError('app.closing', 'Lathe is closing; nothing new is started.')
  const spawnId = randomUUID()
  const env = { ...start.env, LATHE_SPAWN_ID: spawnId }
  const running = new RunningProcess(start, `LATHE_SPAWN_ID=${spawnId}`)
  try {
    await running.open({ ...start, env })
  } catch (error) {
    throw await spawnFailure(start, error)
  }
  return running
}

async function spawnFailure(launch: Launch, error: unknown): Promise<LatheError> {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
  const folder = await stat(launch.cwd).catch(() => null)
  if (!folder?.isDirectory()) {
    return new LatheError(
      'exec.spawn_failed',
      `${launch.file} could not be started: the folder ${launch.cwd} is not there (${code}).`,
      { data: { code, folder: launch.cwd } },
    )
  }
  const searched = /[/\\]/.test(launch.file) ? '' : ` Looked in: ${launch.env['PATH'] ?? 'no PATH'}.`
  return new LatheError('exec.spawn_failed', `${launch.file} could not be started (${code}).${searched}`, {
    hint: 'Check that the program is installed and on PATH.',
    data: { code, program: launch.file },
    cause: error,
  })
}

export class RunningProcess {
  /** Settles once: after a normal exit and the drain of X-210, or after the tree was ended. Never rejects. */
  readonly end: Promise<ProcessEnd>
  #settle!: (end: ProcessEnd) => void
  #start: ProcessStart
  #marker: string
  #carrier!: Carrier
  #identity!: ProcessIdentity
  #exit: { exitCode: number | null; signal: string | null } | null = null
  #exited = Promise.withResolvers<void>()
  #closed = Promise.withResolvers<void>()
  #streamsClosed = false
  #lastOutput = 0
  #stopping: Promise<ProcessEnd> | null = null
  #released = false
  #isOpen = false
  #held = false
  #gone = Promise.withResolvers<void>()

  constructor(start: ProcessStart, marker: string) {
    this.#start = start
    this.#marker = marker
    this.end = new Promise((resolve) => (this.#settle = resolve))
  }

  get pid(): number {
    return this.#carrier.pid
  }

  /** Settles when the exit of the process itself was seen, before its output is drained. */
  get exited(): Promise<void> {
    return this.#exited.promise
  }

  /** It was asked to end. */
  get stopped(): boolean {
    return this.#stopping !== null
  }

  /** Settles once nothing of it is left, what it started in the background included. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** False once the exit of the process itself was seen, whatever its children do. */
  get running(): boolean {
    return this.#exit === null
  }

  /** Called once, by `startProcess`. */
  async open(launch: Launch): Promise<void> {
    const events = {
      data: (stream: OutputStream, bytes: Buffer) => this.#take(stream, bytes),
      exit: (exitCode: number | null, signal: string | null) => {
        this.#exit = { exitCode, signal }
        this.#exited.resolve()
      },
      closed: () => {
        this.#streamsClosed = true
        this.#closed.resolve()
      },
    }
    this.#carrier = launch.pty ? await openPty(launch, launch.pty, events) : await openPipes(launch, events)
    // Nothing is read before whoever started it has it in hand: only then can they hold it back.
    this.#carrier.pause()
    this.#isOpen = true
    this.#identity = { leader: this.pid, leaderStart: null, marker: this.#marker, bootId: null }
    live.add(this)
    killAllAtExit()
    const [leaderStart, boot] = await Promise.all([startTimeOf(this.pid, this.#start.system), bootId()])
    this.#identity = { leader: this.pid, leaderStart, marker: this.#marker, bootId: boot }
    this.#start.ledger?.started(this.#identity)
    this.#carrier.resume()
    void this.#exited.promise.then(() => this.#afterExit())
  }

  #take(stream: OutputStream, bytes: Buffer): void {
    const from = performance.now()
    this.#start.output(stream, bytes)
    this.#lastOutput = performance.now()
    workedMs += this.#lastOutput - from
    if (workedMs < turnMs || !this.#isOpen || this.#stopping) return
    this.#carrier.pause()
    restUntilNextTurn(this)
  }

  /** Reads on behind a rest, unless it is held back. */
  read(): void {
    if (!this.#held) this.#carrier.resume()
  }

  /** False where the process no longer reads. */
  write(data: string | Uint8Array): boolean {
    return this.#carrier.write(typeof data === 'string' ? Buffer.from(data) : Buffer.from(data))
  }

  /** Resolves with whether the process takes it, once it has; input beyond what it reads waits. */
  send(data: string): Promise<boolean> {
    return this.#carrier.send(Buffer.from(data))
  }

  /** End of input; on a pty the end-of-file character. */
  closeInput(): void {
    this.#carrier.closeInput()
  }

  /** Stops reading its output; the process is held back once the kernel's buffer is full. */
  pause(): void {
    this.#held = true
    this.#carrier.pause()
  }

  resume(): void {
    this.#held = false
    if (!resting.has(this)) this.#carrier.resume()
  }

  resize(cols: number, rows: number): void {
    if (this.running) this.#carrier.resize(cols, rows)
  }

  /**
   * Ends the process, what it started, and what that started; resolves when that is done or was given up
   * . The first reason counts; later calls join it.
   */
  stop(reason: StopReason, grace?: number): Promise<ProcessEnd> {
    this.#stopping ??= this.#endTree(this.#exit === null ? reason : 'exited', grace)
    return this.#stopping
  }

  async #endTree(reason: ProcessEnd['reason'], grace?: number): Promise<ProcessEnd> {
    // The carrier must be read on, or a process blocked in a write could not act on SIGTERM.
    this.resume()
    if (this.#start.pty && process.platform === 'win32') this.#carrier.destroy()
    const { system = processSystem } = this.#start
    const survivors = await endTree(this.#identity, { grace, hangUp: this.#start.pty !== undefined, system })
    await Promise.race([Promise.all([this.#exited.promise, this.#closed.promise]), limit(reapMs)])
    const unreaped = survivors.map((row) => row.pid)
    this.#release(unreaped)
    const end = this.#endOf(reason, false, unreaped)
    this.#settle(end)
    return end
  }

  #endOf(reason: ProcessEnd['reason'], background: boolean, unreaped: number[]): ProcessEnd {
    return { exitCode: this.#exit?.exitCode ?? null, signal: this.#exit?.signal ?? null, reason, background, unreaped }
  }

  async #afterExit(): Promise<void> {
    if (this.#stopping) return
    await this.#drained()
    if (this.#stopping) return
    const background = await this.#groupLives()
    if (this.#stopping) return
    this.#settle(this.#endOf('exited', background, []))
    if (background) await this.#untilGroupEnds()
    if (!this.#stopping) this.#release()
  }

  /**
   * until the streams close, or 100 ms without a chunk; at most 1,000 ms. While the spool holds it back it
   * is not read, so that time says nothing of it: its last output waits in the pipe.
   */
  async #drained(): Promise<void> {
    const began = performance.now()
    this.#lastOutput = began
    let heldMs = 0
    while (!this.#streamsClosed) {
      const now = performance.now()
      const wait = Math.min(this.#lastOutput + quietMs, began + heldMs + drainMs) - now
      if (wait <= 0) return
      await Promise.race([this.#closed.promise, limit(wait)])
      // A loop that was busy has not read yet what is there.
      await loopTurn()
      if (!this.#held || heldMs > heldMax) continue
      this.#lastOutput = performance.now()
      heldMs += this.#lastOutput - now
    }
  }

  async #groupLives(): Promise<boolean> {
    if (process.platform === 'win32' || !groupMayLive(this.pid)) return false
    const { leader, leaderStart } = this.#identity
    return (await livingOf({ leader, leaderStart })).length > 0
  }

  /** What was left in the background keeps being read, so that it is not killed by a closed pipe, until it has gone. */
  async #untilGroupEnds(): Promise<void> {
    do await limit(backgroundPollMs)
    while (!this.#stopping && (await this.#groupLives()))
  }

  #release(unreaped: number[] = []): void {
    if (this.#released) return
    this.#released = true
    this.#carrier.destroy()
    live.delete(this)
    if (unreaped.length > 0) this.#start.ledger?.unreaped(this.#identity, unreaped)
    else this.#start.ledger?.ended(this.#identity)
    this.#gone.resolve()
  }

  /** Last resort while the host itself exits: no waiting, no asking. */
  killNow(): void {
    try {
      process.kill(process.platform === 'win32' ? this.pid : -this.pid, 'SIGKILL')
    } catch {}
  }
}

/** A wait that keeps nothing alive by itself. */
function limit(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

/**
 * Quit: ends every process this host started, all trees at once, with 500 ms of grace and at most `limitMs` in
 * all. Nothing can be started afterwards. Answers the pids of those it ended.
 */
export async function endAllProcesses(limitMs = 3_000): Promise<number[]> {
  closing = true
  const ending = [...live]
  const all = Promise.all(ending.map((running) => running.stop('shutdown', 500)))
  await Promise.race([all, limit(limitMs)])
  for (const running of live) running.killNow()
  return ending.map((running) => running.pid)
}

/** How many processes are supervised at the moment, those left in the background counted. */
export function liveProcesses(): number {
  return live.size
}

let killsAtExit = false

/** A host that ends without `endAllProcesses`, by a fault of its own, still leaves no orphan behind. */
function killAllAtExit(): void {
  if (killsAtExit) return
  killsAtExit = true
  process.on('exit', () => live.forEach((running) => running.killNow()))
}
