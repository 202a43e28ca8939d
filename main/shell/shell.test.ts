import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { fakeHandlers } from '../transport/fake-handlers.ts'
import { followAttention } from './attention.ts'
import { linkAmong, parseDeepLink } from './deep-link.ts'
import { isAllowed, isOwnSender, outsideAddress, pathOnPage } from './page-origin.ts'
import { webPreferences } from './window-preferences.ts'
import { boundsOn } from './window-state.ts'

test('Z-150 a window is sandboxed and isolated, without Node, webviews or insecure content', () => {
  expect(webPreferences('/p.cjs')).toEqual({
    preload: '/p.cjs',
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    webviewTag: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
    safeDialogs: true,
    spellcheck: false,
  })
})

test('Z-155 ZA-29 only the main frame of our own page gets a port', () => {
  expect(isOwnSender({ frameUrl: 'app://lathe/', isMainFrame: true })).toBe(true)
  for (const sender of [
    { frameUrl: 'app://lathe/', isMainFrame: false },
    { frameUrl: null, isMainFrame: true },
    { frameUrl: 'app://lathe.evil/', isMainFrame: true },
    { frameUrl: 'https://lathe/', isMainFrame: true },
    { frameUrl: 'app://x@lathe/', isMainFrame: true },
    { frameUrl: 'file:///app/index.html', isMainFrame: true },
    { frameUrl: 'about:blank', isMainFrame: true },
  ])
    expect([JSON.stringify(sender), isOwnSender(sender)]).toEqual([JSON.stringify(sender), false])
})

test('Z-154 nothing is permitted but writing the clipboard and notifications, to our page', () => {
  for (const permission of ['clipboard-sanitized-write', 'notifications']) {
    expect(isAllowed(permission, 'app://lathe/')).toBe(true)
    expect(isAllowed(permission, 'https://example.com/')).toBe(false)
  }
  for (const permission of [
    'media',
    'geolocation',
    'clipboard-read',
    'display-capture',
    'openExternal',
    'usb',
    'fileSystem',
  ])
    expect([permission, isAllowed(permission, 'app://lathe/')]).toEqual([permission, false])
})

test('Z-151 a request means an entry of the page’s list, on its own origin only', () => {
  expect(pathOnPage('app://lathe/assets/main.js?x=1')).toBe('/assets/main.js')
  expect(pathOnPage('app://other/assets/main.js')).toBeNull()
  expect(pathOnPage('file:///etc/passwd')).toBeNull()
})

test('Z-196 web and mail addresses alone are opened outside', () => {
  expect(outsideAddress('https://example.com/a')).toEqual({ href: 'https://example.com/a', host: 'example.com' })
  expect(outsideAddress('mailto:ada@example.com')).toMatchObject({ host: 'mail' })
  for (const url of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'lathe://new',
    'smb://host/share',
    'ms-msdt:/x',
    '//host',
    '',
  ])
    expect([url, outsideAddress(url)]).toEqual([url, null])
})

test('Z-159 S-122 SA-31 a link opens, shows or prefills; anything else is no link', () => {
  expect(parseDeepLink('lathe://session/abc-1/item_2')).toEqual({
    kind: 'session',
    sessionId: 'abc-1',
    itemId: 'item_2',
  })
  expect(parseDeepLink('lathe://new?workspace=/home/ada&prompt=rm%20-rf')).toEqual({
    kind: 'new',
    workspace: '/home/ada',
    prompt: 'rm -rf',
  })
  expect(parseDeepLink('lathe://settings/models')).toEqual({ kind: 'settings', page: 'models' })
  for (const text of [
    'lathe://session/a/b/c',
    'lathe://session/a?send=1',
    'lathe://new?send=1',
    'lathe://new?workspace=relative',
    'lathe://settings',
    'lathe://run?prompt=x',
    'lathe://user@session/a',
    'https://session/a',
    `lathe://new?prompt=${'x'.repeat(2_048)}`,
  ])
    expect([text.slice(0, 60), parseDeepLink(text)]).toEqual([text.slice(0, 60), null])
  expect(linkAmong(['/usr/bin/lathe', '--flag', 'lathe://nothing', 'lathe://session/a'])).toMatchObject({
    sessionId: 'a',
  })
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['session', 'new', 'settings', undefined]).toContain(parseDeepLink(`lathe://${text}`)?.kind)
    }),
  )
})

test('S-121 a window comes back where it was, or to the primary display when its own is gone', () => {
  const kept = { x: 2_000, y: 50, width: 900, height: 700, maximized: false }
  const primary = { x: 0, y: 0, width: 1_920, height: 1_080 }
  expect(boundsOn([primary, { x: 1_920, y: 0, width: 1_920, height: 1_080 }], kept)).toEqual({
    x: 2_000,
    y: 50,
    width: 900,
    height: 700,
  })
  expect(boundsOn([primary], kept)).toEqual({ width: 900, height: 700 })
  expect(boundsOn([primary], null)).toEqual({ width: 1_280, height: 840 })
})

test('S-120 the badge is computed from the list, whatever order changes come in', async () => {
  const entry = (id: string, indicator: Entry['indicator'], runningSince: number | null = null): Entry => ({
    id,
    indicator,
    runningSince,
    workspace: '/w',
    title: id,
    titleSource: 'manual',
    updatedAt: 1,
    createdAt: 1,
    model: null,
    pinnedAt: null,
    archivedAt: null,
    preview: '',
    itemCount: 1,
  })
  const handlers = fakeHandlers({
    sessions: { list: async () => ({ entries: [entry('a', 'unread'), entry('b', 'none')], more: false }) },
    host: {
      watch: async function* (): AsyncGenerator<WorkbenchEvent> {
        yield { type: 'entry.put', entry: entry('b', 'needs_you') }
        yield { type: 'entry.put', entry: entry('b', 'needs_you') }
        yield { type: 'entry.put', entry: entry('c', 'running', 5) }
        yield { type: 'entry.removed', id: 'a' }
      },
    },
  })
  const seen: [number, string[]][] = []
  await followAttention(
    handlers,
    { clientId: 'x', kind: 'window', attendance: 'attended', signal: new AbortController().signal },
    (now) => void seen.push([now.wanting(), now.running()]),
  )
  expect(seen).toEqual([
    [1, []],
    [1, []],
    [2, []],
    [2, []],
    [2, ['c']],
    [1, ['c']],
  ])
})

test('the preload script offers two functions and is short', async () => {
  const source = await readFile(new URL('../../preload/preload.ts', import.meta.url), 'utf8')
  expect(source.split('\n').length).toBeLessThan(60)
  expect([...source.matchAll(/^ {4}(\w+):/gm)].map(([, name]) => name)).toEqual(['connect', 'pathForFile'])
  expect([...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name)).toEqual(['electron'])
})
