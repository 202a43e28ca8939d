/**
 * Taking the session back to before a message of the person (S-79 to S-82), and forward again. What comes after the point
 * is set aside, not removed; an edited message starts the next turn in the same decision.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { ContextFigures, SessionHeader, Turn } from '../../preload/contract/session.ts'
import { admit } from './admission.ts'
import { discardCompaction } from './compaction.ts'
import type { Decision } from './decision.ts'
import type { DeleteCommand, RestoreCommand, RewindCommand } from './inputs.ts'
import { boundReply, checkMutable } from './requests.ts'
import { setSubagentsAside } from './subagents.ts'

/** Null where the session changed since it was looked at: the asker looks again. */
export type RewindReply = { markItemId: string | null; submitted: SubmitReply | null } | null

export function rewind(decision: Decision, command: RewindCommand): RewindReply {
  const { point, ending, message, withFiles } = command
  const bound = message && boundReply(decision.state, message.requestId, message.fingerprint)
  if (bound) return { markItemId: null, submitted: bound }
  checkStill(decision)
  if (decision.header.lastSeq !== command.seq) return null
  if (point.kind !== 'user') throw new LatheError('request.invalid', 'Only a message of yours can be gone back to.')
  // A summary of what is set aside here would tell of it (C-58).
  if (decision.header.compaction && point.pos <= decision.header.compaction.place) discardCompaction(decision)
  setSubagentsAside(decision, point.pos)
  const markItemId = decision.newId()
  const kept = new Set(decision.state.view.items.flatMap((item) => (item.pos < point.pos ? [item.id] : [])))
  decision.emit({
    type: 'session.rewound',
    markItemId,
    from: point.pos,
    items: point.items,
    turns: point.turns,
    withFiles,
    restored: false,
    session: {
      ...endingWith(decision, point.lastTurn),
      itemCount: point.before,
      plan: point.plan,
      // What was found interrupted is set aside with the rest (S-82).
      recovery: point.turns > 0 ? null : decision.header.recovery,
    },
    ...(kept.size === 0 ? { slice: ending } : {}),
  })
  decision.changeHidden({
    commandNotes: decision.state.hidden.commandNotes.filter((note) => kept.has(note.itemId)),
  })
  decision.put({
    kind: 'rewind',
    id: markItemId,
    turnId: null,
    stepId: null,
    source: 'person',
    items: point.items,
    turns: point.turns,
    withFiles,
    status: 'final',
    endedAt: decision.now,
    contextual: false,
  })
  decision.effect({ do: 'entry' })
  return { markItemId, submitted: message && admit(decision, message, null) }
}

/** Brings back what a mark set aside, until something is sent after it. False where the session changed meanwhile. */
export function restoreRewound(decision: Decision, command: RestoreCommand): boolean {
  checkStill(decision)
  if (decision.header.lastSeq !== command.seq) return false
  const mark = markOf(decision, command.markItemId)
  const { back } = command
  if (decision.state.view.items.some((item) => item.pos > mark.pos && item.turnId !== null && item.visible))
    throw new LatheError('request.invalid', 'Something was sent since, so this version cannot come back here.', {
      hint: 'Fork it instead.',
    })
  decision.emit({
    type: 'session.rewound',
    markItemId: mark.id,
    from: back.from,
    items: back.items,
    turns: back.turns,
    withFiles: false,
    restored: true,
    session: {
      ...endingWith(decision, back.lastTurn ?? lastTurnOf(decision)),
      itemCount: decision.header.itemCount + back.items,
    },
    slice: back.slice,
  })
  decision.patch(mark, { visible: false })
  decision.effect({ do: 'entry' })
  return true
}

/** What a mark set aside goes for good: by the person's wish, or because its time is over (S-81). */
export function deleteRewound(decision: Decision, { mark }: DeleteCommand): { ok: true } {
  checkMutable(decision.state)
  const held = decision.item(mark.id, 'rewind')
  if (held && !held.visible) throw new LatheError('request.invalid', 'There is nothing set aside there.')
  decision.emit({ type: 'item.put', item: { ...mark, visible: false }, after: null })
  const { header } = decision
  decision.emit({
    type: 'session.rewound',
    markItemId: mark.id,
    from: mark.pos,
    items: mark.items,
    turns: mark.turns,
    withFiles: mark.withFiles,
    restored: false,
    deleted: true,
    // A mark older than what is in memory was not counted down by its own event.
    session: { ...header, rev: header.rev + 1, itemCount: header.itemCount - (held ? 0 : 1) },
  })
  decision.effect({ do: 'entry' })
  return { ok: true }
}

function checkStill(decision: Decision): void {
  checkMutable(decision.state)
  const { turn, view } = decision.state
  if (turn)
    throw new LatheError('turn.busy', 'A turn is running in this session.', {
      hint: 'Stop it first.',
      data: { turnId: turn.id },
    })
  if (view.items.some((item) => item.kind === 'tool' && item.turnId === null && item.endedAt === null))
    throw new LatheError('turn.busy', 'A command of yours is still running.', { hint: 'Stop it first.' })
}

function markOf(decision: Decision, markItemId: string) {
  const mark = decision.item(markItemId, 'rewind')
  if (!mark?.visible) throw new LatheError('request.invalid', 'There is nothing set aside there.')
  return mark
}

/** The header of a session whose newest turn is `turn`: what a provider said of a longer context no longer holds. */
function endingWith({ header }: Decision, turn: Turn | null): SessionHeader {
  const context: ContextFigures = { ...header.context, used: null, estimated: false }
  return { ...header, rev: header.rev + 1, lastTurnId: turn?.id ?? null, lastOutcome: turn?.outcome ?? null, context }
}

function lastTurnOf(decision: Decision): Turn | null {
  return decision.state.view.turns.findLast((turn) => turn.id === decision.header.lastTurnId) ?? null
}
