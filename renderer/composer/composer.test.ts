// @vitest-environment happy-dom
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createStore } from 'zustand/vanilla'
import { attachmentBytesMax, attachmentsMax, draftQuietMs } from '../../preload/contract/limits.ts'
import type { SessionClient } from '../state/session-client.ts'
import type { SessionState } from '../state/session-state.ts'
import { isLongPaste, partBytes, pastedName, refusalOf, uploadFile } from './attachments.ts'
import { caretLines, composerKey, type Press, type Situation } from './composer-keys.ts'
import { type ComposerStore, createComposer } from './composer-store.ts'
import { recalledPrompt, startRecall, stepRecall } from './recall.ts'
import { readSlash, slashCommands } from '../../preload/contract/slash-commands.ts'
import type { AgentEntry } from '../../preload/contract/agents.ts'
import { argumentQuery, matchingAgents, matchingCommands, slashQuery } from './slash-menu.ts'

describe('keys', () => {
  const situation: Situation = {
    turn: 'none',
    whileRunning: 'steer',
    tabQueues: true,
    enterSends: true,
    menuOpen: false,
    editing: false,
    commandMode: false,
    text: 'hello',
    onFirstLine: true,
    onLastLine: true,
    recalling: false,
  }
  const press = (key: string, more: Partial<Press> = {}): Press => ({
    key,
    ctrl: false,
    alt: false,
    shift: false,
    repeat: false,
    composing: false,
    ...more,
  })
  const running = { turn: 'foreground' as const }

  test.each<[string, Press, Partial<Situation>, ReturnType<typeof composerKey>]>([
    ['Enter sends', press('Enter'), {}, 'send'],
    ['Enter steers a running turn', press('Enter'), running, 'steer'],
    ['Enter queues where that is the setting', press('Enter'), { ...running, whileRunning: 'queue' }, 'queue'],
    ['Enter beside a background turn sends', press('Enter'), { turn: 'background' }, 'send'],
    ['Ctrl+Enter sends', press('Enter', { ctrl: true }), {}, 'send'],
    ['Ctrl+Enter is the other of the two', press('Enter', { ctrl: true }), running, 'queue'],
    [
      'Ctrl+Enter is the other of the two, set the other way',
      press('Enter', { ctrl: true }),
      { ...running, whileRunning: 'queue' },
      'steer',
    ],
    ['Ctrl+Enter steers a background turn', press('Enter', { ctrl: true }), { turn: 'background' }, 'steer'],
    ['Shift+Enter is the text’s own', press('Enter', { shift: true }), {}, null],
    ['Alt+Enter makes a line', press('Enter', { alt: true }), {}, 'newline'],
    ['Ctrl+J makes a line', press('j', { ctrl: true }), {}, 'newline'],
    ['Enter makes a line where sending is Ctrl+Enter', press('Enter'), { enterSends: false }, null],
    ['then Ctrl+Enter sends', press('Enter', { ctrl: true }), { enterSends: false }, 'send'],
    ['then Ctrl+Enter steers', press('Enter', { ctrl: true }), { ...running, enterSends: false }, 'steer'],
    ['Tab queues text while a turn runs', press('Tab'), running, 'queue'],
    ['Tab moves the focus without text', press('Tab'), { ...running, text: ' ' }, null],
    ['Tab moves the focus when idle', press('Tab'), {}, null],
    ['Tab moves the focus where that is turned off', press('Tab'), { ...running, tabQueues: false }, null],
    ['Shift+Tab moves the focus', press('Tab', { shift: true }), running, null],
    ['Tab takes the completion', press('Tab'), { ...running, menuOpen: true }, 'menu take'],
    ['Enter takes the completion', press('Enter'), { menuOpen: true }, 'menu take'],
    ['Down walks the menu', press('ArrowDown'), { menuOpen: true }, 'menu down'],
    ['Esc closes the menu first', press('Escape'), { ...running, menuOpen: true, editing: true }, 'menu close'],
    ['Esc leaves an edit next', press('Escape'), { ...running, editing: true }, 'leave edit'],
    ['Esc leaves a command', press('Escape'), { ...running, commandMode: true }, 'leave command'],
    ['Esc stops', press('Escape'), running, 'stop'],
    ['Esc does nothing when idle', press('Escape'), {}, null],
    ['Enter saves an edit', press('Enter'), { ...running, editing: true }, 'save edit'],
    ['Enter runs a command', press('Enter'), { commandMode: true }, 'run command'],
    ['Enter runs a command beside a turn', press('Enter'), { ...running, commandMode: true }, 'run command'],
    ['Up on the first line recalls', press('ArrowUp'), {}, 'older prompt'],
    ['Up below it moves the caret', press('ArrowUp'), { onFirstLine: false }, null],
    ['Down on the last line goes back', press('ArrowDown'), { recalling: true }, 'newer prompt'],
    ['Down without recall moves the caret', press('ArrowDown'), {}, null],
    ['Alt+Up takes back what waits', press('ArrowUp', { alt: true }), running, 'take back'],
    ['letters are the text’s own', press('a'), running, null],
  ])('S-101 %s', (_, key, now, act) => {
    expect(composerKey(key, { ...situation, ...now })).toBe(act)
  })

  test('S-102 while a character is composed every key belongs to that', () => {
    for (const key of ['Enter', 'Tab', 'Escape', 'ArrowUp', 'ArrowDown']) {
      expect(composerKey(press(key, { composing: true }), { ...situation, ...running, menuOpen: true })).toBeNull()
    }
  })

  test('S-102 a held key acts once', () => {
    for (const key of ['Enter', 'Tab', 'Escape'])
      expect(composerKey(press(key, { repeat: true }), { ...situation, ...running })).toBeNull()
  })

  test('the caret’s line', () => {
    expect(caretLines('a\nb', 1)).toEqual({ onFirstLine: true, onLastLine: false })
    expect(caretLines('a\nb', 2)).toEqual({ onFirstLine: false, onLastLine: true })
  })
})

describe('slash commands', () => {
  test.each([
    ['hello', { kind: 'text', text: 'hello' }],
    ['/stop', { kind: 'command', command: { name: 'stop' }, argument: '' }],
    ['/STOP', { kind: 'command', command: { name: 'stop' } }],
    ['/model  lab/large ', { kind: 'command', command: { name: 'model' }, argument: 'lab/large' }],
    ['/new fix\nthe build', { kind: 'command', command: { name: 'new' }, argument: 'fix\nthe build' }],
    ['/etc/hosts is wrong', { kind: 'text', text: '/etc/hosts is wrong' }],
    ['//stop', { kind: 'text', text: '/stop' }],
    ['/', { kind: 'text', text: '/' }],
    ['/ a', { kind: 'text', text: '/ a' }],
    [' /stop', { kind: 'text', text: ' /stop' }],
    ['/stp', { kind: 'unknown', name: 'stp', nearest: ['stop'] }],
    ['/modle', { kind: 'unknown', name: 'modle' }],
    ['/stopp now', { kind: 'unknown', name: 'stopp' }],
    ['/zzzzzzz', { kind: 'unknown', name: 'zzzzzzz', nearest: [] }],
  ])('S-107 %j', (text, reading) => {
    expect(readSlash(text)).toMatchObject(reading)
  })

  test('S-107 nothing a person types is lost: a text is itself, a command is its name and argument', () => {
    const same = fc.check(
      fc.property(fc.string({ unit: fc.constantFrom('/', 's', 't', 'o', 'p', ' ', 'x') }), (text) => {
        const read = readSlash(text)
        const again =
          read.kind === 'text'
            ? text.startsWith('//')
              ? `/${read.text}`
              : read.text
            : read.kind === 'command'
              ? `/${read.command.name}`
              : `/${read.name}`
        return text.startsWith(again)
      }),
    )
    expect(same.counterexample).toBeNull()
  })

  test('the menu opens for a name only, and offers what begins with it first', () => {
    expect(slashQuery('/mo', 3)).toBe('mo')
    expect(slashQuery('/', 1)).toBe('')
    expect(slashQuery('/model x', 8)).toBeNull()
    expect(slashQuery('/etc/', 5)).toBeNull()
    expect(slashQuery('a /mo', 5)).toBeNull()
    expect(matchingCommands('mo').map(({ name }) => name)).toEqual(['model', 'mode'])
    expect(matchingCommands('')).toHaveLength(slashCommands.length)
  })
})

test('S-111 after /agent the agents that can be chosen are offered, best first; without one there is nothing to choose', () => {
  const named = (name: string, problem: string | null = null) =>
    ({ name, description: `does ${name}`, problem }) as unknown as AgentEntry
  const agents = [named('prereview'), named('Review'), named('broken', 'It is empty.'), named('reviewer')]
  const offered = (typed: string) => matchingAgents(agents, typed).map(({ name }) => name)
  expect(offered('')).toEqual(['built-in', 'prereview', 'Review', 'reviewer'])
  expect(offered('review')).toEqual(['Review', 'reviewer', 'prereview'])
  expect(offered('x')).toEqual([])
  expect(matchingAgents([named('broken', 'It is empty.')], '')).toEqual([])
  expect(argumentQuery('/agent ', 7)).toEqual({ name: 'agent', typed: '' })
  expect(argumentQuery('/Agent Rev', 10)).toEqual({ name: 'agent', typed: 'rev' })
  for (const [text, caret] of [
    ['/agent', 6],
    ['/agent rev', 3],
    ['/agent rev x', 12],
    ['/agent\nrev', 10],
    ['see /agent rev', 14],
  ] as const)
    expect([text, argumentQuery(text, caret)]).toEqual([text, null])
})

test('S-103 recall walks older and newer, the draft is its newest entry, repeats are one step', () => {
  let recall = startRecall([{ text: 'second' }, { text: 'second' }, { text: 'first' }], { text: 'draft' })
  recall = stepRecall(recall, 1)!
  expect(recalledPrompt(recall).text).toBe('second')
  recall = stepRecall(recall, 1)!
  expect(recalledPrompt(recall).text).toBe('first')
  expect(stepRecall(recall, 1)).toBeNull()
  recall = stepRecall(stepRecall(recall, -1)!, -1)!
  expect(recalledPrompt(recall).text).toBe('draft')
  expect(stepRecall(recall, -1)).toBeNull()
})

test('S-103 S-112 what a recalled prompt mentions comes with it, and the draft’s own mentions come back with the draft', () => {
  const mention = (ref: string) => ({ kind: 'file' as const, ref, label: ref, at: 0 })
  const recall = startRecall([{ text: '@a.ts', mentions: [mention('a.ts')] }], {
    text: '@b.ts',
    mentions: [mention('b.ts')],
  })
  expect(recalledPrompt(stepRecall(recall, 1)!).mentions).toEqual([mention('a.ts')])
  expect(recalledPrompt(stepRecall(stepRecall(recall, 1)!, -1)!).mentions).toEqual([mention('b.ts')])
})

describe('attachments', () => {
  test('F-1203 limits are said on the chip', () => {
    const chip = (bytes: number) => ({
      id: '',
      name: '',
      mediaType: '',
      bytes,
      pasted: null,
      state: { kind: 'sending' as const, share: 0 },
    })
    expect(refusalOf({ size: 10 }, [])).toBeNull()
    expect(refusalOf({ size: 0 }, [])).toMatch(/empty/)
    expect(refusalOf({ size: attachmentBytesMax + 1 }, [])).toMatch(/larger than 52.4 MB/)
    expect(
      refusalOf(
        { size: 1 },
        Array.from({ length: attachmentsMax }, () => chip(1)),
      ),
    ).toMatch(/20 files/)
    expect(
      refusalOf(
        { size: attachmentBytesMax },
        Array.from({ length: 4 }, () => chip(attachmentBytesMax)),
      ),
    ).toMatch(/Together/)
    expect(
      refusalOf(
        { size: 1 },
        Array.from({ length: attachmentsMax }, () => ({ ...chip(1), state: { kind: 'refused' as const, reason: '' } })),
      ),
    ).toBeNull()
  })

  test('F-1208 a paste over 2,000 characters or 30 lines becomes a chip', () => {
    expect(isLongPaste('a'.repeat(2_000))).toBe(false)
    expect(isLongPaste('a'.repeat(2_001))).toBe(true)
    expect(isLongPaste('a\n'.repeat(29))).toBe(false)
    expect(isLongPaste('a\n'.repeat(30))).toBe(true)
    expect(pastedName('a\nb')).toBe('Pasted text, 2 lines')
  })

  test('a file goes in parts of at most 1 MiB, in order, and its bytes arrive as they were', async () => {
    const bytes = new Uint8Array(2 * partBytes + 5).map((_, index) => index % 251)
    const got: number[] = []
    const shares: number[] = []
    const upload = vi.fn<SessionClient['attachments']['upload']>(async ({ data, last }) => {
      for (const char of atob(data)) got.push(char.charCodeAt(0))
      return { attachment: last ? { name: 'a', mediaType: 'b', bytes: bytes.length, hash: 'h' } : null }
    })
    await uploadFile(
      upload,
      new Blob([bytes]),
      { name: 'a', mediaType: 'b' },
      (share) => shares.push(share),
      new AbortController().signal,
    )
    expect(upload.mock.calls.map(([{ part }]) => part)).toEqual([0, 1, 2])
    expect(Uint8Array.from(got)).toEqual(bytes)
    expect(shares).toEqual([1 / 3, 2 / 3])
  })
})

describe('drafts', () => {
  let composer: ComposerStore
  let stored: { text: string; attachments: unknown[] }
  let saves: string[]
  const session = () =>
    createStore<SessionState>()(() => ({
      sessionId: 's',
      phase: 'live',
      view: null,
      apart: null,
      refusal: null,
      unsaved: null,
      older: 'idle',
      newer: 'idle',
      unsent: [],
      draftRevision: null,
    }))
  let state: ReturnType<typeof session>

  beforeEach(async () => {
    vi.useFakeTimers()
    stored = { text: 'left over', attachments: [] }
    saves = []
    state = session()
    const client = {
      session: {
        draft: async () => ({ ...stored, revision: 1 }),
        setDraft: async ({ text }: { text: string }) => (saves.push(text), { revision: 2 }),
      },
    }
    composer = createComposer('s', state, client as unknown as SessionClient)
    await vi.advanceTimersByTimeAsync(1)
  })
  afterEach(() => {
    composer.dispose()
    vi.useRealTimers()
  })
  const text = () => composer.store.getState().text

  test('S-101 the stored draft appears, typing is saved after half a second of quiet', async () => {
    expect(text()).toBe('left over')
    composer.type('left over and')
    await vi.advanceTimersByTimeAsync(draftQuietMs - 1)
    composer.type('left over and more')
    await vi.advanceTimersByTimeAsync(draftQuietMs - 1)
    expect(saves).toEqual([])
    await vi.advanceTimersByTimeAsync(2)
    expect(saves).toEqual(['left over and more'])
  })

  test('S-101 another window’s draft shows in an empty composer and never replaces what is typed', async () => {
    stored.text = 'from elsewhere'
    composer.type('mine')
    state.setState({ draftRevision: { revision: 3, source: 'other' } })
    await vi.advanceTimersByTimeAsync(1)
    expect(text()).toBe('mine')
    composer.type('')
    state.setState({ draftRevision: { revision: 4, source: 'other' } })
    await vi.advanceTimersByTimeAsync(1)
    expect(text()).toBe('from elsewhere')
  })

  test('T-3 the stored draft holds a sent message until the host has it', async () => {
    const one = { requestId: 'r', text: 'sent', attachments: [], as: 'turn' as const, at: 0, refusal: null }
    composer.clear()
    state.setState({ unsent: [one] })
    await vi.advanceTimersByTimeAsync(draftQuietMs + 1)
    expect(saves).toEqual(['sent'])
    state.setState({ unsent: [] })
    await vi.advanceTimersByTimeAsync(draftQuietMs + 1)
    expect(saves).toEqual(['sent', ''])
  })

  test('T-125 what Stop returns stands before what was typed meanwhile, a blank line between', () => {
    composer.type('typed')
    composer.restore({ text: 's1\n\ns2', attachments: [] })
    expect(text()).toBe('s1\n\ns2\n\ntyped')
  })

  test('editing what waits sets the text aside and brings it back', async () => {
    composer.type('half a thought')
    composer.beginEdit({ kind: 'followUp', id: 'f', revision: 1 }, { text: 'queued', attachments: [] })
    expect(text()).toBe('queued')
    composer.type('queued, changed')
    await vi.advanceTimersByTimeAsync(draftQuietMs + 1)
    expect(saves.at(-1)).toBe('half a thought')
    composer.endEdit()
    expect(text()).toBe('half a thought')
  })
})
