/** Mentions in what is being written: each is `@label` in the text and stands beside it with its place (S-112). Pure. */
import type { Mention } from '../../preload/contract/items.ts'
import { mentionText, movedBy } from '../../preload/contract/mentions.ts'

export type MentionQuery = { query: string; from: number; to: number }

/** The `@word` the caret stands at the end of. */
export function mentionQuery(text: string, caret: number): MentionQuery | null {
  const found = /(?:^|[\s([{])@([^\s@"]{0,200})$/.exec(text.slice(0, caret))
  if (!found) return null
  return { query: found[1]!, from: caret - found[1]!.length - 1, to: caret }
}

export type Written = { text: string; mentions: Mention[] }

/** With the mention in place of what was typed, and where the caret goes. */
export function insertMention(
  { text, mentions }: Written,
  { from, to }: MentionQuery,
  target: Omit<Mention, 'at'>,
): Written & { caret: number } {
  const mention = mentionText(target.label)
  const after = text.slice(to)
  const space = /^\s/.test(after) ? '' : ' '
  const grown = mention.length + space.length - (to - from)
  return {
    text: text.slice(0, from) + mention + space + after,
    mentions: [
      ...mentions.filter(({ at }) => at < from),
      { ...target, at: from },
      ...movedBy(
        mentions.filter(({ at }) => at >= to),
        grown,
      ),
    ],
    caret: from + mention.length + 1,
  }
}

/** Those whose words stand where they should. */
export function standing(text: string, mentions: readonly Mention[]): Mention[] {
  return mentions.filter(({ label, at }) => text.startsWith(mentionText(label), at))
}

/**
 * What an edit by hand leaves: `after` with the caret at `caret`. Deleting into a mention removes all of it; writing into
 * one makes it plain text. `caret` is where it goes if not where it is.
 */
export function editWritten(before: Written, after: string, caret: number): Written & { caret: number | null } {
  const { text } = before
  let end = 0
  while (end < Math.min(text.length, after.length - caret) && text.at(-1 - end) === after.at(-1 - end)) end++
  let start = 0
  while (start < Math.min(text.length, after.length) - end && text[start] === after[start]) start++
  const inserted = after.slice(start, after.length - end)
  let [from, until] = [start, text.length - end]
  const deletes = until > from
  const left: Mention[] = []
  for (const mention of standing(text, before.mentions)) {
    const to = mention.at + mentionText(mention.label).length
    if (to <= start || mention.at >= text.length - end) left.push(mention)
    else if (deletes) [from, until] = [Math.min(from, mention.at), Math.max(until, to)]
  }
  const cut = from < start || until > text.length - end
  return {
    text: cut ? text.slice(0, from) + inserted + text.slice(until) : after,
    mentions: left.map((mention) =>
      mention.at >= until ? { ...mention, at: mention.at + inserted.length - (until - from) } : mention,
    ),
    caret: cut ? from + inserted.length : null,
  }
}

/** Without the mention that stands there. */
export function withoutMention(written: Written, mention: Mention): Written {
  const to = mention.at + mentionText(mention.label).length
  const { text, mentions } = written
  return editWritten({ text, mentions }, text.slice(0, mention.at) + text.slice(to), mention.at)
}
