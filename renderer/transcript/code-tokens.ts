/** Text, colour (empty: the default), 1 for italic. */
export type CodeToken = [text: string, colour: string, italic: 0 | 1]

/** Tokens of a line that look alike as one, blanks with what stands before them: half as many are to be drawn. */
export function joinTokens(line: readonly CodeToken[]): CodeToken[] {
  const joined: CodeToken[] = []
  for (const [text, colour, italic] of line) {
    const before = joined.at(-1)
    if (before && (text.trim() === '' || (before[1] === colour && before[2] === italic))) before[0] += text
    // Blanks have no colour of their own to show.
    else joined.push(text.trim() === '' ? [text, '', 0] : [text, colour, italic])
  }
  return joined
}
