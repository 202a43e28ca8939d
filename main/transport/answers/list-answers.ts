/** Answers about the list of sessions: paging, names, deletion, search, export. */
import { listPage, listPageMax, searchHits } from '../../../preload/contract/limits.ts'
import { checkPlace } from '../../sessions/message-checks.ts'
import { agentSettings } from '../../sessions/turn-choice.ts'
import type { Handlers } from '../handlers.ts'
import type { Services } from './services.ts'

const ok = { ok: true } as const

export function listAnswers(services: Services): Pick<Handlers, 'sessions'> {
  const { sessions, storage } = services
  return {
    sessions: {
      list: ({ before, limit, workspace, archived, text }) =>
        storage.entries({ before, limit: limit ?? listPage, workspace, archived, text }),
      create: async ({ workspace, model, agent, approvalMode }) => {
        await checkPlace(workspace, storage.dataFolder)
        const chosen = model ?? (await services.defaultModel.demoIn(workspace))
        const named = agent === undefined ? undefined : (await agentSettings(services, agent, workspace)).agent
        return { sessionId: sessions.create({ workspace, model: chosen, agent: named, approvalMode }).id }
      },
      rename: ({ sessionId, title, ifRev }) =>
        sessions.command(sessionId, { type: 'rename', title, ...(ifRev === undefined ? {} : { ifRev }) }),
      pin: ({ sessionId, pinned }) => sessions.command(sessionId, { type: 'pin', pinned }),
      archive: ({ sessionId, archived }) => sessions.command(sessionId, { type: 'archive', archived }),
      delete: async ({ sessionId }) => {
        await services.exec.endOf(sessionId)
        await sessions.delete(sessionId)
        // A turn that was ending meanwhile may have started another.
        await services.exec.endOf(sessionId)
        return ok
      },
      deleted: () => storage.deletedEntries(listPageMax),
      purge: async ({ sessionId }) => {
        await sessions.purge(sessionId)
        return ok
      },
      restore: ({ sessionId }) => sessions.command(sessionId, { type: 'restore' }),
      fork: ({ sessionId, at, side, title }) => services.forks.fork(sessionId, { at, side, title }),
      markRead: ({ sessionId, seq, unread }) =>
        sessions.command(sessionId, { type: 'markRead', seq, unread: unread ?? false }),
      search: ({ query, limit }) => storage.search(query, limit ?? searchHits),
      import: (part) => services.imports.add(part),
      export: (part) => services.exports.part(part),
    },
  }
}
