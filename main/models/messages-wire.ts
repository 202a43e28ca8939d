/** The messages protocol: kind `anthropic`. */
import { isRecord } from './config.ts'
import type { AssistantPart, ModelMessage, UserPart } from './model.ts'
import { ProtocolFault, type Reply, type ReplyFinish } from './reply.ts'
import {
  argumentsOf,
  base64,
  carried,
  carrierOf,
  imageLeftOut,
  systemText,
  toCallId,
  toWireName,
  toWireSchema,
  withExtra,
  type Ask,
  type Wire,
  type WireReader,
} from './wire.ts'

export const messagesWire: Wire = {
  path: '/v1/messages',
  framing: 'events',
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key === null ? {} : { 'x-api-key': key }) }),
  body,
  reader: (ask, reply) => new MessagesReader(ask, reply),
}

type Block = Record<string, unknown> & { type: string }
type WireMessage = { role: 'user' | 'assistant'; content: Block[] }

const cached = { cache_control: { type: 'ephemeral' } }

function body(ask: Ask): Record<string, unknown> {
  const { request, model, maxOutput, stream } = ask
  const { tools } = request
  const system = systemText(request.messages)
  const thinking = thinkingOf(ask)
  return withExtra(
    {
      model: model.id,
      max_tokens: maxOutput,
      ...(system.length === 0
        ? {}
        : { system: system.map((text, i) => ({ type: 'text', text, ...(i === system.length - 1 ? cached : {}) })) }),
      messages: withCacheMarks(wireMessages(ask)),
      stream,
      ...thinking,
      // Sampling cannot be set while the model thinks.
      ...(request.temperature === undefined || 'thinking' in thinking ? {} : { temperature: request.temperature }),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool, i) => ({
              name: toWireName(tool.name),
              description: tool.description,
              input_schema: toWireSchema(tool.parameters),
              ...(i === tools.length - 1 ? cached : {}),
            })),
            ...(request.callsForbidden ? { tool_choice: { type: 'none' } } : {}),
          }),
    },
    model.provider.extraBody,
  )
}

/** Tokens of thinking for models that are asked by budget. */
const budgets: Record<string, number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
  ultra: 32_768,
}

function thinkingOf({ request, model, effort, maxOutput }: Ask): Record<string, unknown> {
  const style = model.quirks.thinking ?? 'adaptive'
  if (effort === undefined || effort === 'none' || style === 'none') return {}
  // A tool loop goes on with its own reasoning or without any (M-39).
  if (loopLacksReasoning(request.messages, (carrier) => carried(carrier, model) !== undefined)) return {}
  if (style === 'adaptive') return { thinking: { type: 'adaptive' }, output_config: { effort } }
  const budget = Math.min(budgets[effort] ?? 8_192, Math.floor(maxOutput / 2))
  return budget < 1_024 ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** Whether the calls made since the last user message came without reasoning that may be sent back. */
function loopLacksReasoning(messages: ModelMessage[], sendable: (carrier: unknown) => boolean): boolean {
  const loop = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
  return loop.some(
    (message) =>
      message.role === 'assistant' &&
      message.parts.some((part) => part.type === 'call') &&
      !message.parts.some((part) => part.type === 'reasoning' && sendable(part.carrier)),
  )
}

/** Neighbours of one role become one message: the protocol wants them to alternate. */
function wireMessages(ask: Ask): WireMessage[] {
  const merged: WireMessage[] = []
  for (const message of ask.request.messages) {
    if (message.role === 'system') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocks(message, ask)
    const last = merged.at(-1)
    if (content.length === 0) continue
    if (last?.role === role) last.content.push(...content)
    else merged.push({ role, content })
  }
  return merged
}

function blocks(message: Exclude<ModelMessage, { role: 'system' }>, ask: Ask): Block[] {
  const withoutImages = ask.without.has('images')
  if (message.role === 'user') return message.parts.flatMap((part) => userBlock(part, withoutImages))
  if (message.role === 'assistant') return message.parts.flatMap((part) => assistantBlock(part, ask))
  return message.results.map((result) => {
    const content = [
      ...(result.text === '' ? [] : [{ type: 'text', text: result.text }]),
      ...(result.image ? userBlock({ type: 'image', ...result.image }, withoutImages) : []),
    ]
    return {
      type: 'tool_result',
      tool_use_id: toCallId(result.callId),
      ...(content.length > 0 ? { content } : {}),
      ...(result.isError ? { is_error: true } : {}),
    }
  })
}

function userBlock(part: UserPart, withoutImages: boolean): Block[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  if (withoutImages) return [{ type: 'text', text: imageLeftOut }]
  return [{ type: 'image', source: { type: 'base64', media_type: part.mediaType, data: base64(part.data) } }]
}

function assistantBlock(part: AssistantPart, { model }: Ask): Block[] {
  if (part.type === 'call')
    return [{ type: 'tool_use', id: toCallId(part.callId), name: toWireName(part.name), input: argumentsOf(part.args) }]
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const block = carried(part.carrier, model)
  return isRecord(block) ? [block as Block] : []
}

/** The last two user-role messages end a cached prefix; with system and tools that makes the four allowed (M-38). */
function withCacheMarks(messages: WireMessage[]): WireMessage[] {
  const marked = messages.filter(({ role }) => role === 'user').slice(-2)
  for (const { content } of marked) content[content.length - 1] = { ...content.at(-1)!, ...cached }
  return messages
}

const finishes: Record<string, ReplyFinish> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tools',
  max_tokens: 'length',
  refusal: 'refused',
  model_context_window_exceeded: 'overflow',
  pause_turn: 'paused',
}

class MessagesReader implements WireReader {
  readonly #ask: Ask
  readonly #reply: Reply
  /** The reasoning block being streamed: it goes back whole, with its signature. */
  #thinking: { text: string[]; signature: string } | undefined

  constructor(ask: Ask, reply: Reply) {
    this.#ask = ask
    this.#reply = reply
  }

  message(event: Record<string, unknown>): void {
    const reply = this.#reply
    switch (event['type']) {
      case 'message_start':
        if (isRecord(event['message'])) this.#usage(event['message']['usage'])
        break
      case 'content_block_start':
        if (isRecord(event['content_block'])) this.#block(event['content_block'], event['index'])
        break
      case 'content_block_delta':
        if (isRecord(event['delta'])) this.#delta(event['delta'], event['index'])
        break
      case 'content_block_stop':
        this.#endThinking()
        break
      case 'message_delta': {
        const word = isRecord(event['delta']) ? event['delta']['stop_reason'] : undefined
        if (typeof word === 'string') this.#finish(word)
        this.#usage(event['usage'])
        break
      }
      case 'error':
        reply.fault = event
        break
    }
  }

  plain(answer: Record<string, unknown>): void {
    const { content, stop_reason: word } = answer
    if (!Array.isArray(content)) throw new ProtocolFault('The answer has no content.')
    content.forEach((block, index) => {
      if (isRecord(block)) this.#block(block, index)
      this.#endThinking()
    })
    if (typeof word === 'string') this.#finish(word)
    this.#usage(answer['usage'])
  }

  #block(block: Record<string, unknown>, index: unknown): void {
    const reply = this.#reply
    if (block['type'] === 'text') reply.text(block['text'])
    else if (block['type'] === 'tool_use') {
      reply.call({ index, id: block['id'], name: block['name'] })
      // Streamed calls start with an empty object; their arguments follow as text.
      if (isRecord(block['input']) && Object.keys(block['input']).length > 0)
        reply.call({ index, args: block['input'] })
    } else if (block['type'] === 'thinking') {
      this.#thinking = { text: [], signature: typeof block['signature'] === 'string' ? block['signature'] : '' }
      this.#think(block['thinking'])
    } else if (block['type'] === 'redacted_thinking') reply.carrier(carrierOf(this.#ask.model, block))
  }

  #delta(delta: Record<string, unknown>, index: unknown): void {
    if (delta['type'] === 'text_delta') this.#reply.text(delta['text'])
    else if (delta['type'] === 'input_json_delta') this.#reply.call({ index, args: delta['partial_json'] })
    else if (delta['type'] === 'thinking_delta') this.#think(delta['thinking'])
    else if (delta['type'] === 'signature_delta' && this.#thinking && typeof delta['signature'] === 'string')
      this.#thinking.signature += delta['signature']
  }

  #think(text: unknown): void {
    if (typeof text === 'string') this.#thinking?.text.push(text)
    this.#reply.reasoning(text, 'thinking')
  }

  #endThinking(): void {
    const done = this.#thinking
    this.#thinking = undefined
    if (done && done.signature !== '')
      this.#reply.carrier(
        carrierOf(this.#ask.model, { type: 'thinking', thinking: done.text.join(''), signature: done.signature }),
      )
  }

  #finish(word: string): void {
    this.#reply.finishWord = word
    this.#reply.finish = finishes[word] ?? 'unknown'
  }

  /** Cached tokens are reported beside `input_tokens`; ours include them (M-108). */
  #usage(usage: unknown): void {
    if (!isRecord(usage)) return
    const {
      input_tokens: fresh,
      output_tokens: output,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    } = usage
    const count = (value: unknown) => (typeof value === 'number' ? value : 0)
    this.#reply.usage({
      output,
      cacheRead,
      cacheWrite,
      ...(fresh === undefined ? {} : { input: count(fresh) + count(cacheRead) + count(cacheWrite) }),
    })
  }
}
