/**
 * What a terminal shows, kept in the host by a headless emulator: late windows get it as a snapshot, and what
 * programs ask of their terminal is answered here, once, however many windows look on.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SerializeAddon } from '@xterm/addon-serialize'
import headless from '@xterm/headless'
import { CommandMarks, type PlacedCommands } from '../../preload/contract/command-marks.ts'

const snapshotMax = 1024 * 1024
/** Rows serialized at once: a few milliseconds of the loop. */
const rowsAtOnce = 200

export type ScreenOptions = {
  cols: number
  rows: number
  /** Lines kept above the screen. */
  scrollback: number
  /** Answers to reports a program asked for, to be written to its input. */
  answer(data: string): void
  /** How much is waiting to be parsed has changed, in characters. */
  waiting(characters: number): void
  /** The shell's marks count, with this secret. */
  marks?: { secret: string; folder(path: string): void } | undefined
}

/** Text that makes an empty emulator of this size show the same, and the offset it is true at. */
export type Snapshot = { data: string; offset: number; cols: number; rows: number; commands?: PlacedCommands }

export class TerminalScreen {
  readonly #terminal: headless.Terminal
  readonly #serializer = new SerializeAddon()
  readonly #waiting: (characters: number) => void
  #unparsed = 0
  #offset = 0
  #title = ''
  /** Text that arrives while a snapshot is taken. */
  #held: string[] | null = null
  #snapshots: Promise<unknown> = Promise.resolve()
  readonly #secret: string | null
  readonly #marks: CommandMarks<headless.IMarker> | null

  constructor({ cols, rows, scrollback, answer, waiting, marks }: ScreenOptions) {
    this.#waiting = waiting
    this.#terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true })
    this.#terminal.loadAddon(this.#serializer)
    this.#terminal.onData(answer)
    this.#terminal.onTitleChange((title) => (this.#title = title.replace(/[\x00-\x1f\x7f-\x9f]/g, '').slice(0, 200)))
    this.#secret = marks?.secret ?? null
    this.#marks = marks ? this.#follow(marks) : null
  }

  #follow({ secret, folder }: NonNullable<ScreenOptions['marks']>): CommandMarks<headless.IMarker> {
    const terminal = this.#terminal
    const here = () => {
      const marker = terminal.buffer.active.type === 'normal' ? terminal.registerMarker(0) : undefined
      return marker ? { marker, column: terminal.buffer.active.cursorX } : null
    }
    const marks = new CommandMarks<headless.IMarker>(secret, here)
    terminal.parser.registerOscHandler(133, (data) => {
      const before = marks.folder
      marks.take(data, Date.now())
      if (marks.folder !== null && marks.folder !== before) folder(marks.folder)
      return true
    })
    return marks
  }

  /** Characters written so far. */
  get offset(): number {
    return this.#offset
  }

  write(text: string): void {
    this.#offset += text.length
    this.#unparsed += text.length
    this.#waiting(this.#unparsed)
    if (this.#held) this.#held.push(text)
    else this.#parse(text)
  }

  #parse(text: string): void {
    this.#terminal.write(text, () => {
      this.#unparsed -= text.length
      this.#waiting(this.#unparsed)
    })
  }

  /** A full-screen program draws. */
  get alternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate'
  }

  /** Resolves once all that was written is parsed. */
  parsed(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write('', resolve))
  }

  /** The screen's rows as text, the blank ones below left out. */
  text(): string {
    const { active } = this.#terminal.buffer
    const rows = Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    )
    return rows.join('\n').trimEnd()
  }

  /** The newest `count` lines of the normal screen and what is above it, wrapped ones whole, blank ones at the end left out. */
  tail(count: number): string {
    const { normal } = this.#terminal.buffer
    const lines: string[] = []
    let rest = ''
    for (let row = normal.length - 1; row >= 0 && lines.length < count; row--) {
      const line = normal.getLine(row)
      const text = line?.translateToString(rest === '') ?? ''
      if (line?.isWrapped) rest = text + rest
      else {
        const whole = (text + rest).trimEnd()
        if (whole !== '' || lines.length > 0) lines.push(whole)
        rest = ''
      }
    }
    return lines.toReversed().join('\n')
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows)
  }

  /** Drops all rows but the cursor's, once all that was written is parsed. */
  async clear(): Promise<void> {
    await this.parsed()
    this.#terminal.clear()
  }

  /**
   * A snapshot of what was written up to this call, at most 1 MiB: the oldest scrollback is dropped first, the screen
   * never. It is made in pieces, so a long scrollback does not hold the loop; meanwhile output waits.
   */
  snapshot(): Promise<Snapshot> {
    // One at a time: the second must not thaw what the first has frozen.
    const snapshot = this.#snapshots.then(() => this.#take())
    this.#snapshots = snapshot.catch(() => {})
    return snapshot
  }

  async #take(): Promise<Snapshot> {
    const offset = this.#offset
    this.#held = []
    try {
      await new Promise<void>((parsed) => this.#terminal.write('', parsed))
      const { cols, rows } = this.#terminal
      const { length } = this.#terminal.buffer.normal
      const placed = this.#marks && { list: this.#marks.placed(length), folder: this.#marks.folder }
      const { data, at } = await this.#serialize()
      if (!placed || this.#secret === null) return { data, offset, cols, rows }
      return { data, offset, cols, rows, commands: { secret: this.#secret, at, ...placed } }
    } finally {
      const held = this.#held
      this.#held = null
      if (held.length > 0) this.#parse(held.join(''))
    }
  }

  /** `at`: where the normal screen ends and, behind it, the alternate one begins. */
  async #serialize(): Promise<{ data: string; at: number }> {
    const buffer = this.#terminal.buffer.normal
    // A piece begins with a line of its own, never in the middle of a wrapped one.
    const lineStart = (row: number): number => {
      while (row > 0 && buffer.getLine(row)?.isWrapped) row -= 1
      return row
    }
    const screenAt = buffer.length - this.#terminal.rows
    // With a line above it, or blank rows at the end of the screen would be left out and the rest would slide down.
    let from = lineStart(Math.max(0, screenAt - 1))
    const title = this.#title === '' ? '' : `\x1b]2;${this.#title}\x07`
    const screen = this.#serializer.serialize({ scrollback: screenAt - from })
    const alternateAt = screen.indexOf('\x1b[?1049h')
    const pieces = [screen + title]
    let length = pieces[0]!.length
    while (from > 0) {
      await nextTurn()
      const start = lineStart(Math.max(0, from - rowsAtOnce))
      const range = { start, end: from - 1 }
      const piece = this.#serializer.serialize({ range, excludeModes: true, excludeAltBuffer: true }) + '\x1b[0m\r\n'
      length += piece.length
      if (length > snapshotMax) break
      pieces.push(piece)
      from = start
    }
    const data = pieces.reverse().join('')
    const behind = alternateAt < 0 ? title.length : screen.length - alternateAt + title.length
    return { data, at: data.length - behind }
  }
}
