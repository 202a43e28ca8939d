/** A line of the session list, derived from the session as it is (S-48); never counted beside it. */
import { snippetChars } from '../../preload/contract/limits.ts'
import type { Entry, Indicator, SessionView } from '../../preload/contract/session.ts'

export function entryOf(view: SessionView): Entry {
  const { header } = view
  const running = view.turns.find((turn) => turn.id === header.currentTurnId)
  return {
    id: header.id,
    workspace: header.workspace,
    title: header.title,
    titleSource: header.titleSource,
    updatedAt: header.updatedAt,
    createdAt: header.createdAt,
    model: header.model,
    indicator: indicatorOf(view),
    runningSince: running?.startedAt ?? null,
    execRunning: view.execSessions.filter(({ state }) => state === 'running').length,
    pinnedAt: header.pinnedAt,
    archivedAt: header.archivedAt,
    preview: previewOf(view),
    itemCount: header.itemCount,
  }
}

/** The first that applies, by rank. */
function indicatorOf(view: SessionView): Indicator {
  const { header } = view
  const unread = header.notableSeq > header.readSeq
  if (view.approvals.depth > 0 || view.questions.depth > 0) return 'needs_you'
  if (header.recovery?.status === 'awaiting') return 'interrupted'
  if (header.currentTurnId !== null) return 'running'
  // A hold is worth a mark where something would begin without it.
  if (header.queue.followUps.length > 0 || (header.automaticHeld?.waiting ?? 0) > 0) return 'waiting'
  if (header.lastOutcome === 'failed' && unread) return 'failed'
  return unread ? 'unread' : 'none'
}

/** Enough words for a line: text that goes on behind them changes nothing. */
export function hasWholePreview(entry: Entry): boolean {
  return entry.preview.length > snippetChars - 10
}

function previewOf(view: SessionView): string {
  const last = view.items.findLast((item) => (item.kind === 'text' || item.kind === 'user') && item.visible)
  const text = last && (last.kind === 'text' || last.kind === 'user') ? last.text : ''
  return text.slice(0, 400).replace(/\s+/g, ' ').trim().slice(0, snippetChars)
}
