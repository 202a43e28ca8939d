/**
 * Turns that something else than a person starts (turns.md 3): what is refused, what a repeated delivery is answered with,
 * what waits while a hold is set, and which start is next.
 */
import { LatheError, type ErrorCode } from '../../preload/contract/errors.ts'
import { completionKeysMax, wakeGatherMs, wokenTurnsMax } from '../../preload/contract/limits.ts'
import type { Automation } from '../../preload/contract/items.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { FollowUp, SessionHeader, TurnSource } from '../../preload/contract/session.ts'
import { splitName } from '../models/config.ts'
import type { PendingNotice } from '../storage/storage.ts'
import type { Decision } from './decision.ts'
import { clearNotice, setNotice } from './notices.ts'
import { nextFollowUp } from './queue.ts'
import type { End, SessionState } from './state.ts'

const personal = new Set<TurnSource>(['person', 'follow_up', 'recovery'])
const woken = new Set<TurnSource>(['process', 'subagent'])
const wakeLimit = 'wake_limit'

/** A person sent it, queued it or pressed Continue (T-26). */
export function isPersonal(source: TurnSource): boolean {
  return personal.has(source)
}

/** Nobody in the session waits for it: it gives way to a person (T-26, T-31). */
export function isBackground(source: TurnSource): boolean {
  return !isPersonal(source) && source !== 'goal'
}

/** What nothing but a person mends. Rate limits, time-outs and the network pause nothing. */
const refusals = new Set<ErrorCode>([
  'provider.auth_missing',
  'provider.auth_invalid',
  'provider.credentials_exhausted',
  'provider.quota_exhausted',
])

/** What the end of a turn says of its provider. */
export function noteProvider(decision: Decision, { outcome, error }: Pick<End, 'outcome' | 'error'>): void {
  const row = decision.state.view.turns.find((turn) => turn.id === decision.turn.id)
  if (!row) return
  const provider = error?.provider ?? splitName(decision.turn.servedBy ?? row.model).provider
  if (outcome === 'completed') decision.effect({ do: 'providerAnswered', provider })
  else if (outcome === 'failed' && error && refusals.has(error.code) && !isPersonal(row.source))
    decision.effect({
      do: 'providerRefused',
      refused: { provider, code: error.code, retryAt: error.retryAt ?? null },
    })
}

/** Throws `automatic.held` where nothing may start by itself now (T-29, A-70). */
export function checkNotHeld(state: SessionState, source: TurnSource): void {
  const { automaticHeld, archivedAt } = state.view.header
  if (automaticHeld) throw new LatheError('automatic.held', 'Automatic work is paused until your next message.')
  if (archivedAt !== null) throw new LatheError('automatic.held', 'Automatic work is paused: the session is archived.')
  if (woken.has(source) && state.hidden.wokenTurns >= wokenTurnsMax)
    throw new LatheError('automatic.held', `${wokenTurnsMax} turns in a row were started by what ended.`)
}

/** Where every key has a turn, that of the first is the answer, also while it runs (T-27). */
export function deliveredReply(state: SessionState, keys: readonly string[]): SubmitReply | null {
  const bound = keys.map((key) => state.hidden.completionKeys.find((one) => one.key === key))
  const [first] = bound
  if (!first || bound.includes(undefined)) return null
  return { accepted: 'started', turnId: first.turnId, userItemId: first.userItemId }
}

/** The newest binding of a key counts, and of all keys the newest thousand (T-27). */
export function bindKeys(
  decision: Decision,
  keys: readonly string[],
  turn: { turnId: string; userItemId: string },
): void {
  if (keys.length === 0) return
  const others = decision.state.hidden.completionKeys.filter((one) => !keys.includes(one.key))
  const completionKeys = [...others, ...keys.map((key) => ({ key, ...turn }))].slice(-completionKeysMax)
  decision.changeHidden({ completionKeys })
}

/** A person's turn begins the count anew; at the limit the session says that what ends now waits. */
export function countWoken(decision: Decision, source: TurnSource): void {
  if (isPersonal(source)) {
    if (decision.state.hidden.wokenTurns > 0) decision.changeHidden({ wokenTurns: 0 })
    return clearNotice(decision, wakeLimit)
  }
  if (!woken.has(source)) return
  const wokenTurns = decision.state.hidden.wokenTurns + 1
  decision.changeHidden({ wokenTurns })
  if (wokenTurns === wokenTurnsMax) {
    const text = `${wokenTurnsMax} turns in a row were started by processes or subagents that ended. What ends now waits for your message.`
    setNotice(decision, { key: wakeLimit, level: 'warning', text })
  }
}

/** The key by which the end of a process or subagent is delivered (A-69, C-100). */
export function wakeKey({ about, id }: Pick<PendingNotice, 'about' | 'id'>): string {
  return `${about}:${id}`
}

/** Ends that may start a turn and that no turn was started for yet. */
function waitingWakes({ hidden }: SessionState): (PendingNotice & { wakesAt: number })[] {
  const bound = new Set(hidden.completionKeys.map((one) => one.key))
  return hidden.notices.filter(
    (notice): notice is PendingNotice & { wakesAt: number } =>
      notice.wakesAt !== undefined && !bound.has(wakeKey(notice)),
  )
}

/** A hold as it is set: it says how much waits for its end. */
export function newHold(decision: Decision, by: 'stop' | 'recovery'): NonNullable<SessionHeader['automaticHeld']> {
  return { since: decision.now, by, waiting: waitingWakes(decision.state).length }
}

export function countWaiting(decision: Decision): void {
  const { automaticHeld } = decision.header
  if (!automaticHeld) return
  decision.changeHeader({ automaticHeld: { ...automaticHeld, waiting: waitingWakes(decision.state).length } })
}

/** What asks for a turn of its own: shown as what asked, told to the model in its own words (T-20, A-2). */
export type AutomaticRequest = {
  source: TurnSource
  automation: Automation
  completionKeys: string[]
  text: string
  prompt: string
}

export type NextStart =
  | { start: 'followUp'; followUp: FollowUp }
  | { start: 'automatic'; request: AutomaticRequest }
  /** Nothing yet: look again then. */
  | { start: 'later'; at: number }

/** The one thing that may start now, where nothing runs (T-46, A-90). Whoever starts it has the mailbox decide again. */
export function nextStart(state: SessionState, now: number): NextStart | null {
  const followUp = nextFollowUp({ state })
  if (followUp) return { start: 'followUp', followUp }
  const { header } = state.view
  const mayChange = !state.closing && state.readOnly === null && header.deletedAt === null
  if (state.turn || !mayChange) return null
  if (header.automaticHeld || header.archivedAt !== null || state.hidden.wokenTurns >= wokenTurnsMax) return null
  const wakes = waitingWakes(state)
  const [first] = wakes
  if (!first) return null
  const at = first.wakesAt + wakeGatherMs
  return now < at ? { start: 'later', at } : { start: 'automatic', request: wakeRequest(state, wakes) }
}

/** What an end asks for. The facts come as notices with the first request, so they are not repeated here. */
function wakeRequest(state: SessionState, wakes: readonly PendingNotice[]): AutomaticRequest {
  const named = wakes.map(({ about, id }) => {
    if (about === 'subagent') return `subagent “${labelOf(state, id)}”`
    const preview = state.hidden.exec.sessions.find((one) => one.id === id)?.preview
    return preview ? `${id} (${preview})` : id
  })
  const subagents = wakes.every(({ about }) => about === 'subagent')
  const one = subagents ? 'A subagent you asked for has' : 'A process you asked to be woken for has'
  const several = subagents ? 'Subagents you asked for have' : 'Processes you asked to be woken for have'
  const what = named.length === 1 ? named[0]! : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
  const name = what.length <= 200 ? what : `${what.slice(0, 199)}…`
  return {
    source: subagents ? 'subagent' : 'process',
    automation: { name },
    completionKeys: wakes.map(wakeKey),
    text: named.length === 1 ? 'Go on: it has ended.' : 'Go on: they have ended.',
    prompt: `No person wrote this. ${named.length === 1 ? one : several} ended, as told below. Go on with what waited for that. Where nothing is left to do and nothing is worth telling the person, call nothing_to_report.`,
  }
}

function labelOf({ view }: SessionState, itemId: string): string {
  const card = view.items.findLast(({ id }) => id === itemId)
  return card?.kind === 'subagent' ? card.label : itemId
}
