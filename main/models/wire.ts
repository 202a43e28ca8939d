/** A protocol: how the neutral request becomes a body, and how what comes back is told to the reply (M-34). */
import { createHash } from 'node:crypto'
import { chooseEffort, type KnownModel } from './catalog.ts'
import { isRecord } from './config.ts'
import type { Droppable } from './failure.ts'
import type { ModelMessage, ModelRequest, ToolResultPart, ToolSpec, UserPart } from './model.ts'
import type { Carrier, Reply } from './reply.ts'

export type Ask = {
  request: ModelRequest
  model: KnownModel
  /** As the model offers it; undefined sends none. */
  effort: string | undefined
  maxOutput: number
  stream: boolean
  /** What this provider and model refused before; tools, temperature and effort are left out of the rest already. */
  without: ReadonlySet<Droppable>
}

/** What was refused before is not there to be sent; what only a protocol can leave out is told by `without` (M-30). */
export function askOf(request: ModelRequest, model: KnownModel, without: ReadonlySet<Droppable>): Ask {
  const { temperature, ...rest } = request
  return {
    request: {
      ...rest,
      tools: without.has('tools') ? [] : request.tools,
      ...(temperature === undefined || without.has('temperature') ? {} : { temperature }),
    },
    model,
    effort: without.has('effort') ? undefined : chooseEffort(request.effort, model.efforts),
    // Always sent, so that a provider's huge default is not held against credit (M-33).
    maxOutput: request.maxOutput ?? Math.min(model.maxOutput, 32_000, Math.floor(model.contextLength / 4)),
    stream: model.stream,
    without,
  }
}

export interface Wire {
  /** Under the base URL. */
  readonly path: string
  /** How a streamed body is cut into messages: server-sent events, or one JSON value a line. */
  readonly framing: 'events' | 'lines'
  headers(key: string | null): Record<string, string>
  body(ask: Ask): Record<string, unknown>
  /** One reader per response, since protocols keep state between messages. */
  reader(ask: Ask, reply: Reply): WireReader
}

export interface WireReader {
  /** One message of a stream. */
  message(value: Record<string, unknown>): void
  /** The whole answer of a plain request. */
  plain(value: Record<string, unknown>): void
}

/** The header most servers read a key from. */
export function bearer(key: string | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` }
}

/** Names outside this form get a stable short one with a hash, mapped back on return (M-36). */
const wireName = /^[A-Za-z0-9_-]{1,64}$/

export function toWireName(name: string): string {
  return wireName.test(name) ? name : `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${hash(name, 8)}`
}

/** The tool a name on the wire means; unknown ones stay as the model wrote them. */
export function fromWireName(tools: readonly ToolSpec[]): (name: string) => string {
  const long = new Map(tools.map(({ name }) => [toWireName(name), name]))
  return (name) => long.get(name) ?? name
}

/** Ids of another protocol's form are mapped one to one, calls and results alike (M-37). */
export function toCallId(id: string): string {
  return /^[A-Za-z0-9_-]{1,40}$/.test(id) ? id : `call_${hash(id, 24)}`
}

export function hash(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

/** A tool as protocols declare a function. */
export function toWireFunction({ name, description, parameters }: ToolSpec): Record<string, unknown> {
  return { name: toWireName(name), description, parameters: toWireSchema(parameters) }
}

/** What every protocol accepts of a tool's schema. */
export function toWireSchema(parameters: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, $id: __, ...schema } = parameters
  return { ...schema, type: 'object', properties: schema['properties'] ?? {} }
}

/** A carrier goes back only to the provider, protocol and model it came from (C-37). */
export function carried(carrier: unknown, model: KnownModel): unknown {
  if (!isRecord(carrier)) return undefined
  const { provider, kind, model: by, data } = carrier as Carrier
  return provider === model.provider.id && kind === model.provider.kind && by === model.id ? data : undefined
}

export function carrierOf(model: KnownModel, data: unknown): Carrier {
  return { provider: model.provider.id, kind: model.provider.kind, model: model.id, data }
}

/** Fields of the configuration over ours, except the conversation; lists of tools are joined (M-8). */
export function withExtra(body: Record<string, unknown>, extra: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...body }
  for (const [key, value] of Object.entries(extra)) {
    if (key === 'model' || key === 'messages' || key === 'input' || key === 'stream') continue
    merged[key] =
      key === 'tools' && Array.isArray(value) && Array.isArray(body['tools']) ? [...body['tools'], ...value] : value
  }
  return merged
}

/** Arguments as an object; a call whose arguments were unusable keeps its place with none. */
export function argumentsOf(args: unknown): Record<string, unknown> {
  return isRecord(args) ? args : {}
}

export const imageLeftOut = '[An image was attached here; this model was not sent it.]'

export function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
}

export function systemText(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'system' ? [message.text] : []))
}

/** Where a protocol cannot carry images in results they follow in a user message that names the call (M-35). */
export function imagesOfResults(
  results: readonly ToolResultPart[],
): { note: string; image: NonNullable<ToolResultPart['image']> }[] {
  return results.flatMap(({ name, callId, image }) =>
    image ? [{ note: `Image from the result of ${name} (${toCallId(callId)}):`, image }] : [],
  )
}

/** The same as parts of that message. */
export function imagePartsOfResults(results: readonly ToolResultPart[]): UserPart[] {
  return imagesOfResults(results).flatMap(({ note, image }): UserPart[] => [
    { type: 'text', text: note },
    { type: 'image', ...image },
  ])
}

/** Rough size of a request, for an estimate of tokens where no usage is reported (M-56). */
export function promptCharacters(request: ModelRequest): number {
  let sum = 0
  for (const message of request.messages) {
    if (message.role === 'system') sum += message.text.length
    else if (message.role === 'tool') for (const result of message.results) sum += result.text.length
    else
      for (const part of message.parts)
        sum +=
          part.type === 'call' ? JSON.stringify(part.args ?? {}).length : part.type === 'image' ? 0 : part.text.length
  }
  return sum + request.tools.reduce((size, tool) => size + tool.description.length + 200, 0)
}
