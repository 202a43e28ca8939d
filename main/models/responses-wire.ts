/** The responses protocol: kind `openai-responses`. Stateless: nothing is stored, reasoning comes back encrypted (M-40). */
import { isRecord } from './config.ts'
import type { AssistantPart, ModelMessage, UserPart } from './model.ts'
import { ProtocolFault, type Reply, type ReplyFinish } from './reply.ts'
import {
  argumentsOf,
  base64,
  bearer,
  carried,
  carrierOf,
  hash,
  imageLeftOut,
  imagePartsOfResults,
  systemText,
  toCallId,
  toWireFunction,
  toWireName,
  withExtra,
  type Ask,
  type Wire,
  type WireReader,
} from './wire.ts'

export const responsesWire: Wire = {
  path: '/responses',
  framing: 'events',
  headers: bearer,
  body,
  reader: (ask, reply) => new ResponsesReader(ask, reply),
}

type Item = Record<string, unknown>

function body(ask: Ask): Record<string, unknown> {
  const { request, model, effort, maxOutput, stream, without } = ask
  const { tools } = request
  const system = systemText(request.messages)
  return withExtra(
    {
      model: model.id,
      ...(system.length === 0 ? {} : { instructions: system.join('\n\n') }),
      input: request.messages.flatMap((message) => inputItems(message, ask)),
      stream,
      store: false,
      max_output_tokens: maxOutput,
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(without.has('effort') ? {} : { include: ['reasoning.encrypted_content'] }),
      ...(effort === undefined ? {} : { reasoning: { effort, summary: 'auto' } }),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool) => ({ type: 'function', ...toWireFunction(tool), strict: false })),
            ...(request.callsForbidden ? { tool_choice: 'none' } : {}),
          }),
      prompt_cache_key: hash(request.sessionId, 32),
    },
    model.provider.extraBody,
  )
}

function inputItems(message: ModelMessage, ask: Ask): Item[] {
  const withoutImages = ask.without.has('images')
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: message.parts.map((part) => inputPart(part, withoutImages)) }]
    case 'assistant':
      return message.parts.flatMap((part) => outputItem(part, ask))
    case 'tool': {
      const images = imagePartsOfResults(message.results)
      return [
        ...message.results.map((result) => ({
          type: 'function_call_output',
          call_id: toCallId(result.callId),
          output: result.text,
        })),
        ...(images.length > 0 ? [{ role: 'user', content: images.map((part) => inputPart(part, withoutImages)) }] : []),
      ]
    }
  }
}

function inputPart(part: UserPart, withoutImages: boolean): Item {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (withoutImages) return { type: 'input_text', text: imageLeftOut }
  return { type: 'input_image', image_url: `data:${part.mediaType};base64,${base64(part.data)}` }
}

function outputItem(part: AssistantPart, { model }: Ask): Item[] {
  if (part.type === 'call')
    return [
      {
        type: 'function_call',
        call_id: toCallId(part.callId),
        name: toWireName(part.name),
        arguments: JSON.stringify(argumentsOf(part.args)),
      },
    ]
  if (part.type === 'text')
    return part.text === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text: part.text }] }]
  const item = carried(part.carrier, model)
  return isRecord(item) ? [item] : []
}

const incomplete: Record<string, ReplyFinish> = { max_output_tokens: 'length', content_filter: 'refused' }

class ResponsesReader implements WireReader {
  readonly #ask: Ask
  readonly #reply: Reply

  constructor(ask: Ask, reply: Reply) {
    this.#ask = ask
    this.#reply = reply
  }

  message(event: Item): void {
    const reply = this.#reply
    switch (event['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        reply.text(event['delta'])
        break
      case 'response.reasoning_summary_text.delta':
        reply.reasoning(event['delta'], 'summary')
        break
      case 'response.reasoning_text.delta':
        reply.reasoning(event['delta'], 'reasoning')
        break
      case 'response.output_item.added':
        if (isRecord(event['item']) && event['item']['type'] === 'function_call')
          this.#call(event['item'], event['output_index'])
        break
      case 'response.function_call_arguments.delta':
        reply.call({ index: event['output_index'], args: event['delta'] })
        break
      case 'response.output_item.done':
        if (isRecord(event['item'])) this.#carrier(event['item'])
        break
      case 'response.completed':
      case 'response.incomplete':
        if (isRecord(event['response'])) this.#end(event['response'])
        break
      case 'response.failed':
        reply.fault = event['response']
        break
      case 'error':
        reply.fault = isRecord(event['error']) ? event : { error: event }
        break
    }
  }

  plain(answer: Item): void {
    const { output } = answer
    if (!Array.isArray(output)) throw new ProtocolFault('The answer has no output.')
    output.forEach((item, index) => {
      if (!isRecord(item)) return
      if (item['type'] === 'function_call') this.#call(item, index)
      for (const part of Array.isArray(item['content']) ? item['content'] : [])
        if (isRecord(part)) this.#reply.text(part['text'] ?? part['refusal'])
      for (const part of Array.isArray(item['summary']) ? item['summary'] : [])
        if (isRecord(part)) this.#reply.reasoning(part['text'], 'summary')
      this.#carrier(item)
    })
    this.#end(answer)
  }

  #call(item: Item, index: unknown): void {
    this.#reply.call({ index, id: item['call_id'], name: item['name'], args: item['arguments'] })
  }

  /** Encrypted reasoning goes back as it came, but without its id: nothing is stored that it could name. */
  #carrier(item: Item): void {
    if (item['type'] !== 'reasoning' || typeof item['encrypted_content'] !== 'string') return
    const data = { type: 'reasoning', summary: item['summary'] ?? [], encrypted_content: item['encrypted_content'] }
    this.#reply.carrier(carrierOf(this.#ask.model, data))
  }

  #end(response: Item): void {
    const reply = this.#reply
    const details = isRecord(response['incomplete_details']) ? response['incomplete_details'] : {}
    reply.finishWord = String(details['reason'] ?? response['status'])
    reply.finish = response['status'] === 'completed' ? 'stop' : (incomplete[reply.finishWord] ?? 'unknown')
    const { usage } = response
    if (!isRecord(usage)) return
    const input = isRecord(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
    const output = isRecord(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
    reply.usage({
      input: usage['input_tokens'],
      output: usage['output_tokens'],
      total: usage['total_tokens'],
      cacheRead: input['cached_tokens'],
      reasoning: output['reasoning_tokens'],
    })
  }
}
