/** The model of a turn (T-18): the one asked for, the session's, or the default. */
import { LatheError } from '../../preload/contract/errors.ts'

/**
 * `replaced` names the session's own choice where it is no longer configured: the default answers, and the admission
 * clears the choice and says so (M-25). Throws what `choose` throws for anything else.
 */
export function modelOfTurn(
  choose: (name: string | null) => string,
  asked: string | undefined,
  chosen: string | null,
): { model: string; replaced?: string } {
  if (asked !== undefined || chosen === null) return { model: choose(asked ?? null) }
  try {
    return { model: choose(chosen) }
  } catch (error) {
    if (!(error instanceof LatheError && error.code === 'model.unknown')) throw error
    return { model: choose(null), replaced: chosen }
  }
}
