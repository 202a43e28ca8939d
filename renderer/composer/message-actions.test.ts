// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest'
import { type Client, type Link, setLink } from '../state/link.ts'
import { closeSessions, openSession } from '../state/session-store.ts'
import { useWindow } from '../state/window-store.ts'
import { view } from '../transcript/fixtures.ts'
import { composerOf } from './composer-store.ts'
import { recallPrompt, sendMessage, takeFiles } from './message-actions.ts'

afterEach(closeSessions)

/** A session whose commands outside turns are answered when the test says so. */
function commanded() {
  const asked: string[] = []
  let answer: (reply: object) => void = () => {}
  let refuse: (error: Error) => void = () => {}
  let prompts: (reply: object) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const session = {
    draft: async () => ({ text: '', attachments: [] }),
    setDraft: async () => ({}),
    prompts: () => new Promise((resolve, reject) => ([prompts, fail] = [resolve, reject])),
    sideCommand: ({ name }: { name: string }) => {
      asked.push(name)
      return new Promise((resolve, reject) => ([answer, refuse] = [resolve, reject]))
    },
  }
  let arrive = (_attachment: object) => {}
  const attachments = { upload: () => new Promise((resolve) => (arrive = (attachment) => resolve({ attachment }))) }
  setLink({ client: { session, attachments } as unknown as Client, read() {} } as unknown as Link)
  openSession('s').store.setState({ phase: 'live', view: view([], []) })
  const { store, place, addFiles } = composerOf('s')
  const enter = () => {
    const hands = { attach() {}, openPicker() {}, stop: async () => {} }
    return sendMessage('s', 'refuse', { hands, blocked: false })
  }
  return {
    asked,
    store,
    place,
    addFiles,
    arrive: (one: object) => arrive(one),
    enter,
    answer: (reply: object) => answer(reply),
    refuse: (e: Error) => refuse(e),
    prompts: (reply: object) => prompts(reply),
    fail: (e: Error) => fail(e),
  }
}

test('S-107 what is typed while a command is on its way stays, and Enter once more does not repeat the command', async () => {
  const { asked, store, place, enter, answer } = commanded()
  place('/model nope')
  const running = enter()
  await enter()
  place('Go on')
  answer({ text: 'There is no model "nope".', stored: true })
  await running
  expect(asked).toEqual(['model'])
  expect(store.getState()).toMatchObject({ text: 'Go on', remark: null })
})

test('S-107 a refused command comes back with the reason, unless something else has been begun', async () => {
  const { store, place, enter, refuse } = commanded()
  for (const [meanwhile, left] of [
    ['', '/status'],
    ['Next', 'Next'],
  ] as const) {
    place('/status')
    const running = enter()
    place(meanwhile)
    refuse(Object.assign(new Error('refused'), { data: { code: 'storage.failed', message: 'The disk is full.' } }))
    await running
    expect(store.getState()).toMatchObject({ text: left, remark: { text: 'The disk is full.' } })
  }
})

test('S-103 while earlier prompts load, what is typed stays, and each press of the key is a step', async () => {
  const { store, place } = commanded()
  const prompts = [{ text: 'newer' }, { text: 'older' }]
  const load = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    openSession('s').controller.prompts = () => promise.then(() => prompts)
    return resolve
  }
  place('draft')
  let loaded = load()
  const pressed = [recallPrompt('s', 1), recallPrompt('s', 1)]
  loaded()
  await Promise.all(pressed)
  expect(store.getState().text).toBe('older')
  place('draft', { recall: null })
  loaded = load()
  const once = recallPrompt('s', 1)
  place('typed meanwhile')
  loaded()
  await once
  expect(store.getState()).toMatchObject({ text: 'typed meanwhile', recall: null })
})

test('F-1204 a file that cannot go is told before one on its way, and stays told when that one is there', async () => {
  const { store, place, addFiles, arrive, enter } = commanded()
  place('Look')
  const picture = new File(['picture'], 'picture.png')
  addFiles([picture])
  await enter()
  expect(store.getState().remark?.text).toBe('A file is still on its way.')
  addFiles([new File([], 'empty.txt')])
  await enter()
  const told = { text: 'Remove the file that cannot be sent.' }
  expect(store.getState().remark).toEqual(told)
  await expect.poll(() => (arrive({ name: 'picture.png' }), store.getState().chips[0]!.state.kind)).toBe('ready')
  expect(store.getState()).toMatchObject({ text: 'Look', remark: told })
})

test('F-1204 that a file is on its way is told until the last one is there', async () => {
  const { store, place, addFiles, arrive, enter } = commanded()
  place('Look')
  addFiles([new File(['picture'], 'picture.png')])
  await enter()
  expect(store.getState()).toMatchObject({ text: 'Look', remark: { text: 'A file is still on its way.' } })
  await expect.poll(() => (arrive({ name: 'picture.png' }), store.getState().chips[0]!.state.kind)).toBe('ready')
  expect(store.getState()).toMatchObject({ text: 'Look', remark: null })
})

test('F-1202 a dropped folder is mentioned where it lies inside; one outside is added to be read, opened, or neither', async () => {
  const opened: string[] = []
  const added: [string, boolean][] = []
  const place = async ({ path }: { path: string }) => ({
    path: path === '/app/src' ? 'src/' : added.some(([folder]) => folder === path) ? `${path}/` : null,
  })
  const session = { draft: async () => ({ text: '', attachments: [] }), setDraft: async () => ({}) }
  const workspaces = {
    open: async ({ path }: { path: string }) => (opened.push(path), { path, trusted: true }),
  }
  const sessions = { create: () => new Promise(() => {}) }
  setLink({
    client: { session, files: { place }, workspaces, sessions } as unknown as Client,
    read() {},
  } as unknown as Link)
  const handle = openSession('s')
  handle.store.setState({ phase: 'live', view: view([], []) })
  handle.controller.putFolder = async (path, writable) => void added.push([path, writable])
  const { store } = composerOf('s')
  const mentioned = () => store.getState().mentions.map(({ ref }) => ref)
  const drop = async (path: string, said?: 'yes' | 'other' | 'no') => {
    const dropping = takeFiles('s', [{ file: new File([], 'folder'), folder: true, path }], false)
    if (said) await vi.waitFor(() => useWindow.getState().asking!.answer(said))
    if (said !== 'other') await dropping
  }
  await drop('/app/src')
  expect(mentioned()).toEqual(['src/'])
  await drop('/docs', 'no')
  expect([added, opened]).toEqual([[], []])
  await drop('/docs', 'yes')
  expect([added, mentioned()]).toEqual([[['/docs', false]], ['src/', '/docs/']])
  expect(store.getState().chips).toEqual([])
  await drop('/other', 'other')
  await vi.waitFor(() => expect(opened).toEqual(['/other']))
})

test('S-103 while earlier prompts are on their way it is known, also that they could not be had', async () => {
  const { store, place, prompts, fail } = commanded()
  const recalling = () => store.getState().recalling
  place('half')
  void recallPrompt('s', 1)
  const first = recalling()
  prompts([{ text: 'newer' }, { text: 'older' }])
  expect(await first).toBe(true)
  expect(store.getState()).toMatchObject({ text: 'newer', recalling: null })
  void recallPrompt('s', 1)
  expect(store.getState().text).toBe('older')
  place('half', { recall: null })
  void recallPrompt('s', 1)
  composerOf('s').type('half a word')
  const second = recalling()
  prompts([{ text: 'newer' }])
  expect(await second).toBe(true)
  expect(store.getState()).toMatchObject({ text: 'half a word', recall: null, recalling: null })
  void recallPrompt('s', 1)
  const third = recalling()
  fail(new Error('gone'))
  expect(await third).toBe(false)
  expect(store.getState()).toMatchObject({ text: 'half a word', recalling: null })
})
