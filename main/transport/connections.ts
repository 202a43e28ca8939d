/** The contract over any wire that carries text: Electron's ports, WebSockets, the local socket. */
import { RPCHandler } from '@orpc/server/message-port'
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { frameBytesMax } from '../../preload/contract/limits.ts'
import type { ClientContext } from './handlers.ts'
import { createReplies } from './replies.ts'
import { createRouter, routePaths, type Connection, type RouterOptions } from './router.ts'

const requestsPerSecond = 200
const requestsBurst = 400
const invalidPerMinuteMax = 20

/** Why a connection was closed on our side; WebSocket close codes. */
export const closeCodes = { goingAway: 1001, brokeRules: 1008, tooLarge: 1009, tryLater: 1013 } as const

export type Wire = {
  /** Never throws; what a closed wire is given is dropped. */
  send(text: string): void
  close(code: number, reason: string): void
  /** Anything but text is given as null. */
  onMessage(listener: (text: string | null) => void): void
  onClose(listener: () => void): void
}

/** Who is at the other end; without an id it gets one for this connection. */
export type Client = Pick<ClientContext, 'kind' | 'attendance' | 'rights'> & { clientId?: string }

export type Connections = {
  /** Serves the contract on `wire` until it closes. */
  accept(wire: Wire, who: Client): void
  readonly count: number
  /** Closes every wire. */
  closeAll(): void
}

/** The whole of a request frame: JSON, no headers, no types beyond JSON, no path but a route's. */
const RequestFrame = z.strictObject({
  i: z.string().max(32),
  p: z.strictObject({ u: z.string().max(100), b: z.strictObject({ json: z.unknown().optional() }).optional() }),
})
const AbortFrame = z.strictObject({ i: z.string().max(32), t: z.literal(4), p: z.unknown().optional() })
const Frame = z.union([RequestFrame, AbortFrame])

export function createConnections(options: Omit<RouterOptions, 'replies'> & { now?: () => number }): Connections {
  const { now = () => performance.now() } = options
  const rpc = new RPCHandler(createRouter({ ...options, replies: createReplies(now) }))
  const open = new Set<Wire>()

  function accept(wire: Wire, who: Client): void {
    const budget = createBudget(now)
    const faults = createCounter(invalidPerMinuteMax, 60_000, now)
    const closed = Promise.withResolvers<void>()
    let onFrame: ((event: { data: unknown }) => void) | null = null

    const invalid = (): void => {
      if (!faults.count()) wire.close(closeCodes.brokeRules, 'too many invalid requests')
    }
    const refuse = (id: string | undefined, why: string): void => {
      if (id !== undefined) wire.send(refusal(id, why))
      invalid()
    }
    const connection: Connection = { client: { clientId: newId(), ...who }, streams: new Map(), pending: 0, invalid }

    rpc.upgrade(
      {
        on(event: string, listener: (event?: { data: unknown }) => void) {
          if (event === 'message') onFrame = listener
          else void closed.promise.then(() => listener())
        },
        postMessage: (text: unknown) => wire.send(text as string),
      },
      { context: connection },
    )

    open.add(wire)
    wire.onClose(() => {
      open.delete(wire)
      closed.resolve()
    })
    wire.onMessage((text) => {
      if (!budget.take()) return wire.close(closeCodes.brokeRules, 'too many requests')
      if (text === null) return refuse(undefined, 'Only text is understood.')
      if (text.length > frameBytesMax) return refuse(idOf(text), 'A request may be 8 MiB long.')
      const frame = readFrame(text)
      if (!frame) return refuse(idOf(text), 'This is not a request.')
      if ('t' in frame) return onFrame!({ data: frame })
      if (!routePaths.has(frame.p.u)) return refuse(frame.i, 'There is no such request.')
      onFrame!({ data: { ...frame, p: { ...frame.p, b: frame.p.b ?? {} } } })
    })
  }

  return {
    accept,
    get count() {
      return open.size
    },
    closeAll() {
      for (const wire of open) wire.close(closeCodes.goingAway, 'Lathe is closing')
    },
  }
}

function readFrame(text: string): z.infer<typeof Frame> | null {
  try {
    return Frame.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

/** The id of a frame that is otherwise unreadable, so that its sender gets an answer. */
function idOf(text: string): string | undefined {
  return /^\{"i":"([0-9A-Za-z]{1,32})"/.exec(text)?.[1]
}

function refusal(id: string, message: string): string {
  const data = new LatheError('request.invalid', message).toBody()
  return JSON.stringify({
    i: id,
    p: { s: 400, b: { json: { defined: true, code: 'LATHE', status: 400, message, data } } },
  })
}

/** A bucket of `requestsBurst`, refilled by `requestsPerSecond` (Z-180). */
function createBudget(now: () => number): { take(): boolean } {
  let left = requestsBurst
  let at = now()
  return {
    take() {
      left = Math.min(requestsBurst, left + ((now() - at) / 1_000) * requestsPerSecond)
      at = now()
      if (left < 1) return false
      left--
      return true
    },
  }
}

/** Counts happenings in a sliding window; `count` answers false once there were `most` of them. */
export function createCounter(
  most: number,
  windowMs: number,
  now: () => number,
): { count(): boolean; isFull(): boolean } {
  const times: number[] = []
  const forgetOld = (): void => {
    while (times.length > 0 && now() - times[0]! >= windowMs) times.shift()
  }
  return {
    count() {
      forgetOld()
      if (times.length < most) times.push(now())
      return times.length < most
    },
    isFull() {
      forgetOld()
      return times.length >= most
    },
  }
}
