/**
 * A model that says what a script tells it to, over real HTTP on 127.0.0.1: chat completions, responses, messages and
 * Ollama's chat, with every fault a real server has (M-129). It records all requests; one that no step answers makes `close`
 * throw, so an unexpected request fails its test.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { Steps, type Action, type Protocol, type RecordedRequest, type Script, type Step } from './script.ts'
import { chatUsage, faultBody, finishWord, messagesUsage, openWire, responsesUsage, type Wire } from './wires.ts'

export type { RecordedRequest, Script, Step } from './script.ts'

export type ModelServerOptions = {
  script?: Script
  /** Default: any free port. */
  port?: number
  /** What `/v1/models` and `/api/tags` list; entries may carry more fields. Default `scripted`. */
  models?: (string | ({ id: string } & Record<string, unknown>))[]
  /** Fixed answers by path, before anything else: a JSON value, or a whole response. */
  routes?: Record<string, unknown>
}

export type ModelServer = {
  url: string
  /** `url` + `/v1`. */
  baseUrl: string
  port: number
  /** All requests so far, model requests and others. */
  requests: RecordedRequest[]
  /** Only the requests that asked for an answer. */
  asked(): RecordedRequest[]
  /** Replaces what is left of the script. */
  script(script: Script): void
  /** Adds steps behind what is left. */
  enqueue(...steps: Step[]): void
  /** Connections open now. */
  connections(): Promise<number>
  /** Drops all connections. Throws where a request met no step. */
  close(): Promise<void>
}

/** Up to this much is joined into one write, so that a flood of tokens costs few system calls. */
const writeSize = 65_536

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const steps = new Steps()
  let choose: (request: RecordedRequest) => Step | undefined = (request) => steps.take(request.body)
  const script = (next: Script) => {
    steps.clear()
    if (typeof next === 'function') choose = next
    else {
      choose = (request) => steps.take(request.body)
      steps.add(next)
    }
  }
  if (options.script) script(options.script)

  const requests: RecordedRequest[] = []
  const unexpected: string[] = []
  const models = (options.models ?? ['scripted']).map((model) => (typeof model === 'string' ? { id: model } : model))

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    const path = new URL(request.url ?? '/', url).pathname
    const record: RecordedRequest = {
      method: request.method ?? 'GET',
      path,
      headers: flatten(request),
      body: parse(await read(request)),
      at: Date.now(),
      aborted: false,
    }
    requests.push(record)
    response.on('close', () => (record.aborted = !response.writableFinished))

    const fixed = options.routes?.[path]
    if (fixed !== undefined) return json(response, 200, typeof fixed === 'function' ? await fixed(record) : fixed)
    if (request.method === 'GET' && (path === '/v1/models' || path === '/models'))
      return json(response, 200, { object: 'list', data: models.map((model) => ({ object: 'model', ...model })) })

    const protocol = protocolOf(path)
    if (!protocol) return json(response, 404, { error: { message: `Nothing at ${path}` } })
    record.protocol = protocol
    const step = choose(record)
    if (!step) {
      unexpected.push(`${record.method} ${path} ${JSON.stringify(record.body)}`.slice(0, 2_000))
      return json(response, 501, faultBody(protocol, { message: 'No step of the script answers this request.' }))
    }
    await play(step, protocol, record, response)
  }

  return {
    url,
    baseUrl: `${url}/v1`,
    port,
    requests,
    script,
    asked: () => requests.filter((request) => request.protocol),
    enqueue: (...more) => steps.add(more),
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close() {
      server.closeAllConnections()
      server.close()
      if (unexpected.length > 0) throw new Error(`The script had no answer for:\n${unexpected.join('\n')}`)
    },
  }
}

function protocolOf(path: string): Protocol | undefined {
  if (path.endsWith('/chat/completions')) return 'chat'
  if (path.endsWith('/messages')) return 'messages'
  if (path.endsWith('/responses')) return 'responses'
  return path.endsWith('/api/chat') ? 'ollama' : undefined
}

async function play(step: Step, protocol: Protocol, request: RecordedRequest, response: ServerResponse): Promise<void> {
  if (step.delayMs) await delay(step.delayMs)
  if (step.error) {
    const { status = 500, headers = {}, body } = step.error
    response.writeHead(status, {
      'content-type': body === undefined ? 'application/json' : 'text/html',
      'x-request-id': 'req-scripted',
      ...headers,
    })
    response.end(body ?? JSON.stringify(faultBody(protocol, step.error)))
    return
  }
  const streamed = protocol === 'ollama' ? request.body?.stream !== false : request.body?.stream === true
  if (!streamed) return json(response, 200, plainReply(step, protocol, request.body?.model))
  const wire = openWire(protocol, request.body?.model ?? 'scripted')
  response.writeHead(200, { 'content-type': wire.contentType, 'x-request-id': 'req-scripted' })
  response.socket?.setNoDelay(true)
  const out = new Output(response, step.chunkBytes, step.cutAfterBytes)
  await out.write(wire.open())
  for (const action of step.emit ?? []) if (!(await perform(action, wire, out))) return
  await out.write(wire.close(finishOf(step), usageOf(step)))
  await out.flush()
  response.end()
}

function finishOf(step: Step): string | null {
  if (step.finish !== undefined) return step.finish
  return step.emit?.some((action) => 'call' in action || 'callFragment' in action) ? 'tools' : 'stop'
}

function usageOf(step: Step): NonNullable<Step['usage']> | null {
  return step.usage === undefined ? { input: 10, output: 5 } : step.usage
}

let minted = 0

/** False where the reply is over with this action. */
async function perform(action: Action, wire: Wire, out: Output): Promise<boolean> {
  if ('text' in action) await say(action.text, action.everyMs, (delta) => wire.text(delta), out)
  else if ('reasoning' in action) await say(action.reasoning, action.everyMs, (delta) => wire.reasoning(delta), out)
  else if ('words' in action) {
    for (let i = 0; i < action.words && !out.gone; i++) {
      await out.write(wire.text('word '))
      if (action.everyMs) await out.pause(delay(action.everyMs))
    }
  } else if ('call' in action) {
    const { id = `call_${++minted}`, name, args = {}, fragments = 2 } = action.call
    await out.write(wire.call({ id, name, args: typeof args === 'string' ? args : JSON.stringify(args), fragments }))
  } else if ('callFragment' in action) await out.write(wire.callFragment(action.callFragment))
  else if ('carrier' in action) await out.write(wire.carrier(action.carrier))
  else if ('raw' in action)
    await out.write(typeof action.raw === 'string' ? action.raw : Buffer.from(action.raw.base64, 'base64'))
  else if ('delayMs' in action) await out.pause(delay(action.delayMs))
  else if ('until' in action) await out.pause(action.until)
  else if ('ping' in action) await out.write(wire.ping())
  else if ('progress' in action) await out.write(wire.progress(action.progress))
  else if ('usage' in action) await out.write(wire.close(null, action.usage))
  else if ('finish' in action) await out.write(wire.close(action.finish, null))
  else if ('error' in action) {
    await out.write(wire.fault(action.error))
    await out.end()
    return false
  } else if ('end' in action) {
    await out.end()
    return false
  } else if ('cut' in action) {
    await out.flush()
    out.cut()
    return false
  } else {
    await out.flush()
    await out.closed()
    return false
  }
  return !out.gone
}

async function say(
  text: string,
  everyMs: number | undefined,
  frame: (delta: string) => string,
  out: Output,
): Promise<void> {
  if (!everyMs) return out.write(frame(text))
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    await out.write(frame(word))
    await out.pause(delay(everyMs))
    if (out.gone) return
  }
}

/** The body of a reply: joins small writes, obeys back-pressure, and cuts where the step says so. */
class Output {
  readonly #response: ServerResponse
  readonly #chunkBytes: number | undefined
  readonly #closed: Promise<unknown>
  #left: number
  #joined = ''

  constructor(response: ServerResponse, chunkBytes: number | undefined, cutAfterBytes: number | undefined) {
    this.#response = response
    this.#closed = once(response, 'close')
    this.#chunkBytes = chunkBytes
    this.#left = cutAfterBytes ?? Infinity
  }

  get gone(): boolean {
    return this.#response.destroyed
  }

  async write(piece: string | Buffer): Promise<void> {
    if (typeof piece === 'string') {
      this.#joined += piece
      if (this.#joined.length < writeSize) return
      return this.flush()
    }
    await this.flush()
    await this.#send(piece)
  }

  async flush(): Promise<void> {
    const joined = this.#joined
    this.#joined = ''
    if (joined) await this.#send(Buffer.from(joined))
  }

  async #send(bytes: Buffer): Promise<void> {
    const size = this.#chunkBytes ?? bytes.length
    for (let start = 0; start < bytes.length && !this.gone; start += size) {
      const piece = bytes.subarray(start, Math.min(start + size, start + this.#left))
      this.#left -= piece.length
      // The callback comes once the kernel has it: later pieces do not join earlier ones.
      await new Promise<void>((resolve) => this.#response.write(piece, () => resolve()))
      if (this.#left <= 0) this.cut()
    }
  }

  /** Until then, or the client leaves. */
  async pause(until: Promise<unknown>): Promise<void> {
    await this.flush()
    await Promise.race([until, this.closed()])
  }

  async end(): Promise<void> {
    await this.flush()
    this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }

  async closed(): Promise<void> {
    if (!this.gone) await this.#closed
  }
}

/** The same reply in one piece, for `stream: false` (M-57). */
function plainReply(step: Step, protocol: Protocol, model: string): unknown {
  const join = (key: 'text' | 'reasoning') =>
    (step.emit ?? []).map((action) => (key in action ? (action as never)[key] : '')).join('')
  const calls = (step.emit ?? []).flatMap((action) =>
    'call' in action ? [{ id: `call_${++minted}`, args: {}, ...action.call }] : [],
  )
  const [text, reasoning, finish, usage] = [join('text'), join('reasoning'), finishOf(step) ?? 'stop', usageOf(step)]
  if (protocol === 'messages') {
    return {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model,
      stop_reason: finishWord('messages', finish),
      content: [
        ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature: 'scripted' }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ],
      ...(usage ? { usage: messagesUsage(usage) } : {}),
    }
  }
  if (protocol === 'responses') {
    const word = finishWord('responses', finish)
    return {
      id: 'resp_scripted',
      object: 'response',
      model,
      ...(word === 'completed' ? { status: word } : { status: 'incomplete', incomplete_details: { reason: word } }),
      output: [
        ...(reasoning
          ? [{ id: 'rs_scripted', type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }]
          : []),
        ...(text
          ? [{ id: 'msg_scripted', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]
          : []),
        ...calls.map(({ id, name, args }) => ({
          id: `fc_${id}`,
          type: 'function_call',
          call_id: id,
          name,
          arguments: typeof args === 'string' ? args : JSON.stringify(args),
        })),
      ],
      ...(usage ? { usage: responsesUsage(usage) } : {}),
    }
  }
  if (protocol === 'ollama') {
    return {
      model,
      done: true,
      done_reason: finishWord('ollama', finish),
      message: {
        role: 'assistant',
        content: text,
        ...(reasoning ? { thinking: reasoning } : {}),
        tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })),
      },
      ...(usage ? { prompt_eval_count: usage.input, eval_count: usage.output } : {}),
    }
  }
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  const message = {
    role: 'assistant',
    content: text,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  }
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: finishWord('chat', finish) }],
    ...(usage ? { usage: chatUsage(usage) } : {}),
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function flatten(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
}
