import { narrowerMode, type ApprovalMode } from '../../preload/contract/session.ts'
import { useChosenAgent } from './agent-store.ts'
import { useView } from './session-store.ts'
import { useTrusted } from './workbench-store.ts'

/** The mode a session's next turn works in: its own, or what its agent or an untrusted folder narrows it to. */
export function useModeInForce(sessionId: string): ApprovalMode {
  const mode = useView<ApprovalMode>(sessionId, ({ header }) => header.approvalMode, 'ask')
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  const agent = useChosenAgent(sessionId)
  const trusted = useTrusted(folder)
  if (!trusted && folder !== '') return 'read-only'
  return agent?.mode ? narrowerMode(mode, agent.mode) : mode
}
