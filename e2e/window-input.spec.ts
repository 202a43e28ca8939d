/** Ways to say something: a dropped file, a terminal, a command line of one's own, the keyboard alone. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mending, task } from './mending.ts'
import { expect, test } from './window.ts'

test('S-116 a file dropped on the window becomes an attachment and reaches the model', async ({ open }) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Seen.' }] }] })
  await window.newSession()
  const dropped = await window.page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['The gate opens at seven.'], 'hours.txt', { type: 'text/plain' }))
    return data
  })
  const body = window.page.locator('body')
  await body.dispatchEvent('dragenter', { dataTransfer: dropped })
  await expect(window.page.getByText('Drop to attach to your message')).toBeVisible()
  await body.dispatchEvent('dragover', { dataTransfer: dropped })
  await body.dispatchEvent('drop', { dataTransfer: dropped })
  await expect(window.page.getByText('Drop to attach to your message')).toBeHidden()
  const attachments = window.page.getByRole('list', { name: 'Attachments' })
  await expect(attachments.getByRole('listitem')).toContainText('24 B')
  await window.attached(1)
  await window.send('When does it open?')
  await window.settled('completed')
  await expect(window.entry('You:')).toContainText('hours.txt')
  await expect(attachments.getByRole('button', { name: 'Remove hours.txt' })).toBeHidden()
  expect(JSON.stringify(lab.asked()[0]!.body)).toContain('The gate opens at seven.')
})

test('X-801 a command typed in the terminal runs in the workspace and shows what it says', async ({ open }) => {
  const { lab, window } = await open()
  await window.newSession()
  await window.page.keyboard.press('Control+`')
  await expect(window.terminal.getByRole('tab')).toHaveCount(1)
  const prompt = window.terminal.getByRole('textbox', { name: 'Terminal input' })
  await expect(prompt).toBeFocused()
  await window.page.keyboard.type('echo seen-$((40 + 2)) | tee typed.txt')
  await window.page.keyboard.press('Enter')
  await expect.poll(() => lab.read('typed.txt').catch(() => '')).toBe('seen-42\n')
  await window.page.keyboard.press('Control+Shift+F')
  const find = window.terminal.getByRole('search')
  await find.getByRole('textbox').fill('seen-42')
  await expect(find.getByRole('status')).toHaveText('1 of 1')
  await window.page.keyboard.press('Escape')
  await expect(prompt).toBeFocused()
  await window.page.keyboard.type('exit')
  await window.page.keyboard.press('Enter')
  await expect(window.terminal.getByRole('tab')).toHaveCount(0)
})

test('X-330 a line that begins with ! runs without the agent', async ({ open }) => {
  const { lab, window } = await open()
  await window.newSession()
  await window.message.fill('!echo mine-$((6 * 7))')
  await expect(window.page.getByText('Your own command, run without the agent')).toBeVisible()
  await window.message.press('Enter')
  const card = window.entry('Your command')
  await expect(card).toContainText('mine-42')
  await expect(window.message).toHaveValue('')
  expect(lab.asked()).toEqual([])
})

test('S-149 the whole task by keyboard alone', async ({ open }) => {
  const { lab, window } = await open({ script: mending('ms') })
  const { keyboard } = window.page
  await expect(window.page.getByRole('main', { name: 'Welcome' })).toBeVisible()
  await keyboard.press('ControlOrMeta+n')
  await expect(window.message).toBeFocused()
  await keyboard.type(task)
  await keyboard.press('Enter')
  // A card answers to no key before it could be read (Z-201), so each key waits for its button.
  for (const asks of ['Make this change?', 'Run this command?']) {
    await expect(window.approval).toContainText(asks)
    await expect(window.approval.getByRole('button', { name: 'Allow once' })).toBeEnabled()
    await keyboard.press('Alt+y')
  }
  await window.settled('completed')
  expect(await lab.testsPass()).toBe(true)

  await expect(window.message).toBeFocused()
  await keyboard.press('Shift+F6')
  await expect(window.transcript).toBeFocused()
  await keyboard.press('End')
  await expect(window.entry('Turn completed')).toBeFocused()
  await keyboard.press('ArrowUp')
  await expect(window.entry('Answer: Hours')).toBeFocused()
  await keyboard.press('Home')
  await expect(window.entry('You:')).toBeFocused()
  await keyboard.press('Escape')
  await expect(window.message).toBeFocused()
  await keyboard.press('F6')
  await expect(window.inspector.getByRole('tab', { name: 'Changes' })).toBeFocused()
  await keyboard.press('ArrowRight')
  await expect(window.inspector.getByRole('tabpanel', { name: 'Plan' })).toContainText('3 of 3 done')
  await keyboard.press('ControlOrMeta+l')
  await keyboard.press('ArrowUp')
  await expect(window.message).toHaveValue(task)
})

test('S-115 the palette finds a command, a file and a session, and gives the focus back', async ({ open }) => {
  const { window } = await open({ script: [{ emit: [{ text: 'Hello.' }] }] })
  const { keyboard } = window.page
  await window.newSession()
  await window.send('Say hello')
  await window.settled('completed')
  await expect(window.sessions).toContainText('A scripted title')
  const palette = window.dialog('Command palette')

  await window.message.focus()
  await keyboard.press('ControlOrMeta+Shift+P')
  await expect(palette).toBeVisible()
  await keyboard.press('Escape')
  await expect(palette).toBeHidden()
  await expect(window.message).toBeFocused()

  await keyboard.press('ControlOrMeta+Shift+P')
  await keyboard.type('show plan')
  await keyboard.press('Enter')
  await expect(window.inspector.getByRole('tab', { name: 'Plan' })).toHaveAttribute('aria-selected', 'true')

  await keyboard.press('ControlOrMeta+p')
  await keyboard.type('parse test')
  await expect(palette.getByRole('option', { selected: true })).toContainText('parse.test.js')
  await keyboard.press('Enter')
  await expect(window.inspector.getByRole('tabpanel', { name: 'Files' })).toContainText('parse.test.js')

  await window.newSession()
  await keyboard.press('ControlOrMeta+k')
  await keyboard.type('scripted title')
  await palette.getByRole('option', { name: 'A scripted title' }).click()
  await expect(window.entry('You: Say hello')).toBeVisible()
})

test('S-111 a file mentioned by @ is found as it is typed', async ({ open }) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Read.' }] }] })
  await window.newSession()
  await window.message.pressSequentially('Look at @ind')
  await expect(window.page.getByRole('option', { name: 'index.js' })).toBeVisible()
  await window.message.press('Enter')
  await expect(window.message).toHaveValue(/^Look at @index\.js ?$/)
  await window.message.press('Enter')
  await window.settled('completed')
  expect(await readFile(join(lab.workspace, 'index.js'), 'utf8')).not.toBe('')
  expect(JSON.stringify(lab.asked()[0]!.body)).toContain('index.js')
})
