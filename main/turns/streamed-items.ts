/** Text and reasoning as they stream (turns.md 7): one item a run, in its true place. */
import type { ItemOf } from '../../preload/contract/items.ts'
import type { Decision } from './decision.ts'

/** Text and reasoning grow one item each; a tool, a change of channel or a step closes it (T-67, T-69). */
export function stream(decision: Decision, channel: 'text' | 'reasoning', add: string): void {
  if (add === '') return
  noteContent(decision)
  const open = openItem(decision)
  if (open?.kind === channel) {
    decision.emit({
      type: 'item.delta',
      turnId: decision.turn.id,
      itemId: open.id,
      field: 'text',
      offset: open.text.length,
      add,
    })
    if (channel === 'reasoning' && open.text.length < titleWithin) nameReasoning(decision, open.id)
    return
  }
  closeOpenItem(decision)
  const id = decision.newId()
  decision.changeTurn({ openItemId: id })
  if (channel === 'text') decision.put({ kind: 'text', id, text: add, final: false })
  else {
    decision.put({ kind: 'reasoning', id, text: add })
    nameReasoning(decision, id)
  }
}

/** Characters of a reasoning item in which its title is looked for. */
const titleWithin = 1_000

/** First bold line, else first line, set once when that line is whole (T-69). */
function nameReasoning(decision: Decision, id: string): void {
  const item = decision.item(id, 'reasoning')
  if (!item || item.title !== undefined) return
  const title = reasoningTitle(item.text, item.text.length >= titleWithin)
  if (title) decision.patch(item, { title })
}

function reasoningTitle(text: string, whole: boolean): string | null {
  const head = text.slice(0, titleWithin)
  if (!whole && !head.includes('\n')) return null
  const lines = head.split('\n').slice(0, 6)
  const bold = lines.map((line) => /^\s*\*\*(.+?)\*\*\s*$/.exec(line)?.[1]).find((line) => line !== undefined)
  const title = (bold ?? lines[0] ?? '')
    .replace(/[*_`#]/g, '')
    .trim()
    .slice(0, 120)
  return title === '' ? null : title
}

function openItem(decision: Decision): ItemOf<'text'> | ItemOf<'reasoning'> | undefined {
  const id = decision.turn.openItemId
  return id === null ? undefined : (decision.item(id, 'text') ?? decision.item(id, 'reasoning'))
}

export function closeOpenItem(decision: Decision, status: 'final' | 'partial' = 'final'): void {
  const open = openItem(decision)
  decision.changeTurn({ openItemId: null })
  if (!open || open.status !== 'live') return
  const title = open.kind === 'reasoning' && open.title === undefined ? reasoningTitle(open.text, true) : null
  // With it the whole text goes into the item's row: deltas may be pruned later, the item may not (K-13).
  decision.patch(open, { ...(title ? { title } : {}), status, endedAt: decision.now })
}

/**
 * What the request under way streamed goes and is never sent: a retry replaces it (M-78). The first `keep` characters of
 * the step are of requests before it; text of theirs that this request only continued stays open for the retry (T-67).
 */
export function discard(decision: Decision, keep: number): void {
  const { id, stepId } = decision.turn
  let left = keep
  for (const item of decision.state.view.items) {
    if (
      item.turnId !== id ||
      item.stepId !== stepId ||
      !item.visible ||
      (item.kind !== 'text' && item.kind !== 'reasoning')
    )
      continue
    const kept = Math.min(left, item.text.length)
    left -= kept
    if (kept === item.text.length) continue
    if (kept > 0) {
      const cut = { ...item, text: item.text.slice(0, kept) }
      decision.emit({ type: 'item.put', turnId: decision.turn.id, item: cut, after: null })
      continue
    }
    if (item.id === decision.turn.openItemId) closeOpenItem(decision, 'partial')
    decision.patch(item, { visible: false, contextual: false })
  }
}

/** Content closes an open wait, prompt reading and compaction, even if nobody says that they are over (T-62). */
export function noteContent(decision: Decision): void {
  const { wait, reading, compactingSince } = decision.turn
  if (!wait && !reading && compactingSince === null) return
  decision.changeTurn({ wait: null, reading: null, compactingSince: null })
  decision.status()
}
