/** Ollama's own chat: lines of JSON. */
import { isRecord } from './config.ts'
import type { ModelMessage } from './model.ts'
import { ProtocolFault, type Reply, type ReplyFinish } from './reply.ts'
import {
  argumentsOf,
  base64,
  bearer,
  imageLeftOut,
  imagesOfResults,
  toWireFunction,
  toWireName,
  withExtra,
  type Ask,
  type Wire,
  type WireReader,
} from './wire.ts'

export const ollamaWire: Wire = {
  path: '/api/chat',
  framing: 'lines',
  headers: bearer,
  body,
  reader: (_ask, reply) => new OllamaReader(reply),
}

function body(ask: Ask): Record<string, unknown> {
  const { request, model, effort, maxOutput, stream, without } = ask
  // This protocol cannot forbid calls, so tools that may not be called are not offered.
  const tools = request.callsForbidden ? [] : request.tools
  return withExtra(
    {
      model: model.id,
      messages: request.messages.flatMap((message) => wireMessages(message, without.has('images'))),
      stream,
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool) => ({ type: 'function', function: toWireFunction(tool) })),
          }),
      ...(effort === undefined ? {} : { think: thinkValue(effort, model.id) }),
      options: {
        // Longer prompts are cut silently unless the length is said each time (M-16).
        num_ctx: model.contextLength,
        num_predict: maxOutput,
        ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      },
    },
    model.provider.extraBody,
  )
}

/** Most models only know on and off. */
function thinkValue(effort: string, model: string): unknown {
  if (effort === 'none') return false
  if (!model.startsWith('gpt-oss')) return true
  if (effort === 'minimal' || effort === 'low') return 'low'
  return effort === 'medium' ? 'medium' : 'high'
}

function wireMessages(message: ModelMessage, withoutImages: boolean): unknown[] {
  if (message.role === 'system') return [{ role: 'system', content: message.text }]
  if (message.role === 'user') {
    const content = message.parts
      .flatMap((part) => (part.type === 'text' ? [part.text] : withoutImages ? [imageLeftOut] : []))
      .join('\n')
    const images = withoutImages
      ? []
      : message.parts.flatMap((part) => (part.type === 'image' ? [base64(part.data)] : []))
    return [{ role: 'user', content, ...(images.length > 0 ? { images } : {}) }]
  }
  if (message.role === 'assistant') {
    const content = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    const calls = message.parts.flatMap((part) =>
      part.type === 'call' ? [{ function: { name: toWireName(part.name), arguments: argumentsOf(part.args) } }] : [],
    )
    return content === '' && calls.length === 0
      ? []
      : [{ role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }]
  }
  const images = withoutImages ? [] : imagesOfResults(message.results)
  return [
    ...message.results.map((result) => ({ role: 'tool', tool_name: toWireName(result.name), content: result.text })),
    ...images.map(({ note, image }) => ({ role: 'user', content: note, images: [base64(image.data)] })),
  ]
}

const finishes: Record<string, ReplyFinish> = { stop: 'stop', length: 'length' }

class OllamaReader implements WireReader {
  readonly #reply: Reply

  constructor(reply: Reply) {
    this.#reply = reply
  }

  message(line: Record<string, unknown>): void {
    const reply = this.#reply
    if (line['error'] !== undefined) {
      reply.fault = line
      return
    }
    const message = isRecord(line['message']) ? line['message'] : {}
    reply.reasoning(message['thinking'], 'thinking')
    reply.text(message['content'])
    for (const call of Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) {
      const made = isRecord(call) && isRecord(call['function']) ? call['function'] : {}
      // Calls arrive whole, one entry each, without id.
      reply.call({ id: isRecord(call) ? call['id'] : undefined, name: made['name'], args: made['arguments'] })
    }
    if (line['done'] !== true) return
    reply.finishWord = typeof line['done_reason'] === 'string' ? line['done_reason'] : 'stop'
    reply.finish = finishes[reply.finishWord] ?? 'unknown'
    reply.usage({ input: line['prompt_eval_count'], output: line['eval_count'] })
  }

  plain(answer: Record<string, unknown>): void {
    if (!('message' in answer) && !('error' in answer)) throw new ProtocolFault('The answer has no message.')
    this.message(answer)
  }
}
