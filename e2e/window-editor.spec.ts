/** Files edited in the window: opened at a place, saved byte for byte, told apart from what others write, kept unsaved. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import sharp from 'sharp'
import { expect, type Desk, type LatheWindow, test } from './window.ts'

/** The tab Files with one file open in the editor. */
async function openFile(window: LatheWindow, path: string): Promise<{ pane: Locator; text: Locator }> {
  const files = await window.tab('Files')
  await files.getByRole('searchbox', { name: 'Go to file' }).fill(path)
  await files.getByRole('list', { name: 'Found files' }).getByRole('button', { name: path }).first().click()
  return editorOf(window, path)
}

async function editorOf(window: LatheWindow, path: string): Promise<{ pane: Locator; text: Locator }> {
  const pane = window.inspector.getByRole('region', { name: path, exact: true })
  const text = pane.getByRole('textbox', { name: `Text of ${path}` })
  await expect(text).toBeAttached()
  return { pane, text }
}

async function deskWith(open: () => Promise<Desk>, path: string, content: string | Uint8Array): Promise<Desk> {
  const desk = await open()
  await writeFile(join(desk.lab.workspace, path), content)
  await desk.window.newSession()
  return desk
}

test('F-912 F-1303 a file is edited and saved from the keyboard, with its mark, line ends and last line as they were', async ({
  open,
}) => {
  const desk = await deskWith(open, 'notes.txt', '\uFEFFone\r\ntwo\nthree')
  const { window, lab } = desk
  const { pane, text } = await openFile(window, 'notes.txt')
  await text.focus()
  await window.page.keyboard.press('ControlOrMeta+Home')
  await window.page.keyboard.press('End')
  await window.page.keyboard.type(' and a half')
  await expect(pane).toContainText('Unsaved')
  await expect(pane.getByRole('button', { name: 'Save' })).toBeEnabled()
  await window.page.keyboard.press('ControlOrMeta+s')
  await expect(pane).not.toContainText('Unsaved')
  expect(await readFile(join(lab.workspace, 'notes.txt'), 'utf8')).toBe('\uFEFFone and a half\r\ntwo\nthree')
  // Its own writing is no news to it.
  await expect(pane.getByRole('alert')).toHaveCount(0)
})

test('F-912 S-101 edits that were not saved survive a reload, and undoing them leaves nothing to save', async ({
  open,
}) => {
  const desk = await deskWith(open, 'notes.txt', 'one\n')
  const { window, lab } = desk
  const { text } = await openFile(window, 'notes.txt')
  await text.focus()
  await window.page.keyboard.type('draft: ')
  const tree = window.inspector.getByRole('tree', { name: 'Files' })
  await window.inspector.getByRole('searchbox', { name: 'Go to file' }).fill('')
  await expect(tree.getByRole('treeitem', { name: /notes\.txt.*unsaved/ })).toBeVisible()
  await window.page.reload()
  await window.newSession()
  await window.tab('Files')
  await tree.getByRole('treeitem', { name: /notes\.txt.*unsaved/ }).click()
  const again = await editorOf(window, 'notes.txt')
  await expect(again.pane).toContainText('Unsaved')
  await expect(again.pane).toContainText('draft: one')
  expect(await lab.read('notes.txt')).toBe('one\n')
  await again.text.focus()
  await window.page.keyboard.press('ControlOrMeta+z')
  await expect(again.pane).not.toContainText('Unsaved')
  await expect(tree.getByRole('treeitem', { name: /notes\.txt.*unsaved/ })).toBeHidden()
})

test('F-1112 F-912 what is written on disk shows at once where nothing was edited, and as a conflict where something was', async ({
  open,
}) => {
  const desk = await deskWith(open, 'notes.txt', 'one\ntwo\n')
  const { window, lab } = desk
  const file = join(lab.workspace, 'notes.txt')
  const { pane, text } = await openFile(window, 'notes.txt')
  await writeFile(file, 'one\ntwo\nthree\n')
  await expect(pane).toContainText('three')

  await text.focus()
  await window.page.keyboard.press('ControlOrMeta+Home')
  await window.page.keyboard.type('my ')
  await writeFile(file, 'their one\ntwo\nthree\n')
  const conflict = pane.getByRole('alert')
  await expect(conflict).toContainText('changed on disk while you edited it')
  await expect(pane.getByRole('button', { name: 'Save' })).toBeDisabled()
  await conflict.getByRole('button', { name: 'Compare' }).click()
  await expect(pane).toContainText('their one')
  await expect(pane).toContainText('my one')
  await conflict.getByRole('button', { name: 'Use theirs' }).click()
  await expect(conflict).toBeHidden()
  await expect(pane).not.toContainText('Unsaved')
  await text.focus()
  await window.page.keyboard.press('ControlOrMeta+z')
  await expect(pane).toContainText('my one')

  await writeFile(file, 'theirs again\n')
  await expect(conflict).toBeVisible()
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await expect(pane).not.toContainText('Unsaved')
  expect(await lab.read('notes.txt')).toBe('my one\ntwo\nthree\n')

  // What is written and removed in one breath leaves the system's watch nothing to tell: it is seen written first.
  await writeFile(file, 'the last of it\n')
  await expect(pane).toContainText('the last of it')
  await rm(file)
  await expect(conflict).toContainText('was deleted')
  await conflict.getByRole('button', { name: 'Save it again' }).click()
  await expect(conflict).toBeHidden()
  expect(await lab.read('notes.txt')).toBe('the last of it\n')
})

test('F-522 F-1303 a file too large for the editor and a binary are told without being edited, a picture is shown', async ({
  open,
}) => {
  const desk = await deskWith(open, 'large.txt', 'line of a large file\n'.repeat(300_000))
  const { window, lab } = desk
  await writeFile(join(lab.workspace, 'data.bin'), Buffer.from([0, 1, 2, 0, 255, 0]))
  const picture = { width: 30, height: 20, channels: 3, background: 'teal' } as const
  await sharp({ create: picture }).png().toFile(join(lab.workspace, 'logo.png'))
  const files = await window.tab('Files')
  const search = files.getByRole('searchbox', { name: 'Go to file' })
  const show = async (path: string) => {
    await search.fill(path)
    await files.getByRole('list', { name: 'Found files' }).getByRole('button', { name: path }).first().click()
    return window.inspector.getByRole('region', { name: path, exact: true })
  }
  const large = await show('large.txt')
  await expect(large).toContainText('Only the beginning is shown: the file has 6')
  await expect(large.getByRole('textbox')).toHaveCount(0)
  await expect(await show('data.bin')).toContainText('A binary file of 6 B')
  const drawn = (await show('logo.png')).getByRole('img', { name: 'logo.png' })
  await expect.poll(() => drawn.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(30)
})

test('F-912 a file of one line of 5 MB opens, is edited and saved, and the window goes on', async ({ open }) => {
  const line = 'abcdefghij'.repeat(500_000)
  const desk = await deskWith(open, 'long.txt', line)
  const { window, lab } = desk
  const { pane, text } = await openFile(window, 'long.txt')
  await text.focus()
  await window.page.keyboard.press('ControlOrMeta+Home')
  await window.page.keyboard.type('x')
  await expect(pane).toContainText('Unsaved')
  await window.page.keyboard.press('ControlOrMeta+s')
  await expect(pane).not.toContainText('Unsaved')
  expect(await lab.read('long.txt')).toBe(`x${line}`)
})

test('S-66 X-811 a place that an answer names opens there, and the editor finds by its own keys', async ({ open }) => {
  const desk = await open({ script: [{ emit: [{ text: 'See `test/parse.test.js:12:5`.' }] }] })
  const { window } = desk
  await window.newSession()
  await window.send('Where is it?')
  await window.settled('completed')
  await window.transcript.getByRole('button', { name: 'test/parse.test.js:12:5' }).click()
  const { pane, text } = await editorOf(window, 'test/parse.test.js')
  await expect(text).toBeFocused()
  await window.page.keyboard.type('HERE')
  await window.page.keyboard.press('ControlOrMeta+f')
  const find = pane.getByRole('textbox', { name: 'Find' })
  await expect(find).toBeFocused()
  await find.fill('HERE')
  await expect(pane).toContainText('1 of 1')
  await window.page.keyboard.press('Escape')
  await expect(text).toBeFocused()
  await window.page.keyboard.press('ControlOrMeta+s')
  await expect(pane).not.toContainText('Unsaved')
  const line = (await desk.lab.read('test/parse.test.js')).split('\n')[11]
  expect(line?.slice(4, 8)).toBe('HERE')
})

test('S-101 two windows that edit one file do not overwrite each other’s unsaved edits: the second one is asked', async ({
  open,
}) => {
  const desk = await deskWith(open, 'notes.txt', 'one\n')
  const { window } = desk
  const another = async () => {
    const made = await desk.another()
    await made.newSession()
    return made
  }
  const other = await another()
  const [mine, theirs] = [await openFile(window, 'notes.txt'), await openFile(other, 'notes.txt')]
  const write = async ({ page }: LatheWindow, { pane, text }: typeof mine, word: string) => {
    await text.focus()
    await page.keyboard.press('ControlOrMeta+Home')
    await page.keyboard.type(word)
    await expect(pane).toContainText('Unsaved')
  }
  const kept = async () => (await openFile(await another(), 'notes.txt')).pane
  await write(window, mine, 'mine ')
  const third = await kept()
  await expect(third).toContainText('mine one')

  await write(other, theirs, 'theirs ')
  const note = theirs.pane.getByRole('alert')
  await expect(note).toContainText('Another window has other unsaved edits of this file.')
  await note.getByRole('button', { name: 'Compare' }).click()
  await expect(theirs.pane.getByText('mine one').first()).toBeVisible()
  for (const colorScheme of ['light', 'dark'] as const) {
    await other.page.emulateMedia({ colorScheme })
    await other.page.screenshot({ path: test.info().outputPath(`two-windows-${colorScheme}.png`) })
  }
  await note.getByRole('button', { name: 'Keep mine' }).click()
  await expect(note).toHaveCount(0)
  await expect(await kept()).toContainText('theirs one')
  // The first window goes on, and is asked in its turn.
  await write(window, mine, 'more ')
  await mine.pane.getByRole('alert').getByRole('button', { name: 'Use theirs' }).click()
  await expect(mine.pane).toContainText('theirs one')
})
