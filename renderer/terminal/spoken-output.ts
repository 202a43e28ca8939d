/**
 * New output as text for a screen reader: at most one announcement a second, what a flood brings beyond it only counted
 * . A full-screen program is read from its rows, which the emulator offers.
 */
import type { IBuffer, IMarker, Terminal } from '@xterm/xterm'

const everyMs = 1_000
const linesMax = 20
const charactersMax = 1_500

/** What is said of new lines. */
export function spoken(lines: readonly string[]): string {
  const told = lines.map((line) => line.trim()).filter(Boolean)
  const kept = told.slice(-linesMax)
  const text = kept.join('\n').slice(-charactersMax)
  const left = told.length - kept.length
  return left > 0 ? `${left} more lines.\n${text}` : text
}

/** Follows a terminal until it is disposed. */
export function speakOutput(term: Terminal, say: (text: string) => void): { dispose(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let from: IMarker | undefined
  /** What was said of the row the cursor stood in. */
  let said = ''

  const row = (buffer: IBuffer, at: number): string => buffer.getLine(at)?.translateToString(true) ?? ''
  function stay(): void {
    const { normal } = term.buffer
    from?.dispose()
    from = term.registerMarker(0)
    said = row(normal, normal.baseY + normal.cursorY)
  }
  function tell(): void {
    timer = undefined
    if (term.buffer.active.type !== 'normal') return
    const { normal } = term.buffer
    const to = normal.baseY + normal.cursorY
    const first = from === undefined || from.isDisposed ? to : Math.min(from.line, to)
    const lines = Array.from({ length: to - first + 1 }, (_, at) => row(normal, first + at))
    if (lines[0]?.startsWith(said)) lines[0] = lines[0].slice(said.length)
    stay()
    const text = spoken(lines)
    if (text !== '') say(text)
  }
  stay()
  const following = term.onWriteParsed(() => (timer ??= setTimeout(tell, everyMs)))
  return {
    dispose() {
      clearTimeout(timer)
      following.dispose()
      from?.dispose()
    },
  }
}
