/**
 * Pictures that a model refused by themselves (F-1225): a bad one is left out of every later request to that model, and
 * the others are still sent. Providers do not say which one it was; those that the model took before are not suspected.
 */
import { hash } from 'node:crypto'
import type { ModelMessage, ModelRequest, ToolResultPart, UserPart } from './model.ts'

const imageRefused = '[An image was left out here: this model refused it.]'

const rememberedMax = 2_000
/** Compressed pictures that differ differ at their ends, and a whole hash would hold the loop. */
const comparedBytes = 4_096

export class RefusedImages {
  readonly #refused = new Set<string>()
  readonly #taken = new Set<string>()

  /** The request without the pictures that its model has refused. */
  without(request: ModelRequest, model: string): ModelRequest {
    if (this.#refused.size === 0) return request
    const isRefused = (data: Uint8Array): boolean => this.#refused.has(keyOf(model, data))
    return { ...request, messages: request.messages.map((message) => withoutRefused(message, isRefused)) }
  }

  /** The model has answered: all pictures of the request are good. */
  taken(request: ModelRequest, model: string): void {
    for (const data of imagesOf(request)) remember(this.#taken, keyOf(model, data))
  }

  /** The model refused a picture of this request. Answers how many are left out from now on; 0 where it has none. */
  refuse(request: ModelRequest, model: string): number {
    const keys = [...new Set(imagesOf(request).map((data) => keyOf(model, data)))]
    const unproven = keys.filter((key) => !this.#taken.has(key))
    const suspects = unproven.length > 0 ? unproven : keys
    for (const key of suspects) remember(this.#refused, key)
    return suspects.length
  }
}

function remember(keys: Set<string>, key: string): void {
  keys.delete(key)
  keys.add(key)
  if (keys.size > rememberedMax) keys.delete(keys.values().next().value!)
}

function keyOf(model: string, data: Uint8Array): string {
  const ends = Buffer.concat([data.subarray(0, comparedBytes), data.subarray(-comparedBytes)])
  return `${model} ${data.length} ${hash('sha256', ends, 'hex')}`
}

function imagesOf({ messages }: ModelRequest): Uint8Array[] {
  return messages.flatMap((message) => {
    if (message.role === 'tool') return message.results.flatMap(({ image }) => image?.data ?? [])
    if (message.role === 'user') return message.parts.flatMap((part) => (part.type === 'image' ? [part.data] : []))
    return []
  })
}

function withoutRefused(message: ModelMessage, isRefused: (data: Uint8Array) => boolean): ModelMessage {
  if (message.role === 'user')
    return {
      ...message,
      parts: message.parts.map((part): UserPart =>
        part.type === 'image' && isRefused(part.data) ? { type: 'text', text: imageRefused } : part,
      ),
    }
  if (message.role !== 'tool') return message
  return {
    ...message,
    results: message.results.map((result): ToolResultPart => {
      if (!result.image || !isRefused(result.image.data)) return result
      const { image: _, ...rest } = result
      return { ...rest, text: `${rest.text}\n${imageRefused}` }
    }),
  }
}
