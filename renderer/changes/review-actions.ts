/** What the person decides on changes: keep, undo, bring forward (F-907, F-908, section 10). */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { UndoPlan } from '../../preload/contract/change-routes.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { attempt } from '../app/attempt.ts'
import { client, failure } from '../state/link.ts'

export type HunkState = 'open' | 'accepted' | 'rejected'

/** As the change's record has it now, whatever was loaded before. */
export function hunkState(change: ChangedFile, hunkId: string): HunkState {
  if (isReviewed(change)) return 'accepted'
  return change.review?.[hunkId] ?? 'open'
}

/** The whole file was kept at this very content. */
export function isReviewed({ reviewed, after }: ChangedFile): boolean {
  return reviewed === (after ?? '')
}

export async function keepChange(
  sessionId: string,
  changeId: string,
  hunkId: string | null,
  keep: boolean,
): Promise<void> {
  await attempt('Could not keep this change', () =>
    client().changes.review({ requestId: newId(), sessionId, changeId, hunkId, keep }),
  )
}

/** Null once the old text is back, or why it is not. */
export async function undoChange(
  sessionId: string,
  changeId: string,
  hunkId: string | null,
): Promise<ErrorBody | null> {
  try {
    await client().changes.reject({ requestId: newId(), sessionId, changeId, hunkId })
    return null
  } catch (thrown) {
    return failure(thrown)
  }
}

export type UndoAsked = { sessionId: string; turnId: string; andLater: boolean; redo: boolean }

export function previewUndo(asked: UndoAsked, signal: AbortSignal): Promise<UndoPlan> {
  return client().undo.preview(asked, { signal })
}

export function applyUndo(asked: UndoAsked, force: string[]): Promise<UndoPlan> {
  return client().undo.apply({ requestId: newId(), ...asked, force })
}
