/** Answers of the routes about one session: open, stream, submit, steer, queue, decide, recover. */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { Mention } from '../../../preload/contract/items.ts'
import type { Draft } from '../../../preload/contract/session-routes.ts'
import { sliceItems } from '../../../preload/contract/limits.ts'
import { fingerprintOf } from '../../sessions/message-checks.ts'
import { agentSettings } from '../../sessions/turn-choice.ts'
import type { Handlers } from '../handlers.ts'
import type { Services } from './services.ts'

const ok = { ok: true } as const

export function sessionAnswers(
  services: Services,
): Pick<Handlers, 'session' | 'exec' | 'steers' | 'followUps' | 'approvals' | 'questions' | 'recovery'> {
  const { sessions, storage } = services
  /** Throws `mention.missing`; a queued message is looked at once more when it starts. */
  const resolved = async (sessionId: string, mentions: Mention[] | undefined) =>
    mentions?.length ? sessions.turns.resolveMentions(await sessions.actor(sessionId), mentions) : undefined
  return {
    session: {
      open: ({ sessionId, around }) => sessions.open(sessionId, around),
      events: ({ sessionId, after, journalId }, client) =>
        sessions.events(sessionId, after, journalId, client.signal ?? new AbortController().signal),
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
      context: ({ sessionId }) => services.context.report(sessionId),
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
    exec: {
      stop: async ({ sessionId, id }) => {
        const session = await services.exec.get(sessionId, id)
        await session.stop()
        return ok
      },
      hold: async ({ sessionId, id, held }) => {
        const session = await services.exec.get(sessionId, id)
        session.hold(held)
        return ok
      },
    },
    steers: {
      add: async ({ sessionId, turnId, requestId, text, attachments, mentions }, client) => {
        await services.ownCommands.note(sessionId)
        return sessions.command(
          sessionId,
          {
            type: 'steer.add',
            turnId,
            requestId,
            fingerprint: fingerprintOf({ action: 'steer', turnId, text }),
            text,
            attachments,
            mentions: await resolved(sessionId, mentions),
          },
          client.rights,
        )
      },
      edit: async ({ sessionId, steerId, text, attachments, mentions }, client) =>
        sessions.command(
          sessionId,
          {
            type: 'steer.edit',
            steerId,
            text,
            attachments,
            mentions: await resolved(sessionId, mentions),
          },
          client.rights,
        ),
      withdraw: ({ sessionId, steerId }, client) =>
        sessions.command(sessionId, { type: 'steer.withdraw', steerId }, client.rights),
      sendNow: ({ sessionId, steerId }, client) =>
        sessions.command(sessionId, { type: 'steer.sendNow', steerId }, client.rights),
    },
    followUps: {
      add: async ({ sessionId, text, attachments, mentions }, client) => {
        await resolved(sessionId, mentions)
        return sessions.command(sessionId, { type: 'followUp.add', text, attachments, mentions }, client.rights)
      },
      edit: async ({ sessionId, id, revision, text, attachments, mentions }, client) => {
        await resolved(sessionId, mentions)
        return sessions.command(
          sessionId,
          { type: 'followUp.edit', id, revision, text, attachments, mentions },
          client.rights,
        )
      },
      move: ({ sessionId, id, before }, client) =>
        sessions.command(sessionId, { type: 'followUp.move', id, before }, client.rights),
      remove: ({ sessionId, id }, client) =>
        sessions.command(sessionId, { type: 'followUp.remove', id }, client.rights),
      clear: ({ sessionId }, client) => sessions.command(sessionId, { type: 'followUp.clear' }, client.rights),
      steerNow: async ({ sessionId, id }, client) => {
        const { header } = (await sessions.actor(sessionId)).published
        const asked = header.queue.followUps.find((one) => one.id === id)?.mentions
        return sessions.command(
          sessionId,
          {
            type: 'followUp.steerNow',
            id,
            mentions: await resolved(sessionId, asked),
          },
          client.rights,
        )
      },
      startNow: async ({ sessionId, id }, client) => {
        const reply = await sessions.turns.startFollowUp(sessionId, id, true, client.attendance, client.rights)
        if (!reply) throw new LatheError('follow_up.gone', 'This message has started or was removed already.')
        return reply
      },
      pause: ({ sessionId }, client) => sessions.command(sessionId, { type: 'queue.pause' }, client.rights),
      resume: ({ sessionId }, client) => sessions.command(sessionId, { type: 'queue.resume' }, client.rights),
    },
    approvals: {
      answer: ({ sessionId, approvalId, argsHash, decision, scope, feedback }, client) =>
        sessions.subagents.answerApproval(
          sessionId,
          {
            approvalId,
            argsHash,
            decision,
            scope: scope ?? 'workspace',
            ...(feedback === undefined ? {} : { feedback }),
          },
          client.rights,
        ),
      rules: async () => [...services.rules.get()],
      removeRule: async ({ id }) => {
        await services.rules.remove(id)
        return ok
      },
    },
    questions: {
      answer: ({ sessionId, questionId, choices, text, secret, declined }, client) =>
        sessions.subagents.toQuestion(
          sessionId,
          {
            type: 'question.answer',
            questionId,
            choices: choices ?? [],
            text: text ?? null,
            secret: secret ?? null,
            declined: declined ?? false,
          },
          client.rights,
        ),
      touch: ({ sessionId, questionId }, client) =>
        sessions.subagents.toQuestion(sessionId, { type: 'question.touched', questionId }, client.rights),
    },
    recovery: {
      continue: ({ sessionId, requestId, recoveryId }, client) =>
        sessions.turns.continueRecovery(sessionId, requestId, recoveryId, client.attendance, client.rights),
      dismiss: ({ sessionId, recoveryId }, client) =>
        sessions.command(sessionId, { type: 'recovery.dismiss', recoveryId }, client.rights),
    },
  }
}

const emptyDraft: Draft = { text: '', attachments: [], revision: 0 }
