/** How each protocol writes a reply, frame by frame: chat completions, responses, messages, and Ollama's lines of JSON. */
import type { Fault, Protocol, Usage } from './script.ts'

export interface Wire {
  readonly contentType: string
  open(): string
  text(delta: string): string
  reasoning(delta: string): string
  carrier(opaque: string): string
  call(call: { id: string; name: string; args: string; fragments: number }): string
  callFragment(fragment: Record<string, unknown>): string
  ping(): string
  progress(percent: unknown): string
  fault(fault: Fault): string
  /** Finish reason, usage and the end mark; null leaves that part out. */
  close(finish: string | null, usage: Usage | null): string
}

const finishWords: Record<Protocol, Record<string, string>> = {
  chat: { stop: 'stop', tools: 'tool_calls', length: 'length', refused: 'content_filter' },
  messages: { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens', refused: 'refusal', paused: 'pause_turn' },
  responses: { stop: 'completed', tools: 'completed', length: 'max_output_tokens', refused: 'content_filter' },
  ollama: { stop: 'stop', tools: 'stop', length: 'length' },
}

export function finishWord(protocol: Protocol, finish: string): string {
  return finishWords[protocol][finish] ?? finish
}

/** The error object of a protocol, with the HTTP status or inside a stream. */
export function faultBody(protocol: Protocol, fault: Fault): unknown {
  const message = fault.message ?? 'scripted error'
  if (protocol === 'ollama') return { error: message }
  if (protocol === 'messages')
    return { type: 'error', error: { type: fault.type ?? fault.code ?? 'api_error', message } }
  return {
    error: { message, type: fault.type ?? 'scripted_error', param: fault.param ?? null, code: fault.code ?? null },
  }
}

export function chatUsage(usage: Usage): unknown {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total ?? usage.input + usage.output,
    ...(usage.cachedInput === undefined ? {} : { prompt_tokens_details: { cached_tokens: usage.cachedInput } }),
    ...(usage.reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  }
}

/** Here `input_tokens` leaves out what the cache served or took. */
export function messagesUsage(usage: Usage): unknown {
  const { input, output, cachedInput, cacheWrite } = usage
  return {
    input_tokens: input - (cachedInput ?? 0) - (cacheWrite ?? 0),
    output_tokens: output,
    ...(cachedInput === undefined ? {} : { cache_read_input_tokens: cachedInput }),
    ...(cacheWrite === undefined ? {} : { cache_creation_input_tokens: cacheWrite }),
  }
}

/** Splits a text into `count` parts of about equal length. */
function slices(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)))
  return Array.from({ length: Math.max(1, Math.ceil(text.length / size)) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  )
}

function chatWire(model: string): Wire {
  const head = `data: {"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":0,"model":${JSON.stringify(model)},`
  const chunk = (delta: unknown, finish: string | null = null) =>
    `${head}"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`
  let calls = 0
  return {
    contentType: 'text/event-stream',
    open: () => chunk({ role: 'assistant', content: '' }),
    text: (delta) => chunk({ content: delta }),
    reasoning: (delta) => chunk({ reasoning_content: delta }),
    carrier: () => '',
    call({ id, name, args, fragments }) {
      const index = calls++
      const first = chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
      return (
        first +
        slices(args, fragments)
          .map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] }))
          .join('')
      )
    },
    callFragment: (fragment) => chunk({ tool_calls: [fragment] }),
    ping: () => ': ping\n\n',
    progress: (percent) =>
      `${head}"choices":[],"prompt_progress":{"total":100,"processed":${JSON.stringify(percent)}}}\n\n`,
    fault: (fault) => `data: ${JSON.stringify(faultBody('chat', fault))}\n\n`,
    close: (finish, usage) =>
      (finish === null ? '' : chunk({}, finishWord('chat', finish))) +
      (usage === null ? '' : `${head}"choices":[],"usage":${JSON.stringify(chatUsage(usage))}}\n\n`) +
      'data: [DONE]\n\n',
  }
}

function messagesWire(model: string): Wire {
  const event = (body: { type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
  let index = -1
  let open = ''
  const stopBlock = () => (open === '' ? '' : event({ type: 'content_block_stop', index } as never))
  const startBlock = (kind: string, block: unknown) => {
    const before = stopBlock()
    open = kind
    index += 1
    return before + event({ type: 'content_block_start', index, content_block: block } as never)
  }
  const delta = (body: unknown) => event({ type: 'content_block_delta', index, delta: body } as never)
  const within = (kind: string, block: unknown) => (open === kind ? '' : startBlock(kind, block))
  return {
    contentType: 'text/event-stream',
    open: () =>
      event({
        type: 'message_start',
        message: {
          id: 'msg_scripted',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      } as never),
    text: (text) => within('text', { type: 'text', text: '' }) + delta({ type: 'text_delta', text }),
    reasoning: (thinking) =>
      within('thinking', { type: 'thinking', thinking: '', signature: '' }) +
      delta({ type: 'thinking_delta', thinking }),
    carrier: (signature) =>
      within('thinking', { type: 'thinking', thinking: '', signature: '' }) +
      delta({ type: 'signature_delta', signature }),
    call({ id, name, args, fragments }) {
      const start = startBlock('', { type: 'tool_use', id, name, input: {} })
      open = 'tool_use'
      return (
        start +
        slices(args, fragments)
          .map((part) => delta({ type: 'input_json_delta', partial_json: part }))
          .join('')
      )
    },
    callFragment: (fragment) => delta(fragment),
    ping: () => event({ type: 'ping' }),
    progress: () => '',
    fault: (fault) => `event: error\ndata: ${JSON.stringify(faultBody('messages', fault))}\n\n`,
    close: (finish, usage) =>
      stopBlock() +
      (finish === null
        ? ''
        : event({
            type: 'message_delta',
            delta: { stop_reason: finishWord('messages', finish) },
            ...(usage === null ? {} : { usage: messagesUsage(usage) }),
          } as never)) +
      event({ type: 'message_stop' }),
  }
}

export function responsesUsage(usage: Usage): unknown {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.total ?? usage.input + usage.output,
    input_tokens_details: { cached_tokens: usage.cachedInput ?? 0 },
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  }
}

function responsesWire(model: string): Wire {
  const event = (body: { type: string } & Record<string, unknown>) =>
    `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
  let items = 0
  const reasoned: string[] = []
  return {
    contentType: 'text/event-stream',
    open: () => event({ type: 'response.created', response: { id: 'resp_scripted', model, status: 'in_progress' } }),
    text: (delta) => event({ type: 'response.output_text.delta', output_index: items, delta }),
    reasoning(delta) {
      reasoned.push(delta)
      return event({ type: 'response.reasoning_summary_text.delta', output_index: items, delta })
    },
    carrier: (opaque) =>
      event({
        type: 'response.output_item.done',
        output_index: items++,
        item: {
          id: 'rs_scripted',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: reasoned.splice(0).join('') }],
          encrypted_content: opaque,
        },
      }),
    call({ id, name, args, fragments }) {
      items += 1
      const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: '' }
      return (
        event({ type: 'response.output_item.added', output_index: items, item }) +
        slices(args, fragments)
          .map((delta) =>
            event({ type: 'response.function_call_arguments.delta', output_index: items, item_id: item.id, delta }),
          )
          .join('') +
        event({ type: 'response.output_item.done', output_index: items, item: { ...item, arguments: args } })
      )
    },
    callFragment: (fragment) => event({ type: 'response.output_item.added', output_index: ++items, item: fragment }),
    ping: () => ': ping\n\n',
    progress: () => '',
    fault: ({ code = null, message, param = null }) => event({ type: 'error', code, message, param }),
    close(finish, usage) {
      if (finish === null) return ''
      const word = finishWord('responses', finish)
      const counted = usage === null ? {} : { usage: responsesUsage(usage) }
      if (word === 'completed')
        return event({ type: 'response.completed', response: { id: 'resp_scripted', status: word, ...counted } })
      return event({
        type: 'response.incomplete',
        response: { id: 'resp_scripted', status: 'incomplete', incomplete_details: { reason: word }, ...counted },
      })
    },
  }
}

function ollamaWire(model: string): Wire {
  const line = (message: unknown) =>
    `${JSON.stringify({ model, message: { role: 'assistant', content: '', ...(message as object) }, done: false })}\n`
  return {
    contentType: 'application/x-ndjson',
    open: () => '',
    text: (content) => line({ content }),
    reasoning: (thinking) => line({ thinking }),
    carrier: () => '',
    call: ({ name, args }) => line({ tool_calls: [{ function: { name, arguments: JSON.parse(args) } }] }),
    callFragment: (fragment) => line({ tool_calls: [fragment] }),
    ping: () => '\n',
    progress: () => '',
    fault: (fault) => `${JSON.stringify(faultBody('ollama', fault))}\n`,
    close: (finish, usage) =>
      finish === null
        ? ''
        : `${JSON.stringify({ model, message: { role: 'assistant', content: '' }, done: true, done_reason: finishWord('ollama', finish), ...(usage === null ? {} : { prompt_eval_count: usage.input, eval_count: usage.output }) })}\n`,
  }
}

export function openWire(protocol: Protocol, model: string): Wire {
  if (protocol === 'chat') return chatWire(model)
  if (protocol === 'responses') return responsesWire(model)
  return protocol === 'messages' ? messagesWire(model) : ollamaWire(model)
}
