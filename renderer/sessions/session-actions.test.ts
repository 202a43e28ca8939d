// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sampleEntry as entry } from '../../preload/contract/sample-entry.ts'
import { composerOf } from '../composer/composer-store.ts'
import { type Client, type Link, setLink } from '../state/link.ts'
import { closeSessions } from '../state/session-store.ts'
import { useWindow } from '../state/window-store.ts'
import { applyWorkbenchEvent, useWorkbench } from '../state/workbench-store.ts'
import { currentWorkspace, deleteSession, newSession, renameSession } from './session-actions.ts'

const asked: [string, Record<string, unknown>][] = []
const recorded = (name: string, reply: object) => (input: Record<string, unknown>) => (
  asked.push([name, input]),
  Promise.resolve(reply)
)

afterEach(() => {
  vi.unstubAllGlobals()
  document.body.replaceChildren()
  closeSessions()
})

beforeEach(() => {
  asked.length = 0
  const sessions = {
    delete: recorded('delete', { ok: true }),
    rename: recorded('rename', {}),
    create: recorded('create', { sessionId: 'fresh' }),
  }
  setLink({ client: { sessions } as unknown as Client } as Link)
  useWorkbench.setState({ ...useWorkbench.getInitialState(), entries: new Map() })
  useWindow.setState(useWindow.getInitialState())
})

test('S-53 deleting asks only for a running or pinned session', async () => {
  for (const one of [entry('plain'), entry('pinned', { pinnedAt: 5 }), entry('running', { runningSince: 5 })])
    applyWorkbenchEvent({ type: 'entry.put', entry: one })
  await deleteSession('plain')
  expect(asked).toHaveLength(1)
  for (const id of ['pinned', 'running']) {
    const deleting = deleteSession(id)
    expect(useWindow.getState().asking?.danger).toBe(true)
    useWindow.getState().asking?.answer('no')
    await deleting
  }
  expect(asked.map(([, { sessionId }]) => sessionId)).toEqual(['plain'])
})

test('S-53 the session on screen is left when it is deleted', async () => {
  applyWorkbenchEvent({ type: 'entry.put', entry: entry('a') })
  useWindow.setState({ sessionId: 'a' })
  await deleteSession('a')
  expect(useWindow.getState().sessionId).toBeNull()
})

test('S-52 a title is trimmed, its blanks joined, cut to 200; one that is the same asks nothing', async () => {
  applyWorkbenchEvent({ type: 'entry.put', entry: entry('a', { title: 'Old' }) })
  await renameSession('a', '  New \n\t title ')
  await renameSession('a', 'x'.repeat(300))
  await renameSession('a', ' Old ')
  expect(asked.map(([, { title }]) => String(title))).toEqual(['New title', 'x'.repeat(200)])
})

test('S-27 every act carries a request id of its own', async () => {
  await newSession('/w')
  await newSession('/w')
  const ids = asked.map(([, { requestId }]) => requestId)
  expect(new Set(ids).size).toBe(2)
  expect(ids.every((id) => typeof id === 'string' && id.length > 10)).toBe(true)
})

test('S-3 a new session opens at once, in the folder it was asked for, though no list has it yet', async () => {
  await newSession('/w')
  expect(useWindow.getState().sessionId).toBe('fresh')
  expect(currentWorkspace()).toBe('/w')
})

test('S-101 what is typed before the new session is there is its message, and none of the one on screen', async () => {
  document.body.innerHTML = '<textarea id="composer"></textarea>'
  const composer = document.querySelector<HTMLTextAreaElement>('#composer')!
  composer.focus()
  const frames: (() => void)[] = []
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => frames.push(run))
  const created = Promise.withResolvers<object>()
  const session = { draft: async () => ({ text: '', attachments: [] }), setDraft: async () => ({}) }
  const sessions = { create: () => created.promise }
  setLink({ client: { sessions, session } as unknown as Client, read() {} } as unknown as Link)
  const making = newSession('/w')
  const field = document.activeElement as HTMLTextAreaElement
  expect(field).not.toBe(composer)
  field.value = 'Write the plan'
  created.resolve({ sessionId: 'fresh' })
  await making
  while (frames.length > 0) frames.shift()!()
  expect(composerOf('fresh').store.getState().text).toBe('Write the plan')
  expect(composer.value).toBe('')
  expect(field.isConnected).toBe(false)
})

test('S-101 what is typed for a session that cannot be made stays in the one on screen', async () => {
  document.body.innerHTML = '<textarea id="composer"></textarea>'
  const composer = document.querySelector<HTMLTextAreaElement>('#composer')!
  composer.focus()
  const created = Promise.withResolvers<object>()
  const session = { draft: async () => ({ text: '', attachments: [] }), setDraft: async () => ({}) }
  const sessions = { create: () => created.promise }
  setLink({ client: { sessions, session } as unknown as Client, read() {} } as unknown as Link)
  useWindow.setState({ sessionId: 'shown' })
  composerOf('shown').place('Half of ')
  const making = newSession('/w')
  const field = document.activeElement as HTMLTextAreaElement
  field.value = 'it'
  created.reject(new Error('The folder is away.'))
  await making
  expect(composerOf('shown').store.getState().text).toBe('Half of it')
  expect(document.activeElement).toBe(composer)
})

test('without a folder, a new session asks for one', async () => {
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => (run(), 0))
  await newSession()
  expect(useWindow.getState().dialog).toEqual({ kind: 'folder', purpose: { do: 'open' } })
})
