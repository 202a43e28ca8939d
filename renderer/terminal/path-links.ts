/** Places in files that a terminal's output names: `src/app.ts:12:5`, `./README.md`. Pure. */

interface PathPlace {
  path: string
  line?: number
  column?: number
  /** `[from, to)` in the line's text, the position included. */
  from: number
  to: number
}

const place =
  /(?<![\w/:.@-])((?:\.{0,2}\/)?(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9})(?::(\d{1,7})(?::(\d{1,5}))?|\((\d{1,7})(?:,(\d{1,5}))?\))?/g
const candidatesMax = 12

export function pathPlaces(text: string): PathPlace[] {
  const found: PathPlace[] = []
  for (const match of text.matchAll(place)) {
    const [whole, path, colonLine, colonColumn, parenLine, parenColumn] = match
    if (path === undefined || found.length === candidatesMax) continue
    // Part of a web address, which is a link of its own.
    if (/[a-z][a-z0-9+.-]*:\/\/\S*$/i.test(text.slice(0, match.index))) continue
    const [line, column] = [colonLine ?? parenLine, colonColumn ?? parenColumn]
    found.push({
      path,
      ...(line === undefined ? {} : { line: Number(line) }),
      ...(column === undefined ? {} : { column: Number(column) }),
      from: match.index,
      to: match.index + whole.length,
    })
  }
  return found
}

/** A path as a program means it that runs in `folder`; `..` beyond the root is left as it is. */
export function fromFolder(folder: string, path: string): string {
  if (path.startsWith('/')) return path
  const parts = folder.split('/')
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 1) parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}
