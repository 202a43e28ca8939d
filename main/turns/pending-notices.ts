/**
 * What ended while nobody was told: processes (exec.md 6) and subagents in the background (C-100). Each is told to the model
 * once, as a notice item where it reads it, or starts a turn; until then it stands in the session's record.
 */
import type { PendingNotice } from '../storage/storage.ts'
import { bindKeys, countWaiting, wakeKey } from './automatic.ts'
import type { Decision } from './decision.ts'

const noticesPerTurn = 20

/** `wakes`: it starts a turn of an idle session (X-608, C-100). */
export function addNotice(decision: Decision, notice: Omit<PendingNotice, 'itemId' | 'wakesAt'>, wakes: boolean): void {
  const pending = { ...notice, itemId: null, ...(wakes ? { wakesAt: decision.now } : {}) }
  change(decision, [...decision.state.hidden.notices, pending])
  if (wakes) decision.effect({ do: 'next' })
}

/** Ends the agent was not told yet, the oldest first, each as a notice item where the agent reads it. */
export function takeNotices(decision: Decision): string[] {
  const { notices } = decision.state.hidden
  const given = notices.filter((notice) => notice.itemId === null).slice(0, roomFor(decision))
  if (given.length === 0) return []
  const items = new Map(given.map((notice) => [notice, decision.newId()]))
  for (const [{ text, prompt, outputRef }, id] of items) {
    decision.put({
      kind: 'notice',
      id,
      stepId: null,
      level: 'info',
      text,
      prompt,
      ...(outputRef === undefined ? {} : { outputRef }),
      status: 'final',
      endedAt: decision.now,
      source: 'session',
    })
  }
  change(
    decision,
    notices.map((notice) => ({ ...notice, itemId: items.get(notice) ?? notice.itemId })),
  )
  // The turn that tells of an end is what a delivery of it is answered with, whichever was to (T-32).
  const row = decision.state.view.turns.find((one) => one.id === decision.turn.id)
  const turn = { turnId: decision.turn.id, userItemId: row?.userItemId ?? '' }
  bindKeys(decision, given.map(wakeKey), turn)
  decision.changeTurn({ noticesGiven: decision.turn.noticesGiven + given.length })
  return given.map((notice) => notice.prompt)
}

/** Whether a subagent's result waits that this turn may tell of, and so goes on for where it would end (T-42). */
export function hasResults(decision: Decision): boolean {
  const { notices } = decision.state.hidden
  return roomFor(decision) > 0 && notices.some(({ about, itemId }) => about === 'subagent' && itemId === null)
}

/** How many more the turn may tell of. */
function roomFor({ turn }: Decision): number {
  return Math.max(0, noticesPerTurn - turn.noticesGiven)
}

/** The answer to the request that held them has begun: they are delivered. */
export function noticesDelivered(decision: Decision): void {
  const { notices } = decision.state.hidden
  if (notices.some((notice) => notice.itemId !== null))
    change(
      decision,
      notices.filter((notice) => notice.itemId === null),
    )
}

/** The turn ended before its answer began: what it held is given again, and only once. */
export function notifyAgain(decision: Decision): void {
  const { notices } = decision.state.hidden
  if (!notices.some((notice) => notice.itemId !== null)) return
  for (const { itemId } of notices) {
    const item = itemId === null ? undefined : decision.item(itemId, 'notice')
    if (item) decision.patch(item, { contextual: false, visible: false })
  }
  change(
    decision,
    notices.map((notice) => ({ ...notice, itemId: null })),
  )
}

/** A recorded result told the end of the process: the notice has nothing left to say. */
export function endWasTold(decision: Decision, execId: string): void {
  const { notices } = decision.state.hidden
  const left = notices.filter((one) => one.about !== 'exec' || one.id !== execId || one.itemId !== null)
  if (left.length < notices.length) change(decision, left)
}

/** What came of these subagents is set aside with them (S-81). */
export function forgetResults(decision: Decision, cards: ReadonlySet<string>): void {
  change(
    decision,
    decision.state.hidden.notices.filter(({ about, id }) => about !== 'subagent' || !cards.has(id)),
  )
}

function change(decision: Decision, notices: PendingNotice[]): void {
  decision.changeHidden({ notices })
  countWaiting(decision)
}
