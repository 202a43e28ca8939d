/** Steering (turns.md 12): text typed into a running turn, editable until the agent takes it at a step boundary. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Attachment, ResolvedMention } from '../../preload/contract/items.ts'
import { steersPendingMax, steersPerBoundaryMax } from '../../preload/contract/limits.ts'
import { askedMentions, joinMessages } from '../../preload/contract/mentions.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { Steer } from '../../preload/contract/session.ts'
import type { EventDraft } from '../../preload/contract/events.ts'
import type { HandedSteer } from '../agent/reports.ts'
import type { Decision } from './decision.ts'
import { withCommandNotes } from './own-commands.ts'
import { changeQueue, removeFollowUp } from './queue.ts'
import { bind, boundReply, checkMutable, checkText, checkWaiting } from './requests.ts'
import { resumeEnd } from './subagents.ts'

type Said = { text: string; attachments: Attachment[]; mentions?: ResolvedMention[] | undefined }
type Cause = Extract<EventDraft, { type: 'steers.changed' }>['cause']

const allActions: Steer['actions'] = ['edit', 'withdraw', 'sendNow']

export function pendingSteers(decision: Pick<Decision, 'state'>): Steer[] {
  return decision.state.view.turn?.steers ?? []
}

export function addSteer(
  decision: Decision,
  request: { turnId: string; requestId: string; fingerprint: string } & Said,
): Extract<SubmitReply, { accepted: 'steered' }> {
  const bound = boundReply(decision.state, request.requestId, request.fingerprint)
  if (bound?.accepted === 'steered') return bound
  checkMutable(decision.state)
  checkText(request.text, request.attachments)
  const { turn } = decision.state
  if (!turn || turn.id !== request.turnId || turn.phase === 'stopping') {
    throw new LatheError('steer.not_running', 'The turn is ending.', { hint: 'Queue the message instead.' })
  }
  const steers = pendingSteers(decision)
  if (steers.length >= steersPendingMax)
    throw new LatheError('steer.full', `${steersPendingMax} messages wait for the agent already.`, {
      hint: 'Queue the message instead.',
    })
  const steer: Steer = {
    id: decision.newId(),
    text: request.text,
    attachments: request.attachments,
    mentions: request.mentions,
    createdAt: decision.now,
    state: 'pending',
    actions: allActions,
  }
  checkWaiting([...decision.header.queue.followUps, ...steers, steer])
  change(decision, [...steers, steer], { steerId: steer.id, kind: 'added' })
  resumeEnd(decision)
  decision.clearDraft = true
  return bind(decision, request, { accepted: 'steered', steerId: steer.id })
}

export type SteerAnswer = { done: boolean; why?: 'taken' | 'not_running'; steer?: Steer }

export function editSteer(decision: Decision, id: string, { text, attachments, mentions }: Said): SteerAnswer {
  checkText(text, attachments)
  const steer = pendingSteers(decision).find((one) => one.id === id)
  if (!steer) return absent(decision)
  const edited = { ...steer, text, attachments, mentions }
  const steers = pendingSteers(decision).map((one) => (one.id === id ? edited : one))
  checkWaiting([...decision.header.queue.followUps, ...steers])
  change(decision, steers, { steerId: id, kind: 'edited' })
  return { done: true }
}

export function withdrawSteer(decision: Decision, id: string): SteerAnswer {
  const steer = pendingSteers(decision).find((one) => one.id === id)
  if (!steer) return absent(decision)
  change(
    decision,
    pendingSteers(decision).filter((one) => one.id !== id),
    { steerId: id, kind: 'withdrawn', reason: 'person' },
  )
  return { done: true, steer }
}

function absent(decision: Decision): SteerAnswer {
  return { done: false, why: decision.state.turn ? 'taken' : 'not_running' }
}

/** Ends a model request that runs, so that the next step begins with the steer; kills no tool (T-120). */
export function sendSteerNow(
  decision: Decision,
  id: string,
): { sent: 'delivered' | 'next_step' | 'taken' | 'not_running' } {
  const { turn } = decision.state
  if (!turn || turn.phase === 'stopping') return { sent: 'not_running' }
  const steers = pendingSteers(decision)
  const steer = steers.find((one) => one.id === id)
  if (!steer) return { sent: 'taken' }
  change(
    decision,
    steers.map((one) => (one.id === id ? { ...one, state: 'sending' as const, actions: [] } : one)),
    { steerId: id, kind: 'sending' },
  )
  // Calls are proposed once the request that asked for them is over: with a tool or a decision pending none runs.
  if (!turn.requestRunning) return { sent: 'next_step' }
  decision.effect({ do: 'abortRequest', turnId: turn.id })
  return { sent: 'delivered' }
}

/** Hands over the oldest pending steers; each becomes a user message where the agent reads it (T-117). */
export function takeSteers(decision: Decision): HandedSteer[] {
  const handed: HandedSteer[] = []
  for (const steer of pendingSteers(decision).slice(0, steersPerBoundaryMax)) {
    const itemId = decision.newId()
    const prompt = withCommandNotes(decision, steer.text)
    decision.put({
      kind: 'user',
      id: itemId,
      stepId: null,
      text: steer.text,
      ...(prompt === steer.text ? {} : { prompt }),
      attachments: steer.attachments,
      ...(steer.mentions ? { mentions: steer.mentions } : {}),
      steer: true,
      status: 'final',
      endedAt: decision.now,
      source: 'person',
    })
    change(
      decision,
      pendingSteers(decision).filter((one) => one.id !== steer.id),
      { steerId: steer.id, kind: 'consumed' },
    )
    handed.push({ itemId, text: prompt, attachments: steer.attachments, mentions: steer.mentions })
  }
  return handed
}

/** A person's Stop gives every unread steer back to the composer, and to the draft for who does not hear of it (T-125). */
export function withdrawAll(decision: Decision): Steer[] {
  const steers = pendingSteers(decision)
  decision.givenBack.push(...steers)
  for (const steer of steers) {
    change(
      decision,
      pendingSteers(decision).filter((one) => one.id !== steer.id),
      { steerId: steer.id, kind: 'withdrawn', reason: 'stopped' },
    )
  }
  return steers
}

/** At any other end the unread steers become one follow-up at the queue's head (T-125). */
export function leaveSteers(decision: Decision): void {
  const steers = pendingSteers(decision)
  if (steers.length === 0) return
  const { followUps } = decision.header.queue
  const { mentions, ...said } = joinMessages(steers)
  changeQueue(
    decision,
    {
      followUps: [
        {
          id: decision.newId(),
          ...said,
          mentions: askedMentions(mentions),
          createdAt: decision.now,
          revision: 1,
        },
        ...followUps,
      ],
    },
    'leftover',
  )
  change(decision, [], { steerId: steers[0]!.id, kind: 'leftover' })
}

/** A queued message goes into the running turn instead (T-128). */
export function steerFollowUp(decision: Decision, id: string, mentions?: ResolvedMention[]): { steerId: string } {
  const { turn } = decision.state
  if (!turn || turn.phase === 'stopping')
    throw new LatheError('steer.not_running', 'No turn is running that could read it.')
  if (pendingSteers(decision).length >= steersPendingMax)
    throw new LatheError('steer.full', `${steersPendingMax} messages wait for the agent already.`)
  const followUp = removeFollowUp(decision, id, 'steered')
  const steer: Steer = {
    id: decision.newId(),
    text: followUp.text,
    attachments: followUp.attachments,
    mentions,
    createdAt: decision.now,
    state: 'pending',
    actions: allActions,
  }
  change(decision, [...pendingSteers(decision), steer], { steerId: steer.id, kind: 'added' })
  resumeEnd(decision)
  return { steerId: steer.id }
}

function change(decision: Decision, steers: Steer[], cause: Cause): void {
  decision.emit({ type: 'steers.changed', turnId: decision.turn.id, steers, cause })
}
