import { Lexer } from 'marked'

const footnote = /\[\^[\w-]{1,200}\]/

/**
 * The top-level blocks of a Markdown text, which can be drawn one by one: joined they are the text again. One whose parts
 * lean on one another, by footnotes or by links that are defined elsewhere, is one block.
 */
export function blocksOf(text: string): string[] {
  if (footnote.test(text)) return [text]
  const source = text.replace(/\r\n?/g, '\n')
  const lexer = new Lexer({ gfm: true })
  const blocks: string[] = []
  for (const { raw, type } of lexer.blockTokens(source)) {
    if (type === 'space' && blocks.length > 0) blocks[blocks.length - 1] += raw
    else blocks.push(raw)
  }
  return Object.keys(lexer.tokens.links).length > 0 ? [source] : blocks
}
