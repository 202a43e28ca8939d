/** What calls a person to a session, and how it is said: title and kind only, wherever it is shown (S-119). */
import { z } from 'zod'

export const NotificationKind = z.enum(['settled', 'failed', 'approval', 'question', 'interrupted'])
export type NotificationKind = z.infer<typeof NotificationKind>

export const notificationWords: Readonly<Record<NotificationKind, string>> = {
  settled: 'Finished',
  failed: 'Failed',
  approval: 'Needs your approval',
  question: 'Has a question',
  interrupted: 'Was interrupted',
}
