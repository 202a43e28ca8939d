/** What the window asks of its connection, whichever host is behind it. One is set at start; all rooms call through it. */
import type { ContractRouterClient } from '@orpc/contract'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Contract } from '../../preload/contract/routes.ts'
import { asLatheError } from './session-client.ts'

export type Client = ContractRouterClient<Contract>

/** `lost` is a connection that was there and is being tried again; `refused` is one that is tried no more until asked. */
export type LinkState = 'connecting' | 'connected' | 'lost' | 'refused'

export interface Link {
  readonly client: Client
  state(): LinkState
  /** Calls back after every change; answers the function that ends it. */
  onState(listener: () => void): () => void
  /**
   * Reads a stream until `signal` aborts, giving credit for the frames taken (`streams.ack`) and opening again after a
   * lost connection. A frame is taken once its handler is done; the next waits for it. `opened` runs once each opening
   * stands, before its first frame: what was read before may have gaps.
   */
  read<Frame>(
    open: (stream: string, signal: AbortSignal) => Promise<AsyncIterable<Frame>>,
    handlers: {
      frame: (frame: Frame) => void | Promise<void>
      opened?: () => void
      failed?: (error: ErrorBody) => void
    },
    signal: AbortSignal,
  ): void
}

let current: Link | undefined

export function setLink(link: Link): void {
  current = link
}

export function link(): Link {
  if (!current) throw new Error('The window asked its host for something before it was connected.')
  return current
}

export function client(): Client {
  return link().client
}

/** A fresh request id: the same id sent again is the same act (S-27). */
export function act(): { requestId: string } {
  return { requestId: newId() }
}

/** What a failed request says, typed: the host's own body, or that the host could not be reached. */
export function failure(thrown: unknown): ErrorBody {
  return asLatheError(thrown).toBody()
}
