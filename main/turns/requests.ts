/** What every command of a client passes first: the idempotency of its request id, and whether the session may change. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import { messageBytesMax, repliesKeptMax, waitingBytesMax } from '../../preload/contract/limits.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { Decision } from './decision.ts'
import type { SessionState } from './state.ts'

/** The same id with the same content gives the same answer; other content is a conflict (T-13). */
export function boundReply(state: SessionState, requestId: string, fingerprint: string): SubmitReply | null {
  const binding = state.bindings.get(requestId)
  if (!binding) return null
  if (binding.fingerprint !== fingerprint)
    throw new LatheError('request.conflict', 'This request id was used for another message.')
  return binding.reply as SubmitReply
}

/** What a client may do, read each time it counts: it can change while a request is on its way (S-31). */
export type Rights = {
  mayAct(): boolean
  /** Aborted with `access.denied` once they are taken: for what waits before it acts. */
  readonly narrowed: AbortSignal
}

/** Throws `access.denied`. Absent rights are those of this computer's own windows and command line: everything (Z-1). */
export function checkRights(rights: Rights | undefined): void {
  if (rights && !rights.mayAct()) throw onlyWatches()
}

/** Ends the work of a client whose rights are taken meanwhile; of one that has all of them, never. */
export function whileMayAct(rights: Rights | undefined): AbortSignal {
  return rights?.narrowed ?? new AbortController().signal
}

export function onlyWatches(): LatheError {
  return new LatheError('access.denied', 'This browser may only watch.', {
    hint: 'Whoever started the host can allow more under Settings, Browsers.',
  })
}

/** Refusals that depend on the session as it is now, in the order of T-14. A subagent's session is its parent's alone to change. */
export function checkMutable(state: SessionState, byParent = false): void {
  if (state.closing)
    throw new LatheError('app.closing', 'Lathe is shutting down.', { hint: 'Send it again after the restart.' })
  if (state.view.header.deletedAt !== null)
    throw new LatheError('session.deleted', 'This session was deleted.', { hint: 'Restore it first.' })
  if (state.view.header.parent && !byParent)
    throw new LatheError('session.read_only', 'This is what a subagent did. It can be read.', {
      hint: 'Send your message in the session that asked for it.',
    })
  if (state.readOnly !== null) throw new LatheError('session.read_only', state.readOnly)
}

/** Whatever a person sends, by whichever way, says something and is no file in disguise (T-14). */
export function checkText(text: string, attachments: readonly Attachment[]): void {
  if (text.trim() === '' && attachments.length === 0) throw new LatheError('message.empty', 'The message is empty.')
  if (Buffer.byteLength(text) > messageBytesMax) {
    throw new LatheError('message.too_large', 'The message is larger than 1 MiB.', { hint: 'Attach it as a file.' })
  }
}

/** What waits stands as a whole in every event about it, so all of it together is bounded (T-55). */
export function checkWaiting(waiting: readonly { text: string; attachments: readonly Attachment[] }[]): void {
  if (Buffer.byteLength(JSON.stringify(waiting)) > waitingBytesMax)
    throw new LatheError('message.too_large', 'The messages that wait would be larger than 128 KiB together.', {
      hint: 'Attach it as a file, or send it once the others have been read.',
    })
}

/** Keeps what a request created with it, for ever (T-13); the newest stay in memory. */
export function bind<R extends SubmitReply>(
  decision: Decision,
  request: { requestId: string; fingerprint: string },
  reply: R,
): R {
  const binding = { requestId: request.requestId, fingerprint: request.fingerprint, reply }
  const bindings = new Map(decision.state.bindings)
  bindings.set(binding.requestId, binding)
  if (bindings.size > repliesKeptMax) bindings.delete(bindings.keys().next().value!)
  decision.change({ bindings })
  decision.requests.push(binding)
  return reply
}
