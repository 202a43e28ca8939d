/** The follow-up queue (turns.md 13): messages for later, a visible list that is never discarded. */
import { LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import type { Attachment, Mention } from '../../preload/contract/items.ts'
import { followUpsMax } from '../../preload/contract/limits.ts'
import { askedMentions } from '../../preload/contract/mentions.ts'
import type { FollowUp, Queue } from '../../preload/contract/session.ts'
import type { EventDraft } from '../../preload/contract/events.ts'
import type { Decision } from './decision.ts'
import { checkText, checkWaiting } from './requests.ts'
import type { SessionState } from './state.ts'

type Cause = Extract<EventDraft, { type: 'queue.changed' }>['cause']

export function changeQueue(decision: Decision, patch: Partial<Queue>, cause: Cause): void {
  const { pausedBy: before, ...rest } = decision.header.queue
  const queue: Queue = { ...rest, ...(before && patch.paused === undefined ? { pausedBy: before } : {}), ...patch }
  // Nothing that waits is nothing to hold back, but for the person's own wish (T-130).
  if (queue.followUps.length === 0 && queue.paused !== 'person') {
    queue.paused = null
    delete queue.pausedBy
  }
  if (decision.emit({ type: 'queue.changed', ...queue, cause })) decision.effect({ do: 'entry' })
}

export function addFollowUp(
  decision: Decision,
  message: {
    text: string
    attachments: Attachment[]
    mentions?: Mention[] | undefined
    model?: string
    agent?: string | null
    ignoresPause?: boolean
  },
): FollowUp {
  checkText(message.text, message.attachments)
  const { followUps } = decision.header.queue
  if (followUps.length >= followUpsMax) throw new LatheError('queue.full', `${followUpsMax} follow-ups wait already.`)
  const followUp: FollowUp = {
    id: decision.newId(),
    text: message.text,
    attachments: message.attachments,
    mentions: askedMentions(message.mentions),
    ...(message.model === undefined ? {} : { model: message.model }),
    ...(message.agent === undefined ? {} : { agent: message.agent }),
    createdAt: decision.now,
    revision: 1,
    ...(message.ignoresPause ? { ignoresPause: true } : {}),
  }
  checkWaiting([...followUps, ...(decision.state.view.turn?.steers ?? []), followUp])
  // What the person sent beside a background turn goes before what waits for an unpaused queue.
  changeQueue(
    decision,
    { followUps: message.ignoresPause ? [followUp, ...followUps] : [...followUps, followUp] },
    'added',
  )
  if (!decision.state.turn) decision.effect({ do: 'next' })
  return followUp
}

export function editFollowUp(
  decision: Decision,
  edit: { id: string; revision: number; text: string; attachments: Attachment[]; mentions?: Mention[] | undefined },
): FollowUp {
  checkText(edit.text, edit.attachments)
  const before = find(decision, edit.id)
  if (before.revision !== edit.revision) {
    throw new LatheError('follow_up.stale', 'This message was edited elsewhere meanwhile.', {
      data: { followUp: before },
    })
  }
  const { text, attachments, mentions } = edit
  const after = { ...before, text, attachments, mentions, revision: before.revision + 1 }
  const followUps = decision.header.queue.followUps.map((one) => (one.id === edit.id ? after : one))
  checkWaiting([...followUps, ...(decision.state.view.turn?.steers ?? [])])
  changeQueue(decision, { followUps }, 'edited')
  return after
}

export function moveFollowUp(decision: Decision, id: string, before: string | null): void {
  const moved = find(decision, id)
  if (before === id) return
  const rest = decision.header.queue.followUps.filter((one) => one.id !== id)
  const place = before === null ? rest.length : rest.findIndex((one) => one.id === before)
  if (place < 0) throw gone()
  changeQueue(decision, { followUps: rest.toSpliced(place, 0, moved) }, 'moved')
}

export function removeFollowUp(
  decision: Decision,
  id: string,
  cause: 'removed' | 'taken' | 'steered' = 'removed',
): FollowUp {
  const removed = find(decision, id)
  changeQueue(decision, { followUps: decision.header.queue.followUps.filter((one) => one.id !== id) }, cause)
  return removed
}

export function clearQueue(decision: Decision): FollowUp[] {
  const { followUps } = decision.header.queue
  changeQueue(decision, { followUps: [], paused: null }, 'cleared')
  return followUps
}

/** Its admission was refused: it stays first, and the queue says why nothing goes on (T-129). */
export function refuseFollowUp(decision: Decision, id: string, error: ErrorBody): void {
  const { followUps, paused } = decision.header.queue
  const isWaiting = followUps.some((followUp) => followUp.id === id)
  if (isWaiting && paused === null) changeQueue(decision, { paused: 'refused', pausedBy: error }, 'refused')
}

/** Holds a queue that is not empty; an empty one has nothing to pause. */
export function pauseQueue(decision: Decision, why: NonNullable<Queue['paused']>): void {
  if (decision.header.queue.followUps.length === 0) return
  if (decision.header.queue.paused === 'person') return
  changeQueue(decision, { paused: why }, 'paused')
}

export function resumeQueue(decision: Decision): void {
  changeQueue(decision, { paused: null }, 'resumed')
  decision.effect({ do: 'next' })
}

/** The follow-up that may start now, where nothing runs (T-46, T-130, T-131). */
export function nextFollowUp({ state }: { state: SessionState }): FollowUp | null {
  if (state.turn || state.closing || state.readOnly !== null || state.view.header.deletedAt !== null) return null
  const { followUps, paused } = state.view.header.queue
  const pressing = followUps.find((followUp) => followUp.ignoresPause)
  return pressing ?? (paused === null ? (followUps[0] ?? null) : null)
}

function find(decision: Decision, id: string): FollowUp {
  const followUp = decision.header.queue.followUps.find((one) => one.id === id)
  if (!followUp) throw gone()
  return followUp
}

function gone(): LatheError {
  return new LatheError('follow_up.gone', 'This message has started or was removed already.')
}
