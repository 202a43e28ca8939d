/** The list of sessions, search over all of them, and settings. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './model-server/script.ts'
import { expect, type LatheWindow, test } from './window.ts'

const answers = (...texts: string[]): Step[] => texts.map((text) => ({ emit: [{ text }] }))

async function haveSession(window: LatheWindow, text: string): Promise<void> {
  await window.newSession()
  await window.send(text)
  await window.settled('completed')
}

/** The row of a session, by its title. */
const rowOf = ({ sessions }: LatheWindow, title: string) =>
  sessions.getByRole('button', { name: new RegExp(`^${title}`) })

async function choose(window: LatheWindow, title: string, item: string): Promise<void> {
  await rowOf(window, title).click({ button: 'right' })
  await window.page.getByRole('menuitem', { name: new RegExp(`^${item}`) }).click()
}

test('S-21 S-52 S-53 a session is renamed, pinned, archived, deleted and brought back', async ({ open }) => {
  const desk = await open({ script: answers('One.', 'Two.') })
  const { window } = desk
  await haveSession(window, 'The first of them')
  await haveSession(window, 'The second of them')
  const other = await desk.another()
  const undo = (said: string) =>
    window.page.getByRole('listitem').filter({ hasText: said }).getByRole('button', { name: 'Undo' }).click()
  // Titles that the model makes come when they like; those given by hand stay.
  await rowOf(window, '(The second of them|A scripted title)').first().click()
  await window.page.keyboard.press('F2')
  const field = window.page.getByRole('textbox', { name: 'Session title' })
  await field.fill('Beta')
  await field.press('Enter')
  await expect(rowOf(window, 'Beta')).toBeVisible()
  await expect(rowOf(other, 'Beta')).toBeVisible()

  await choose(window, '(The first of them|A scripted title)', 'Rename')
  await field.fill('Alpha')
  await field.press('Enter')
  await expect(window.sessions.getByRole('listitem')).toContainText(['workspace', 'Beta', 'Alpha'])

  await choose(window, 'Alpha', 'Pin')
  await expect(window.sessions.getByRole('listitem')).toContainText(['workspace', 'Alpha', 'Beta'])
  await expect(rowOf(window, 'Alpha').getByRole('img', { name: 'Pinned' })).toBeVisible()
  await choose(window, 'Alpha', 'Unpin')

  await choose(window, 'Alpha', 'Archive')
  await expect(rowOf(window, 'Alpha')).toBeHidden()
  await expect(rowOf(other, 'Alpha')).toBeHidden()
  await undo('Session archived')
  await expect(rowOf(window, 'Alpha')).toBeVisible()

  // It leaves the window that reads it too, which has the same way back; what was being written there stays with it.
  await rowOf(other, 'Beta').click()
  await expect(other.entry('You: The second of them')).toBeVisible()
  await other.message.fill('Half typed')
  await choose(window, 'Beta', 'Delete')
  await expect(rowOf(window, 'Beta')).toBeHidden()
  await expect(rowOf(other, 'Beta')).toBeHidden()
  await expect(other.page.getByRole('main', { name: 'Welcome' })).toBeVisible()
  await expect(other.button('Undo')).toBeVisible()
  await undo('Session deleted')
  await expect(rowOf(window, 'Beta')).toBeVisible()
  await expect(window.entry('You: The second of them')).toBeVisible()
  await rowOf(other, 'Beta').click()
  await expect(other.entry('You: The second of them')).toBeVisible()
  await expect(other.message).toHaveValue('Half typed')
})

test('S-98 a search over all sessions opens the place it found', async ({ open }) => {
  const long = Array.from({ length: 40 }, (_, at) => `Paragraph ${at} of a long answer.\n\n`).join('')
  const { window } = await open({ script: answers(`The walrus is in here. ${long}`, long, 'Nothing of the kind.') })
  await window.newSession()
  await window.send('Where is it?')
  await window.settled('completed')
  await window.send('And then?')
  await expect(window.entry('Turn completed')).toHaveCount(2)
  await haveSession(window, 'Something else')
  await window.page.keyboard.press('ControlOrMeta+Shift+F')
  const search = window.dialog('Search in all sessions')
  await search.getByRole('combobox').fill('walrus')
  const hit = search.getByRole('option', { name: /walrus/ })
  await expect(hit).toHaveCount(1)
  await hit.click()
  await expect(search).toBeHidden()
  await expect(window.entry('Answer: The walrus')).toBeInViewport()
  await expect(window.entry('Answer: The walrus')).toBeFocused()
})

test('S-123 a theme chosen in Settings acts at once, in every window, and is kept', async ({ open }) => {
  const desk = await open()
  const { window } = desk
  const other = await desk.another()
  const background = ({ page }: LatheWindow) =>
    page.evaluate(() => getComputedStyle(document.body.querySelector('#root > *')!).backgroundColor)
  await window.page.keyboard.press('ControlOrMeta+,')
  const settings = window.dialog('Settings')
  await settings.getByRole('tab', { name: 'Appearance' }).click()
  await settings.getByText('Light', { exact: true }).click()
  await expect(settings.getByRole('radio', { name: 'Light' })).toBeChecked()
  const light = await background(window)
  await settings.getByText('Dark', { exact: true }).click()
  await expect(settings.getByRole('radio', { name: 'Dark' })).toBeChecked()
  await expect.poll(() => background(window)).not.toBe(light)
  const dark = await background(window)
  await expect.poll(() => background(other)).toBe(dark)
  await window.page.keyboard.press('Escape')
  await expect(settings).toBeHidden()
  await window.page.reload()
  await expect(window.page.getByRole('main')).toBeVisible()
  await expect.poll(() => background(window)).toBe(dark)
})

test('S-92 an exported session is imported from its file; once more it asks, and a file that is none says what is wrong', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Kept for good.' }] }] })
  await window.newSession()
  await window.send('Keep this')
  await window.settled('completed')
  await expect(window.sessions).toContainText('A scripted title')
  const { stdout } = await lab.lathe(['sessions', 'list', '--json'])
  const { id } = JSON.parse(stdout.split('\n')[0]!)
  const file = join(lab.folder, 'session.json')
  const written = await lab.lathe(['sessions', 'export', id, '--format', 'json', '--out', file])
  expect(written.code).toBe(0)

  const choose = async (path: string) => {
    const chooser = window.page.waitForEvent('filechooser')
    await window.command('Import session')
    await (await chooser).setFiles(path)
  }
  const offered = window.page.getByRole('alertdialog', { name: 'Import this session?' })
  const sessions = async () => (await lab.lathe(['sessions', 'list', '--json'])).stdout.trim().split('\n').length
  await choose(file)
  await expect(offered).toContainText('A scripted title')
  await offered.getByRole('button', { name: 'Cancel' }).click()
  await choose(file)
  await offered.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(window.page.getByText('Imported', { exact: true })).toBeVisible()
  await expect(window.entry('Answer: Kept for good.')).toBeVisible()

  // Dropped on a session it could be meant either way.
  const drop = async () => {
    const transfer = await window.page.evaluateHandle(
      (text) => {
        const made = new DataTransfer()
        made.items.add(new File([text], 'session.json', { type: 'application/json' }))
        return made
      },
      await readFile(file, 'utf8'),
    )
    for (const event of ['dragenter', 'dragover', 'drop'])
      await window.page.locator('body').dispatchEvent(event, { dataTransfer: transfer })
  }
  await drop()
  await offered.getByRole('button', { name: 'Attach the file' }).click()
  await expect(window.page.getByRole('list', { name: 'Attachments' })).toContainText('session.json')
  await drop()
  await offered.getByRole('button', { name: 'Import', exact: true }).click()
  const asked = window.page.getByRole('alertdialog', { name: 'Imported before' })
  await asked.getByRole('button', { name: 'Open that session' }).click()
  await expect(asked).toBeHidden()
  expect(await sessions()).toBe(2)
  await drop()
  await offered.getByRole('button', { name: 'Import', exact: true }).click()
  await asked.getByRole('button', { name: 'Import a copy' }).click()
  await expect(asked).toBeHidden()
  await expect.poll(sessions).toBe(3)

  await writeFile(file, '{"format": "lathe.session", "version": 99}')
  await choose(file)
  await expect(window.page.getByText(/newer Lathe/)).toBeVisible()
  await expect(offered).toBeHidden()
  await writeFile(file, '{"format": "lathe.session", "version": 1}')
  await choose(file)
  await offered.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(window.page.getByText(/session: it is missing/)).toBeVisible()
  await writeFile(file, 'no session')
  await choose(file)
  await expect(window.page.getByText('This is no exported session. Export one as JSON.')).toBeVisible()
  await expect(offered).toBeHidden()
  const failed = await lab.lathe(['sessions', 'import', file])
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toContain('This is no exported session')
  const missing = await lab.lathe(['sessions', 'import', `${file}.gone`])
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  expect(missing.stderr).toContain('cannot be imported: there is no such file.')
})
