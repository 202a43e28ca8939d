/** What a person's paste may put into a terminal, and what is copied out of it. Pure. */

export const pasteBytesMax = 5 * 1024 * 1024

/** Pasted text without control characters but tab and line ends: it can neither end bracketed paste nor send sequences. */
export function safePaste(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
}

/** Lines a paste would run, its last line end aside. */
export function pastedLines(text: string): number {
  return text.replace(/(\r\n|\n|\r)$/, '').split(/\r\n|\n|\r/).length
}

/** A selection as text: trailing blanks of each line are the screen's, not the program's. */
export function copiedText(selection: string): string {
  return selection.replaceAll(/[ \t\u00a0]+$/gm, '')
}

/** Text in pieces that fit a request, never splitting a surrogate pair. */
export function pieces(text: string, most = 64 * 1024): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + most)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end -= 1
    parts.push(text.slice(at, end))
    at = end
  }
  return parts
}
