/**
 * One request to one model, from sending to its end. Yields the events of the stream and returns how it ended; nothing of
 * the request outlives it (M-86). Repeating is decided elsewhere.
 */
import { createParser } from 'eventsource-parser'
import { NetError, send, type NetResponse } from '../platform/net.ts'
import { isRecord } from './config.ts'
import { classify, RequestFailure, requestIdOf, transportFailure, type Failure } from './failure.ts'
import type { FinishReason, ModelEvent } from './model.ts'
import { ProtocolFault, Reply } from './reply.ts'
import { Watchdog, type Expired } from './watchdog.ts'
import { fromWireName, promptCharacters, type Ask, type Wire, type WireReader } from './wire.ts'

export type Ended =
  | {
      ok: true
      reason: FinishReason
      empty: boolean
      /** The provider's word, for the log. */
      word: string
      requestId: string | undefined
    }
  | {
      ok: false
      failure: Failure
      /** Something was already yielded that a repetition has to take back; `shown` where a person could read it. */
      partial: boolean
      shown: boolean
    }

/** A message of a stream longer than this is not the protocol (M-45). */
const messageLimit = 8 * 1024 * 1024
const errorBodyLimit = 64 * 1024
const plainBodyLimit = 32 * 1024 * 1024
/** How long usage is awaited after the finish (M-56). */
const lateUsageMs = 2_000

export async function* attempt(
  wire: Wire,
  ask: Ask,
  key: string | null,
  signal: AbortSignal,
  now: () => number,
): AsyncGenerator<ModelEvent, Ended> {
  const { provider } = ask.model
  const reply = new Reply({ thinkTags: thinkTags(ask), nameOf: fromWireName(ask.request.tools) })
  const ending = new AbortController()
  let expired: Expired | undefined
  const watchdog = new Watchdog(provider.timeouts, !ask.stream, (limit) => {
    expired = limit
    ending.abort()
  })
  const stop = () => ending.abort()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let response: NetResponse | undefined
  try {
    response = await send({
      url: provider.baseUrl + wire.path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: ask.stream && wire.framing === 'events' ? 'text/event-stream' : 'application/json',
        ...wire.headers(key),
        ...provider.headers,
      },
      body: JSON.stringify(wire.body(ask)),
      signal: ending.signal,
      connectMs: provider.timeouts.connect * 1_000,
    })
    if (response.status < 200 || response.status >= 300)
      throw new RequestFailure(await refused(response, key !== null, now()))
    const requestId = requestIdOf(response.headers)
    yield { type: 'started', provider: provider.id, model: ask.model.id, requestId }

    const reader = wire.reader(ask, reply)
    const type = response.headers['content-type'] ?? ''
    if (/text\/html/i.test(type)) throw await notTheProtocol(response)
    // Some servers answer in one piece whatever was asked.
    if (!ask.stream || (wire.framing === 'events' && /application\/json/i.test(type)))
      yield* readPlain(response, reader, reply)
    else yield* readStream(response, wire, reader, reply, watchdog)

    if (reply.fault !== undefined) throw new RequestFailure(faultOf(reply, response, key !== null, now()))
    if (reply.finish === undefined) throw new RequestFailure({ code: 'provider.response_interrupted', requestId })
    reply.close()
    yield* reply.take()
    yield reply.usageEvent(() => promptCharacters(ask.request))
    if (reply.finish === 'refused') throw new RequestFailure({ code: 'provider.content_refused', requestId })
    if (reply.finish === 'overflow') throw new RequestFailure({ code: 'provider.context_overflow', requestId })
    const reason = reply.finish === 'stop' && reply.namedCalls > 0 ? 'tools' : reply.finish
    return { ok: true, reason, empty: reply.empty, word: reply.finishWord.slice(0, 100), requestId }
  } catch (error) {
    const failure = failureOf(error, { signal, expired, ask, response })
    if (!failure) throw error
    // What was streamed was billed, so it is counted; a refusal has already told its usage.
    if (
      failure.code !== 'provider.stopped' &&
      response &&
      reply.finish === undefined &&
      (reply.hasContent || reply.hasUsage)
    )
      yield reply.usageEvent(() => promptCharacters(ask.request))
    return { ok: false, failure, partial: reply.hasContent, shown: reply.shown }
  } finally {
    watchdog.stop()
    signal.removeEventListener('abort', stop)
    ending.abort()
  }
}

function thinkTags({ model }: Ask): boolean {
  const { thinkTags: quirk = 'auto' } = model.quirks
  return quirk === 'auto'
    ? model.provider.kind === 'openai-compatible' || model.provider.kind === 'ollama'
    : quirk === 'on'
}

async function* readStream(
  response: NetResponse,
  wire: Wire,
  reader: WireReader,
  reply: Reply,
  watchdog: Watchdog,
): AsyncGenerator<ModelEvent> {
  const messages = messageReader(wire, reader)
  const decoder = new TextDecoder()
  const late = new AbortController()
  const body = response.body[Symbol.asyncIterator]() as AsyncGenerator<Uint8Array>
  let lateTimer: NodeJS.Timeout | undefined
  let progress = 0
  try {
    for (;;) {
      const next = await (lateTimer ? untilLate(body.next(), late.signal) : body.next()).catch((error: unknown) => {
        // After the finish nothing is missing but usage.
        if (reply.finish === undefined || !(error instanceof NetError) || error.fault === 'stopped') throw error
        return undefined
      })
      if (!next || next.done) break
      watchdog.bytes()
      messages.feed(decoder.decode(next.value, { stream: true }))
      if (reply.hasContent) watchdog.content()
      else if (reply.progress > progress) {
        progress = reply.progress
        watchdog.progress()
      }
      yield* reply.take()
      if (reply.fault !== undefined) break
      if (messages.done) {
        // Little or nothing follows the end mark: the connection can serve the next step.
        response.complete()
        break
      }
      if (reply.finish !== undefined && !lateTimer) lateTimer = setTimeout(() => late.abort(), lateUsageMs)
    }
    messages.flush()
    yield* reply.take()
  } finally {
    clearTimeout(lateTimer)
    // Not awaited: a body that still waits for bytes ends when the caller aborts it.
    void body.return(undefined).catch(() => {})
  }
}

/** The next piece, or undefined once the finish has come and nothing followed in time. */
async function untilLate<T>(next: Promise<T>, late: AbortSignal): Promise<T | undefined> {
  if (late.aborted) return undefined
  let giveUp = () => {}
  const tooLate = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined)
    late.addEventListener('abort', giveUp, { once: true })
  })
  try {
    next.catch(() => {})
    return await Promise.race([next, tooLate])
  } finally {
    late.removeEventListener('abort', giveUp)
  }
}

type Messages = {
  feed(text: string): void
  /** A last message whose end mark is missing. */
  flush(): void
  readonly done: boolean
}

/** Cuts a stream into messages, wherever its chunks were split (M-45). */
function messageReader(wire: Wire, reader: WireReader): Messages {
  let done = false
  let ending = false
  const take = (data: string) => {
    if (done || data.trim() === '') return
    if (data === '[DONE]') {
      done = true
      return
    }
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      // At the end of a cut stream half a message is expected.
      if (ending) return
      throw new ProtocolFault(`Not JSON: ${data.slice(0, 200)}`)
    }
    if (isRecord(value)) reader.message(value)
  }
  if (wire.framing === 'lines') {
    let rest: string[] = []
    let size = 0
    return {
      feed(text) {
        rest.push(text)
        size += text.length
        if (text.includes('\n')) {
          const lines = rest.join('').split('\n')
          rest = [lines.pop()!]
          size = rest[0]!.length
          for (const line of lines) take(line)
        }
        if (size > messageLimit) throw new ProtocolFault('A line is over 8 MiB.')
      },
      flush() {
        ending = true
        take(rest.join(''))
      },
      get done() {
        return done
      },
    }
  }
  const parser = createParser({
    maxBufferSize: messageLimit,
    onEvent: ({ data }) => take(data),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new ProtocolFault('A line is over 8 MiB.')
    },
  })
  return {
    feed: (text) => parser.feed(text),
    flush() {
      ending = true
      parser.feed('\n\n')
    },
    get done() {
      return done
    },
  }
}

async function* readPlain(response: NetResponse, reader: WireReader, reply: Reply): AsyncGenerator<ModelEvent> {
  const value = parse(await text(response, plainBodyLimit))
  if (!isRecord(value)) throw new ProtocolFault('The answer is not a JSON object.')
  reader.plain(value)
  yield* reply.take()
}

async function refused(response: NetResponse, keySent: boolean, now: number): Promise<Failure> {
  const { status, headers } = response
  if (status < 400)
    return {
      code: 'provider.request_rejected',
      status,
      text: 'It redirects to another address. Set the final one as base URL.',
    }
  const said = await text(response, errorBodyLimit).catch((error: unknown) => {
    if (error instanceof NetError && error.fault === 'stopped') throw error
    return ''
  })
  return classify({ status, headers, body: parse(said), text: said }, keySent, now)
}

function faultOf(reply: Reply, response: NetResponse, keySent: boolean, now: number): Failure {
  return classify(
    {
      status: undefined,
      headers: response.headers,
      body: reply.fault,
      text: JSON.stringify(reply.fault).slice(0, errorBodyLimit),
    },
    keySent,
    now,
  )
}

async function notTheProtocol(response: NetResponse): Promise<RequestFailure> {
  const page = await text(response, errorBodyLimit)
  return new RequestFailure({
    code: 'provider.protocol_error',
    text: 'It answered with a web page.',
    detail: page,
    status: response.status,
  })
}

/** Undefined where the error is a fault of ours. */
function failureOf(
  error: unknown,
  state: { signal: AbortSignal; expired: Expired | undefined; ask: Ask; response: NetResponse | undefined },
): Failure | undefined {
  const { signal, expired, ask, response } = state
  if (signal.aborted) return { code: 'provider.stopped' }
  if (expired) return { code: 'provider.stream_stalled', reason: expired }
  if (error instanceof RequestFailure) return error.failure
  if (error instanceof ProtocolFault) return { code: 'provider.protocol_error', text: error.message }
  if (!(error instanceof NetError)) return undefined
  return response
    ? { code: 'provider.response_interrupted', providerCode: error.transportCode, detail: error.message }
    : transportFailure(error, ask.model.provider)
}

async function text(response: NetResponse, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  let all = ''
  for await (const chunk of response.body) {
    all += decoder.decode(chunk, { stream: true })
    if (all.length > limit) break
  }
  return all
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
