/** Titles made without a model (turns.md 17): the first words at once, and what stands where no better one came. */
import type { Attachment } from '../../preload/contract/items.ts'
import {
  titleFallbackCharsMax,
  titleGeneratedCharsMax,
  titleProvisionalCharsMax,
} from '../../preload/contract/limits.ts'
import type { SessionHeader } from '../../preload/contract/session.ts'

/** The first non-blank line, cut at a word, without markup (T-168). */
export function provisionalTitle(text: string, attachments: readonly Attachment[]): Partial<SessionHeader> {
  const line =
    text
      .split('\n')
      .map(plain)
      .find((one) => one !== '') ??
    attachments[0]?.name ??
    ''
  const title = cutAtWord(line, titleProvisionalCharsMax)
  return title === '' ? {} : { title, titleSource: 'provisional' }
}

/** The first four distinct words of the first sentence (T-172); null where there is nothing to take. */
export function fallbackTitle(text: string): string | null {
  const sentence = plain(text.split(/(?<=[.!?。！？])\s|\n/u)[0] ?? '')
  const words: string[] = []
  for (const segment of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(sentence)) {
    if (!segment.isWordLike) continue
    const spaced = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]+$/u.test(segment.segment)
    if (spaced && segment.segment.length < 3) continue
    if (words.some((word) => word.toLocaleLowerCase() === segment.segment.toLocaleLowerCase())) continue
    words.push(segment.segment)
    if (words.length === 4) break
  }
  const title = words.join(' ').slice(0, titleFallbackCharsMax)
  return title === '' ? null : title
}

/** A model's title, cleaned (T-171); null where it is none: empty, an acknowledgement, a sentence about the person. */
export function cleanTitle(reply: string): string | null {
  const line = reply
    .replace(/<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/gi, '')
    .split('\n')
    .map((one) => one.trim())
    .find((one) => one !== '')
  if (!line) return null
  const title = plain(line.replace(/^(?:\*\*|#+\s*)?title\s*:\s*/i, ''))
    .replace(/^["'“”‘’«»`]+|["'“”‘’«»`]+$/g, '')
    .trim()
  if (title === '' || /^(?:ok(?:ay)?|sure|certainly|done|yes|no|thanks?)\b[.!]*$/i.test(title)) return null
  if (/^(?:I(?:'m|'ll|'ve)?|Let me)\s/.test(title) || /\bthe user (?:wants?|asks?|is|needs?)\b/i.test(title))
    return null
  return cutAtWord(title, titleGeneratedCharsMax)
}

function plain(line: string): string {
  return line
    .replace(/^[\s>#*+-]+/, '')
    .replace(/[*_~`]{1,3}([^*_~`]+)[*_~`]{1,3}/g, '$1')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.slice(0, most)
  const space = cut.lastIndexOf(' ')
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}`
}
