// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { menuCommands } from '../../preload/contract/shell.ts'
import { commands } from './commands.ts'

test('S-177 every command of the application menu is one of the page, with its title and keys', () => {
  const shown = Object.values(menuCommands).flatMap((menu) => menu.filter((command) => command !== null))
  const known = commands.map(({ id, title, keys }) => (keys === undefined ? { id, title } : { id, title, keys }))
  expect(known).toEqual(expect.arrayContaining(shown))
})

test('Z-159 no command of the application menu answers an approval', () => {
  const ids = Object.values(menuCommands).flatMap((menu) => menu.map((command) => command?.id ?? ''))
  expect(ids.filter((id) => /^(approval|mode)\./.test(id))).toEqual([])
})
