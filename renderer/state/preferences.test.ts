import { beforeEach, expect, test, vi } from 'vitest'
import type { Client } from './link.ts'
import {
  defaultPreferences,
  loadPreferences,
  prefer,
  takeSharedPreferences,
  usePreferences,
  withRecent,
  writePreferences,
} from './preferences.ts'

function host(kept: Record<string, unknown>) {
  const setPreferences = vi.fn<(input: { preferences: Record<string, unknown> }) => Promise<object>>(() =>
    Promise.resolve({}),
  )
  return {
    client: { settings: { preferences: () => Promise.resolve(kept), setPreferences } } as unknown as Client,
    setPreferences,
  }
}

beforeEach(async () => {
  await writePreferences()
  usePreferences.setState(defaultPreferences)
})

test('S-121 what was kept is taken; a value that makes no sense is the default', async () => {
  await loadPreferences(
    host({ 'panes.listWidth': 300, 'panes.inspectorWidth': 'wide', 'inspector.tab': 'nowhere', unknown: 1 }).client,
  )
  const preferences = usePreferences.getState()
  expect(preferences['panes.listWidth']).toBe(300)
  expect(preferences['panes.inspectorWidth']).toBe(defaultPreferences['panes.inspectorWidth'])
  expect(preferences['inspector.tab']).toBe('changes')
})

test('S-121 many changes are one write, of what changed only', async () => {
  const { client, setPreferences } = host({})
  await loadPreferences(client)
  prefer({ 'panes.listWidth': 280 })
  prefer({ 'panes.listWidth': 290, 'panes.terminal': true })
  await writePreferences()
  expect(setPreferences).toHaveBeenCalledOnce()
  expect(setPreferences.mock.calls[0]![0].preferences).toEqual({ 'panes.listWidth': 290, 'panes.terminal': true })
})

test('what could not be written is written with the next change', async () => {
  const { client, setPreferences } = host({})
  await loadPreferences(client)
  setPreferences.mockRejectedValueOnce(new Error('lost'))
  prefer({ 'panes.list': false })
  await writePreferences()
  prefer({ 'panes.terminal': true })
  await writePreferences()
  expect(setPreferences.mock.calls[1]![0].preferences).toEqual({ 'panes.list': false, 'panes.terminal': true })
})

test('another window shares folding, not its layout', () => {
  takeSharedPreferences({ 'list.collapsed': ['/w'], 'panes.listWidth': 700 })
  expect(usePreferences.getState()['list.collapsed']).toEqual(['/w'])
  expect(usePreferences.getState()['panes.listWidth']).toBe(defaultPreferences['panes.listWidth'])
})

test('recent ones are unique and bounded', () => {
  expect(withRecent(['a', 'b', 'c'], 'b', 3)).toEqual(['b', 'a', 'c'])
  expect(withRecent(['a', 'b', 'c'], 'd', 3)).toEqual(['d', 'a', 'b'])
})
