import { commandTarget } from '../app/command-targets.ts'
import { loadAgents } from '../state/agent-store.ts'
import { openSession } from '../state/session-store.ts'
import { showDialog } from '../state/window-store.ts'

/** Opens the composer's picker; where there is no agent yet, the page that says how to make one. */
export async function chooseAgent(sessionId: string): Promise<void> {
  const { view } = openSession(sessionId).store.getState()
  const folder = view?.header.workspace ?? ''
  const picker = commandTarget('composer')
  if (picker && (view?.header.agent || (await loadAgents(folder)).length > 0)) picker.chooseAgent()
  else showDialog({ kind: 'settings', page: 'agents' })
}
