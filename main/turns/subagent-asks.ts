/**
 * Approvals and questions of subagents, as the session that asked for them shows them (C-104): each is decided in the session
 * of the subagent, and stands here with its name until it is.
 */
import type { ItemOf, ItemPatch } from '../../preload/contract/items.ts'
import type { Decision } from './decision.ts'
import { emitApprovals, emitQuestions, personAnswered, personWaits } from './waiting.ts'

type Ask = ItemOf<'approval'> | ItemOf<'question'>

/** How an approval or question of the subagent of that card is now. */
export type AskCommand = { type: 'subagent.asks'; itemId: string; ask: Ask }

export function subagentAsks(decision: Decision, { itemId, ask }: AskCommand): { ok: true } {
  const shown = decision.item(ask.id, ask.kind)
  if (!shown) openAsk(decision, itemId, ask)
  else if (shown.state !== 'open') return { ok: true }
  else if (ask.state !== 'open') closeAsk(decision, shown, endOf(ask))
  else if (ask.kind === 'question' && shown.kind === 'question' && ask.expiresAt !== shown.expiresAt) {
    decision.patch(shown, { expiresAt: ask.expiresAt })
    emitQuestions(decision)
  }
  return { ok: true }
}

function openAsk(decision: Decision, itemId: string, ask: Ask): void {
  const card = decision.item(itemId, 'subagent')
  const { turn } = decision.state
  if (!card || card.endedAt !== null || card.sessionId === null || ask.state !== 'open') return
  // What is being stopped asks nobody; a stop that is not the person's leaves those of earlier turns alone (C-102).
  if (turn?.phase === 'stopping' && (turn.id === card.turnId || turn.stop?.reason === 'person')) return
  changeAsks(decision, (asks) => asks.set(ask.id, ask.kind))
  if (turn) {
    personWaits(decision)
    decision.status()
  }
  const named = (origin: string | undefined) => (origin === undefined ? card.label : `${card.label} › ${origin}`)
  // In no turn: it may outlive the one that asked for the subagent.
  const here = {
    turnId: null,
    stepId: null,
    toolItemId: card.id,
    askedIn: card.sessionId,
    endedAt: null,
    contextual: false,
  }
  if (ask.kind === 'approval')
    decision.put({
      kind: 'approval',
      id: ask.id,
      state: 'open',
      ...here,
      request: { ...ask.request, origin: named(ask.request.origin) },
    })
  else {
    const { id, text, choices, multiple, allowText, expiresAt, origin } = ask
    const question = { id, ask: ask.ask, text, choices, multiple, allowText, expiresAt, origin: named(origin) }
    decision.put({ kind: 'question', state: 'open', ...question, ...here })
  }
  decision.changeHeader({ notableSeq: decision.header.lastSeq })
  emit(decision, ask.kind)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'notify', kind: ask.kind, itemId: ask.id })
}

/** The subagent of a card can ask no more: what it still asks is withdrawn here, at once (Z-95). */
export function closeAsks(decision: Decision, cardId: string): void {
  if (decision.state.subagentAsks.size === 0) return
  for (const item of decision.state.view.items)
    if ((item.kind === 'approval' || item.kind === 'question') && item.toolItemId === cardId && item.state === 'open')
      closeAsk(decision, item, { state: 'cancelled' })
}

/** What was asked when the host ended (Z-90). */
export function endLostAsks(decision: Decision): void {
  for (const item of decision.state.view.items)
    if ((item.kind === 'approval' || item.kind === 'question') && item.askedIn !== undefined && item.state === 'open')
      closeAsk(decision, item, { state: 'interrupted' })
}

function closeAsk(decision: Decision, shown: Ask, end: ItemPatch): void {
  changeAsks(decision, (asks) => asks.delete(shown.id))
  if (decision.state.turn) {
    personAnswered(decision)
    decision.status()
  }
  decision.patch(shown, { ...end, status: 'final', endedAt: decision.now })
  emit(decision, shown.kind)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'withdrawNotification', itemId: shown.id })
}

function endOf(ask: Ask): ItemPatch {
  if (ask.kind === 'question') return { state: ask.state, ...(ask.answer === undefined ? {} : { answer: ask.answer }) }
  const { state, decidedAt, decidedBy, scope, feedback } = ask
  return {
    state,
    ...(decidedAt === undefined ? {} : { decidedAt }),
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(scope === undefined ? {} : { scope }),
    ...(feedback === undefined ? {} : { feedback }),
  }
}

function changeAsks(decision: Decision, by: (asks: Map<string, 'approval' | 'question'>) => void): void {
  const asks = new Map(decision.state.subagentAsks)
  by(asks)
  decision.change({ subagentAsks: asks })
}

function emit(decision: Decision, kind: Ask['kind']): void {
  if (kind === 'approval') emitApprovals(decision)
  else emitQuestions(decision)
}
