/** "Trust this folder?": asked once for a folder opened in the window, and what holds until it is answered with yes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from './window.ts'

const pictures = process.env['LATHE_PICTURES']
const writes = { emit: [{ call: { name: 'write_file', args: { path: 'made.txt', content: 'x' } } }] }
const says = (text: string) => ({ emit: [{ text }] })

test('Z-4 ZA-40 a folder opened for the first time is asked about; until it is trusted it is only read', async ({
  open,
}) => {
  const { window, lab } = await open({
    folder: async () => null,
    script: [writes, says('It was denied.'), writes, says('Written.')],
  })
  const { page } = window
  const folder = join(lab.folder, 'foreign')
  await mkdir(folder)
  await writeFile(join(folder, 'AGENTS.md'), 'OBEY THIS FOLDER')
  await mkdir(join(folder, '.lathe/agents'), { recursive: true })
  await writeFile(join(folder, '.lathe/agents/review.md'), '---\ndescription: Looks for mistakes\n---\n\nReview.\n')

  await window.button('Open folder').first().click()
  await page.getByRole('textbox', { name: 'Path' }).fill(folder)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: /^Open/ }).click()
  const question = page.getByRole('alertdialog', { name: 'Trust this folder?' })
  await expect(question).toContainText('foreign is new here')
  await expect(page.getByRole('dialog', { name: 'Open folder' })).toBeHidden()
  if (pictures) await page.screenshot({ path: `${pictures}/trust.png` })
  await question.getByRole('button', { name: 'Only read' }).click()

  await expect(page.getByText('This folder is not trusted')).toBeVisible()
  await expect(window.button('Approval mode: Read only')).toBeVisible()
  if (pictures) await page.screenshot({ path: `${pictures}/untrusted.png` })
  await window.send('write it')
  await window.settled('completed')
  expect(JSON.stringify(lab.asked().at(-1)!.body)).not.toContain('OBEY')
  await expect(readFile(join(folder, 'made.txt'))).rejects.toThrow('ENOENT')

  await window.button('Trust…').click()
  await question.getByRole('button', { name: 'Trust' }).click()
  await expect(page.getByText('This folder is not trusted')).toBeHidden()
  await window.button('Agent: built-in').click()
  await expect(page.getByRole('menuitemradio', { name: /^review/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await window.send('write it now')
  await window.approval.getByRole('button', { name: 'Allow once' }).click()
  await expect(window.entry('Turn completed')).toHaveCount(2)
  expect(JSON.stringify(lab.asked().at(-1)!.body)).toContain('OBEY THIS FOLDER')
  expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('x')

  // And the trust is taken back where the folder stands in the list.
  await page.getByRole('button', { name: 'foreign', exact: true }).click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Stop trusting this folder' }).click()
  await expect(page.getByText('This folder is not trusted')).toBeVisible()
  await expect(window.button('Approval mode: Read only')).toBeVisible()
})
