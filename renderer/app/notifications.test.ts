// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest'
import { sampleEntry } from '../../preload/contract/sample-entry.ts'
import { applyWorkbenchEvent, useWorkbench } from '../state/workbench-store.ts'
import { useWindow } from '../state/window-store.ts'
import { followTitle, takeNotification } from './notifications.ts'

class FakeNotification extends EventTarget {
  static permission: NotificationPermission = 'granted'
  static shown: FakeNotification[] = []
  closed = false
  readonly title: string
  readonly options: NotificationOptions

  constructor(title: string, options: NotificationOptions) {
    super()
    this.title = title
    this.options = options
    FakeNotification.shown.push(this)
  }

  close(): void {
    this.closed = true
  }
}

const put = {
  type: 'notification.put',
  key: 'k1',
  sessionId: 's1',
  kind: 'approval',
  title: 'Make uploads resumable',
  itemId: 'i1',
} as const

beforeEach(() => {
  FakeNotification.shown = []
  FakeNotification.permission = 'granted'
  vi.stubGlobal('Notification', FakeNotification)
  vi.spyOn(document, 'hasFocus').mockReturnValue(false)
  useWorkbench.setState({ ...useWorkbench.getInitialState(), entries: new Map() })
})

test('S-119 a notification says title and kind, and a click shows the item without answering it', () => {
  takeNotification(put)
  const [shown] = FakeNotification.shown
  expect([shown?.title, shown?.options.body, shown?.options.tag]).toEqual([
    'Make uploads resumable',
    'Needs your approval',
    'k1',
  ])
  shown?.dispatchEvent(new Event('click'))
  expect(useWindow.getState()).toMatchObject({ sessionId: 's1', target: { itemId: 'i1' } })
})

test('S-119 an approval answered elsewhere withdraws its notification', () => {
  takeNotification(put)
  takeNotification({ type: 'notification.removed', key: 'k1' })
  expect(FakeNotification.shown[0]?.closed).toBe(true)
})

test('S-119 none in a focused window, none without the permission or by setting', () => {
  vi.mocked(document.hasFocus).mockReturnValue(true)
  takeNotification(put)
  vi.mocked(document.hasFocus).mockReturnValue(false)
  FakeNotification.permission = 'default'
  takeNotification(put)
  FakeNotification.permission = 'granted'
  applyWorkbenchEvent({ type: 'settings.changed', settings: { 'notifications.enabled': false } })
  takeNotification(put)
  expect(FakeNotification.shown).toEqual([])
})

test('S-120 the title counts what calls for a person and names the session on screen', () => {
  const entry = sampleEntry('s1', { title: 'A\u202eB', indicator: 'needs_you' })
  useWindow.setState({ sessionId: 's1' })
  const stop = followTitle()
  applyWorkbenchEvent({ type: 'entry.put', entry })
  expect(document.title).toBe('(1) A⟨RLO⟩B – Lathe')
  applyWorkbenchEvent({ type: 'entry.put', entry: { ...entry, indicator: 'none' } })
  expect(document.title).toBe('A⟨RLO⟩B – Lathe')
  stop()
})
