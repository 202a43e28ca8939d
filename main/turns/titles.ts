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

/** Scripts that are written without spaces between words: there a word may have any length. */
const unspaced = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}ー]+$/u
const fallbackWords = 4
const fallbackLetters = 3

/** The first four distinct words of the first sentence (T-172); null where there is nothing to take. */
export function fallbackTitle(text: string): string | null {
  const sentence = text
    .split(/(?<=[.!?])\s|(?<=[。！？])|\n/u)
    .map(plain)
    .find((one) => /[\p{L}\p{N}]/u.test(one))
  const words: string[] = []
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    sentence ?? '',
  )) {
    if (!isWordLike || (!unspaced.test(segment) && [...segment].length < fallbackLetters)) continue
    if (words.some((word) => word.toLocaleLowerCase() === segment.toLocaleLowerCase())) continue
    words.push(segment)
    if (words.length === fallbackWords) break
  }
  const title = words.reduce(
    (line, word) =>
      line === '' || (unspaced.test(word) && unspaced.test(line.at(-1)!)) ? line + word : `${line} ${word}`,
    '',
  )
  return title === '' ? null : cutAtWord(title, titleFallbackCharsMax)
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
  // Not through a character of two units.
  const cut = text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
  const space = cut.lastIndexOf(' ')
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}`
}
