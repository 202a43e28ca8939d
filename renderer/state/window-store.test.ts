// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest'
import { type Client, type Link, setLink } from './link.ts'
import { preferences, usePreferences } from './preferences.ts'
import { ask, choose, frameOf, openFile, openLink, paneShown, showPane, useWindow } from './window-store.ts'

const openExternal = vi.fn<(input: { url: string }) => Promise<object>>(() => Promise.resolve({}))

beforeEach(() => {
  openExternal.mockClear()
  setLink({ client: { host: { openExternal } } as unknown as Client } as Link)
  usePreferences.setState(usePreferences.getInitialState())
  useWindow.setState({ ...useWindow.getInitialState(), width: 1_440 })
})

test('S-176 below 900 px side panes float, below 600 px there is one column', () => {
  expect([900, 899, 600, 599].map(frameOf)).toEqual(['wide', 'medium', 'medium', 'narrow'])
})

test('S-176 a floating pane is another thing than the docked one: the layout of a wide window stays as it was', () => {
  showPane('inspector', false)
  useWindow.setState({ width: 700 })
  showPane('inspector', true)
  expect(paneShown('inspector')).toBe(true)
  showPane('list', true)
  expect(paneShown('inspector')).toBe(false)
  useWindow.setState({ width: 1_440 })
  expect(preferences()['panes.inspector']).toBe(false)
  expect(paneShown('list')).toBe(true)
})

test('X-811 a file opens in the inspector, at its line', () => {
  openFile('/w', 'src/a.ts', { line: 12 })
  expect(useWindow.getState().file).toMatchObject({ workspace: '/w', path: 'src/a.ts', line: 12 })
  expect(preferences()).toMatchObject({ 'panes.inspector': true, 'inspector.tab': 'files' })
})

test('Z-196 a link is opened after its host was confirmed, and then without asking', async () => {
  const opening = openLink('https://example.com/a')
  expect(openExternal).not.toHaveBeenCalled()
  expect(useWindow.getState().asking?.title).toBe('Open example.com?')
  useWindow.getState().asking?.answer('yes')
  await opening
  await openLink('https://example.com/b')
  expect(openExternal.mock.calls.map(([{ url }]) => url)).toEqual(['https://example.com/a', 'https://example.com/b'])
})

test('Z-196 what is no web or mail link is never opened, and a no opens nothing', async () => {
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'not a url', 'data:text/html,x']) await openLink(url)
  expect(useWindow.getState().asking).toBeNull()
  const opening = openLink('https://evil.test/')
  useWindow.getState().asking?.answer('no')
  await opening
  expect(openExternal).not.toHaveBeenCalled()
})

test('a question with two ways to go on tells which one was taken', async () => {
  const asked = choose({ title: 'Which?', description: '', confirm: 'This', other: 'That' })
  useWindow.getState().asking?.answer('other')
  expect(await asked).toBe('other')
})

test('a second question answers the first with no', async () => {
  const first = ask({ title: 'First?', description: '', confirm: 'Yes' })
  const second = ask({ title: 'Second?', description: '', confirm: 'Yes' })
  useWindow.getState().asking?.answer('yes')
  expect(await Promise.all([first, second])).toEqual([false, true])
})
