/**
 * A screen in the host and the windows that look at it: each gets a snapshot and the output from there, and
 * one that is too slow gets a snapshot again. A terminal has one, and so has an exec session.
 */
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import { type ScreenOptions, TerminalScreen } from './terminal-screen.ts'

export type ScreenFeedOptions = Omit<ScreenOptions, 'waiting'> & {
  /** Much more was printed than is parsed (true), or little again (false). */
  holdBack(held: boolean): void
}

type Viewer = { frames: TerminalFrame[]; waiting: number; behind: boolean; wake: () => void }

const pauseAbove = 256 * 1024
const resumeBelow = 64 * 1024
const lagMax = 512 * 1024
/**
 * A program that prints faster than its screen can be kept rests, before it goes on, as long as that took: its flood gets
 * half of the loop, and whatever else the loop serves (keys, other sessions) the other half.
 */
const restMaxMs = 20
/** Output that follows output within this time is joined. */
const joinMs = 8
/** Output that waits for a window runs together up to this many characters a frame. */
const frameMax = 64 * 1024

export class ScreenFeed {
  readonly screen: TerminalScreen
  readonly #viewers = new Set<Viewer>()
  readonly #options: ScreenFeedOptions
  #held = false
  #goneOnAt = 0
  #resting: NodeJS.Timeout | null = null
  #pending = ''
  #joining: NodeJS.Timeout | null = null
  #sentAt = 0
  #exit: { exitCode: number | null; signal: string | null } | null = null

  constructor(options: ScreenFeedOptions) {
    this.#options = options
    this.screen = new TerminalScreen({ ...options, waiting: (characters) => this.#holdBack(characters) })
  }

  print(text: string): void {
    if (text === '') return
    this.screen.write(text)
    this.#pending += text
    if (performance.now() - this.#sentAt >= joinMs) this.#flush()
    else this.#joining ??= setTimeout(() => this.#flush(), joinMs)
  }

  /** Nothing more is printed; every reader is told. */
  end(exit: { exitCode: number | null; signal: string | null }): void {
    this.#flush()
    this.#exit = exit
    const frame: TerminalFrame = { type: 'exit', offset: this.screen.offset, ...exit }
    for (const viewer of this.#viewers) this.#give(viewer, frame)
  }

  resize(cols: number, rows: number): void {
    this.screen.resize(cols, rows)
  }

  /** Scrollback and screen go but for the cursor's row, in every window. */
  async clear(): Promise<void> {
    await this.screen.clear()
    for (const viewer of this.#viewers) {
      viewer.behind = true
      viewer.wake()
    }
  }

  #flush(): void {
    if (this.#joining) clearTimeout(this.#joining)
    this.#joining = null
    this.#sentAt = performance.now()
    if (this.#pending === '') return
    const frame: TerminalFrame = { type: 'data', offset: this.screen.offset, data: this.#pending }
    this.#pending = ''
    for (const viewer of this.#viewers) this.#give(viewer, frame)
  }

  #give(viewer: Viewer, frame: TerminalFrame): void {
    if (!viewer.behind) {
      const last = viewer.frames.at(-1)
      if (frame.type === 'data' && last?.type === 'data' && last.data.length + frame.data.length <= frameMax)
        viewer.frames[viewer.frames.length - 1] = { ...frame, data: last.data + frame.data }
      else viewer.frames.push(frame)
      viewer.waiting += frame.type === 'data' ? frame.data.length : 0
      if (viewer.waiting > lagMax) {
        viewer.behind = true
        viewer.frames = []
        viewer.waiting = 0
      }
    }
    viewer.wake()
  }

  /** Only the host's own screen slows the pty; no window does. */
  #holdBack(unparsed: number): void {
    const held = unparsed > pauseAbove || (this.#held && unparsed >= resumeBelow)
    if (held === this.#held) return
    this.#held = held
    if (this.#resting) clearTimeout(this.#resting)
    this.#resting = null
    if (held) return this.#options.holdBack(true)
    this.#resting = setTimeout(
      () => {
        this.#resting = null
        this.#goneOnAt = performance.now()
        this.#options.holdBack(false)
      },
      Math.min(restMaxMs, performance.now() - this.#goneOnAt),
    )
  }

  /** As `Terminals.attach` says. */
  async *frames(after: number | undefined, signal: AbortSignal): AsyncGenerator<TerminalFrame, void, void> {
    let changed = Promise.withResolvers<void>()
    const wake = (): void => {
      changed.resolve()
      changed = Promise.withResolvers()
    }
    const viewer: Viewer = { frames: [], waiting: 0, behind: false, wake }
    signal.addEventListener('abort', wake)
    try {
      this.#flush()
      this.#viewers.add(viewer)
      viewer.behind = after !== this.screen.offset
      while (!signal.aborted) {
        if (viewer.behind) {
          yield await this.#catchUp(viewer)
          continue
        }
        const frame = viewer.frames.shift()
        if (frame) {
          if (frame.type === 'data') viewer.waiting -= frame.data.length
          yield frame
          if (frame.type === 'exit') return
        } else if (this.#exit !== null) {
          yield { type: 'exit', offset: this.screen.offset, ...this.#exit }
          return
        } else await changed.promise
      }
    } finally {
      signal.removeEventListener('abort', wake)
      this.#viewers.delete(viewer)
    }
  }

  /** What is printed while the snapshot is made comes after it. */
  async #catchUp(viewer: Viewer): Promise<TerminalFrame> {
    this.#flush()
    viewer.behind = false
    viewer.frames = []
    viewer.waiting = 0
    const snapshot = await this.screen.snapshot()
    // What waits to be joined may be in it.
    this.#flush()
    // A snapshot that had to wait for another one holds more than was printed when this one was asked for.
    viewer.frames = viewer.frames.flatMap((frame): TerminalFrame[] => {
      if (frame.type !== 'data') return [frame]
      const fresh = frame.offset - snapshot.offset
      return fresh <= 0 ? [] : [{ ...frame, data: frame.data.slice(-fresh) }]
    })
    return { type: 'snapshot', ...snapshot }
  }
}
