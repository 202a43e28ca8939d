/** The text of a terminal's line and where on screen its characters stand: a long one goes over several rows. */
import type { IBuffer } from '@xterm/xterm'

/** Column and row, both from 1, as links have them. */
export type Cell = { x: number; y: number }

export type ShownLine = {
  text: string
  /** One for each code unit of `text`: a wide character takes two cells, and one of several code units takes one. */
  cells: Cell[]
}

/** Rows of one line that are looked at; output without line ends is no text to read. */
const rowsMax = 24

/** The line that row `row` (from 0) is a part of. */
export function shownLine(buffer: IBuffer, row: number): ShownLine {
  let from = row
  while (from > 0 && row - from < rowsMax && buffer.getLine(from)?.isWrapped) from -= 1
  const line: ShownLine = { text: '', cells: [] }
  for (let at = from; at < from + rowsMax; at += 1) {
    const shown = buffer.getLine(at)
    if (!shown || (at > from && !shown.isWrapped)) break
    for (let x = 0; x < shown.length; x += 1) {
      const cell = shown.getCell(x)!
      if (cell.getWidth() === 0) continue
      const characters = cell.getChars() || ' '
      line.text += characters
      for (let unit = 0; unit < characters.length; unit += 1) line.cells.push({ x: x + 1, y: at + 1 })
    }
  }
  return line
}
