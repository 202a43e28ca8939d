/** Answers of the routes about one session: open, stream, submit, stop, settings, going back, its draft. */
import { LatheError } from '../../../preload/contract/errors.ts'
import { sliceItems } from '../../../preload/contract/limits.ts'
import type { ContextReport, Draft } from '../../../preload/contract/session-routes.ts'
import type { Paths } from '../../files/paths.ts'
import type { ModelService } from '../../models/models.ts'
import type { Compactions } from '../../sessions/compactions.ts'
import type { OwnCommands } from '../../sessions/own-commands.ts'
import type { Rewinds } from '../../sessions/rewinds.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { SideCommands } from '../../sessions/side-commands.ts'
import { agentSettings, type AgentPorts } from '../../sessions/turn-choice.ts'
import type { Workspaces } from '../../sessions/workspaces.ts'
import type { Storage } from '../../storage/storage.ts'
import { ok, signalOf, type Handlers } from '../handlers.ts'

export type SessionServices = AgentPorts & {
  storage: Storage
  sessions: Sessions
  rewinds: Rewinds
  compactions: Compactions
  sideCommands: SideCommands
  ownCommands: OwnCommands
  models: ModelService
  workspaces: Pick<Workspaces, 'folder'>
  paths: Pick<Paths, 'checkAddable'>
  contextReport(sessionId: string): Promise<ContextReport>
  /** Ends the command of a tool call; false where none of it runs. */
  stopToolCommand(itemId: string): boolean
  now(): number
}

export function sessionAnswers(services: SessionServices): Pick<Handlers, 'session'> {
  const { sessions, storage } = services
  return {
    session: {
      open: ({ sessionId, around }) => sessions.open(sessionId, around),
      events: ({ sessionId, after, journalId }, client) =>
        sessions.events(sessionId, after, journalId, signalOf(client)),
      items: ({ sessionId, limit, ...where }) =>
        storage.items(sessionId, {
          ...(where.before === undefined ? {} : { before: where.before }),
          ...(where.after === undefined ? {} : { after: where.after }),
          ...(where.around === undefined ? {} : { around: where.around }),
          limit: limit ?? sliceItems,
        }),
      find: ({ sessionId, text }) => sessions.find(sessionId, text),
      item: async ({ sessionId, itemId }) => {
        const item = await storage.item(sessionId, itemId)
        if (!item) throw new LatheError('request.invalid', 'There is no such item in this session.')
        return item
      },
      submit: async ({ sessionId, ...submission }, client) => {
        await services.ownCommands.note(sessionId)
        return sessions.turns.submit(sessionId, { ...submission, attendance: client.attendance, rights: client.rights })
      },
      stop: ({ sessionId, turnId, reason = 'person' }, client) =>
        sessions.command(sessionId, { type: 'stop', turnId, reason }, client.rights),
      retry: ({ sessionId, requestId, turnId, model }, client) =>
        sessions.turns.retry(sessionId, requestId, turnId, model, client.attendance, client.rights),
      continue: ({ sessionId, requestId, turnId }, client) =>
        sessions.turns.continue(sessionId, requestId, turnId, client.attendance, client.rights),
      settings: async ({ sessionId, model, effort, agent, approvalMode, forApproval }, client) => {
        // Resolved first: if that fails nothing is stored and the error lists the valid names (M-24).
        const canonical = model === undefined || model === null ? model : services.models.choose(model).model
        const { workspace } = (await sessions.actor(sessionId)).peek().view.header
        return sessions.command(
          sessionId,
          {
            type: 'settings',
            ...(agent === undefined ? {} : await agentSettings(services, agent, workspace)),
            ...(canonical === undefined ? {} : { model: canonical }),
            ...(effort === undefined ? {} : { effort }),
            ...(approvalMode === undefined ? {} : { approvalMode }),
            ...(forApproval === undefined ? {} : { forApproval }),
          },
          client.rights,
        )
      },
      putFolder: async ({ sessionId, path, writable }, client) => {
        const real = await services.workspaces.folder(path)
        await services.paths.checkAddable(real)
        return sessions.command(sessionId, { type: 'folder.put', path: real, writable }, client.rights)
      },
      removeFolder: ({ sessionId, path }, client) =>
        sessions.command(sessionId, { type: 'folder.remove', path }, client.rights),
      rewind: ({ sessionId, requestId, itemId, edited, withFiles }, client) =>
        services.rewinds.rewind(
          sessionId,
          itemId,
          edited ? { requestId, ...edited, attendance: client.attendance } : null,
          withFiles,
          client.rights,
        ),
      setAside: ({ sessionId, markItemId, after }) => services.rewinds.items(sessionId, markItemId, after ?? null),
      restoreSetAside: async ({ sessionId, markItemId }, client) => {
        await services.rewinds.restore(sessionId, markItemId, client.rights)
        return ok
      },
      deleteSetAside: async ({ sessionId, markItemId }, client) => {
        await services.rewinds.delete(sessionId, markItemId, client.rights)
        return ok
      },
      retrySaving: async ({ sessionId }) => {
        ;(await sessions.actor(sessionId)).retrySaving()
        return ok
      },
      releaseHold: ({ sessionId }, client) => sessions.command(sessionId, { type: 'hold.release' }, client.rights),
      context: ({ sessionId }) => services.contextReport(sessionId),
      compact: async ({ sessionId, focus }, client) => ({
        came: await services.compactions.compact(await sessions.actor(sessionId), focus, client.rights),
      }),
      cancelCompaction: ({ sessionId, jobId }, client) =>
        sessions.command(sessionId, { type: 'compaction.cancel', jobId }, client.rights),
      draft: async ({ sessionId }) => (await storage.draft(sessionId)) ?? emptyDraft,
      setDraft: async ({ sessionId, text, attachments, mentions, comments = [], source }) => {
        const revision = ((await storage.draft(sessionId))?.revision ?? 0) + 1
        await storage.setDraft(sessionId, { text, attachments, mentions, comments, revision })
        const actor = await sessions.actor(sessionId)
        actor.pass({ type: 'draft.changed', seq: null, at: services.now(), revision, source })
        return { revision }
      },
      prompts: async ({ sessionId }) => {
        const actor = await sessions.actor(sessionId)
        return storage.prompts(sessionId, actor.published.header.workspace)
      },
      command: async ({ sessionId, line }, client) => {
        const { itemId } = await services.ownCommands.start(sessionId, line, client.rights)
        return { itemId }
      },
      sideCommand: ({ sessionId, name, argument }, client) =>
        services.sideCommands.run(sessionId, name, argument, client.rights),
      stopSubagent: ({ sessionId, itemId }, client) =>
        sessions.command(sessionId, { type: 'subagent.stop', itemId, reason: 'person' }, client.rights),
      stopCommand: async ({ itemId }) => {
        if (!services.ownCommands.stop(itemId) && !services.stopToolCommand(itemId)) {
          throw new LatheError('exec.not_found', 'This command is no longer running.')
        }
        return ok
      },
    },
  }
}

const emptyDraft: Draft = { text: '', attachments: [], revision: 0 }
