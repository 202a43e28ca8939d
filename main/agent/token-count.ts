/** Tokens where nobody reported them (C-41): a rough count that errs on the high side for prose and code. */
import { pixelSize } from '../files/content-type.ts'
import type { ModelMessage, ToolSpec } from '../models/model.ts'

const bytesPerToken = 3.5
const perMessage = 4
const imageTokensMin = 85
const imageTokensMax = 1_600
const pixelsPerToken = 750

export function countText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

export function countTools(tools: readonly ToolSpec[]): number {
  return tools.reduce((sum, tool) => sum + countText(JSON.stringify(tool)), 0)
}

/** Messages are never changed once made, so each is counted once. */
const counted = new WeakMap<ModelMessage, number>()

export function countMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + countMessage(message), 0)
}

export function countMessage(message: ModelMessage): number {
  const known = counted.get(message)
  if (known !== undefined) return known
  const tokens = perMessage + contentTokens(message)
  counted.set(message, tokens)
  return tokens
}

function contentTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'system':
      return countText(message.text)
    case 'tool':
      return message.results.reduce(
        (sum, { text, image }) => sum + countText(text) + (image ? countImage(image) : 0),
        0,
      )
    case 'user':
      return message.parts.reduce(
        (sum, part) => sum + (part.type === 'text' ? countText(part.text) : countImage(part)),
        0,
      )
    case 'assistant':
      return message.parts.reduce((sum, part) => {
        if (part.type === 'call') return sum + countText(part.name) + countText(JSON.stringify(part.args ?? {}))
        // Reasoning is not replayed but for what its provider wants back.
        if (part.type === 'reasoning')
          return sum + (part.carrier === undefined ? 0 : countText(JSON.stringify(part.carrier)))
        return sum + countText(part.text)
      }, 0)
  }
}

function countImage({ data, mediaType }: { data: Uint8Array; mediaType: string }): number {
  const size = pixelSize(data, mediaType)
  if (!size) return imageTokensMax
  const tokens = Math.ceil((size.width * size.height) / pixelsPerToken)
  return Math.min(imageTokensMax, Math.max(imageTokensMin, tokens))
}
