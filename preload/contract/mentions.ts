/** Mentions beside the text they stand in (S-112). Pure; windows and the host alike. */
import type { Attachment, Mention } from './items.ts'

type Worded<M> = { text: string; attachments: Attachment[]; mentions?: M[] | undefined }

/** As it stands in the text: `@src/app.ts`, or `@"with space.ts"`. */
export function mentionText(label: string): string {
  return /[\s"]/.test(label) ? `@"${label.replaceAll('"', "'").replaceAll(/\s+/g, ' ')}"` : `@${label}`
}

/** Messages as one, a blank line between; each mention keeps its place. */
export function joinMessages<M extends Mention>(messages: readonly Worded<M>[]): Worded<M> {
  const said = messages.filter(({ text }) => text.trim() !== '')
  let at = 0
  const mentions = said.flatMap(({ text, mentions = [] }) => {
    const from = at
    at += text.length + 2
    return movedBy(mentions, from)
  })
  return {
    text: said.map(({ text }) => text).join('\n\n'),
    attachments: messages.flatMap(({ attachments }) => attachments),
    mentions: mentions.length > 0 ? mentions : undefined,
  }
}

export function movedBy<M extends Mention>(mentions: readonly M[], by: number): M[] {
  return mentions.map((mention) => ({ ...mention, at: mention.at + by }))
}

/** What was asked for, without what it was found to be. */
export function askedMentions(mentions: readonly Mention[] | undefined): Mention[] | undefined {
  return mentions?.map(({ kind, ref, label, at }) => ({ kind, ref, label, at }))
}
