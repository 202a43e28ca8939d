/** Answers about the list of sessions: paging, names, deletion, search, export. */
import { realpath } from 'node:fs/promises'
import { listPage, listPageMax, searchHits } from '../../../preload/contract/limits.ts'
import type { ExecSessions } from '../../exec/exec-sessions.ts'
import type { DefaultModel } from '../../sessions/default-model.ts'
import type { Exports } from '../../sessions/exports.ts'
import type { Forks } from '../../sessions/forks.ts'
import type { Imports } from '../../sessions/imports.ts'
import { checkPlace } from '../../sessions/message-checks.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { agentSettings, type AgentPorts } from '../../sessions/turn-choice.ts'
import type { Storage } from '../../storage/storage.ts'
import { ok, type Handlers } from '../handlers.ts'

export type ListServices = AgentPorts & {
  storage: Storage
  sessions: Sessions
  exec: ExecSessions
  forks: Forks
  imports: Imports
  exports: Exports
  defaultModel: DefaultModel
}

export function listAnswers(services: ListServices): Pick<Handlers, 'sessions'> {
  const { sessions, storage } = services
  return {
    sessions: {
      list: ({ before, limit, workspace, archived, text }) =>
        storage.entries({ before, limit: limit ?? listPage, workspace, archived, text }),
      create: async ({ workspace: folder, model, agent, approvalMode }, { rights }) => {
        await checkPlace(folder, storage.dataFolder)
        // What is trusted and allowed is so by real path (Z-4).
        const workspace = await realpath(folder)
        const chosen = model ?? (await services.defaultModel.demoIn(workspace))
        const named = agent === undefined ? undefined : (await agentSettings(services, agent, workspace)).agent
        return { sessionId: sessions.create({ workspace, model: chosen, agent: named, approvalMode, rights }).id }
      },
      rename: ({ sessionId, title, ifRev }, client) =>
        sessions.command(
          sessionId,
          { type: 'rename', title, ...(ifRev === undefined ? {} : { ifRev }) },
          client.rights,
        ),
      pin: ({ sessionId, pinned }, client) => sessions.command(sessionId, { type: 'pin', pinned }, client.rights),
      archive: ({ sessionId, archived }, client) =>
        sessions.command(sessionId, { type: 'archive', archived }, client.rights),
      delete: async ({ sessionId }, client) => {
        await services.exec.endOf(sessionId)
        await sessions.delete(sessionId, client.rights)
        // A turn that was ending meanwhile may have started another.
        await services.exec.endOf(sessionId)
        return ok
      },
      deleted: () => storage.deletedEntries(listPageMax),
      purge: async ({ sessionId }, client) => {
        await sessions.purge(sessionId, client.rights)
        return ok
      },
      restore: ({ sessionId }, client) => sessions.command(sessionId, { type: 'restore' }, client.rights),
      fork: ({ sessionId, at, side, title }, client) =>
        services.forks.fork(sessionId, { at, side, title }, client.rights),
      markRead: ({ sessionId, seq, unread }, client) =>
        sessions.command(sessionId, { type: 'markRead', seq, unread: unread ?? false }, client.rights),
      search: ({ query, limit }) => storage.search(query, limit ?? searchHits),
      import: (part) => services.imports.add(part),
      export: (part) => services.exports.part(part),
    },
  }
}
