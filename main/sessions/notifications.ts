import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import type { SessionHeader } from '../../preload/contract/session.ts'
import type { Effect } from '../turns/state.ts'

/** What windows are told of a notification that comes or goes; null where the session is muted. */
export function notificationEvent(
  { id: sessionId, muted, title }: SessionHeader,
  effect: Extract<Effect, { do: 'notify' | 'withdrawNotification' }>,
): WorkbenchEvent | null {
  if (effect.do === 'withdrawNotification')
    return { type: 'notification.removed', key: `${sessionId}:${effect.itemId}` }
  if (muted) return null
  const { kind, itemId } = effect
  const about = itemId === undefined ? {} : { itemId }
  return { type: 'notification.put', key: `${sessionId}:${itemId ?? kind}`, sessionId, kind, title, ...about }
}
