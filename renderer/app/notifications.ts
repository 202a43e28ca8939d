/** The system's notifications and the count in the title: called when needed, and only then (S-119, S-120). */
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { notificationWords } from '../../preload/contract/notifications.ts'
import { showSession, useWindow } from '../state/window-store.ts'
import { callingCount, useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'

type Put = Extract<WorkbenchEvent, { type: 'notification.put' }>

const shown = new Map<string, Notification>()
const shownMax = 50

function put({ key, sessionId, kind, title, itemId }: Put): void {
  const { settings } = useWorkbench.getState()
  if (!settings['notifications.enabled'] || !('Notification' in window) || Notification.permission !== 'granted') return
  // The desktop shell shows its own, also where no window is open.
  if (window.lathe) return
  // A focused window shows it by itself: in the list, or in the session on screen.
  if (document.hasFocus()) return
  const notification = new Notification(shownText(title).slice(0, 200) || 'Lathe', {
    body: notificationWords[kind],
    tag: key,
  })
  notification.addEventListener('click', () => {
    window.focus()
    // It only shows: what waits is answered in the window, never by a click here.
    showSession(sessionId, itemId === undefined ? undefined : { itemId })
    notification.close()
  })
  shown.set(key, notification)
  if (shown.size > shownMax) remove(shown.keys().next().value!)
}

function remove(key: string): void {
  shown.get(key)?.close()
  shown.delete(key)
}

/** Takes the notification events of the workbench; answers whether the event was one. */
export function takeNotification(event: WorkbenchEvent): boolean {
  if (event.type === 'notification.put') put(event)
  else if (event.type === 'notification.removed') remove(event.key)
  else return false
  return true
}

/** Keeps the window's title and the application's badge until the answered function is called. */
export function followTitle(): () => void {
  let before = ''
  const follow = () => {
    const { entries } = useWorkbench.getState()
    const { sessionId } = useWindow.getState()
    const count = callingCount(entries.values())
    const title = sessionId === null ? '' : shownText(entries.get(sessionId)?.title ?? '')
    const next = `${count > 0 ? `(${count}) ` : ''}${title ? `${title} – ` : ''}Lathe`
    if (next === before) return
    before = next
    document.title = next
    void (count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.())?.catch(() => {})
  }
  follow()
  const ends = [
    useWorkbench.subscribe((now, old) => now.entriesRev !== old.entriesRev && follow()),
    useWindow.subscribe((now, old) => now.sessionId !== old.sessionId && follow()),
  ]
  return () => ends.forEach((end) => end())
}
