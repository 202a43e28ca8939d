/**
 * The contract served: what comes in is parsed before any service sees it, what goes out is the contract's shape or one
 * typed error. Knows no transport; `connections.ts` brings the wires.
 */
import { getEventIteratorSchemaDetails } from '@orpc/contract'
import { implement, ORPCError, type AnyRouter } from '@orpc/server'
import type { z } from 'zod'
import { errorBody, LatheError } from '../../preload/contract/errors.ts'
import { contract } from '../../preload/contract/routes.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import type { SessionEvent, WorkbenchEvent } from '../../preload/contract/events.ts'
import { checkRights } from '../turns/requests.ts'
import type { ClientContext, Handlers } from './handlers.ts'
import { readRoutes } from './read-routes.ts'
import type { Replies } from './replies.ts'
import {
  slowSessionReader,
  slowTerminalReader,
  slowWatcher,
  subscribe,
  type Subscription,
  terminalLimits,
} from './subscription.ts'

const requestsAtOnceMax = 512
const streamsAtOnceMax = 64

/** One client's connection, as its calls see it. */
export type Connection = {
  client: ClientContext
  streams: Map<string, Subscription<unknown>>
  /** Requests under way. */
  pending: number
  /** Counts a request that broke its schema (Z-156). */
  invalid(): void
}

export type RouterOptions = {
  handlers: Handlers
  replies: Replies
  /** A throw that is not a LatheError: logged with its stack, never sent. */
  fault(error: unknown, route: string): void
}

type AnyHandler = (input: unknown, client: ClientContext) => Promise<unknown>
type Procedure = { '~orpc': { inputSchema?: z.ZodType; outputSchema: z.ZodType } }
type Call = { input: unknown; context: Connection; signal?: AbortSignal | undefined }
type Implementer = { handler(call: (options: Call) => Promise<unknown>): unknown }

/** Every route of the contract by its path, `/group/route`. */
export const routePaths: ReadonlySet<string> = new Set(
  Object.entries(contract).flatMap(([group, routes]) => Object.keys(routes).map((route) => `/${group}/${route}`)),
)

export function createRouter({ handlers, replies, fault }: RouterOptions): AnyRouter {
  const implemented = implement(contract).$config({
    initialInputValidationIndex: Number.NaN,
    initialOutputValidationIndex: Number.NaN,
  }) as unknown as Record<string, Record<string, Implementer>>

  const served = handlers as unknown as Record<string, Record<string, AnyHandler>>

  const streams: Record<string, (input: never, context: Connection, signal: AbortSignal) => Subscription<unknown>> = {
    'host.watch': (input: { stream: string }, { client }, signal) =>
      subscribe<WorkbenchEvent>({
        open: (open) => handlers.host.watch(input, { ...client, signal: open }),
        slow: slowWatcher,
        signal,
      }),
    'session.events': (input: Parameters<Handlers['session']['events']>[0], { client }, signal) => {
      let after = input.after
      const open = async function* (opened: AbortSignal): AsyncGenerator<SessionEvent> {
        for await (const event of handlers.session.events({ ...input, after }, { ...client, signal: opened })) {
          if (event.seq !== null) after = event.seq
          yield event
        }
      }
      return subscribe({ open, slow: slowSessionReader, signal })
    },
    'terminals.attach': (input: Parameters<Handlers['terminals']['attach']>[0], { client }, signal) =>
      subscribe<TerminalFrame>({
        open: (opened) => handlers.terminals.attach(input, { ...client, signal: opened }),
        slow: slowTerminalReader,
        limits: terminalLimits,
        signal,
      }),
  }

  /** Answers a stream and lets the client acknowledge it under the name it gave. */
  function openStream(
    name: string,
    input: { stream: string },
    context: Connection,
    frame: z.ZodType,
    signal: AbortSignal,
  ): AsyncGenerator<unknown> {
    if (context.streams.has(input.stream))
      throw new LatheError('request.conflict', 'This stream name is in use on this connection.')
    if (context.streams.size >= streamsAtOnceMax)
      throw new LatheError('request.invalid', `A client may hold ${streamsAtOnceMax} streams.`)
    const subscription = streams[name]!(input as never, context, signal)
    context.streams.set(input.stream, subscription)
    const release = (): boolean => context.streams.delete(input.stream)
    if (signal.aborted) release()
    else signal.addEventListener('abort', release, { once: true })
    return (async function* () {
      try {
        for await (const one of subscription.frames) yield frame.parse(one)
      } catch (error) {
        throw onWire(error, name)
      } finally {
        signal.removeEventListener('abort', release)
        release()
      }
    })()
  }

  function acknowledge(input: unknown, context: Connection): { ok: true } {
    const { stream, taken } = input as { stream: string; taken: number }
    // A stream that has just ended may still be acknowledged: nothing waits for it.
    context.streams.get(stream)?.ack(taken)
    return { ok: true }
  }

  /** Any throw as the contract's one error; ours by its code, all else without a word of its own. */
  function onWire(error: unknown, name: string): ORPCError<'LATHE', unknown> {
    if (!(error instanceof LatheError)) {
      fault(error, name)
      error = new LatheError('app.internal', 'Something went wrong inside Lathe.', { hint: 'The log has the details.' })
    }
    const data = errorBody(error)
    return new ORPCError('LATHE', { defined: true, message: data.message, data })
  }

  async function answer(
    name: string,
    call: AnyHandler,
    { inputSchema, outputSchema }: Procedure['~orpc'],
    options: Call,
  ): Promise<unknown> {
    const { context, signal = new AbortController().signal } = options
    const input = inputSchema ? parse(inputSchema, options.input, name, context) : undefined
    if (!readRoutes.has(name)) checkRights(context.client.rights)
    if (name === 'streams.ack') return acknowledge(input, context)
    const frame = getEventIteratorSchemaDetails(outputSchema)?.yields as z.ZodType | undefined
    if (frame) return openStream(name, input as { stream: string }, context, frame, signal)
    const requestId = requestIdOf(input)
    if (requestId === null) return outputSchema.parse(await call(input, { ...context.client, signal }))
    if (name === 'session.submit') return outputSchema.parse(await call(input, context.client))
    return outputSchema.parse(await replies.once(name, requestId, input, () => call(input, context.client)))
  }

  const router: Record<string, Record<string, unknown>> = {}
  for (const [group, routes] of Object.entries(contract)) {
    router[group] = {}
    for (const [route, procedure] of Object.entries(routes)) {
      const name = `${group}.${route}`
      const call: AnyHandler = (input, client) => served[group]![route]!(input, client)
      router[group][route] = implemented[group]![route]!.handler(async (options) => {
        const { context } = options
        if (context.pending >= requestsAtOnceMax)
          throw onWire(new LatheError('request.invalid', 'Too many requests are under way.'), name)
        context.pending++
        try {
          return await answer(name, call, (procedure as unknown as Procedure)['~orpc'], options)
        } catch (error) {
          if (options.signal?.aborted) throw error
          throw onWire(error, name)
        } finally {
          context.pending--
        }
      })
    }
  }
  return router as AnyRouter
}

/** The input as its schema has it; throws `request.invalid` naming the first place that is wrong (Z-156). */
function parse(schema: z.ZodType, input: unknown, name: string, context: Connection): unknown {
  const parsed = schema.safeParse(input)
  const problem = parsed.success ? unknownField(input, parsed.data, []) : problemOf(parsed.error)
  if (problem === null) return parsed.data
  context.invalid()
  throw new LatheError('request.invalid', `${name}: ${problem}`)
}

function problemOf(error: z.ZodError): string {
  const issue = error.issues[0]!
  return issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ${issue.message}` : issue.message
}

/** The first field that the schema let fall, as a sentence; null where there is none. */
function unknownField(given: unknown, parsed: unknown, path: string[]): string | null {
  if (typeof given !== 'object' || given === null || typeof parsed !== 'object' || parsed === null) return null
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(parsed, key)) return `${[...path, key].join('.')}: Unknown field`
    const inner = unknownField(value, (parsed as Record<string, unknown>)[key], [...path, key])
    if (inner !== null) return inner
  }
  return null
}

function requestIdOf(input: unknown): string | null {
  return typeof input === 'object' && input !== null && 'requestId' in input ? String(input.requestId) : null
}
