/** Chat completions: kinds `openai` and `openai-compatible`. */
import { isRecord } from './config.ts'
import type { ModelMessage, UserPart } from './model.ts'
import { ProtocolFault, type Reply, type ReplyFinish } from './reply.ts'
import {
  argumentsOf,
  base64,
  bearer,
  hash,
  imageLeftOut,
  imagePartsOfResults,
  toCallId,
  toWireFunction,
  toWireName,
  withExtra,
  type Ask,
  type Wire,
  type WireReader,
} from './wire.ts'

export const chatWire: Wire = {
  path: '/chat/completions',
  framing: 'events',
  headers: bearer,
  body,
  reader: (_ask, reply) => new ChatReader(reply),
}

function body(ask: Ask): Record<string, unknown> {
  const { request, model, effort, maxOutput, stream, without } = ask
  const { kind, extraBody } = model.provider
  const { tools } = request
  return withExtra(
    {
      model: model.id,
      messages: request.messages.flatMap((message) => wireMessages(message, without.has('images'))),
      stream,
      ...(stream && !without.has('usage') ? { stream_options: { include_usage: true } } : {}),
      ...(stream && model.quirks.promptProgress ? { return_progress: true } : {}),
      ...(kind === 'openai' ? { max_completion_tokens: maxOutput } : { max_tokens: maxOutput }),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(effort === undefined ? {} : { reasoning_effort: effort }),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool) => ({ type: 'function', function: toWireFunction(tool) })),
            ...(request.callsForbidden ? { tool_choice: 'none' } : {}),
          }),
      // Asked not to be stored (M-40); the key groups requests of a session without telling what it is (M-38).
      ...(kind === 'openai' ? { store: false, prompt_cache_key: hash(request.sessionId, 32) } : {}),
    },
    extraBody,
  )
}

function wireMessages(message: ModelMessage, withoutImages: boolean): unknown[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.text }]
    case 'user':
      return [{ role: 'user', content: userContent(message.parts, withoutImages) }]
    case 'assistant': {
      const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const calls = message.parts.flatMap((part) =>
        part.type === 'call'
          ? [
              {
                id: toCallId(part.callId),
                type: 'function',
                function: { name: toWireName(part.name), arguments: JSON.stringify(argumentsOf(part.args)) },
              },
            ]
          : [],
      )
      if (text === '' && calls.length === 0) return []
      return [
        { role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      ]
    }
    case 'tool': {
      const images = imagePartsOfResults(message.results)
      return [
        ...message.results.map((result) => ({
          role: 'tool',
          tool_call_id: toCallId(result.callId),
          content: result.text,
        })),
        ...(images.length > 0 ? [{ role: 'user', content: userContent(images, withoutImages) }] : []),
      ]
    }
  }
}

/** One text stays a plain string, which every server understands. */
function userContent(parts: UserPart[], withoutImages: boolean): unknown {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : withoutImages ? imageLeftOut : undefined))
  if (texts.every((text) => text !== undefined)) return texts.join('\n')
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64(part.data)}` } }
  })
}

const finishes: Record<string, ReplyFinish> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  tool_calls: 'tools',
  function_call: 'tools',
  length: 'length',
  content_filter: 'refused',
}

/** Where servers put reasoning, in the order they are looked at (M-59). */
const reasoningFields = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text']

class ChatReader implements WireReader {
  readonly #reply: Reply

  constructor(reply: Reply) {
    this.#reply = reply
  }

  message(chunk: Record<string, unknown>): void {
    this.#read(chunk, 'delta')
  }

  plain(answer: Record<string, unknown>): void {
    if (!('choices' in answer) && !('error' in answer)) throw new ProtocolFault('The answer has no choices.')
    this.#read(answer, 'message')
  }

  #read(value: Record<string, unknown>, content: 'delta' | 'message'): void {
    const reply = this.#reply
    // A null error beside an answer is not one.
    if (value['error']) {
      reply.fault = value
      return
    }
    const { prompt_progress: progress } = value
    if (isRecord(progress)) reply.promptRead(percent(progress))
    const choice = Array.isArray(value['choices']) ? value['choices'][0] : undefined
    if (isRecord(choice)) {
      const part = choice[content]
      if (isRecord(part)) this.#content(part)
      const word = choice['finish_reason']
      if (typeof word === 'string' && word !== '') {
        reply.finishWord = word
        reply.finish = finishes[word] ?? 'unknown'
      }
    }
    const usage = value['usage'] ?? (isRecord(choice) ? choice['usage'] : undefined)
    if (isRecord(usage)) this.#usage(usage)
  }

  #content(part: Record<string, unknown>): void {
    const reply = this.#reply
    for (const field of reasoningFields) if (part[field]) reply.reasoning(part[field], field)
    if (Array.isArray(part['reasoning_details'])) {
      for (const detail of part['reasoning_details'])
        if (isRecord(detail)) reply.reasoning(detail['text'] ?? detail['summary'], 'reasoning_details')
    }
    const { content } = part
    if (typeof content === 'string') reply.text(content)
    else if (Array.isArray(content)) for (const piece of content) if (isRecord(piece)) reply.text(piece['text'])
    reply.text(part['refusal'])
    const calls = part['tool_calls']
    if (!Array.isArray(calls)) return
    for (const call of calls) {
      if (!isRecord(call)) continue
      const made = isRecord(call['function']) ? call['function'] : {}
      reply.call({ index: call['index'], id: call['id'], name: made['name'], args: made['arguments'] })
    }
  }

  #usage(usage: Record<string, unknown>): void {
    const input = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
    const output = isRecord(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
    this.#reply.usage({
      input: usage['prompt_tokens'],
      output: usage['completion_tokens'],
      total: usage['total_tokens'],
      cacheRead: input['cached_tokens'] ?? usage['prompt_cache_hit_tokens'],
      reasoning: output['reasoning_tokens'],
    })
  }
}

/** llama.cpp counts tokens read against all tokens of the prompt. */
function percent(progress: Record<string, unknown>): unknown {
  const { processed, total } = progress
  return typeof processed === 'number' && typeof total === 'number' && total > 0
    ? Math.round((processed / total) * 100)
    : processed
}
