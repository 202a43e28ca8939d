import type { ToolContext } from './tool.ts'

/** Whose the processes of a call are: what a subagent starts is the top session's, and it sees its own alone. */
export function execOwner({ sessionId, parent }: Pick<ToolContext, 'sessionId' | 'parent'>): {
  owner: string
  subagent?: string
} {
  return parent ? { owner: parent.top.sessionId, subagent: sessionId } : { owner: sessionId }
}
