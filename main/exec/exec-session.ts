/**
 * One process that outlives the call that started it (section 4): what it prints is kept until the agent was given it,
 * waits on it end by its end, its output or the clock, and a window may look at its screen.
 */
import { setImmediate as loopTurn, setTimeout as delay } from 'node:timers/promises'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import type { ExecEnd } from '../../preload/contract/session.ts'
import type { OutputCapture } from './capture.ts'
import { LiveOutput } from './live-output.ts'
import { TextSearch } from './plain-text.ts'
import type { ProcessEnd, RunningProcess, StopReason } from './process.ts'
import type { ScreenFeed } from './screen-feed.ts'
import { LastLine, promptQuietMs, secretPrompt } from './secret-prompt.ts'

export const execSize = { cols: 120, rows: 40 }
const screenScrollback = 5_000
const quietMs = 150
/** Unread output that a notice of the end shows whole. */
const noticeChars = 4_000
/** Text a process is given at once; the next follows once it was taken. */
const pieceChars = 4_096
/** Recent output a window begins with where the process has no terminal of its own. */
const recentBytes = 256 * 1024

export type ExecFacts = {
  owner: 'agent' | 'person'
  label?: string | undefined
  /** First line of the command, at most 120 characters, secrets redacted. */
  preview: string
  folder: string
  tty: boolean
  /** The card that started it. */
  itemId: string
  /** The subagent that started it: it sees its own alone. */
  subagent?: { sessionId: string; label: string } | undefined
  /** Milliseconds; null: no limit. */
  timeoutMs: number | null
  /** Its end starts a turn of an idle session. */
  wakes?: boolean | undefined
}

/** What its session is told; each is durable once it resolves. */
export type ExecPorts = {
  changed(id: string, set: { state?: 'running' | 'stopping'; held?: boolean }): void
  asks(id: string, prompt: string): void
  answered(id: string): void
  /** Stores what no reply could show; answers its hash, or undefined where the disk refuses. */
  keep(output: AsyncIterable<Uint8Array>): Promise<string | undefined>
  ended(session: ExecSession, end: ExecEnd): Promise<void>
}

export type Sent = { accepted: number; closed: boolean }

export class ExecSession {
  readonly facts: ExecFacts
  readonly startedAt = Date.now()
  /** Resolves with its number once its session has recorded it; null until somebody was told. */
  id: string | null = null
  /** Resolves once its end is recorded. */
  readonly ended: Promise<void>
  end: ExecEnd | null = null
  /** The person has its keyboard; the agent looks on. */
  held = false
  /** The person typed since the agent last looked. */
  typed = false
  /** A recorded result has told the agent of the end. */
  endTold = false
  /** What of its output some reply left out. */
  wasCut = false
  unreaped: number[] = []
  /** What it left running in the background when it exited, as an exec session of its own. */
  left: Promise<ExecSession | null> = Promise.resolve(null)
  readonly capture: OutputCapture
  readonly #process: RunningProcess
  readonly #ports: ExecPorts
  readonly #began = performance.now()
  readonly #wakers = new Set<() => void>()
  readonly #line = new LastLine()
  readonly #screens: () => Promise<typeof ScreenFeed>
  #state: 'running' | 'stopping' | 'ended' = 'running'
  #stopReason: StopReason | null = null
  #timer: NodeJS.Timeout | undefined
  #telling: Promise<string> | null = null
  #calls: Promise<unknown> = Promise.resolve()
  #feed: Promise<ScreenFeed> | null = null
  #live: LiveOutput | null = null
  #asking: string | null = null
  #promptTimer: NodeJS.Timeout | undefined
  #inFlight: Promise<boolean> | null = null
  #lineOpen = false
  #lastActivity = performance.now()
  #finished = performance.now()

  /** `over` settles when the process, or the group it left, has ended. */
  constructor(given: {
    facts: ExecFacts
    process: RunningProcess
    capture: OutputCapture
    over: Promise<ProcessEnd>
    ports: ExecPorts
    feed: ScreenFeed | null
    screens(): Promise<typeof ScreenFeed>
  }) {
    this.facts = given.facts
    this.capture = given.capture
    this.#process = given.process
    this.#ports = given.ports
    this.#screens = given.screens
    this.#feed = given.feed && Promise.resolve(given.feed)
    this.capture.onRaw((text) => this.#printed(text))
    // Once all others have heard it too.
    this.capture.onText(() => queueMicrotask(() => this.#wakers.forEach((wake) => wake())))
    const { timeoutMs } = given.facts
    if (timeoutMs !== null) this.#timer = setTimeout(() => void this.#stop('timed_out'), timeoutMs)
    this.ended = given.over.then((end) => this.#over(end))
  }

  get state(): 'running' | 'stopping' | 'ended' {
    return this.#state
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Milliseconds it ran so far, or in all. */
  get elapsedMs(): number {
    return Math.round((this.end ? this.#finished : performance.now()) - this.#began)
  }

  /** Milliseconds since output, input or a call. */
  get idleMs(): number {
    return Math.round(performance.now() - this.#lastActivity)
  }

  get remainingMs(): number | null {
    const { timeoutMs } = this.facts
    return timeoutMs === null || this.end ? null : Math.max(0, timeoutMs - this.elapsedMs)
  }

  /** The line it stopped on, where that asks for a secret. */
  get asking(): string | null {
    if (!this.facts.tty || this.#state !== 'running') return null
    return this.#asking ?? secretPrompt(this.#line.text)
  }

  /** Last line with something on it, as a window's list shows it. */
  get lastLine(): string {
    return this.#line.text
  }

  /** Applied in the order of arrival. */
  inTurn<T>(call: () => Promise<T>): Promise<T> {
    this.#lastActivity = performance.now()
    const result = this.#calls.then(call)
    this.#calls = result.catch(() => {})
    return result
  }

  /** Gives it a number from `record`, once. What it asked, or its end, before that is told behind it. */
  tell(record: () => Promise<string>): Promise<string> {
    this.#telling ??= record().then(async (id) => {
      this.id = id
      if (this.#asking !== null) this.#ports.asks(id, this.#asking)
      if (this.end) await this.#ports.ended(this, this.end).catch(() => {})
      return id
    })
    return this.#telling
  }

  // --- output and end ---

  #printed(text: string): void {
    this.#lastActivity = performance.now()
    this.#line.push(text)
    if (this.#live) this.#live.push('stdout', text)
    else void this.#feed?.then((feed) => feed.print(text))
    // Once all others have heard it too.
    queueMicrotask(() => this.#wakers.forEach((wake) => wake()))
    if (this.facts.tty) this.#watchPrompt()
  }

  #watchPrompt(): void {
    clearTimeout(this.#promptTimer)
    const prompt = secretPrompt(this.#line.text)
    if (prompt === null) return this.#asksNoMore()
    if (this.#asking === null) this.#promptTimer = setTimeout(() => this.#asks(prompt), promptQuietMs)
  }

  #asks(prompt: string): void {
    if (this.#state !== 'running') return
    this.#asking = prompt
    if (this.id !== null) this.#ports.asks(this.id, prompt)
    for (const wake of this.#wakers) wake()
  }

  #asksNoMore(): void {
    if (this.#asking === null) return
    this.#asking = null
    if (this.id !== null) this.#ports.answered(this.id)
  }

  async #over(end: ProcessEnd): Promise<void> {
    clearTimeout(this.#timer)
    clearTimeout(this.#promptTimer)
    this.#finished = performance.now()
    this.capture.close()
    this.unreaped = end.unreaped
    this.#asking = null
    await this.#telling?.catch(() => {})
    const unshown = this.wasCut || (this.capture.hasUnread && this.capture.bytes > noticeChars)
    const outputRef =
      this.id !== null && unshown && !this.capture.incomplete ? await this.#ports.keep(this.capture.full()) : undefined
    const reason = end.reason === 'exited' ? 'exited' : (this.#stopReason ?? end.reason)
    this.end = {
      at: Date.now(),
      reason,
      exitCode: end.exitCode,
      signal: end.signal,
      ...(outputRef === undefined ? {} : { outputRef }),
    }
    this.#live?.end()
    void this.#feed?.then((feed) => feed.end(end))
    if (this.id !== null) await this.#ports.ended(this, this.end).catch(() => {})
    this.#state = 'ended'
    for (const wake of this.#wakers) wake()
  }

  /** Ends it and all it started; resolves when its end is recorded. */
  async stop(reason: StopReason = 'stopped'): Promise<void> {
    await this.#stop(reason)
    await this.ended
  }

  async #stop(reason: StopReason): Promise<void> {
    if (this.#state === 'ended') return
    this.#stopReason ??= reason
    if (this.#state === 'running') {
      this.#state = 'stopping'
      if (this.id !== null) this.#ports.changed(this.id, { state: 'stopping' })
    }
    await this.#process.stop(reason, reason === 'shutdown' ? 500 : undefined)
  }

  // --- input ---

  /**
   * Writes `text` piece by piece, each once the one before was taken, until `until` (a time of `performance`). Says how
   * many characters were taken, and whether the process no longer reads.
   */
  async send(text: string, until: number, signal: AbortSignal): Promise<Sent> {
    this.#lastActivity = performance.now()
    const given = this.facts.tty ? text.replace(/\r?\n/g, '\r') : text
    for (let at = 0; at < given.length;) {
      if (this.#inFlight && !(await this.#settledBy(this.#inFlight, until, signal)))
        return { accepted: at, closed: false }
      let end = Math.min(given.length, at + pieceChars)
      if (end < given.length && (given.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1
      const piece = given.slice(at, end)
      const sending = this.#process.send(piece)
      this.#inFlight = sending
      void sending.finally(() => this.#inFlight === sending && (this.#inFlight = null))
      at = end
      this.#lineOpen = !/[\r\n]$/.test(piece)
      const taken = await this.#settledBy(sending, until, signal)
      if (taken && !(await sending)) return { accepted: at - piece.length, closed: true }
    }
    return { accepted: given.length, closed: false }
  }

  async #settledBy(work: Promise<unknown>, until: number, signal: AbortSignal): Promise<boolean> {
    const limit = new AbortController()
    try {
      return await Promise.race([
        work.then(() => true),
        delay(Math.max(0, until - performance.now()), false, {
          signal: AbortSignal.any([signal, limit.signal]),
        }).catch(() => {
          signal.throwIfAborted()
          return false
        }),
      ])
    } finally {
      limit.abort()
    }
  }

  /** End of input: a pipe is closed; on a terminal the character that means it, twice behind an unfinished line. */
  closeInput(): void {
    if (!this.facts.tty) return this.#process.closeInput()
    if (process.platform !== 'win32' && this.#lineOpen) this.#process.write('\x04')
    this.#process.closeInput()
    this.#lineOpen = false
  }

  /** Keys of the person; false where they are not theirs to press: the agent has the keyboard. */
  type(data: string): boolean {
    if (!this.facts.tty || this.#state !== 'running') return false
    if (this.facts.owner === 'agent' && !this.held) return false
    this.typed = true
    this.#lastActivity = performance.now()
    return this.#process.write(data)
  }

  /** The person takes its keyboard from the agent, or hands it back. */
  hold(held: boolean): void {
    if (held === this.held || this.#state === 'ended' || this.facts.owner === 'person') return
    this.held = held
    if (this.id !== null) this.#ports.changed(this.id, { held })
  }

  /** The person's answer, to the process alone; null is Ctrl+C. */
  answer(secret: string | null): void {
    if (this.#state !== 'running') return
    this.#asking = null
    if (secret !== null) this.capture.hide(secret)
    this.#line.text = ''
    this.#process.write(secret === null ? '\x03' : `${secret}\r`)
  }

  // --- waiting (X-411 to X-419) ---

  /** True once its end is recorded, false when `ms` passed before. Throws the signal's reason. */
  async untilEnd(ms: number, signal: AbortSignal): Promise<boolean> {
    return (await this.#until(ms, signal, () => this.#state === 'ended')) || this.#state === 'ended'
  }

  /** Until it ended, or there is output and then 150 ms of quiet. */
  async untilQuiet(ms: number, signal: AbortSignal): Promise<void> {
    const until = performance.now() + ms
    await this.#until(ms, signal, () => this.capture.hasUnread || this.#state === 'ended')
    while (this.#state !== 'ended' && performance.now() < until) {
      let quiet = true
      const wait = Math.min(quietMs, until - performance.now())
      const stop = this.capture.onText(() => (quiet = false))
      await this.#until(wait, signal, () => !quiet || this.#state === 'ended').finally(stop)
      if (quiet) break
    }
    await this.#lastRead()
  }

  /** Seeks a literal text in all the agent was not given yet and in what follows. */
  async untilSeen(text: string, ms: number, signal: AbortSignal): Promise<'seen' | 'ended' | 'time'> {
    const until = performance.now() + ms
    const search = new TextSearch(text)
    let waiting: string[] | null = []
    const stop = this.capture.onText((part) => void (waiting ? waiting.push(part) : search.push(part)))
    try {
      for await (const part of this.capture.unreadText()) {
        signal.throwIfAborted()
        if (search.push(part)) return 'seen'
      }
      for (const part of waiting) search.push(part)
      waiting = null
      await this.#until(until - performance.now(), signal, () => search.found || this.#state === 'ended')
      if (!search.found && this.#state !== 'ended') await this.#lastRead()
      return search.found ? 'seen' : this.state === 'ended' ? 'ended' : 'time'
    } finally {
      stop()
    }
  }

  /** What has reached the host when the time is over still counts. */
  async #lastRead(): Promise<void> {
    if (this.#state === 'ended') return
    await loopTurn()
    await delay(2)
    await loopTurn()
  }

  async #until(ms: number, signal: AbortSignal, done: () => boolean): Promise<boolean> {
    signal.throwIfAborted()
    if (done()) return true
    if (ms <= 0) return false
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const wake = (): void => {
      if (done()) resolve(true)
    }
    const abort = (): void => reject(signal.reason)
    const timer = setTimeout(() => resolve(false), ms)
    this.#wakers.add(wake)
    signal.addEventListener('abort', abort)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#wakers.delete(wake)
      signal.removeEventListener('abort', abort)
    }
  }

  // --- its screen ---

  /** What a full-screen program shows now; null where there is none. */
  async screenText(): Promise<string | null> {
    if (!this.facts.tty) return null
    const feed = await this.#feed
    if (!feed) return null
    await feed.screen.parsed()
    return feed.screen.alternate ? feed.screen.text() : null
  }

  /** As `Terminals.attach`. */
  async *frames(after: number | undefined, signal: AbortSignal): AsyncGenerator<TerminalFrame, void, void> {
    const feed = await (this.#feed ??= this.#openScreen())
    yield* feed.frames(after, signal)
  }

  /** Pipes have no screen until somebody looks; it begins with what was printed last, and a flood is not shown whole. */
  async #openScreen(): Promise<ScreenFeed> {
    const Feed = await this.#screens()
    const feed = new Feed({ ...execSize, scrollback: screenScrollback, answer: () => {}, holdBack: () => {} })
    const print = (text: string): void => feed.print(text.replace(/\r?\n/g, '\r\n'))
    const meanwhile: string[] = []
    let show = (text: string): void => void meanwhile.push(text)
    this.#live = new LiveOutput((text) => show(text))
    print(await this.capture.recent(recentBytes))
    meanwhile.forEach(print)
    show = print
    if (this.end) feed.end(this.end)
    return feed
  }

  /** As `Terminals.clear`; what the agent reads is not touched. */
  async clear(): Promise<void> {
    await (await this.#feed)?.clear()
  }

  resize(cols: number, rows: number): void {
    if (!this.facts.tty || (this.facts.owner === 'agent' && !this.held)) return
    this.#process.resize(cols, rows)
    void this.#feed?.then((feed) => feed.resize(cols, rows))
  }
}
