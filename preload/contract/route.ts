/** What routes are made of: the typed refusal, and the blanks that many requests share. */
import { oc } from '@orpc/contract'
import { z } from 'zod'
import { ErrorBody } from './errors.ts'
import { Id, RequestId } from './ids.ts'
import { Attachment, Mentions } from './items.ts'

/** Every refusal is this one typed error; `data` is the body people and scripts read. */
export const route = oc.errors({ LATHE: { data: ErrorBody } })

export const Path = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.includes('\0'), 'A path has no NUL.')
export const done = z.object({ ok: z.literal(true) })
export const inSession = { sessionId: Id }
/** Made by the client; the same id again is the same act (S-27). */
export const act = { requestId: RequestId }
/** What a person says: to be sent, queued, steered with, or kept as a draft. */
export const message = {
  text: z.string().max(2 * 1024 * 1024),
  attachments: z.array(Attachment).max(50),
  mentions: Mentions.optional(),
}
/** Made by the client, names one subscription for `streams.ack`. */
export const stream = { stream: Id }
