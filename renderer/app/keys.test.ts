// @vitest-environment happy-dom
import { afterEach, describe, expect, test } from 'vitest'
import { commands } from './commands.ts'
import {
  actsInText,
  canonicalKeys,
  effectiveKeys,
  keyCaps,
  keyConflicts,
  keyListener,
  pressedKeys,
  shownKeys,
  terminalKeeps,
} from './keys.ts'

const press = (init: KeyboardEventInit & { target?: Element }) => {
  const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init })
  ;(init.target ?? document.body).dispatchEvent(event)
  return event
}

let stop = () => {}
afterEach(() => {
  stop()
  document.body.innerHTML = ''
})

function listen(bound: Parameters<typeof keyListener>[0]): string[] {
  const ran: string[] = []
  const listener = keyListener(bound, (id) => ran.push(id) > 0)
  addEventListener('keydown', listener, { capture: true })
  stop = () => removeEventListener('keydown', listener, { capture: true })
  return ran
}

const bound = (id: string, keys: string, more: { inTerminal?: boolean; chosen?: boolean } = {}) => ({
  id,
  keys,
  inTerminal: false,
  chosen: false,
  ...more,
})

describe('writing keys', () => {
  test('equal bindings are equal strings', () => {
    expect(canonicalKeys('Shift+Mod+p', false)).toBe('Mod+Shift+P')
    expect(canonicalKeys('Ctrl+Tab', false)).toBe('Mod+Tab')
    expect(canonicalKeys('Ctrl+Tab', true)).toBe('Ctrl+Tab')
    expect(canonicalKeys('Mod+k mod+s')).toBeNull()
    expect(canonicalKeys('Mod+K Mod+S')).toBe('Mod+K Mod+S')
    expect(canonicalKeys('')).toBeNull()
  })

  test('a press is recorded as it would be written', () => {
    const event = (key: string, code: string, held: Partial<KeyboardEventInit>) =>
      new KeyboardEvent('keydown', { key, code, ...held })
    expect(pressedKeys(event('N', 'KeyN', { ctrlKey: true, shiftKey: true }), false)).toBe('Mod+Shift+N')
    expect(pressedKeys(event('¥', 'KeyY', { altKey: true }), true)).toBe('Alt+Y')
    expect(pressedKeys(event('?', 'Slash', { shiftKey: true, ctrlKey: true }), false)).toBe('Mod+?')
    expect(pressedKeys(event('~', 'Backquote', { ctrlKey: true, shiftKey: true }), false)).toBe('Mod+Shift+`')
    expect(pressedKeys(event('Control', 'ControlLeft', { ctrlKey: true }), false)).toBeNull()
  })

  test('keys are shown in the platform’s notation', () => {
    expect(shownKeys('Mod+Shift+P', false)).toBe('Ctrl+Shift+P')
    expect(shownKeys('Mod+Shift+P', true)).toBe('⌘⇧P')
    expect(keyCaps('Mod+K Mod+S', false)).toEqual([
      ['Ctrl', 'K'],
      ['Ctrl', 'S'],
    ])
  })
})

describe('the defaults', () => {
  const defaults = new Map(effectiveKeys(commands, {}).map(({ id, keys }) => [id, keys]))

  test('S-177 are those of the rule', () => {
    const wanted = {
      'session.new': 'Mod+N',
      'pane.list': 'Mod+B',
      'pane.inspector': 'Mod+Alt+B',
      'settings.open': 'Mod+,',
      'search.sessions': 'Mod+Shift+F',
      'model.choose': 'Mod+Shift+M',
      'composer.focus': 'Mod+L',
      'session.next': 'Mod+Tab',
      'session.previous': 'Mod+Shift+Tab',
      'pane.terminal': 'Mod+`',
      'approval.allow': 'Alt+Y',
      'approval.deny': 'Alt+N',
      'shortcuts.show': 'Mod+/',
      'palette.commands': 'Mod+Shift+P',
      'palette.open': 'Mod+K',
      'session.rename': 'F2',
      'region.next': 'F6',
      'changes.next': 'F7',
    }
    expect(Object.fromEntries(Object.keys(wanted).map((id) => [id, defaults.get(id)]))).toEqual(wanted)
  })

  test('S-177 do not conflict among themselves', () => {
    expect([...keyConflicts(effectiveKeys(commands, {}))]).toEqual([])
  })

  test('S-177 a person’s keys replace one, null unbinds one, and what then shares keys is a conflict', () => {
    const effective = effectiveKeys(commands, { 'session.new': 'Mod+B', 'search.sessions': null })
    const byId = new Map(effective.map((one) => [one.id, one]))
    expect(byId.get('session.new')).toMatchObject({ keys: 'Mod+B', chosen: true })
    expect(byId.get('search.sessions')).toMatchObject({ keys: null, chosen: true })
    expect(keyConflicts(effective).get('session.new')).toEqual(['pane.list'])
    expect(keyConflicts(effective).get('pane.list')).toEqual(['session.new'])
  })
})

describe('pressing keys', () => {
  test('runs the command, and the page does not see the press', () => {
    const ran = listen([bound('new', 'Mod+N')])
    const event = press({ key: 'n', code: 'KeyN', ctrlKey: true })
    expect(ran).toEqual(['new'])
    expect(event.defaultPrevented).toBe(true)
  })

  test('two presses in a row are one binding', () => {
    const ran = listen([bound('sheet', 'Mod+K Mod+S')])
    press({ key: 'k', code: 'KeyK', ctrlKey: true })
    expect(ran).toEqual([])
    press({ key: 's', code: 'KeyS', ctrlKey: true })
    expect(ran).toEqual(['sheet'])
  })

  test('S-177 a focused terminal keeps plain Ctrl with a letter, and gives up the others', () => {
    document.body.innerHTML = '<div class="xterm"><textarea></textarea></div>'
    const target = document.querySelector('textarea')!
    const ran = listen([
      bound('list', 'Mod+B'),
      bound('search', 'Mod+Shift+F'),
      bound('find', 'Mod+Shift+F', { inTerminal: true }),
      bound('toggle', 'Mod+`'),
    ])
    expect(press({ target, key: 'b', code: 'KeyB', ctrlKey: true }).defaultPrevented).toBe(false)
    press({ target, key: 'F', code: 'KeyF', ctrlKey: true, shiftKey: true })
    press({ target, key: '`', code: 'Backquote', ctrlKey: true })
    expect(ran).toEqual(['find', 'toggle'])
    press({ key: 'F', code: 'KeyF', ctrlKey: true, shiftKey: true })
    expect(ran.at(-1)).toBe('search')
    expect(terminalKeeps('Mod+/', false)).toBe(true)
    expect(terminalKeeps('Mod+B', true)).toBe(false)
  })

  test('S-177 a focused editor keeps the keys of its own find and lines, and gives up the others', () => {
    document.body.innerHTML = '<div class="monaco-editor"><textarea></textarea></div>'
    const target = document.querySelector('textarea')!
    const ran = listen([bound('find', 'Mod+F'), bound('list', 'Mod+B'), bound('save', 'Mod+S')])
    expect(press({ target, key: 'f', code: 'KeyF', ctrlKey: true }).defaultPrevented).toBe(false)
    press({ target, key: 'b', code: 'KeyB', ctrlKey: true })
    press({ target, key: 's', code: 'KeyS', ctrlKey: true })
    expect(ran).toEqual(['list', 'save'])
    press({ key: 'f', code: 'KeyF', ctrlKey: true })
    expect(ran.at(-1)).toBe('find')
  })

  test('a bare key never acts while text is being written', () => {
    document.body.innerHTML = '<textarea></textarea>'
    const ran = listen([bound('help', '?'), bound('next', 'F7')])
    press({ target: document.querySelector('textarea')!, key: '?', code: 'Slash', shiftKey: true })
    expect(ran).toEqual([])
    press({ target: document.querySelector('textarea')!, key: 'F7', code: 'F7' })
    expect(ran).toEqual(['next'])
    expect(actsInText('Alt+Y')).toBe(true)
  })

  test('text being composed and AltGr letters pass', () => {
    const ran = listen([bound('inspector', 'Mod+Alt+B'), bound('allow', 'Alt+Y')])
    press({ key: 'y', code: 'KeyY', altKey: true, isComposing: true })
    press({ key: '”', code: 'KeyB', ctrlKey: true, altKey: true, modifierAltGraph: true })
    expect(ran).toEqual([])
  })

  test('where two commands want one key, the chosen one comes first and the next where it cannot act', () => {
    const ran: string[] = []
    const listener = keyListener(
      [bound('default', 'Mod+J'), bound('chosen', 'Mod+J', { chosen: true })],
      (id) => (ran.push(id), id === 'default'),
    )
    addEventListener('keydown', listener, { capture: true })
    stop = () => removeEventListener('keydown', listener, { capture: true })
    press({ key: 'j', code: 'KeyJ', ctrlKey: true })
    expect(ran).toEqual(['chosen', 'default'])
  })
})
