/**
 * The summary that stands for older turns in what the model is sent (context.md 8). Its job belongs to the session, not to
 * a turn: at most one runs, and it writes its mark in one decision or nothing at all (C-58, C-64).
 */
import { LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import type { CompactionReason, ItemOf } from '../../preload/contract/items.ts'
import type { ContextFigures } from '../../preload/contract/session.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import { addUsage } from '../agent/usage.ts'
import type { Decision } from './decision.ts'
import { checkMutable } from './requests.ts'

export type CompactionCommand =
  /** `through`: place of the last item covered; `place`: of the mark, null where no message of a turn follows. */
  | {
      type: 'compaction.start'
      jobId: string
      startedAt: number
      reason: CompactionReason
      through: number
      place: number | null
    }
  | {
      type: 'compaction.end'
      jobId: string
      mark: Pick<ItemOf<'compaction'>, 'coversThrough' | 'summary' | 'tokensBefore' | 'tokensAfter' | 'model'> | null
      error: ErrorBody | null
      context: ContextFigures | null
      usage: Usage | null
    }
  | { type: 'compaction.cancel'; jobId: string }

type Of<T extends CompactionCommand['type']> = Extract<CompactionCommand, { type: T }>

/** False where another job runs. Throws `turn.busy` where a person asks while a turn runs, and what forbids any change. */
export function startCompaction(decision: Decision, command: Of<'compaction.start'>): boolean {
  const { jobId, startedAt, reason, through } = command
  checkMutable(decision.state)
  if (reason === 'manual' && decision.state.turn)
    throw new LatheError('turn.busy', 'A turn is running in this session.', {
      hint: 'Stop it first, or wait for its end.',
      data: { turnId: decision.state.turn.id },
    })
  if (decision.header.compaction) return false
  const place = command.place ?? placeAfter(decision, through)
  decision.emit({ type: 'compaction.started', jobId, startedAt, reason, place })
  return true
}

/** Before the message of a turn that was admitted meanwhile, else behind everything there is. */
function placeAfter(decision: Decision, through: number): number {
  const { turn, view } = decision.state
  const row = turn && view.turns.find((one) => one.id === turn.id)
  const opening = row && view.items.find((item) => item.id === row.userItemId)
  if (opening && opening.pos > through) return opening.pos - 1
  const place = decision.state.lastPos + 1
  decision.change({ lastPos: place })
  return place
}

/** Mark, figures and end in one; false where the job was ended before: then nothing is written. */
export function endCompaction(decision: Decision, command: Of<'compaction.end'>): boolean {
  const { jobId, mark, error, usage } = command
  const running = decision.header.compaction
  if (running?.jobId !== jobId) return false
  const markItemId = mark ? decision.newId() : null
  if (mark && markItemId !== null) {
    const item: ItemOf<'compaction'> = {
      id: markItemId,
      kind: 'compaction',
      turnId: null,
      stepId: null,
      pos: running.place,
      createdAt: decision.now,
      endedAt: decision.now,
      status: 'final',
      source: 'agent',
      contextual: true,
      visible: true,
      reason: running.reason,
      ...mark,
    }
    decision.emit({ type: 'item.put', item, after: mark.coversThrough })
  }
  // What the summary cost is the session's, not that of the turn which waited for it.
  if (usage && decision.state.turn) decision.changeTurn({ usageBefore: addUsage(decision.turn.usageBefore, usage) })
  ended(decision, {
    ...(markItemId === null ? {} : { markItemId }),
    ...(error ? { error } : {}),
    context: command.context ?? decision.header.context,
    usage: usage ? addUsage(decision.header.usage, usage) : decision.header.usage,
  })
  return true
}

/** By the person's wish; not while a turn waits for it. */
export function cancelCompaction(decision: Decision, { jobId }: Of<'compaction.cancel'>): { ok: true } {
  if (decision.header.compaction?.jobId !== jobId) return { ok: true }
  if (decision.state.turn?.compactingSince != null)
    throw new LatheError('turn.busy', 'The running turn waits for it.', { hint: 'Stop the turn instead.' })
  discardCompaction(decision)
  return { ok: true }
}

/** Ends a job whose ground has gone: what it covers was set aside, the session was deleted, a crash took it. */
export function discardCompaction(decision: Decision): void {
  const running = decision.header.compaction
  if (!running) return
  decision.effect({ do: 'abortCompaction', jobId: running.jobId })
  ended(decision, { context: decision.header.context, usage: decision.header.usage })
}

function ended(
  decision: Decision,
  end: { markItemId?: string; error?: ErrorBody; context: ContextFigures; usage: Usage },
): void {
  const running = decision.header.compaction
  if (!running) return
  const durationMs = Math.max(0, decision.now - running.startedAt)
  decision.emit({ type: 'compaction.ended', jobId: running.jobId, ...end, durationMs })
  decision.effect({ do: 'entry' })
}
