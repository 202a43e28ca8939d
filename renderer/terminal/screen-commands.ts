/**
 * The commands of one terminal on screen, by its shell's marks: a dot beside each prompt that tells how it ended,
 * jumping from one to the next, and what a command printed.
 */
import type { IBuffer, IDecoration, IMarker, Terminal } from '@xterm/xterm'
import { CommandMarks, type MarkedCommand, type PlacedCommands } from '../../preload/contract/command-marks.ts'
import { colour } from '../app/theme.ts'
import { durationText } from '../ui/time-text.ts'
import { copiedText } from './paste.ts'

type Command = MarkedCommand<IMarker>

/** What was run and what it printed, as text. */
export interface CommandOutput {
  command: string | null
  output: string
  exitCode: number | null
  /** Its beginning has scrolled out of reach. */
  partial: boolean
}

export class ScreenCommands {
  readonly #term: Terminal
  #marks: CommandMarks<IMarker> | null = null
  readonly #dots = new Map<Command, IDecoration>()
  #at: Command | null = null
  #lit: IDecoration | undefined

  constructor(term: Terminal) {
    this.#term = term
    term.parser.registerOscHandler(133, (data) => {
      this.#marks?.take(data, Date.now())
      return true
    })
    // Whoever types looks at the newest again.
    term.onData(() => this.#leave())
  }

  /** Called once the normal screen of a snapshot was written: its rows are where it says. */
  begin(placed: PlacedCommands): void {
    const term = this.#term
    this.#leave()
    this.#marks?.clear()
    for (const dot of this.#dots.values()) dot.dispose()
    this.#dots.clear()
    this.#marks = new CommandMarks(placed.secret, here(term), (command) => command && this.#dot(command))
    const { normal } = term.buffer
    this.#marks.begin(placed, (row) => {
      const line = normal.length - 1 - row
      return line < 0 ? undefined : term.registerMarker(line - normal.baseY - normal.cursorY)
    })
  }

  /** Commands that were run; none where the shell does not mark them. */
  get run(): readonly Command[] {
    return (this.#marks?.commands ?? []).filter(({ output }) => output !== null)
  }

  #dot(command: Command): void {
    if (command.output === null || command.prompt.isDisposed) return
    this.#dots.get(command)?.dispose()
    const dot = this.#term.registerDecoration({ marker: command.prompt, width: 1 })
    if (!dot) return
    this.#dots.set(command, dot)
    dot.onDispose(() => this.#dots.get(command) === dot && this.#dots.delete(command))
    let heard = false
    dot.onRender((element) => {
      if (!heard) element.addEventListener('click', () => this.#select(command))
      heard = true
      element.style.left = '-10px'
      element.style.width = '10px'
      element.className = `xterm-decoration command-dot ${looks(command)}`
      element.title = facts(command)
    })
  }

  /** To the prompt before or behind the one at hand; says what is there, or null where there is none further. */
  jump(direction: 1 | -1): string | null {
    const all = this.run.filter(({ prompt }) => !prompt.isDisposed)
    const from = this.#at === null ? all.length : all.indexOf(this.#at)
    const next = from < 0 ? undefined : all[from + direction]
    if (!next) {
      if (direction === 1) this.#leave()
      if (direction === 1) this.#term.scrollToBottom()
      return null
    }
    this.#leave()
    this.#at = next
    const { rows } = this.#term
    this.#term.scrollToLine(Math.max(0, next.prompt.line - Math.min(2, rows - 1)))
    this.#lit = this.#term.registerDecoration({
      marker: next.prompt,
      width: this.#term.cols,
      backgroundColor: colour('accent-soft'),
    })
    return `${next.text ?? 'Command'}. ${facts(next)}`
  }

  #leave(): void {
    this.#lit?.dispose()
    this.#lit = undefined
    this.#at = null
  }

  #select(command: Command): void {
    const [from, to] = this.#rows(command)
    if (to > from) this.#term.selectLines(from, to - 1)
    this.#term.focus()
  }

  /** The command at hand, else the newest that was run. */
  output(): CommandOutput | null {
    const command = this.#at ?? this.run.at(-1)
    if (!command) return null
    const [from, to] = this.#rows(command)
    const text = rowsText(this.#term.buffer.normal, from, to, command.endColumn)
    const { text: typed, exitCode } = command
    return { command: typed, output: copiedText(text), exitCode, partial: command.output!.isDisposed }
  }

  /** `[from, to)`; a last row that has only a part of it is in it. */
  #rows({ output, end, endColumn }: Command): [number, number] {
    const { normal } = this.#term.buffer
    const from = output === null || output.isDisposed ? 0 : output.line
    if (end === null) return [from, normal.baseY + normal.cursorY + 1]
    return [from, end.isDisposed ? from : end.line + (endColumn > 0 ? 1 : 0)]
  }
}

function here(term: Terminal) {
  return () => {
    const marker = term.buffer.active.type === 'normal' ? term.registerMarker(0) : undefined
    return marker ? { marker, column: term.buffer.active.cursorX } : null
  }
}

function looks({ end, exitCode }: Command): string {
  return end === null ? 'is-running' : exitCode === 0 ? 'is-ok' : 'is-failed'
}

function facts({ end, exitCode, durationMs }: Command): string {
  if (end === null) return 'Running'
  const took = durationMs === null ? '' : `, ${durationText(durationMs)}`
  return exitCode === null ? `Ended${took}` : `Exit ${exitCode}${took}`
}

/** Rows as text, those that were wrapped put together again. */
function rowsText(buffer: IBuffer, from: number, to: number, endColumn: number): string {
  const lines: string[] = []
  for (let row = from; row < to; row += 1) {
    const line = buffer.getLine(row)
    if (!line) break
    const goesOn = buffer.getLine(row + 1)?.isWrapped ?? false
    const last = row === to - 1 && endColumn > 0 ? endColumn : undefined
    const text = line.translateToString(!goesOn, 0, last)
    if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += text
    else lines.push(text)
  }
  return lines.join('\n')
}
