/** Files on their way into a message: every way in, what is refused and why, what is gone later. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import sharp from 'sharp'
import { expect, test } from './window.ts'

type Given = { name: string; type: string; base64: string }

/** Gives files or text to the page as a drop or a paste hands them over. */
async function give(page: Page, how: 'drop' | 'paste', files: Given[], text = ''): Promise<void> {
  await page.evaluate(
    ({ how: event, files: given, text: plain }) => {
      const data = new DataTransfer()
      for (const { name, type, base64 } of given)
        data.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], name, { type }))
      if (plain !== '') data.setData('text/plain', plain)
      const field = document.querySelector('[aria-label="Message"]')!
      const init = { bubbles: true, cancelable: true }
      field.dispatchEvent(
        event === 'drop'
          ? new DragEvent('drop', { ...init, dataTransfer: data })
          : new ClipboardEvent('paste', { ...init, clipboardData: data }),
      )
    },
    { how, files, text },
  )
}

const textFile = (name: string, text: string): Given => ({
  name,
  type: 'text/plain',
  base64: Buffer.from(text).toString('base64'),
})

test('F-1201 F-1208 F-1210 files come by button, drop and paste, are named and removed one by one, and stand in the transcript', async ({
  open,
}) => {
  const desk = await open({ script: [{ emit: [{ text: 'Seen.' }] }] })
  const { lab, window } = desk
  const png = await sharp({ create: { width: 8, height: 6, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  await writeFile(join(lab.folder, 'chosen.txt'), 'by the button')
  await window.newSession()
  const chips = window.page.getByRole('list', { name: 'Attachments' })

  const choosing = window.page.waitForEvent('filechooser')
  await window.button('Attach').click()
  await (await choosing).setFiles(join(lab.folder, 'chosen.txt'))
  await give(window.page, 'drop', [textFile('dropped.md', '# dropped')])
  await give(window.page, 'paste', [{ name: 'image.png', type: 'image/png', base64: png.toString('base64') }])
  await give(window.page, 'paste', [], Array.from({ length: 40 }, (_, at) => `log ${at}`).join('\n'))
  await expect(chips.getByRole('listitem')).toHaveText([
    /chosen\.txt/,
    /dropped\.md/,
    /image\.png/,
    /Pasted text, 40 lines/,
  ])
  await chips.getByRole('button', { name: 'Remove dropped.md' }).click()
  await window.attached(3)
  // A short text is typed as it is.
  await give(window.page, 'paste', [], 'short')
  await expect(chips.getByRole('listitem')).toHaveCount(3)

  await window.message.fill('Look at these')
  await window.button('Send').click()
  await window.settled('completed')
  const sent = window.entry('You').last().getByRole('list', { name: 'Attachments' })
  await expect(sent.getByRole('listitem')).toHaveCount(3)
  await expect(sent).toContainText('chosen.txt')
  await expect(sent.getByRole('img', { name: 'image.png' })).toBeVisible()
  const asked = JSON.stringify(lab.asked().at(-1)?.body)
  expect(asked).toContain('by the button')
  expect(asked).toContain('log 39')

  // What was stored goes; the session stays readable, and says so.
  const folder = join(lab.home, 'blobs')
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await rm(join(entry.parentPath, entry.name))
  await window.page.reload()
  await expect(sent).toContainText('image.png is missing')
})

test('F-1203 F-1204 FA-38 F-1202 each file that cannot go says why, the others stay; a folder is added to be read', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Seen.' }] }] })
  await window.newSession()
  const chips = window.page.getByRole('list', { name: 'Attachments' })
  const many = Array.from({ length: 21 }, (_, at) => textFile(`f${at}.txt`, `file ${at}`))
  await give(window.page, 'drop', many)
  await expect(chips.getByRole('listitem')).toHaveCount(21)
  await expect(chips.getByRole('listitem').last()).toContainText('A message holds 20 files.')
  await window.attached(21)
  await window.message.fill('All of them')
  await window.button('Send').click()
  await expect(window.page.getByText('Remove the file that cannot be sent.')).toBeVisible()
  expect(lab.asked()).toEqual([])
  await chips.getByRole('button', { name: 'Remove f20.txt' }).click()
  await give(window.page, 'drop', [textFile('empty.txt', '')])
  await expect(chips.getByRole('listitem').last()).toContainText(/empty/i)
  await chips.getByRole('button', { name: 'Remove empty.txt' }).click()
  await window.button('Send').click()
  await window.settled('completed')
  await expect(window.entry('You').last().getByRole('list', { name: 'Attachments' }).getByRole('listitem')).toHaveCount(
    20,
  )

  // A folder is no attachment: it is given to the session, to be read, and may be taken away again.
  const docs = join(lab.folder, 'docs')
  await mkdir(docs)
  await writeFile(join(docs, 'guide.md'), 'turn left\n')
  await window.button(/^Workspace: /).click()
  const folders = window.page.getByRole('dialog', { name: 'Folders of this session' })
  await folders.getByRole('button', { name: 'Add folder…' }).click()
  const adding = window.dialog('Add folder')
  await adding.getByRole('textbox', { name: 'Path' }).fill(docs)
  await adding.getByRole('textbox', { name: 'Path' }).press('Enter')
  await expect(adding.getByText('No folders in here.')).toBeVisible()
  await adding.getByRole('button', { name: 'Add this folder' }).click()
  await expect(adding).toBeHidden()
  await expect(window.button(/^Workspace: .*, and 1 more$/)).toBeVisible()
  lab.script([
    { emit: [{ call: { name: 'read_file', args: { path: join(docs, 'guide.md') } } }] },
    { emit: [{ text: 'Left it is.' }] },
  ])
  await window.send('Which way?')
  await expect(window.entry('Answer: Left it is.')).toBeVisible()
  expect(JSON.stringify(lab.asked().at(-1)?.body)).toContain('turn left')
  await window.button(/^Workspace: .*, and 1 more$/).click()
  const added = folders.getByRole('list', { name: 'Added folders' })
  await added.getByRole('checkbox', { name: 'The agent may change files in it' }).click()
  await expect(added.getByRole('checkbox')).toBeChecked()
  await window.page.reload()
  await window.button(/^Workspace: .*, and 1 more$/).click()
  await expect(added.getByRole('checkbox')).toBeChecked()
  await added.getByRole('button', { name: `Take ${docs} from this session` }).click()
  await expect(added).toBeHidden()
})
