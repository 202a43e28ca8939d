import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContextMenuParams } from 'electron'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TerminalState, WorkbenchEvent } from '../../preload/contract/events.ts'
import { sampleEntry } from '../../preload/contract/sample-entry.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { addressOfSession, sessionOfAddress } from '../../preload/contract/shell.ts'
import { fakeHandlers } from '../transport/fake-handlers.ts'
import { followAttention } from './attention.ts'
import { contextMenuTemplate } from './context-menu.ts'
import { parseDeepLink, requestAmong } from './deep-link.ts'
import { accelerator, menuTemplate, trayTemplate } from './menu.ts'
import { createNotificationGate, notificationText } from './notification-gate.ts'
import { isAllowed, isOwnDownload, isOwnSender, mayNavigate, outsideAddress, pathOnPage } from './page-origin.ts'
import { quitQuestion, staysWithoutWindows } from './quit.ts'
import { webPreferences } from './window-preferences.ts'
import { boundsOn, readWindows, writeWindows } from './window-state.ts'

test('Z-150 a window is sandboxed and isolated, without Node, webviews or insecure content', () => {
  expect(webPreferences('/p.cjs', 'linux')).toEqual({
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

test('Z-153 a page stays where it is: reloading is all, but for the way back from the crash page', () => {
  expect(mayNavigate('app://lathe/#session=a', 'app://lathe/#session=a')).toBe(true)
  expect(mayNavigate('app://lathe/crashed', 'app://lathe/')).toBe(true)
  for (const [from, to] of [
    ['app://lathe/', 'https://example.com/'],
    ['app://lathe/', 'app://lathe/assets/x.js'],
    ['app://lathe/', 'app://evil/'],
    ['app://lathe/crashed', 'https://example.com/'],
    ['https://example.com/', 'https://example.com/'],
    ['app://lathe/', 'file:///etc/passwd'],
  ] as const)
    expect([from, to, mayNavigate(from, to)]).toEqual([from, to, false])
  expect(isOwnDownload('blob:app://lathe/1-2')).toBe(true)
  for (const url of [
    'https://example.com/x.zip',
    'blob:https://lathe/1',
    'data:text/html,x',
    'app://lathe/assets/x.js',
  ])
    expect([url, isOwnDownload(url)]).toEqual([url, false])
})

test('Z-159 S-122 SA-31 a link shows or prefills; anything else is no link', () => {
  expect(parseDeepLink('lathe://session/abc-1/item_2')).toEqual({ do: 'show', sessionId: 'abc-1', itemId: 'item_2' })
  expect(parseDeepLink('lathe://new?workspace=/home/ada&prompt=rm%20-rf')).toEqual({
    do: 'new',
    workspace: '/home/ada',
    prompt: 'rm -rf',
    asked: false,
  })
  expect(parseDeepLink('lathe://settings/models')).toEqual({ do: 'settings', page: 'models' })
  for (const text of [
    'lathe://session/a/b/c',
    'lathe://session/a?send=1',
    'lathe://new?send=1',
    'lathe://new?workspace=relative',
    'lathe://settings',
    'lathe://settings/nothing',
    'lathe://command/turn.stop',
    'lathe://run?prompt=x',
    'lathe://user@session/a',
    'https://session/a',
    `lathe://new?prompt=${'x'.repeat(2_048)}`,
  ])
    expect([text.slice(0, 60), parseDeepLink(text)]).toEqual([text.slice(0, 60), null])
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['show', 'new', 'settings', undefined]).toContain(parseDeepLink(`lathe://${text}`)?.do)
    }),
  )
})

test('S-134 a start names a link or a folder; switches and what is neither are passed over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-start-'))
  await writeFile(join(folder, 'file'), '')
  try {
    expect(await requestAmong(['--flag', 'lathe://nothing', 'lathe://session/a', folder], '/')).toMatchObject({
      do: 'show',
      sessionId: 'a',
    })
    const open = { do: 'new', workspace: folder, prompt: null, asked: true }
    expect(await requestAmong(['--flag', folder], '/')).toEqual(open)
    expect(await requestAmong(['.'], folder)).toEqual(open)
    expect(await requestAmong([pathToFileURL(folder).href], '/')).toEqual(open)
    expect(await requestAmong(['file://elsewhere/share', 'file:%00'], '/')).toBeNull()
    expect(await requestAmong(['file', 'missing', '', '--dev'], folder)).toBeNull()
  } finally {
    await rm(folder, { recursive: true })
  }
})

const kept = { x: 2_000, y: 50, width: 900, height: 700, maximized: false, sessionId: 'a' }

test('S-121 a window comes back where it was, or to the primary display when its own is gone', () => {
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

test('S-121 every window is remembered with its session; what was damaged is not used', async () => {
  const home = await mkdtemp(join(tmpdir(), 'lathe-windows-'))
  try {
    expect(await readWindows(home)).toEqual([])
    const states = [kept, { ...kept, sessionId: null }]
    await writeWindows(home, states)
    expect(await readWindows(home)).toEqual(states)
    await writeFile(join(home, 'windows.json'), JSON.stringify([{ ...kept, sessionId: '../x' }]))
    expect(await readWindows(home)).toEqual([])
  } finally {
    await rm(home, { recursive: true })
  }
  expect(sessionOfAddress(`app://lathe/${addressOfSession('a-1')}`)).toBe('a-1')
  for (const url of ['app://lathe/', 'app://lathe/#token=x', 'app://lathe/#session=../x', 'nonsense'])
    expect([url, sessionOfAddress(url)]).toEqual([url, null])
})

test('S-120 the figures are computed from the lists, whatever order changes come in', async () => {
  const entry = (id: string, indicator: Entry['indicator'], runningSince: number | null = null) =>
    sampleEntry(id, { indicator, runningSince })
  const terminal: TerminalState = {
    id: 't',
    title: 'make',
    workspace: '/w',
    folder: '/w',
    profile: 'sh',
    program: '/bin/sh',
    state: 'running',
    exitCode: null,
    busy: true,
    createdAt: 1,
  }
  const handlers = fakeHandlers({
    settings: { get: async () => ({ ...defaultSettings, 'app.lastWindow': 'stay' }) },
    terminals: { list: async () => [terminal] },
    sessions: { list: async () => ({ entries: [entry('a', 'unread'), entry('b', 'none')], more: false }) },
    host: {
      watch: async function* (): AsyncGenerator<WorkbenchEvent> {
        yield { type: 'entry.put', entry: entry('b', 'needs_you') }
        yield { type: 'entry.put', entry: entry('b', 'needs_you') }
        yield { type: 'entry.put', entry: entry('c', 'running', 5) }
        yield { type: 'entry.removed', id: 'a' }
        yield { type: 'terminal.changed', terminal: { ...terminal, busy: false } }
        yield { type: 'settings.changed', settings: { ...defaultSettings, 'app.lastWindow': 'quit' } }
      },
    },
  })
  const seen: [number, string, string, string][] = []
  const heard: string[] = []
  await followAttention(
    handlers,
    { clientId: 'x', kind: 'window', attendance: 'attended', signal: new AbortController().signal },
    ({ wanting, running, busyTerminals, settings }) =>
      void seen.push([wanting, running.map(({ id }) => id).join(), busyTerminals.join(), settings['app.lastWindow']]),
    ({ type }) => void heard.push(type),
  )
  expect(seen).toEqual([
    [1, '', 'make', 'stay'],
    [2, '', 'make', 'stay'],
    [2, '', 'make', 'stay'],
    [2, 'c', 'make', 'stay'],
    [1, 'c', 'make', 'stay'],
    [1, 'c', '', 'stay'],
    [1, 'c', '', 'quit'],
  ])
  expect(heard).toHaveLength(6)
})

const running = [{ id: 'a', title: 'Mend the tests' }]
const idle = { running: [], processes: [], busyTerminals: [] }

test('S-143 quitting asks only where something runs, and names it', () => {
  expect(quitQuestion(idle)).toBeNull()
  expect(quitQuestion({ ...idle, running })).toEqual({
    message: 'Something is still running',
    detail: 'Mend the tests',
  })
  const many = Array.from({ length: 12 }, (_, index) => ({ id: `${index}`, title: `Session ${index}` }))
  const question = quitQuestion({ ...idle, running: many, busyTerminals: ['npm\u202E test'] })
  expect(question?.message).toBe('13 things are still running')
  expect(question?.detail.split('\n')).toHaveLength(11)
  expect(question?.detail).toContain('and 3 more')
  expect(quitQuestion({ ...idle, busyTerminals: ['npm\u202E test'] })?.detail).toBe('Terminal: npm\uFFFD test')
  expect(quitQuestion({ ...idle, processes: [{ title: 'Mend the tests', count: 2 }] })?.detail).toBe(
    '2 processes of Mend the tests',
  )
})

test('S-144 without windows it stays on macOS, and elsewhere in the tray while something runs or the person says so', () => {
  const busy = { ...idle, running }
  const at = { platform: 'linux', tray: true, lastWindow: 'auto', attention: idle } as const
  expect(staysWithoutWindows(at)).toBe(false)
  expect(staysWithoutWindows({ ...at, attention: busy })).toBe(true)
  expect(staysWithoutWindows({ ...at, attention: busy, tray: false })).toBe(false)
  expect(staysWithoutWindows({ ...at, lastWindow: 'stay' })).toBe(true)
  expect(staysWithoutWindows({ ...at, lastWindow: 'quit', attention: busy })).toBe(false)
  expect(staysWithoutWindows({ ...at, platform: 'darwin' })).toBe(true)
  expect(staysWithoutWindows({ ...at, platform: 'darwin', lastWindow: 'quit' })).toBe(false)
})

test('S-177 the menu shows the person’s own keys, takes none of them, and asks the page to act', () => {
  const done: string[] = []
  const template = menuTemplate({
    platform: 'linux',
    developer: false,
    keys: { 'session.new': 'Mod+Alt+N', 'workspace.open': null, 'pane.list': 'Mod+K Mod+B' },
    act: { newWindow: () => done.push('window'), command: (id) => done.push(id) },
  })
  const items = template.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []))
  const item = (id: string) => items.find((one) => one.id === id)
  expect(item('session.new')).toMatchObject({ accelerator: 'CommandOrControl+Alt+N', registerAccelerator: false })
  expect(item('workspace.open')).not.toHaveProperty('accelerator')
  expect(item('pane.list')).not.toHaveProperty('accelerator')
  expect(item('pane.terminal')).toMatchObject({ accelerator: 'Ctrl+`' })
  item('session.new')!.click!({} as never, undefined, {} as never)
  expect(done).toEqual(['session.new'])
  expect(items.map(({ role }) => role)).not.toContain('toggleDevTools')
  expect(accelerator('Mod+=')).toBe('CommandOrControl+=')
})

test('S-120 the tray lists what runs, one line each, without what hides in a title', () => {
  const shown: string[] = []
  const template = trayTemplate(
    { running: [{ id: 'a', title: 'One\ntwo' }] },
    { open: () => {}, show: (id) => void shown.push(id), quit: () => {} },
  )
  const item = template.find(({ label }) => label === 'One\uFFFDtwo')
  item!.click!({} as never, undefined, {} as never)
  expect(shown).toEqual(['a'])
  expect(trayTemplate({ running: [] }, { open: () => {}, show: () => {}, quit: () => {} })).toContainEqual({
    label: 'Nothing is running',
    enabled: false,
  })
})

test('S-119 one notification for a session and kind within 5 s, none for what is in focus or switched off', () => {
  let now = 0
  const gate = createNotificationGate(() => now)
  const put = { type: 'notification.put', key: 'k', sessionId: 'a', kind: 'settled', title: 'T' } as const
  const at = { enabled: true, focusedSession: null }
  expect(gate.due(put, { ...at, enabled: false })).toBe(false)
  expect(gate.due(put, { ...at, focusedSession: 'a' })).toBe(false)
  expect(gate.due(put, { ...at, focusedSession: 'b' })).toBe(true)
  expect(gate.due(put, at)).toBe(false)
  expect(gate.due({ ...put, kind: 'approval' }, at)).toBe(true)
  now = 5_000
  expect(gate.due(put, at)).toBe(true)
  expect(notificationText({ title: 'A\u202Eb', kind: 'approval' })).toEqual({
    title: 'A\uFFFDb',
    body: 'Needs your approval',
  })
  expect(notificationText({ title: 'T', kind: 'failed' }).body).toBe('Failed')
})

test('Z-160 text fields have their menu, links can be copied, and only the person’s machine spells', () => {
  const flags = { canCut: false, canCopy: true, canPaste: true, canSelectAll: true } as ContextMenuParams['editFlags']
  const asked = {
    isEditable: true,
    selectionText: '',
    linkURL: '',
    misspelledWord: 'teh',
    dictionarySuggestions: ['the', 'ten'],
    editFlags: flags,
  }
  const done: string[] = []
  const act = { replace: (word: string) => done.push(word), copy: (text: string) => done.push(text) }
  const template = contextMenuTemplate(asked, act)
  expect(template.map(({ label, role, type }) => label ?? role ?? type)).toEqual([
    'the',
    'ten',
    'separator',
    'cut',
    'copy',
    'paste',
    'separator',
    'selectAll',
  ])
  template[0]!.click!({} as never, undefined, {} as never)
  const quiet = { ...asked, isEditable: false, misspelledWord: '', dictionarySuggestions: [] }
  expect(contextMenuTemplate(quiet, act)).toEqual([])
  expect(contextMenuTemplate({ ...quiet, linkURL: 'javascript:alert(1)' }, act)).toEqual([])
  const link = contextMenuTemplate({ ...quiet, linkURL: 'https://example.com/a' }, act)
  link[0]!.click!({} as never, undefined, {} as never)
  expect(done).toEqual(['the', 'https://example.com/a'])
  expect(['darwin', 'linux', 'win32'].map((one) => webPreferences('', one as NodeJS.Platform).spellcheck)).toEqual([
    true,
    false,
    false,
  ])
})

test('the preload script offers two functions and is short', async () => {
  const source = await readFile(new URL('../../preload/preload.ts', import.meta.url), 'utf8')
  expect(source.split('\n').length).toBeLessThan(60)
  expect([...source.matchAll(/^ {4}(\w+):/gm)].map(([, name]) => name)).toEqual(['connect', 'pathForFile'])
  expect([...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name)).toEqual(['electron'])
})
