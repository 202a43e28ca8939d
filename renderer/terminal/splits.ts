/** Terminals shown side by side: pairs of tabs, both in view while either is in front. */
import { create } from 'zustand'
import { useWindow } from '../state/window-store.ts'
import { startTerminal } from './terminal-actions.ts'

export const useSplits = create<{ pairs: (readonly [string, string])[] }>()(() => ({ pairs: [] }))

/** Opens another terminal in the same folder beside this one, in the place of the one that was beside it. */
export async function splitTerminal({ id, workspace }: { id: string; workspace: string }): Promise<void> {
  const opened = await startTerminal(workspace)
  if (opened === null) return
  useSplits.setState(({ pairs }) => ({ pairs: [...pairs.filter((pair) => !pair.includes(id)), [id, opened]] }))
  useWindow.setState({ terminalId: opened })
}
