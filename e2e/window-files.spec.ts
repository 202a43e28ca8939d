/** Files with the conversation: going back with them or without, and files on their way into a message. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './model-server/script.ts'
import { expect, test } from './window.ts'

const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })
const says = (text: string): Step => ({ emit: [{ text }] })
const writes = (path: string, text: string): Step[] => [
  { emit: [call('write_file', { path, content: `${path}\n` })] },
  says(text),
]

test('F-1011 F-1012 going back takes conversation and files in one dialog, files first, and Restore brings both', async ({
  open,
}) => {
  const script = [...writes('b.txt', 'First answer'), ...writes('c.txt', 'Second answer')]
  const { lab, window } = await open({ script: [...script, { emit: [{ text: 'Waiting' }, { hang: true }] }] })
  const { page } = window
  await window.newSession()
  await window.allowAll()
  await window.send('First question')
  await expect(window.entry('Answer: First answer')).toBeVisible()
  await window.settled('completed')
  await window.send('Second question')
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await window.settled('completed')

  const goBack = async () => {
    await window.entry('You: Second question').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete from here' }).click()
    const dialog = window.dialog('Delete from here')
    await dialog.getByRole('checkbox', { name: 'Set 1 file back too' }).check()
    await expect(dialog.getByRole('list', { name: 'Files' })).toContainText('c.txt')
    await dialog.getByRole('button', { name: 'Delete from here' }).click()
    return dialog
  }

  // While a turn runs in the workspace the files cannot be set back, so the conversation stays too.
  const session = (title: RegExp) => page.getByRole('list', { name: 'Sessions' }).getByRole('button', { name: title })
  await expect(session(/^A scripted title/)).toBeVisible()
  await window.newSession()
  await window.send('Wait')
  await expect.poll(() => lab.asked().length).toBe(5)
  await session(/^A scripted title/).click()
  const refused = await goBack()
  await expect(refused.getByRole('alert')).toContainText('A turn is running in this workspace.')
  await refused.getByRole('button', { name: 'Cancel' }).click()
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  expect(await lab.read('c.txt')).toBe('c.txt\n')
  await session(/^Wait/).click()
  await window.button('Stop').click()
  await window.settled('stopped')
  await session(/^A scripted title/).click()

  await goBack()
  const mark = window.entry('3 items set aside')
  await expect(mark).toBeVisible()
  await expect.poll(() => lab.read('c.txt').catch(() => 'gone')).toBe('gone')
  expect(await lab.read('b.txt')).toBe('b.txt\n')

  await mark.getByRole('button', { name: 'Restore' }).click()
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  const redo = page.getByRole('dialog')
  await expect(redo.getByRole('list', { name: 'Files' })).toContainText('c.txt')
  await redo.getByRole('button', { name: /redo/i }).click()
  await expect.poll(() => lab.read('c.txt').catch(() => 'gone')).toBe('c.txt\n')
})

test('F-1201 F-1202 FA-38 files come by the button, a drop and a paste; each can be removed, and its bytes are kept', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('Seen.')] })
  const { page } = window
  await window.newSession()
  const original = join(lab.folder, 'chosen.txt')
  await writeFile(original, 'what the button brought')
  const chooser = page.waitForEvent('filechooser')
  await window.button('Attach').click()
  await (await chooser).setFiles([original])
  const list = page.getByRole('list', { name: 'Attachments' })
  await expect(list.getByRole('listitem')).toHaveCount(1)
  await expect(list).toContainText('chosen.txt')

  const data = (name: string, text: string) =>
    page.evaluateHandle(
      ([name, text]) => {
        const transfer = new DataTransfer()
        transfer.items.add(new File([text], name, { type: 'text/plain' }))
        return transfer
      },
      [name, text] as const,
    )
  const body = page.locator('body')
  const dropped = { dataTransfer: await data('dropped.txt', 'what was dropped') }
  for (const event of ['dragenter', 'dragover', 'drop']) await body.dispatchEvent(event, dropped)
  await expect(list).toContainText('dropped.txt')
  const pasted = await data('pasted.txt', 'what was pasted')
  await window.message.evaluate((box, clipboardData) => {
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, pasted)
  await expect(list).toContainText('pasted.txt')
  await expect(list.getByRole('listitem')).toHaveCount(3)

  await list.getByRole('button', { name: 'Remove dropped.txt' }).click()
  await window.attached(2)
  await rm(original)
  await window.send('Look')
  await window.settled('completed')
  const sent = JSON.stringify(lab.asked()[0]!.body)
  expect(['what the button brought', 'what was dropped', 'what was pasted'].map((text) => sent.includes(text))).toEqual(
    [true, false, true],
  )
  await page.reload()
  await expect(window.entry('You:')).toContainText('chosen.txt')
  await expect(window.entry('You:')).toContainText('pasted.txt')
})

test('F-906 a file that a command moved is one row, with where it was and what changed in it', async ({ open }) => {
  const command = "mkdir new && mv notes.txt new/notes.md && sed -i 's/line 5$/five/' new/notes.md"
  const { lab, window } = await open({ script: [{ emit: [call('shell', { command })] }, says('Moved.')] })
  await writeFile(join(lab.workspace, 'notes.txt'), Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join(''))
  await window.newSession()
  await window.allowAll()
  await window.send('Move the notes')
  await window.settled('completed')
  const changes = await window.tab('Changes')
  await expect(changes.getByText('It was renamed from notes.txt.')).toBeVisible()
  await expect(changes.getByRole('button', { name: /^Renamed notes\.txt renamed to new\// })).toBeVisible()
  await expect(changes.getByRole('button', { name: /^Undo all changes of/ })).toHaveCount(1)
  await changes.getByRole('button', { name: 'Undo all changes of new/notes.md' }).click()
  await expect.poll(() => lab.read('notes.txt').catch(() => 'gone')).toContain('line 5\n')
  await expect.poll(() => lab.read('new/notes.md').catch(() => 'gone')).toBe('gone')
})
