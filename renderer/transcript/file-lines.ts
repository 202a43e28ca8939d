/** A read file as the agent was given it, `12| text`, taken apart: the numbers are not part of the file. Pure. */

export type FileLine = { number: string | null; text: string }

const marked = /^ *(\d+)\| ?(.*)$/

/** The lines with their numbers; remarks between them have none. Null where the text is not such a reading. */
export function fileLines(text: string): FileLine[] | null {
  const lines = text.split('\n')
  if (!marked.test(lines[0] ?? '')) return null
  return lines.map((line) => {
    const found = marked.exec(line)
    return found ? { number: found[1]!, text: found[2]! } : { number: null, text: line }
  })
}

/** The file's own text of a reading. */
export function withoutNumbers(text: string): string {
  return (
    fileLines(text)
      ?.map((line) => line.text)
      .join('\n') ?? text
  )
}
