/** A session's items as its journal alone tells them. */
import { foldEvent } from '../../preload/contract/fold.ts'
import type { Item } from '../../preload/contract/items.ts'
import { newSession } from '../turns/state.ts'
import type { TestWorkbench } from './test-workbench.ts'

export async function readEventsOf(bench: TestWorkbench, sessionId: string): Promise<Item[]> {
  const blank = newSession({
    id: sessionId,
    journalId: sessionId,
    workspace: bench.workspace,
    model: null,
    effort: null,
    approvalMode: 'ask',
    now: 0,
  }).view
  const { events } = await bench.storage.events(sessionId, 0, 100_000)
  return events.reduce(foldEvent, blank).items
}
