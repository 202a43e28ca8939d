/** When a notification is due and what it says: pure (S-119). */
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { notificationWords } from '../../preload/contract/notifications.ts'
import { shownText } from './shown-text.ts'

const againMs = 5_000

type Put = Extract<WorkbenchEvent, { type: 'notification.put' }>

/** Whether a notification is due: not for what is in focus, nor twice within 5 s for one session and kind. */
export function createNotificationGate(now: () => number): {
  due(event: Put, at: { enabled: boolean; focusedSession: string | null }): boolean
} {
  const last = new Map<string, number>()
  return {
    due({ sessionId, kind }, { enabled, focusedSession }) {
      if (!enabled || sessionId === focusedSession) return false
      for (const [key, time] of last) if (now() - time >= againMs) last.delete(key)
      const key = `${sessionId} ${kind}`
      if (last.has(key)) return false
      last.set(key, now())
      return true
    },
  }
}

/** Title and kind only: what the agent or the person wrote stays in the window (`notifications.preview`). */
export function notificationText({ title, kind }: Pick<Put, 'title' | 'kind'>): { title: string; body: string } {
  return { title: shownText(title) || 'Lathe', body: notificationWords[kind] }
}
