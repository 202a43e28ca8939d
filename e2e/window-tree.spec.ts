/** The tree of the Files tab, and what the settings say of the data folder. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from './window.ts'

const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })

test('F-1303 the tree marks what the session changed, shows ignored files when asked, and its menu mentions and copies', async ({
  open,
}) => {
  const script = [{ emit: [call('write_file', { path: 'made.txt', content: 'x\n' })] }, { emit: [{ text: 'Made.' }] }]
  const { lab, window } = await open({ script })
  const { page } = window
  await writeFile(join(lab.workspace, '.gitignore'), 'dist\n')
  await mkdir(join(lab.workspace, 'dist'))
  await writeFile(join(lab.workspace, 'dist/out.js'), 'x')
  await window.newSession()
  await window.allowAll()
  await window.send('Make it')
  await window.settled('completed')
  const files = await window.tab('Files')
  const entry = (name: RegExp) => files.getByRole('treeitem', { name })
  await expect(entry(/^made\.txt ?, created in this session$/)).toBeVisible()
  await expect(entry(/^dist/)).toHaveCount(0)
  await files.getByRole('button', { name: 'Show ignored files' }).click()
  await expect(entry(/^dist ?, ignored$/)).toBeVisible()

  await entry(/^index\.js/).focus()
  await page.keyboard.press('Shift+F10')
  const menu = page.getByRole('menu')
  await expect(menu.getByRole('menuitem')).toHaveText(['Open', 'Mention in the message', 'Copy path', 'Copy full path'])
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: test.info().outputPath(`tree-${colorScheme}.png`) })
  }
  await menu.getByRole('menuitem', { name: 'Mention in the message' }).click()
  await expect(window.message).toHaveValue('@index.js ')
  await entry(/^made/).click({ button: 'right' })
  await menu.getByRole('menuitem', { name: 'Open', exact: true }).click()
  await expect(window.inspector.getByRole('region', { name: 'made.txt', exact: true })).toBeVisible()
})

test('S-173 K-16 the settings say what takes room, by kind and for the largest sessions, and give back what nobody needs', async ({
  open,
}) => {
  const { window } = await open({ script: [{ emit: [{ text: 'Answered at length.' }] }] })
  const { page } = window
  await window.newSession()
  await window.send('Take some room')
  await window.settled('completed')
  await page.keyboard.press('ControlOrMeta+,')
  const settings = window.dialog('Settings')
  await settings.getByRole('tab', { name: 'Storage' }).click()
  await expect(settings.getByRole('region', { name: 'By kind' })).toContainText('Sessions')
  await expect(settings.getByRole('region', { name: 'Largest sessions' }).getByRole('button')).toHaveCount(1)
  const cleaning = settings.getByRole('region', { name: 'Clean up' })
  await expect(cleaning.getByRole('status')).toContainText(/Nothing would be freed now\.|unused in the database/)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: test.info().outputPath(`storage-${colorScheme}.png`) })
  }
  await cleaning.getByRole('button', { name: 'Reclaim space' }).click()
  await expect(cleaning.getByRole('status')).toContainText(/ freed\.$/)
  await settings.getByRole('region', { name: 'Largest sessions' }).getByRole('button').click()
  await expect(settings).toBeHidden()
  await expect(window.entry('Answer: Answered at length.')).toBeVisible()
})
