// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest'
import { sampleEntry as entry } from '../../preload/contract/sample-entry.ts'
import { usePreferences } from '../state/preferences.ts'
import { useWindow } from '../state/window-store.ts'
import { applyWorkbenchEvent, useWorkbench } from '../state/workbench-store.ts'
import { command, commandKeys, commands, runCommand } from './commands.ts'

beforeEach(() => {
  document.body.innerHTML = ''
  useWindow.setState({ sessionId: null, dialog: null, renaming: null, overlay: null, width: 1_440 })
  useWorkbench.setState({ entries: new Map(), entriesRev: 0, link: 'connected' })
})

test('S-115 every command has an id of its own, a title and a category', () => {
  expect(new Set(commands.map(({ id }) => id)).size).toBe(commands.length)
  for (const { id, title } of commands) {
    expect(id).toMatch(/^[a-z]+\.[a-zA-Z0-9-]+$/)
    expect(title).not.toBe('')
  }
})

test('S-115 a command that cannot be done says why and does nothing', () => {
  expect(command('session.rename')?.when?.()).toBe('No session is open.')
  expect(runCommand('session.rename')).toBe(false)
  expect(useWindow.getState().renaming).toBeNull()
  applyWorkbenchEvent({ type: 'entry.put', entry: entry('a') })
  useWindow.setState({ sessionId: 'a' })
  expect(runCommand('session.rename')).toBe(true)
  expect(useWindow.getState().renaming).toEqual({ sessionId: 'a', place: 'title' })
})

test('S-115 what was run is recent', () => {
  runCommand('settings.open')
  runCommand('shortcuts.show')
  expect(usePreferences.getState()['palette.recent'].slice(0, 2)).toEqual(['shortcuts.show', 'settings.open'])
  expect(useWindow.getState().dialog).toEqual({ kind: 'shortcuts' })
})

test('S-177 Ctrl+Tab walks sessions in the order of the list, round its end', () => {
  for (const [id, updatedAt] of [
    ['a', 3],
    ['b', 2],
    ['c', 1],
  ] as const)
    applyWorkbenchEvent({ type: 'entry.put', entry: entry(id, { updatedAt }) })
  applyWorkbenchEvent({ type: 'entry.put', entry: entry('gone', { updatedAt: 9, archivedAt: 9 }) })
  useWindow.setState({ sessionId: 'a' })
  runCommand('session.next')
  expect(useWindow.getState().sessionId).toBe('b')
  runCommand('session.previous')
  runCommand('session.previous')
  expect(useWindow.getState().sessionId).toBe('c')
})

test('Z-201 a key presses the card’s own button, and not one that may not be pressed yet', () => {
  document.body.innerHTML =
    '<div role="group" aria-label="Approval"><button disabled>Allow once</button><button>Deny</button></div>'
  const pressed: string[] = []
  for (const button of document.querySelectorAll('button'))
    button.addEventListener('click', () => pressed.push(button.textContent))
  runCommand('approval.allow')
  expect(pressed).toEqual([])
  runCommand('approval.deny')
  document.querySelector('button')!.disabled = false
  runCommand('approval.allow')
  expect(pressed).toEqual(['Deny', 'Allow once'])
})

test('S-177 menus show the keys in force', () => {
  expect(commandKeys('session.new')).toBe('Ctrl+N')
  useWorkbench.setState(({ settings }) => ({
    settings: { ...settings, keys: { 'session.new': 'Alt+F9', 'pane.list': null } },
  }))
  expect(commandKeys('session.new')).toBe('Alt+F9')
  expect(commandKeys('pane.list')).toBeUndefined()
})
