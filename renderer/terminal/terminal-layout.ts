/**
 * How terminals are laid out in the window: the order of their tabs, pairs side by side, the one in front. Kept among the
 * preferences, so a reload finds it again.
 */
import { preferences, prefer } from '../state/preferences.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { startTerminal } from './terminal-actions.ts'

/** Those that are in `order` first, in that order; the others as they are. */
export function ordered<T extends { id: string }>(tabs: readonly T[], order: readonly string[]): T[] {
  const place = new Map(order.map((id, at) => [id, at]))
  return tabs.toSorted((a, b) => (place.get(a.id) ?? order.length) - (place.get(b.id) ?? order.length))
}

/** `ids` with `id` moved to stand where `to` stands. */
function moved(ids: readonly string[], id: string, to: string): string[] {
  const from = ids.indexOf(id)
  const at = ids.indexOf(to)
  if (from < 0 || at < 0 || from === at) return [...ids]
  const rest = ids.filter((other) => other !== id)
  return rest.toSpliced(at, 0, id)
}

export function showTerminalTab(id: string): void {
  prefer({ 'terminal.front': id })
}

/** Tabs in the order that is shown now, one of them moved to the place of another. */
export function moveTab(shown: readonly string[], id: string, to: string): void {
  prefer({ 'terminal.order': moved(shown, id, to) })
}

/** Opens another terminal in the same folder beside this one, in the place of the one that was beside it. */
export async function splitTerminal({ id, workspace }: { id: string; workspace: string }): Promise<void> {
  await startTerminal(workspace, undefined, (opened) => {
    const there = new Set(useWorkbench.getState().terminals.map((terminal) => terminal.id))
    const others = preferences()['terminal.pairs'].filter(
      (pair) => !pair.includes(id) && pair.every((one) => there.has(one)),
    )
    return { 'terminal.pairs': [...others, [id, opened]] }
  })
}
