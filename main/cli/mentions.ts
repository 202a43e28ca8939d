/** `@path` in a prompt of the command line is a mention as in a window (S-111, S-112), where a file of that name is there. */
import type { Mention } from '../../preload/contract/items.ts'
import { mentionsMax } from '../../preload/contract/limits.ts'
import { mentionText } from '../../preload/contract/mentions.ts'

export type Mentioned = {
  text: string
  mentions: Mention[]
  /** Written like paths, and nothing in the workspace is called so: they go as plain text. */
  missing: string[]
}

/** What a path of the workspace is called there, folders ending in `/`; null where there is none. */
type Place = (path: string) => Promise<string | null>

const written = /(?<=^|[\s([{])@(?:"([^"\n]+)"|([^\s@"]+))/g
const afterSentence = /[.,;:!?)\]}'\u2019\u201d\u2026]+$/

/**
 * The prompt with its mentions. A full stop or a bracket after a path belongs to the sentence, unless a file is called so.
 * Quotes that a path needs not are taken out, so that it stands as a window writes it.
 */
export async function mentionsIn(prompt: string, place: Place): Promise<Mentioned> {
  const mentions: Mention[] = []
  const missing: string[] = []
  let text = ''
  let taken = 0
  for (const { index, 0: whole, 1: quoted, 2: plain } of prompt.matchAll(written)) {
    if (mentions.length >= mentionsMax) break
    text += prompt.slice(taken, index)
    taken = index + whole.length
    const given = quoted ?? plain!
    const spellings = quoted === undefined ? [given, given.replace(afterSentence, '')] : [given]
    const found = await firstOf([...new Set(spellings)].filter(Boolean), place)
    if (found) {
      mentions.push({ kind: 'file', ref: found.ref, label: found.label, at: text.length })
      text += mentionText(found.label) + given.slice(found.label.length)
    } else {
      const name = given.replace(afterSentence, '')
      if (/[/\\.]/.test(name)) missing.push(name)
      text += whole
    }
  }
  return { text: text + prompt.slice(taken), mentions, missing }
}

async function firstOf(labels: string[], place: Place): Promise<{ label: string; ref: string } | null> {
  for (const label of labels) {
    const ref = await place(label)
    if (ref !== null) return { label, ref }
  }
  return null
}
