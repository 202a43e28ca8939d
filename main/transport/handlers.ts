/**
 * What a front door calls: one function for every route of the contract, typed from it, free of any transport.
 * The workbench implements it; a router serves it over a wire; `remoteHandlers` is the same shape over a local socket.
 */
import type { InferContractRouterInputs, InferContractRouterOutputs } from '@orpc/contract'
import type { Contract } from '../../preload/contract/routes.ts'
import type { Rights } from '../turns/requests.ts'
import type { Attendance } from '../turns/state.ts'

/** Who asks: known from the connection, never from the message (Z-156, S-34). */
export type ClientContext = {
  clientId: string
  kind: 'window' | 'web' | 'cli'
  /**
   * What happens where a person is needed for what this client starts: windows and tabs are `attended`, so is a command
   * line that asks on its terminal; one that cannot has its turn `fail`, or what would ask denied (Z-98, T-140).
   */
  attendance: Attendance
  /** Of a browser, which may have been let in to watch only; absent: everything (Z-1). */
  rights?: Rights
  /** Ends reads and streams when the caller goes; never given to a mutation (S-29). */
  signal?: AbortSignal
}

type Inputs = InferContractRouterInputs<Contract>
type Outputs = InferContractRouterOutputs<Contract>

/** A stream's refusals are thrown by its first `next`. */
export type Handler<Input, Output> =
  // In brackets: a reply that is one of several shapes is still one function's.
  [Output] extends [AsyncIteratorObject<infer Event, unknown, unknown>]
    ? (input: Input, client: ClientContext) => AsyncIterable<Event>
    : (input: Input, client: ClientContext) => Promise<Output>

/** Every route but `streams`, which is the transport's own. */
export type Handlers = {
  [Group in Exclude<keyof Contract, 'streams'>]: {
    [Route in keyof Contract[Group]]: Handler<
      Route extends keyof Inputs[Group] ? Inputs[Group][Route] : never,
      Route extends keyof Outputs[Group] ? Outputs[Group][Route] : never
    >
  }
}

/** The reply of a mutation that has nothing else to say. */
export const ok = { ok: true } as const

/** The caller's signal; for one that cannot go, a signal that never aborts. */
export function signalOf({ signal }: ClientContext): AbortSignal {
  return signal ?? new AbortController().signal
}
