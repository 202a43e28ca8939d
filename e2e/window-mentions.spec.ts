/** Pointing at things with `@`: files, folders, sessions, terminals, changes; and what becomes of what is dropped. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })

test('S-111 S-112 S-113 by keyboard alone a file, a folder, a session, a terminal and changes are mentioned, one is deleted whole, and the model is told of the others', async ({
  open,
}) => {
  const write = { call: { name: 'write_file', args: { path: 'docs/plan.md', content: 'seven steps\n' } } }
  const { lab, window } = await open({
    script: [says('The gate opens at seven.'), { emit: [write] }, says('Written.'), says('Looked.')],
  })
  const { page, message } = window
  const { keyboard } = page
  const chips = page.getByRole('region', { name: 'Composer' }).getByRole('list', { name: 'Mentions' })
  await expect(page.getByRole('main', { name: 'Welcome' })).toBeVisible()

  await keyboard.press('ControlOrMeta+n')
  await expect(message).toBeFocused()
  await keyboard.type('When does it open?')
  await keyboard.press('Enter')
  await window.settled('completed')

  await keyboard.press('ControlOrMeta+n')
  await expect(message).toBeFocused()
  await expect(message).toHaveValue('')
  await keyboard.type('Write the plan')
  await keyboard.press('Enter')
  await expect(window.approval.getByRole('button', { name: 'Allow once' })).toBeEnabled()
  await keyboard.press('Alt+y')
  await window.settled('completed')

  await keyboard.press('Control+`')
  await expect(window.terminal.getByRole('textbox', { name: 'Terminal input' })).toBeFocused()
  await keyboard.type('echo seen-$((40 + 2)) | tee typed.txt')
  await keyboard.press('Enter')
  await expect.poll(() => lab.read('typed.txt').catch(() => '')).toBe('seen-42\n')
  await keyboard.press('Control+`')
  await keyboard.press('ControlOrMeta+l')
  await expect(message).toBeFocused()

  const mention = async (word: string, option: RegExp) => {
    await keyboard.type(`@${word}`)
    await expect(page.getByRole('listbox', { name: 'Mentions' }).getByRole('option').first()).toHaveAccessibleName(
      option,
    )
    await keyboard.press('Enter')
    await expect(page.getByRole('listbox', { name: 'Mentions' })).toBeHidden()
  }
  await keyboard.type('Look at ')
  await mention('index.js', /^index\.js/)
  await mention('docs/', /^docs/)
  await mention('Session', /Session$/)
  await mention('Terminal', /Terminal$/)
  await mention('changed', /1 file changed$/)
  await expect(chips.getByRole('listitem')).toHaveCount(5)
  await expect(message).toHaveValue(/^Look at @index\.js @docs\/ @\S.* @"changes of Write the plan" $/)

  // One key into a mention takes all of it.
  await keyboard.press('ControlOrMeta+Home')
  for (let step = 0; step < 'Look at @ind'.length; step++) await keyboard.press('ArrowRight')
  await keyboard.press('Backspace')
  await expect(message).toHaveValue(/^Look at {2}@docs\/ /)
  await expect(chips.getByRole('listitem')).toHaveCount(4)
  await keyboard.type('the rest:')
  await expect(message).toHaveValue(/^Look at the rest: @docs\/ /)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: test.info().outputPath(`composer-${colorScheme}.png`) })
  }

  await keyboard.press('Enter')
  await expect(
    window.entry('You: Look at the rest').getByRole('list', { name: 'Mentions' }).getByRole('listitem'),
  ).toHaveCount(4)
  await expect.poll(() => lab.asked().length).toBeGreaterThanOrEqual(4)
  await expect(window.entry('Turn completed')).toHaveCount(2)
  const body = JSON.stringify(lab.asked().at(-1)!.body)
  for (const told of ['folder: docs', 'The gate opens at seven.', 'seen-42', 'created docs/plan.md +1'])
    expect(body).toContain(told)
  expect(body).not.toContain('file: index.js')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: test.info().outputPath(`sent-${colorScheme}.png`) })
  }
})

test('S-113 T-14 a file that is gone by then is named, its chip is marked, and the message stays to be mended', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('Read.')] })
  const path = join(lab.workspace, 'notes.md')
  await writeFile(path, 'short')
  await window.newSession()
  await window.message.pressSequentially('Read @notes')
  await expect(window.page.getByRole('option', { name: 'notes.md' })).toBeVisible()
  await window.message.press('Enter')
  await rm(path)
  await window.message.press('Enter')
  const refused = window.transcript.getByText('Not sent.')
  await expect(refused).toBeVisible()
  await expect(window.transcript.getByText('The file "notes.md" is not there.')).toBeVisible()
  await expect(window.transcript.getByRole('list', { name: 'Mentions' })).toContainText('is not there')
  await window.page.screenshot({ path: test.info().outputPath('refused.png') })
  expect(lab.asked()).toEqual([])
  await writeFile(path, 'short')
  await window.button('Try again').click()
  await window.settled('completed')
  expect(JSON.stringify(lab.asked()[0]!.body)).toContain('file: notes.md')
})

test('S-114 SA-30 a dropped file of the workspace is mentioned, one from elsewhere is attached, with Alt both', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('Read.')] })
  await window.newSession()
  const drop = (files: { name: string; path: string }[], altKey: boolean) =>
    window.page.evaluate(
      ({ files, altKey }) => {
        const data = new DataTransfer()
        for (const { name } of files) data.items.add(new File(['some words'], name, { type: 'text/plain' }))
        // As the desktop window knows where a file lies.
        const lathe = { pathForFile: (file: File) => files.find(({ name }) => name === file.name)?.path ?? null }
        Object.assign(globalThis, { lathe })
        const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true, altKey })
        document.body.dispatchEvent(event)
      },
      { files, altKey },
    )
  const files = [
    { name: 'index.js', path: join(lab.workspace, 'index.js') },
    { name: 'hours.txt', path: join(lab.folder, 'hours.txt') },
  ]
  await writeFile(files[1]!.path, 'some words')
  const mentions = window.page.getByRole('list', { name: 'Mentions' }).getByRole('listitem')
  const attachments = window.page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
  await drop(files, false)
  await expect(mentions).toHaveText(['index.js'])
  await expect(attachments).toHaveCount(1)
  await expect(attachments).toContainText('hours.txt')
  await expect(window.message).toHaveValue('@index.js ')
  await drop(files.slice(0, 1), true)
  await window.attached(2)
  await window.message.press('Enter')
  await window.settled('completed')
  const body = JSON.stringify(lab.asked()[0]!.body)
  expect(body).toContain('file: index.js')
  expect(body).toContain('hours.txt')
})
