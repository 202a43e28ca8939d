import type { SessionView } from '../../preload/contract/session.ts'

/** What runs in a session, as far as the composer's keys and buttons care. */
export function turnKind({ header, turns }: SessionView): 'none' | 'foreground' | 'background' {
  if (header.currentTurnId === null) return 'none'
  return turns.findLast((turn) => turn.id === header.currentTurnId)?.origin ?? 'foreground'
}
