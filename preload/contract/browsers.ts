/** Browsers that signed in to the web host: clients with rights of their own (S-31). */
import { z } from 'zod'
import { Id } from './ids.ts'
import { Time } from './items.ts'

/** `watch` reads and streams; it changes nothing. */
export const BrowserRights = z.enum(['full', 'watch'])
export type BrowserRights = z.infer<typeof BrowserRights>

export const Browser = z.object({
  id: Id,
  /** Program and system, as far as it says. */
  name: z.string().max(80),
  rights: BrowserRights,
  signedInAt: Time,
  /** When its last connection ended; now, while it has one. */
  seenAt: Time,
  connected: z.boolean(),
})
export type Browser = z.infer<typeof Browser>
