/** How a turn begins (turns.md 2): one decision that makes the person's words, the turn and its control state visible. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import { backgroundTurnMs } from '../../preload/contract/limits.ts'
import type { FollowUp } from '../../preload/contract/session.ts'
import { bindKeys, checkNotHeld, countWoken, deliveredReply, isBackground, isPersonal } from './automatic.ts'
import type { Decision } from './decision.ts'
import type { Command, Message } from './inputs.ts'
import { withCommandNotes } from './own-commands.ts'
import { addFollowUp, changeQueue } from './queue.ts'
import { bind, boundReply, checkMutable } from './requests.ts'
import { newTurn } from './state.ts'
import { stop } from './stop.ts'
import { addSteer } from './steers.ts'
import { provisionalTitle } from './titles.ts'

export function submit(decision: Decision, command: Extract<Command, { type: 'submit' }>): SubmitReply {
  const { message, whenBusy } = command
  const bound =
    deliveredReply(decision.state, message.completionKeys ?? []) ??
    boundReply(decision.state, message.requestId, message.fingerprint)
  if (bound) return bound
  checkMutable(decision.state, message.source === 'session')
  const byPerson = isPersonal(message.source)
  if (!byPerson) checkNotHeld(decision.state, message.source)
  const current = decision.state.turn
  if (!current) return admit(decision, message, null)
  // What a machine says is never a person's words that wait: it is refused and keeps its work (T-20, T-26).
  if (!byPerson) throw busy(current.id)
  if (whenBusy === 'steer') {
    return addSteer(decision, {
      turnId: current.id,
      requestId: message.requestId,
      fingerprint: message.fingerprint,
      text: message.text,
      attachments: message.attachments,
      mentions: message.mentions,
    })
  }
  if (current.background) {
    // The person comes first: their message is durable now and starts when the background turn has yielded (T-31).
    const followUp = addFollowUp(decision, {
      text: message.text,
      attachments: message.attachments,
      mentions: message.mentions,
      ...message.asked,
      ignoresPause: true,
    })
    stop(decision, { turnId: current.id, reason: 'yielded' })
    return bind(decision, message, { accepted: 'queued', followUpId: followUp.id })
  }
  if (whenBusy === 'queue') {
    const followUp = addFollowUp(decision, {
      text: message.text,
      attachments: message.attachments,
      mentions: message.mentions,
      ...message.asked,
    })
    return bind(decision, message, { accepted: 'queued', followUpId: followUp.id })
  }
  throw busy(current.id)
}

function busy(turnId: string): LatheError {
  return new LatheError('turn.busy', 'A turn is running in this session.', {
    hint: 'Steer it, or queue the message.',
    data: { turnId },
  })
}

/** Starts a turn for `message`. The caller has made sure that none is running. `followUp` leaves the queue with it (T-129). */
export function admit(decision: Decision, message: Message, followUp: FollowUp | null): SubmitReply {
  const turnId = decision.newId()
  const userItemId = decision.newId()
  const { header } = decision
  const background = message.background ?? isBackground(message.source)
  const person = isPersonal(message.source)
  decision.change({
    stored: true,
    turn: newTurn(turnId, decision.now, {
      attendance: message.attendance,
      background,
      agent: message.agent ?? null,
      usageBefore: header.usage,
    }),
  })
  decision.emit({
    type: 'turn.started',
    turnId,
    origin: background ? 'background' : 'foreground',
    source: message.source,
    ...(message.automation ? { automation: message.automation } : {}),
    requestId: message.requestId,
    userItemId,
    model: message.model,
    ...(message.agent ? { agent: message.agent.name } : {}),
    ...(message.asked?.agent === undefined ? {} : { agentAsked: true }),
    ...(followUp ? { followUpId: followUp.id } : {}),
    ...(message.retryOf ? { retryOf: message.retryOf } : {}),
    ...(message.continues ? { continues: message.continues } : {}),
  })
  // A place stays free before it: there a summary stands that covers what came earlier (C-71).
  decision.change({ lastPos: decision.state.lastPos + 1 })
  const prompt = person ? promptOf(decision, message) : message.prompt
  decision.put({
    kind: 'user',
    id: userItemId,
    turnId,
    text: message.text,
    ...(prompt === undefined ? {} : { prompt }),
    attachments: message.attachments,
    ...(message.mentions ? { mentions: message.mentions } : {}),
    ...(message.automation ? { automation: message.automation } : {}),
    status: 'final',
    endedAt: decision.now,
    source: person ? 'person' : 'automation',
  })
  decision.changeHeader({
    ...(person ? { updatedAt: decision.now, archivedAt: null, automaticHeld: null } : {}),
    ...(header.titleSource === 'default' ? provisionalTitle(message.text, message.attachments) : {}),
  })
  if (message.replaced !== undefined) {
    if (header.model === message.replaced) decision.changeHeader({ model: null })
    decision.notice('warning', `${message.replaced} is no longer configured; ${message.model} answers instead.`)
  }
  if (followUp) {
    changeQueue(decision, { followUps: header.queue.followUps.filter((one) => one.id !== followUp.id) }, 'started')
  }
  if (person) resumeByPerson(decision)
  countWoken(decision, message.source)
  bindKeys(decision, message.completionKeys ?? [], { turnId, userItemId })
  // A subagent ends with its parent's turn, or with its steps.
  if (background && !header.parent) decision.effect({ do: 'limit', turnId, ms: backgroundTurnMs })
  supersedeRecovery(decision, message)
  decision.status()
  decision.clearDraft = message.source === 'person'
  decision.effect({ do: 'start', turnId })
  decision.effect({ do: 'entry' })
  return bind(decision, message, { accepted: 'started', turnId, userItemId })
}

/** A person's act clears every pause but their own (T-130). */
function resumeByPerson(decision: Decision): void {
  const { paused } = decision.header.queue
  if (paused !== null && paused !== 'person') changeQueue(decision, { paused: null }, 'resumed')
}

/** Any message of a person resolves a waiting recovery in its own admission (T-195, S-43). */
function supersedeRecovery(decision: Decision, message: Message): void {
  const { recovery } = decision.header
  if (!recovery || recovery.status !== 'awaiting') return
  const resumes = message.continues === recovery.turnId
  decision.emit({
    type: 'session.recovery',
    recovery: resumes
      ? { ...recovery, status: 'resuming', attempts: recovery.attempts + 1 }
      : { ...recovery, status: 'resolved' },
  })
}

/** What the model gets instead of the text, where the two differ (T-20, X-331). */
function promptOf(decision: Decision, message: Message): string | undefined {
  const prompt = withCommandNotes(decision, message.prompt ?? message.text)
  return prompt === message.text ? undefined : prompt
}
