/** The window's connection to its host: a port from the shell, or a WebSocket of the web host. Lost, it is made again. */
import { createORPCClient, ORPCError, type NestedClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { ErrorBody, LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Client, Link, LinkState } from './link.ts'

/** Milliseconds before each try to connect again; the last one from then on (S-40). */
const retryMs = [250, 500, 1_000, 2_000, 5_000] as const
/** How long a call waits for a connection (sessions.md 19, "starting"). */
const patienceMs = 20_000
/** Taken frames are acknowledged together, well before the host's window of them is used up. */
const ackMs = 50

/** What is typed into a terminal is not kept for later: by then it may mean something else. */
const neverWaits = new Set(['terminals.input', 'streams.ack'])

/** One open connection that carries text. */
export type Wire = {
  send(text: string): void
  close(): void
  onMessage(listener: (text: string) => void): void
  onClose(listener: () => void): void
}

/** Throws `access.denied` where trying again is no use; anything else is tried again. */
export type Connect = (signal: AbortSignal) => Promise<Wire>

type Connected = { client: Client; wire: Wire; closed: AbortSignal }

export type Connection = Link & {
  /** Why no connection is tried any more; null while one is there or tried. */
  refusal(): ErrorBody | null
  /** Tries again at once. */
  retry(): void
  close(): void
}

/** Connects by `connect`, again and again. `wait` is the clock between tries. */
export function createConnection(
  connect: Connect,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = pause,
): Connection {
  const ending = new AbortController()
  const listeners = new Set<() => void>()
  let state: LinkState = 'connecting'
  let refused: LatheError | null = null
  let current: Connected | null = null
  let hurry = new AbortController()
  let changed = Promise.withResolvers<void>()

  function become(next: LinkState, connected: Connected | null, error: LatheError | null = null): void {
    current = connected
    refused = error
    if (next !== state || error) {
      state = next
      for (const listener of listeners) listener()
    }
    changed.resolve()
    changed = Promise.withResolvers()
  }

  async function keepConnected(): Promise<void> {
    let disconnected: LinkState = 'connecting'
    for (let failures = 0; !ending.signal.aborted;) {
      try {
        const connected = clientOn(await connect(ending.signal))
        failures = 0
        disconnected = 'lost'
        become('connected', connected)
        await aborted(AbortSignal.any([connected.closed, ending.signal]))
        connected.wire.close()
        become(disconnected, null)
      } catch (error) {
        const denied = error instanceof LatheError && error.code === 'access.denied' ? error : null
        become(denied ? 'refused' : disconnected, null, denied)
        if (denied) await aborted(AbortSignal.any([hurry.signal, ending.signal]))
      }
      const hurried = AbortSignal.any([hurry.signal, ending.signal])
      await wait(retryMs[Math.min(failures++, retryMs.length - 1)]!, hurried)
      hurry = new AbortController()
    }
  }

  /** The connection, once there is one. Throws `host.unreachable` after 20 s, `access.denied` at once. */
  async function connection(patient: boolean, signal?: AbortSignal): Promise<Connected> {
    const late = AbortSignal.timeout(patienceMs)
    for (;;) {
      signal?.throwIfAborted()
      if (current && !current.closed.aborted) return current
      if (refused) throw refused
      if (!patient || late.aborted || ending.signal.aborted) throw unreachable()
      await Promise.race([changed.promise, aborted(signal ? AbortSignal.any([late, signal]) : late)])
    }
  }

  /**
   * One call. An act whose connection is lost before its answer is sent again with the same request id, which makes it
   * the same act (S-27); anything else fails, since nobody knows whether it happened.
   */
  async function call(path: readonly string[], input: unknown, signal?: AbortSignal): Promise<unknown> {
    const repeatable = typeof input === 'object' && input !== null && 'requestId' in input
    for (;;) {
      const { client, closed } = await connection(!neverWaits.has(path.join('.')), signal)
      try {
        const route = path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], client)
        return await (route as (input: unknown, options: object) => Promise<unknown>)(input, signal ? { signal } : {})
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        if (closed.aborted && repeatable) continue
        throw asRefusal(error, closed)
      }
    }
  }

  async function read<Frame>(
    open: (stream: string, signal: AbortSignal) => Promise<AsyncIterable<Frame>>,
    handlers: {
      frame: (frame: Frame) => void | Promise<void>
      opened?: () => void
      failed?: (error: ErrorBody) => void
    },
    signal: AbortSignal,
  ): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const stream = newId()
      let taken = 0
      let acking: ReturnType<typeof setTimeout> | undefined
      const acknowledge = (): void => {
        acking = undefined
        void client.streams.ack({ stream, taken }).catch(() => {})
      }
      try {
        const { closed } = await connection(true, signal)
        try {
          const frames = await open(stream, signal)
          handlers.opened?.()
          for await (const frame of frames) {
            if (signal.aborted) return
            await handlers.frame(frame)
            failures = 0
            taken++
            acking ??= setTimeout(acknowledge, ackMs)
          }
        } catch (error) {
          throw asRefusal(error, closed)
        } finally {
          clearTimeout(acking)
        }
      } catch (error) {
        if (signal.aborted) return
        // The host refused this window, not this stream: it goes on where the person has let the window in again.
        if (error === refused) {
          await Promise.race([changed.promise, aborted(signal)])
          continue
        }
        const refusal = error as LatheError
        if (refusal.code !== 'host.unreachable' && refusal.code !== 'app.internal')
          return handlers.failed?.(refusal.toBody())
      }
      await wait(retryMs[Math.min(failures++, retryMs.length - 1)]!, signal)
    }
  }

  const client = callerOf([]) as Client
  function callerOf(path: readonly string[]): unknown {
    return new Proxy((input: unknown, options?: { signal?: AbortSignal }) => call(path, input, options?.signal), {
      get: (_target, name) => (typeof name === 'string' && name !== 'then' ? callerOf([...path, name]) : undefined),
    })
  }

  void keepConnected()
  return {
    client,
    state: () => state,
    onState(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    read: (open, handlers, signal) => void read(open, handlers, AbortSignal.any([signal, ending.signal])),
    refusal: () => refused?.toBody() ?? null,
    retry: () => hurry.abort(),
    close: () => ending.abort(),
  }
}

/** The contract on one wire. */
function clientOn(wire: Wire): Connected {
  const ended = new AbortController()
  const closing = aborted(ended.signal)
  wire.onClose(() => ended.abort())
  const link = new RPCLink({
    port: {
      on(event: string, listener: (event?: { data: unknown }) => void) {
        if (event === 'message') wire.onMessage((text) => listener({ data: text }))
        else void closing.then(() => listener())
      },
      postMessage(text: unknown) {
        if (ended.signal.aborted) throw unreachable()
        wire.send(text as string)
      },
    },
  })
  return { client: createORPCClient<NestedClient<object>>(link) as unknown as Client, wire, closed: ended.signal }
}

function asRefusal(error: unknown, closed: AbortSignal): LatheError {
  if (error instanceof LatheError) return error
  const body = error instanceof ORPCError && error.code === 'LATHE' ? ErrorBody.safeParse(error.data).data : undefined
  if (body) return new LatheError(body.code, body.message, body)
  return closed.aborted
    ? unreachable()
    : new LatheError('app.internal', 'Lathe gave no usable answer.', { cause: error })
}

function unreachable(): LatheError {
  return new LatheError('host.unreachable', 'Lathe could not be reached.', { hint: 'It tries again by itself.' })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([elapsed, aborted(signal)])
  clearTimeout(timer)
}
