/** What in a model's text points at a file, and where a link really goes (S-66, Z-191). */

export type LinkTarget =
  | { kind: 'web'; url: string; host: string }
  | { kind: 'file'; path: string; at: { line?: number; column?: number } }
  | { kind: 'none' }

const webSchemes = new Set(['http:', 'https:', 'mailto:'])

/** Where the `href` of a Markdown link goes; `none` is shown as text. */
export function linkTarget(href: string | undefined): LinkTarget {
  const trimmed = href?.trim() ?? ''
  if (trimmed === '' || trimmed.startsWith('#')) return { kind: 'none' }
  // A single letter before a colon is a drive, not a scheme; digits after a colon are a line.
  if (/^[a-z][a-z0-9+.-]+:(?!\d+(:\d+)?$)/i.test(trimmed)) {
    if (trimmed.startsWith('file://')) return fileTarget(trimmed.replace(/^file:\/\/(localhost)?/, ''))
    if (!URL.canParse(trimmed)) return { kind: 'none' }
    const url = new URL(trimmed)
    if (!webSchemes.has(url.protocol)) return { kind: 'none' }
    return { kind: 'web', url: url.href, host: url.protocol === 'mailto:' ? url.pathname : url.host }
  }
  if (trimmed.startsWith('//')) return { kind: 'none' }
  return fileTarget(trimmed)
}

function fileTarget(text: string): LinkTarget {
  const place = /^(.*?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::(\d+))?)?$/.exec(decoded(text))!
  const [, path, anchor, colon, column] = place
  if (!path) return { kind: 'none' }
  const line = anchor ?? colon
  return {
    kind: 'file',
    path: path.replace(/^\.\//, ''),
    at: {
      ...(line === undefined ? {} : { line: Number(line) }),
      ...(column === undefined ? {} : { column: Number(column) }),
    },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const fileLike = /^(?:\.{0,2}\/)?(?:[\w@.+-]+\/)*[\w@.+-]+\.[A-Za-z][A-Za-z0-9]{0,9}(?::\d+(?::\d+)?)?$/

/** Whether a piece of inline code names a file: with a folder or a line, `config.json:3`; `Math.max` does not. */
export function filePlace(code: string): Extract<LinkTarget, { kind: 'file' }> | null {
  if (code.length > 300 || !fileLike.test(code)) return null
  if (!code.includes('/') && !/:\d/.test(code)) return null
  const target = fileTarget(code)
  return target.kind === 'file' ? target : null
}

/** The host a link's text names where it is not the one it goes to: then the true one is written beside it. */
export function namesOtherHost(text: string, host: string): boolean {
  const named = /(?:^|\s|\/\/)((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[/:?#\s]|$)/i.exec(text.trim())?.[1]
  if (!named) return false
  const bare = (name: string) =>
    name
      .toLowerCase()
      .replace(/^www\./, '')
      .replace(/:\d+$/, '')
  return bare(named) !== bare(host) && !bare(host).endsWith(`@${bare(named)}`)
}
