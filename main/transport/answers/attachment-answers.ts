/** Answers of the routes about attachments: on their way in, and shown again in the session that has them. */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { Attachment, Item } from '../../../preload/contract/items.ts'
import { attachmentBytesMax } from '../../../preload/contract/limits.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Handlers } from '../handlers.ts'
import { Uploads } from './uploads.ts'

export type AttachmentServices = { sessions: Sessions; storage: Storage }

export function attachmentAnswers(services: AttachmentServices): Pick<Handlers, 'attachments'> {
  const { blobs } = services.storage
  const uploads = new Uploads(blobs, attachmentBytesMax)
  return {
    attachments: {
      upload: (part) => uploads.add(part),
      read: async ({ sessionId, hash }) => {
        const owned = await attachmentOf(services, sessionId, hash)
        if (!owned) throw new LatheError('access.denied', 'This body is not one of this session.')
        return { data: Buffer.from(await blobs.get(hash)).toString('base64'), mediaType: owned.mediaType }
      },
    },
  }
}

/** The attachment of this session with that body; null where it has none (S-117). */
async function attachmentOf(
  { sessions, storage }: AttachmentServices,
  sessionId: string,
  hash: string,
): Promise<Attachment | null> {
  const among = (items: readonly Item[]) =>
    items
      .flatMap((item) => {
        if (item.kind === 'user') return item.attachments
        const image = item.kind === 'tool' ? item.view?.image : undefined
        return image ? [{ name: 'image', mediaType: image.mediaType, bytes: 0, hash: image.hash }] : []
      })
      .find((one) => one.hash === hash)
  const actor = await sessions.actor(sessionId)
  const { items, header, turn } = actor.published
  const waiting = [...header.queue.followUps, ...(turn?.steers ?? [])].flatMap((one) => one.attachments)
  const draft = (await storage.draft(sessionId))?.attachments ?? []
  return (
    among(items) ??
    [...waiting, ...draft].find((one) => one.hash === hash) ??
    among((await storage.contextItems(sessionId)).items) ??
    null
  )
}
