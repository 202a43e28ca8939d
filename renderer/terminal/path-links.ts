/** Places in files that a terminal's output names: `src/app.ts:12:5`, `./README.md`, `File "a.py", line 3`. Pure. */

type Position = { line?: number; column?: number }

type PathPlace = Position & {
  path: string
  /** `[from, to)` in the line's text, the position included. */
  from: number
  to: number
}

/** A name is a file's by its ending, or by the line number behind it. */
const place =
  /(?<![\w/:.@-])((?:\.{0,2}\/)?(?:[\w@.+-]+\/)*(?:[\w@.+-]+\.[A-Za-z][A-Za-z0-9]{0,9}|[A-Za-z_.][\w@.+-]*(?=:\d)))(?::(\d{1,7})(?::(\d{1,5}))?|\((\d{1,7})(?:, ?(\d{1,5}))?\)|", line (\d{1,7}))?/g
const address = /\bfile:\/\/[^\s"'<>()]*?\/[^\s"'<>():]+(?::(\d{1,7})(?::(\d{1,5}))?)?/g
const candidatesMax = 12

export function pathPlaces(text: string): PathPlace[] {
  const found: PathPlace[] = []
  for (const [whole, line, column] of matches(text, address)) {
    const target = fileOfAddress(whole[0].replace(/(?::\d+){1,2}$/, ''))
    if (target) found.push({ ...target, ...position(line, column), ...span(whole) })
  }
  for (const [whole, path, colonLine, colonColumn, parenLine, parenColumn, wordLine] of matches(text, place)) {
    // Part of an address, which is a link of its own.
    if (path === undefined || /[a-z][a-z0-9+.-]*:\/\/\S*$/i.test(text.slice(0, whole.index))) continue
    found.push({ path, ...position(colonLine ?? parenLine ?? wordLine, colonColumn ?? parenColumn), ...span(whole) })
  }
  return found.slice(0, candidatesMax)
}

function matches(text: string, pattern: RegExp): [RegExpExecArray, ...(string | undefined)[]][] {
  return Array.from(text.matchAll(pattern), (match) => [match, ...match.slice(1)])
}

function span({ 0: text, index }: RegExpExecArray): { from: number; to: number } {
  return { from: index, to: index + text.length }
}

function position(line: string | undefined, column: string | undefined): Position {
  return {
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  }
}

/** The file that a `file:` address names, with the line and column of its `#12:5` or `#L12`; null where it names none. */
export function fileOfAddress(url: string): ({ path: string } & Position) | null {
  try {
    const { protocol, pathname, hash } = new URL(url)
    if (protocol !== 'file:') return null
    const at = /^#L?(\d{1,7})(?:[:,]C?(\d{1,5}))?$/.exec(hash)
    return { path: decodeURIComponent(pathname), ...position(at?.[1], at?.[2]) }
  } catch {
    // No address, or one whose percent signs stand for no text: a program prints what it likes.
    return null
  }
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
