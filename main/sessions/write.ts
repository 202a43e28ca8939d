/** What a batch of decisions stores: derived from its events, so that rows and journal cannot tell different stories. */
import type { Decision } from '../turns/decision.ts'
import type { Entry } from '../../preload/contract/session.ts'
import type { SessionWrite } from '../storage/storage.ts'
import type { SessionState } from '../turns/state.ts'
import { entryOf, hasWholePreview } from './entry.ts'

/** `entry` is the list's line as last stored: what only streams on need not make it anew. */
export function writeOf(state: SessionState, decisions: readonly Decision[], entry: Entry | null = null): SessionWrite {
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
  const rules = decisions.flatMap((decision) => decision.rules)
  return {
    sessionId: view.header.id,
    journalId: view.journalId,
    header: view.header,
    hidden: state.hidden,
    entry:
      entry && events.every((event) => event.type === 'item.delta') && hasWholePreview(entry) ? entry : entryOf(view),
    events,
    items: [...items.values()],
    turns: view.turns.filter((turn) => turnIds.has(turn.id)),
    changes: [...changed].map((turnId) => ({ turnId, files: view.changes.filter((file) => file.turnId === turnId) })),
    requests: decisions.flatMap((decision) => decision.requests),
    ...(clearsDraft ? { clearDraft: true } : {}),
    ...(givenBack.length > 0
      ? {
          givenBack: {
            text: givenBack.map((steer) => steer.text).join('\n\n'),
            attachments: givenBack.flatMap((steer) => steer.attachments),
          },
        }
      : {}),
    ...(rules.length > 0 ? { rules } : {}),
  }
}
