/** Opening, closing and naming terminals: they live in the host, tabs only show them. */
import { attempt } from '../app/attempt.ts'
import { currentWorkspace } from '../sessions/session-actions.ts'
import { act, client } from '../state/link.ts'
import { prefer, preferences } from '../state/preferences.ts'
import { ask, showPane } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'

const firstSize = { cols: 80, rows: 24 }

/** `profile` by its name; without one, the default. */
export async function openTerminal(workspace: string | null = currentWorkspace(), profile?: string): Promise<void> {
  if (workspace !== null) await startTerminal(workspace, profile)
}

/** In front, and where `layout` puts it. Answers its id; null where it could not be opened. */
export async function startTerminal(
  workspace: string,
  profile?: string,
  layout: (id: string) => Parameters<typeof prefer>[0] = () => ({}),
): Promise<string | null> {
  showPane('terminal', true)
  const id = await attempt('Could not open a terminal', async () => {
    const wanted = profile === undefined ? {} : { profile }
    const terminal = await client().terminals.open({ ...act(), workspace, ...firstSize, ...wanted })
    useWorkbench.setState(({ terminals }) => ({
      terminals: [...terminals.filter(({ id }) => id !== terminal.id), terminal],
    }))
    prefer({ 'terminal.front': terminal.id, ...layout(terminal.id) })
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

/** Opens another terminal in the place of one that ended or could not start, with the same profile or another. */
export async function restartTerminal(id: string, profile?: string): Promise<void> {
  const terminal = useWorkbench.getState().terminals.find((one) => one.id === id)
  if (!terminal) return
  const opened = await startTerminal(terminal.workspace, profile ?? terminal.profile, (next) => {
    const { 'terminal.order': order, 'terminal.pairs': pairs } = preferences()
    const inPlace = (one: string) => (one === id ? next : one)
    return {
      'terminal.order': order.map(inPlace),
      'terminal.pairs': pairs.map(([left, right]) => [inPlace(left), inPlace(right)]),
    }
  })
  if (opened === null) return
  await attempt('Could not close the terminal', () => client().terminals.close({ ...act(), id }))
}

export async function renameTerminal(id: string, title: string): Promise<void> {
  const clean = title.trim().slice(0, 100)
  if (clean === '') return
  await attempt('Could not rename the terminal', () => client().terminals.rename({ ...act(), id, title: clean }))
}
