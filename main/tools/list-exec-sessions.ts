/** Tool `list_exec_sessions`: what runs in this session, and what ended without the agent having been told. */
import { z } from 'zod'
import type { ExecSession } from '../exec/exec-session.ts'
import { endWords, type ExecSessions, seconds } from '../exec/exec-sessions.ts'
import { execOwner } from './exec-owner.ts'
import type { Tool } from './tool.ts'

export function createListExecSessionsTool(sessions: ExecSessions): Tool<object> {
  return {
    name: 'list_exec_sessions',
    description: 'Lists the processes that run in the background of this session, with their ids.',
    input: z.object({}),
    concurrent: true,
    reproducible: true,
    title: () => 'List exec sessions',
    plan: async () => ({
      effects: [{ kind: 'none' }],
      preview: { title: 'List exec sessions', detail: '', detailKind: 'text' },
    }),
    run: async (_, context) => {
      const { owner, subagent } = execOwner(context)
      const list = sessions.list(owner, subagent)
      return { text: list.length === 0 ? 'Nothing is running.' : list.map(lineOf).join('\n'), isError: false }
    },
  }
}

function lineOf(session: ExecSession): string {
  const { facts, end, remainingMs } = session
  const limit = remainingMs === null ? 'no time limit' : `${seconds(remainingMs)} left`
  const state = end
    ? endWords(end)
    : `${session.state}, ${seconds(session.elapsedMs)} so far, idle ${seconds(session.idleMs)}, ${limit}`
  const named = [facts.label, facts.subagent && `subagent ${facts.subagent.label}`].filter((name) => name !== undefined)
  const whose = facts.owner === 'person' ? ' (the person runs it)' : named.length === 0 ? '' : ` (${named.join(', ')})`
  return `${session.id}${whose}: ${state}; in ${facts.folder}: ${facts.preview}`
}
