/** What a batch of decisions stores: derived from its events, so that rows and journal cannot tell different stories. */
import { askedMentions, joinMessages } from '../../preload/contract/mentions.ts'
import type { Decision } from '../turns/decision.ts'
import type { Steer } from '../../preload/contract/session.ts'
import type { SessionWrite } from '../storage/storage.ts'
import type { SessionState } from '../turns/state.ts'
import { entryOf, hasWholePreview } from './entry.ts'

/** `last` is the record as last stored: what only streams on writes events, not the record anew. */
export function writeOf(
  state: SessionState,
  decisions: readonly Decision[],
  last: Pick<SessionWrite, 'header' | 'hidden' | 'entry'> | null = null,
): SessionWrite {
  const events = decisions.flatMap((decision) => decision.events)
  const { view } = state
  const items = new Map(decisions.flatMap((decision) => [...decision.items]))
  const turnIds = new Set<string>()
  const changed = new Set<string>()
  for (const event of events) {
    if (event.type === 'turn.started' || event.type === 'turn.settled' || event.type === 'step.started')
      turnIds.add(event.turnId)
    else if (event.type === 'changes.changed') changed.add(event.about)
  }
  const clearsDraft = decisions.some((decision) => decision.clearDraft)
  const givenBack = decisions.flatMap((decision) => decision.givenBack)
  const streams = events.every((event) => event.type === 'item.delta')
  const entry = last && streams && hasWholePreview(last.entry) ? last.entry : entryOf(view)
  const rules = decisions.flatMap((decision) => decision.rules)
  return {
    sessionId: view.header.id,
    journalId: view.journalId,
    header: view.header,
    hidden: state.hidden,
    entry,
    ...(last && isSame(last, { header: view.header, hidden: state.hidden, entry }) ? { recordKept: true } : {}),
    events,
    items: [...items.values()],
    turns: view.turns.filter((turn) => turnIds.has(turn.id)),
    changes: [...changed].map((turnId) => ({ turnId, files: view.changes.filter((file) => file.turnId === turnId) })),
    requests: decisions.flatMap((decision) => decision.requests),
    ...(clearsDraft ? { clearDraft: true } : {}),
    ...(givenBack.length > 0
      ? {
          givenBack: asDraft(givenBack),
        }
      : {}),
    ...(rules.length > 0 ? { rules } : {}),
  }
}

function asDraft(steers: readonly Steer[]) {
  const { mentions, ...said } = joinMessages(steers)
  return { ...said, mentions: askedMentions(mentions) }
}

/** The journal's end stands in a column of its own. */
function isSame(
  last: Pick<SessionWrite, 'header' | 'hidden' | 'entry'>,
  { header, hidden, entry }: Pick<SessionWrite, 'header' | 'hidden' | 'entry'>,
): boolean {
  const isShallowSame = <T extends object>(one: T, other: T) =>
    (Object.keys(one) as (keyof T)[]).every((name) => one[name] === other[name])
  return (
    hidden === last.hidden &&
    isShallowSame(entry, last.entry) &&
    isShallowSame({ ...header, lastSeq: 0 }, { ...last.header, lastSeq: 0 })
  )
}
