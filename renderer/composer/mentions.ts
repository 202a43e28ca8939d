/** Mentions of files in the text: `@src/app.ts`, or `@"with space.ts"`. Pure. */

export type MentionQuery = { query: string; from: number; to: number }

/** The `@word` the caret stands at the end of. */
export function mentionQuery(text: string, caret: number): MentionQuery | null {
  const found = /(?:^|[\s([{])@([^\s@"]{0,200})$/.exec(text.slice(0, caret))
  if (!found) return null
  return { query: found[1]!, from: caret - found[1]!.length - 1, to: caret }
}

export function mentionText(path: string): string {
  return /[\s"]/.test(path) ? `@"${path.replaceAll('"', '\\"')}"` : `@${path}`
}

/** `text` with the mention in place of what was typed, and where the caret goes. */
export function insertMention(text: string, { from, to }: MentionQuery, path: string): { text: string; caret: number } {
  const mention = mentionText(path)
  const after = text.slice(to)
  const space = /^\s/.test(after) ? '' : ' '
  return { text: text.slice(0, from) + mention + space + after, caret: from + mention.length + 1 }
}

/** Deleting into a mention that was completed removes all of it (S-112). Null where the caret is not in one. */
export function deleteMention(
  text: string,
  caret: number,
  mentioned: ReadonlySet<string>,
): { text: string; caret: number } | null {
  for (const path of mentioned) {
    const mention = mentionText(path)
    const from = text.lastIndexOf(mention, caret - 1)
    if (from < 0 || caret <= from || caret > from + mention.length) continue
    return { text: text.slice(0, from) + text.slice(from + mention.length), caret: from }
  }
  return null
}
