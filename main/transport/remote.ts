/** Another process's workbench in the shape of our own: what `lathe run` and a second host speak to (S-135). */
import { createORPCClient, ORPCError } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { getEventIteratorSchemaDetails } from '@orpc/contract'
import { ErrorBody, LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { contract } from '../../preload/contract/routes.ts'
import type { Wire } from './connections.ts'
import type { ClientContext, Handlers } from './handlers.ts'

/** Frames taken before they are acknowledged; well under what the other side sends without (`streamLimits`). */
const ackEvery = 32

type Call = (input: unknown, options: { signal?: AbortSignal }) => Promise<unknown>
type Remote = Record<string, Record<string, Call>>

/** Calls reject with the LatheError of the other side, or `host.unreachable` once `wire` is closed. */
export function remoteHandlers(wire: Wire): Handlers {
  let isOpen = true
  let onMessage: ((event: { data: unknown }) => void) | null = null
  const closed = new Promise<void>((resolve) => {
    wire.onClose(() => {
      isOpen = false
      resolve()
    })
  })
  wire.onMessage((text) => onMessage?.({ data: text }))
  const link = new RPCLink({
    port: {
      on(event: string, listener: (event?: { data: unknown }) => void) {
        if (event === 'message') onMessage = listener
        else void closed.then(() => listener())
      },
      postMessage(text: unknown) {
        if (!isOpen) throw new Error('closed')
        wire.send(text as string)
      },
    },
  })
  const remote = createORPCClient(link) as unknown as Remote

  /** Ours, the caller's own abort, or the loss of the other side. */
  function asLatheError(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason
    const body = error instanceof ORPCError && error.code === 'LATHE' ? ErrorBody.safeParse(error.data).data : undefined
    if (body) return new LatheError(body.code, body.message, body)
    if (!isOpen)
      return new LatheError('host.unreachable', 'The Lathe process that owns this data folder went away.', {
        cause: error,
      })
    return new LatheError('app.internal', 'The Lathe process that owns this data folder gave no usable answer.', {
      cause: error,
    })
  }

  const options = ({ signal }: ClientContext): { signal?: AbortSignal } => (signal ? { signal } : {})

  async function call(group: string, route: string, input: unknown, client: ClientContext): Promise<unknown> {
    try {
      return await remote[group]![route]!(input, options(client))
    } catch (error) {
      throw asLatheError(error, client.signal)
    }
  }

  /** A stream under a name of our own, so that two callers can hold the same. */
  async function* stream(group: string, route: string, input: object, client: ClientContext): AsyncGenerator<unknown> {
    const name = newId()
    try {
      const frames = (await remote[group]![route]!(
        { ...input, stream: name },
        options(client),
      )) as AsyncIterable<unknown>
      let taken = 0
      for await (const frame of frames) {
        yield frame
        taken++
        if (taken % ackEvery === 0) void remote['streams']!['ack']!({ stream: name, taken }, {}).catch(() => {})
      }
    } catch (error) {
      throw asLatheError(error, client.signal)
    }
  }

  const handlers: Record<string, Record<string, unknown>> = {}
  for (const [group, routes] of Object.entries(contract)) {
    handlers[group] = {}
    for (const [route, procedure] of Object.entries(routes)) {
      const serve = getEventIteratorSchemaDetails(procedure['~orpc'].outputSchema) ? stream : call
      handlers[group][route] = (input: object, client: ClientContext) => serve(group, route, input, client)
    }
  }
  return handlers as unknown as Handlers
}
