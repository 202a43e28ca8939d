/** Text from outside made safe to look at: what cannot be seen becomes visible (Z-200), what terminals eat is taken out. */

const names: Record<number, string> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x0b: 'VT',
  0x0c: 'FF',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0xad: 'SHY',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x2060: 'WJ',
  0xfeff: 'BOM',
  0x061c: 'ALM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
}

// C0 but tab and newline, DEL and C1, soft hyphen, bidirectional and zero-width controls, fillers, tags.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu
const emojiPart = /\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}]|\ufe0f/u

export type TextPart = { text: string } | { mark: string; code: string }

/** `text` in parts: plain, and marks that stand for one character nobody could see. */
export function shownParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const found of text.matchAll(hidden)) {
    const char = found[0]
    // A joiner inside an emoji is how that emoji is written.
    if (char === '\u200d' && emojiPart.test(text.slice(Math.max(0, found.index - 2), found.index))) continue
    if (found.index > from) parts.push({ text: text.slice(from, found.index) })
    const point = char.codePointAt(0)!
    const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
    parts.push({ mark: names[point] ?? code, code })
    from = found.index + char.length
  }
  if (from < text.length) parts.push({ text: text.slice(from) })
  return parts
}

/** The same as one string, for names and labels: `a⟨RLO⟩b`. */
export function shownText(text: string): string {
  return shownParts(text)
    .map((part) => ('text' in part ? part.text : `⟨${part.mark}⟩`))
    .join('')
}

export function hasHidden(text: string): boolean {
  return shownParts(text).some((part) => 'mark' in part)
}

// CSI, OSC (to BEL or ST), other string sequences, two-character escapes.
const escapes =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[PX^_][^\u001b]*(?:\u001b\\|$)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g
const controls = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Output of a program as plain lines: no escapes, a line drawn over and over is its last state (K-01). */
export function plainOutput(output: string): string {
  const clean = output.replace(escapes, '').replaceAll('\r\n', '\n')
  if (!/[\r\b]/.test(clean)) return clean.replace(controls, '')
  return clean
    .split('\n')
    .map((line) => {
      const drawn = line.replace(/\r+$/, '')
      const last = drawn.slice(drawn.lastIndexOf('\r') + 1)
      return last.includes('\b') ? overstrike(last) : last
    })
    .join('\n')
    .replace(controls, '')
}

function overstrike(line: string): string {
  const chars: string[] = []
  for (const char of line) {
    if (char === '\b') chars.pop()
    else chars.push(char)
  }
  return chars.join('')
}

/** The last `lines` lines, and how many lines there are before them. */
export function tailOf(text: string, lines: number): { text: string; before: number } {
  const end = text.endsWith('\n') ? text.length - 1 : text.length
  let from = end
  let taken = 0
  while (taken < lines) {
    const at = text.lastIndexOf('\n', from - 1)
    taken++
    if (at < 0 || from === 0) return { text: text.slice(0, end), before: 0 }
    from = at
  }
  let before = 0
  for (let at = text.indexOf('\n'); at >= 0 && at <= from; at = text.indexOf('\n', at + 1)) before++
  return { text: text.slice(from + 1, end), before }
}
