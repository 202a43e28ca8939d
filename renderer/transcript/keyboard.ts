/** Keys of the transcript (S-149), as a pure choice: where the focus goes, or what happens to the focused row. */
import type { Row } from './rows.ts'

export type Press = { key: string; ctrl: boolean; alt: boolean; shift: boolean }
export type Choice = { to: number } | 'toggle' | 'toggleTurn' | 'composer' | 'page up' | 'page down' | null

/** `at` is the focused row's index, -1 where the list itself has the focus. Null: the key is not ours. */
export function transcriptKey({ key, ctrl, alt, shift }: Press, at: number, rows: readonly Row[]): Choice {
  if (alt || shift) return null
  const last = rows.length - 1
  if (ctrl) {
    if (key === 'ArrowUp') return { to: findUser(rows, at < 0 ? last + 1 : at, -1) }
    if (key === 'ArrowDown') return { to: findUser(rows, at < 0 ? last : at, 1) }
    if (key.toLowerCase() === 'o') return at < 0 ? null : 'toggleTurn'
    return null
  }
  switch (key) {
    case 'ArrowUp':
      return { to: at < 0 ? last : Math.max(0, at - 1) }
    case 'ArrowDown':
      return { to: at < 0 ? last : Math.min(last, at + 1) }
    case 'Home':
      return { to: 0 }
    case 'End':
      return { to: last }
    case 'PageUp':
      return 'page up'
    case 'PageDown':
      return 'page down'
    case 'Enter':
      return at < 0 ? null : 'toggle'
    case 'Escape':
      return 'composer'
    default:
      return null
  }
}

/** The next message of the person in a direction; past the last one, the end of the list. */
function findUser(rows: readonly Row[], from: number, step: 1 | -1): number {
  for (let at = from + step; at >= 0 && at < rows.length; at += step) {
    const row = rows[at]!
    if (row.kind === 'user' && row.item.source === 'person') return at
  }
  return step === 1 ? rows.length - 1 : Math.max(0, Math.min(from, rows.length - 1))
}
