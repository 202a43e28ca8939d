/** Text from strangers, on its way to the model (security.md 9). */
import { randomBytes } from 'node:crypto'

/** Unicode tags, zero-width characters and bidirectional controls: what people do not see, the model does not read (Z-132). */
const invisible = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

export function withoutInvisible(text: string): string {
  return text.replace(invisible, '')
}

/** A block that names its source and ends at a marker of 128 random bits, which nobody who wrote the text can know (Z-130). */
export function untrustedBlock(source: string, text: string): string {
  const mark = randomBytes(16).toString('hex')
  return `<${source} ${mark}>\n${text}\n</${source} ${mark}>`
}
