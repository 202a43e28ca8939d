// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest'
import { sampleEntry as entry } from '../../preload/contract/sample-entry.ts'
import { type Client, type Link, setLink } from '../state/link.ts'
import { useWindow } from '../state/window-store.ts'
import { applyWorkbenchEvent, useWorkbench } from '../state/workbench-store.ts'
import { currentWorkspace, deleteSession, newSession, renameSession } from './session-actions.ts'

const asked: [string, Record<string, unknown>][] = []
const recorded = (name: string, reply: object) => (input: Record<string, unknown>) => (
  asked.push([name, input]),
  Promise.resolve(reply)
)

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

test('without a folder, a new session asks for one', async () => {
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => (run(), 0))
  await newSession()
  expect(useWindow.getState().dialog).toEqual({ kind: 'folder', purpose: 'open' })
})
