/** The system's notifications, from the workbench's events (S-119). A click shows a session and never answers for anyone. */
import { Notification } from 'electron'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import type { ShellRequest } from '../../preload/contract/shell.ts'
import { createNotificationGate, notificationText } from './notification-gate.ts'

const shownMax = 50

export type Notifications = { hear(event: WorkbenchEvent): void }

export function createNotifications(options: {
  at(): { enabled: boolean; focusedSession: string | null }
  show(request: ShellRequest): void
}): Notifications {
  const gate = createNotificationGate(() => performance.now())
  const shown = new Map<string, Notification>()

  function withdraw(key: string): void {
    shown.get(key)?.close()
    shown.delete(key)
  }

  return {
    hear(event) {
      if (event.type === 'notification.removed') return withdraw(event.key)
      if (event.type !== 'notification.put' || !Notification.isSupported()) return
      if (!gate.due(event, options.at())) return
      const { key, sessionId, itemId = null } = event
      withdraw(key)
      const notification = new Notification(notificationText(event))
      notification.on('click', () => {
        shown.delete(key)
        options.show({ do: 'show', sessionId, itemId })
      })
      notification.show()
      shown.set(key, notification)
      if (shown.size > shownMax) withdraw(shown.keys().next().value!)
    },
  }
}
