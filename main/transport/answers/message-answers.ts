/** Answers of the routes about messages that wait: steers of the running turn, follow-ups. */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { Mention } from '../../../preload/contract/items.ts'
import { fingerprintOf } from '../../sessions/message-checks.ts'
import type { OwnCommands } from '../../sessions/own-commands.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { Handlers } from '../handlers.ts'

export type MessageServices = { sessions: Sessions; ownCommands: OwnCommands }

export function messageAnswers({ sessions, ownCommands }: MessageServices): Pick<Handlers, 'steers' | 'followUps'> {
  /** Throws `mention.missing`; a queued message is looked at once more when it starts. */
  const resolved = async (sessionId: string, mentions: Mention[] | undefined) =>
    mentions?.length ? sessions.turns.resolveMentions(await sessions.actor(sessionId), mentions) : undefined
  return {
    steers: {
      add: async ({ sessionId, turnId, requestId, text, attachments, mentions }, client) => {
        await ownCommands.note(sessionId)
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
  }
}
