/** A newer version of the desktop application, as its windows show it (Z-227). */
import { z } from 'zod'

export const Update = z.object({
  /** `none`: this build has no place to ask. `ready`: downloaded and checked; installed only when the person says so. */
  state: z.enum(['none', 'unasked', 'checking', 'current', 'downloading', 'ready', 'failed']),
  /** The newer version; null where none is known. */
  version: z.string().max(64).nullable(),
  /** What its release says of itself: plain text of strangers. */
  notes: z.string().max(20_000).nullable(),
  /** Of the download, 0 to 100. */
  percent: z.number().int().min(0).max(100).nullable(),
  /** The person had it installed when Lathe quits. */
  atQuit: z.boolean(),
  /** When it was last looked for, epoch milliseconds. */
  checkedAt: z.number().nullable(),
  /** Why looking or downloading failed. */
  problem: z.string().max(500).nullable(),
})
export type Update = z.infer<typeof Update>

export const noUpdate: Update = {
  state: 'none',
  version: null,
  notes: null,
  percent: null,
  atQuit: false,
  checkedAt: null,
  problem: null,
}
