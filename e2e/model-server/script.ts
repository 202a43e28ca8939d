/** The script of a scripted model: which reply answers which request (M-129, M-130). The README shows the format. */

/** One thing done while a reply streams, in the order of the list. */
export type Action =
  /** `everyMs` sends the text word by word with that pause. */
  | { text: string; everyMs?: number }
  | { reasoning: string; everyMs?: number }
  /** So many one-word tokens; at full speed without `everyMs`. */
  | { words: number; everyMs?: number }
  /** `fragments`: over how many frames the arguments are spread (default 2). A string as `args` is sent as it is. */
  | { call: { id?: string; name: string; args?: unknown; fragments?: number } }
  /** One raw entry of `delta.tool_calls` (chat completions), for malformed calls. */
  | { callFragment: Record<string, unknown> }
  /** Opaque proof of reasoning (messages and responses). */
  | { carrier: string }
  /** Bytes straight onto the wire: a string, or base64. */
  | { raw: string | { base64: string } }
  | { delayMs: number }
  /** Waits for what the test does in its own time. */
  | { until: Promise<unknown> }
  | { ping: true }
  | { progress: unknown }
  | { usage: Usage }
  | { finish: string }
  | { error: Fault }
  /** Destroys the socket. */
  | { cut: true }
  /** Ends the response properly without finish reason or `[DONE]`. */
  | { end: true }
  /** Keeps the connection open and silent until the client leaves. */
  | { hang: true }

export type Usage = {
  input: number
  output: number
  cachedInput?: number
  cacheWrite?: number
  reasoning?: number
  total?: number
}

/** A failure: as the response (in a step) or as an error object inside the stream (in `emit`). */
export type Fault = {
  status?: number
  code?: string
  type?: string
  param?: string
  message?: string
  headers?: Record<string, string>
  /** Sent instead of the protocol's error object. */
  body?: string
}

export type Condition = {
  lastUserContains?: string
  /** Some message, of whatever role, contains this. */
  contains?: string
  model?: string
  /** True where the last message is a tool result. */
  afterTool?: boolean
  /** True where the request offers tools. */
  tools?: boolean
}

export type Step = {
  when?: Condition
  /** How many requests this step answers (default 1). */
  repeat?: number | 'always'
  /** Before the headers. */
  delayMs?: number
  emit?: Action[]
  /** `stop`, `tools`, `length`, `refused`, `paused`, or any other word, sent as it is; null sends none. Default by content. */
  finish?: string | null
  /** Null sends none. Default: 10 in, 5 out. */
  usage?: Usage | null
  error?: Fault
  /** Re-cuts the reply into writes of so many bytes, also inside a character. */
  chunkBytes?: number
  /** Destroys the socket after so many bytes of the body. */
  cutAfterBytes?: number
}

export type Protocol = 'chat' | 'responses' | 'messages' | 'ollama'

/** A request as the server saw it. */
export type RecordedRequest = {
  method: string
  path: string
  headers: Record<string, string>
  /** Parsed JSON, or the text where it is not JSON. */
  body: any
  at: number
  /** Set for requests to a model. */
  protocol?: Protocol
  /** True once the client left before the reply was over. */
  aborted: boolean
}

export type Script = Step[] | ((request: RecordedRequest) => Step | undefined)

/** Text of a message's content, whatever its form. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (typeof part === 'string' ? part : (part?.text ?? textOf(part?.content)))).join('\n')
}

/** The conversation of a request, the system prompt included. */
export function messagesOf(body: any): { role: string; text: string; tool: boolean }[] {
  const list = [body?.messages, body?.input].find(Array.isArray) ?? []
  const system = body?.system ?? body?.instructions
  const before = system === undefined ? [] : [{ role: 'system', text: textOf(system), tool: false }]
  return before.concat(
    list.map((message: any) => {
      const parts = Array.isArray(message?.content) ? message.content : []
      const tool =
        message?.role === 'tool' ||
        message?.type === 'function_call_output' ||
        parts.some((part: any) => part?.type === 'tool_result')
      return { role: String(message?.role ?? message?.type), text: textOf(message?.content ?? message?.output), tool }
    }),
  )
}

function matches(when: Condition | undefined, body: any): boolean {
  if (!when) return true
  const messages = messagesOf(body)
  const last = messages.at(-1)
  const lastUser = messages.findLast((message) => message.role === 'user' && !message.tool)
  if (when.lastUserContains !== undefined && !lastUser?.text.includes(when.lastUserContains)) return false
  if (when.contains !== undefined && !messages.some((message) => message.text.includes(when.contains!))) return false
  if (when.model !== undefined && body?.model !== when.model) return false
  if (when.afterTool !== undefined && (last?.tool ?? false) !== when.afterTool) return false
  if (when.tools !== undefined && (body?.tools?.length ?? 0) > 0 !== when.tools) return false
  return true
}

/** The steps not used up yet; each request takes the first one whose `when` fits. */
export class Steps {
  readonly #left: { step: Step; times: number }[] = []

  add(steps: Step[]): void {
    for (const step of steps) this.#left.push({ step, times: step.repeat === 'always' ? Infinity : (step.repeat ?? 1) })
  }

  clear(): void {
    this.#left.length = 0
  }

  take(body: unknown): Step | undefined {
    const index = this.#left.findIndex(({ step }) => matches(step.when, body))
    const found = this.#left[index]
    if (!found) return undefined
    found.times -= 1
    if (found.times < 1) this.#left.splice(index, 1)
    return found.step
  }
}
