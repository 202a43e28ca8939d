/** Opening, closing and naming terminals: they live in the host, tabs only show them. */
import { attempt } from '../app/attempt.ts'
import { currentWorkspace } from '../sessions/session-actions.ts'
import { act, client } from '../state/link.ts'
import { ask, showPane, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'

const firstSize = { cols: 80, rows: 24 }

export async function openTerminal(workspace: string | null = currentWorkspace()): Promise<void> {
  if (workspace !== null) await startTerminal(workspace)
}

/** Answers its id; null where it could not be opened. */
export async function startTerminal(workspace: string): Promise<string | null> {
  showPane('terminal', true)
  const id = await attempt('Could not open a terminal', async () => {
    const terminal = await client().terminals.open({ ...act(), workspace, ...firstSize })
    useWorkbench.setState(({ terminals }) => ({
      terminals: [...terminals.filter(({ id }) => id !== terminal.id), terminal],
    }))
    useWindow.setState({ terminalId: terminal.id })
    return terminal.id
  })
  return id ?? null
}

/** Closes a terminal; one whose shell runs something asks first, naming it. */
export async function closeTerminal(id: string): Promise<void> {
  const terminal = useWorkbench.getState().terminals.find((one) => one.id === id)
  if (terminal?.busy) {
    const yes = await ask({
      title: `Close "${terminal.title}"?`,
      description: `${terminal.title} is still running in this terminal and will be ended.`,
      confirm: 'Close terminal',
      danger: true,
    })
    if (!yes) return
  }
  await attempt('Could not close the terminal', () => client().terminals.close({ ...act(), id }))
}

/** Ends what is left of a terminal and opens another in its folder. */
export async function restartTerminal(id: string): Promise<void> {
  const terminal = useWorkbench.getState().terminals.find((one) => one.id === id)
  if (!terminal) return
  await openTerminal(terminal.workspace)
  await attempt('Could not close the terminal', () => client().terminals.close({ ...act(), id }))
}

export async function renameTerminal(id: string, title: string): Promise<void> {
  const clean = title.trim().slice(0, 100)
  if (clean === '') return
  await attempt('Could not rename the terminal', () => client().terminals.rename({ ...act(), id, title: clean }))
}
