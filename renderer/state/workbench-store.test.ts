// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { sampleEntry as entry } from '../../preload/contract/sample-entry.ts'
import type { Entry } from '../../preload/contract/session.ts'
import type { Client, Link } from './link.ts'
import { applyWorkbenchEvent, callingCount, startWorkbench, useWorkbench } from './workbench-store.ts'

/** A host whose stream a test feeds and whose list replies a test holds back. */
function fakeHost(pages: Entry[][]) {
  const opened = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const asked: unknown[] = []
  let frame: (event: WorkbenchEvent) => void = () => {}
  const nothing = () => Promise.resolve([])
  const client = {
    host: { watch: () => Promise.resolve([]), info: () => Promise.resolve({}), update: () => Promise.resolve({}) },
    settings: { get: () => Promise.resolve(useWorkbench.getState().settings) },
    workspaces: { list: nothing },
    browsers: { list: async () => [] },
    approvals: { rules: nothing },
    terminals: { list: nothing },
    models: { list: nothing },
    sessions: {
      list: async (input: unknown) => {
        const page = asked.push(input) - 1
        await released.promise
        return { entries: pages[page] ?? [], more: page < pages.length - 1 }
      },
    },
  } as unknown as Client
  const link: Link = {
    client,
    state: () => 'connected',
    onState: () => () => {},
    read(_open, handlers) {
      frame = handlers.frame as typeof frame
      handlers.opened?.()
      opened.resolve()
    },
  }
  return { link, asked, release: () => released.resolve(), send: (event: WorkbenchEvent) => frame(event) }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1))
}

beforeEach(() => useWorkbench.setState({ ...useWorkbench.getInitialState(), entries: new Map() }))

test('T-215 what an event says while the list is on its way wins over the list', async () => {
  const host = fakeHost([[entry('a', { title: 'from the list' }), entry('b'), entry('deleted')]])
  startWorkbench(host.link, new AbortController().signal, () => {})
  host.send({ type: 'entry.put', entry: entry('a', { title: 'from an event' }) })
  host.send({ type: 'entry.removed', id: 'deleted' })
  host.release()
  await until(() => useWorkbench.getState().entries.has('b'))
  const { entries } = useWorkbench.getState()
  expect(entries.get('a')?.title).toBe('from an event')
  expect(entries.has('deleted')).toBe(false)
})

test('S-50 the list is paged by key, and what is no longer listed goes', async () => {
  useWorkbench.getState().entries.set('stale', entry('stale'))
  const host = fakeHost([[entry('a', { updatedAt: 9 })], [entry('b', { updatedAt: 8 })]])
  startWorkbench(host.link, new AbortController().signal, () => {})
  host.release()
  await until(() => !useWorkbench.getState().entries.has('stale'))
  expect([...useWorkbench.getState().entries.keys()].toSorted()).toEqual(['a', 'b'])
  expect(host.asked[1]).toMatchObject({ before: { updatedAt: 9, id: 'a' } })
})

test('S-120 the count is computed from the list: needs you, interrupted, failed, unread', () => {
  for (const [index, indicator] of (
    ['needs_you', 'interrupted', 'running', 'waiting', 'failed', 'unread', 'none'] as const
  ).entries()) {
    applyWorkbenchEvent({ type: 'entry.put', entry: entry(`e${index}`, { indicator }) })
  }
  applyWorkbenchEvent({ type: 'entry.put', entry: entry('put away', { indicator: 'failed', archivedAt: 5 }) })
  expect(callingCount(useWorkbench.getState().entries.values())).toBe(4)
})

test('S-123 changed settings show at once, others stay', () => {
  applyWorkbenchEvent({ type: 'settings.changed', settings: { 'app.theme': 'dark' } })
  const { settings } = useWorkbench.getState()
  expect(settings['app.theme']).toBe('dark')
  expect(settings['app.zoom']).toBe(100)
})

test('X-801 terminals stand in the order they were opened, whatever order their events come in', () => {
  const terminal = (id: string) => ({
    id,
    title: id,
    workspace: '/w',
    folder: '/w',
    profile: 'sh',
    program: '/bin/sh',
    state: 'running' as const,
    exitCode: null,
    busy: false,
    createdAt: 1,
  })
  for (const id of ['2', '1', '3']) applyWorkbenchEvent({ type: 'terminal.changed', terminal: terminal(id) })
  applyWorkbenchEvent({ type: 'terminal.changed', removed: '1' })
  expect(useWorkbench.getState().terminals.map(({ id }) => id)).toEqual(['2', '3'])
})
